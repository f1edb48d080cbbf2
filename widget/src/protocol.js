// The messages between the view and Python: questions by kind; answers as JSON and float16 arrays.

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./names.js").Kind} Kind
 * @typedef {"raw" | "value-weighted" | "rollout" | "gradient"} AskedLens
 *
 * A token of either side; begin and end count characters (code points) of the text.
 * `index` is the number of the token of the unreplaced source that it stands for.
 * @typedef {{text: string, id: number, begin: number, end: number, word: number, index?: number}} Token
 *
 * @typedef {{id: number, text: string, log_probability: number}} Alternative
 * @typedef {{log_probability: number, alternatives: Alternative[]}} Step
 *
 * A hypothesis by its last token. `parent` is the number of the node it goes on from; null for a first
 * token. Every node on the way to the translation is "best".
 * @typedef {object} Node
 * @property {number} number
 * @property {number | null} parent
 * @property {number} step
 * @property {number} id
 * @property {string} text
 * @property {number | null} log_probability  null: −∞
 * @property {number | null} score
 * @property {"alive" | "dropped" | "finished" | "best"} fate
 *
 * @typedef {{text: string, score: number, log_probability?: number, target: Token[]}} Baseline
 *
 * @typedef {object} Translation
 * @property {string} id
 * @property {Token[]} source
 * @property {Token[]} target  ends in the end token
 * @property {string} text
 * @property {number} score
 * @property {number} log_probability
 * @property {Step[]} steps  one for each token of the target
 * @property {Node[]} beamTree
 * @property {number} seconds
 * @property {Baseline | null} baseline  the translation without the changes, where there are any
 * @property {[number, number]} [aligning]  layer and head of the cross-attention that aligns best
 * @property {string[]} [parts]  of the whole text, where it is translated in parts
 * @property {string[]} notes
 *
 * @typedef {object} Config
 * @property {number} encoder_layers
 * @property {number} decoder_layers
 * @property {number} heads
 * @property {number} d_model
 *
 * `asks` names the kinds of question that are answered; without it, all of them are.
 * @typedef {object} About
 * @property {{name: string, engine: string, config: Config}[]} models
 * @property {string} version
 * @property {boolean} live
 * @property {string[]} [asks]
 * @property {Kind} [only]  plain weights, of this kind alone, with no model behind them
 *
 * @typedef {Record<string, number>} HeadMetrics
 * @typedef {Record<Kind, HeadMetrics[][]>} Metrics  by kind, layer, head
 *
 * @typedef {{name: string, change: number, text: string}} Effect
 * @typedef {{effects: Effect[]}} Effects
 *
 * @typedef {{id: number, text: string, probability: number}} Guess
 * @typedef {{name: string, top: Guess[], crossShare: number | null}} LensRow
 * @typedef {{positions: LensRow[][]}} Lens  by target position, then from the lowest sub-layer up
 *
 * Arrays of a calculator's answer: q [K], keys [S, K], products [S], scaled [S], mask [S] (1 = may
 * look), weights [S], values [S, K], sum [K], output [D] (the head's part of W_O's product),
 * attention [D] (all heads), residual [D], norm [D].
 * @typedef {{name: string, title: string, words: string, formula: string}} CalculatorStep
 * @typedef {{shapes: Record<string, number[]>, steps: CalculatorStep[]}} Calculation
 *
 * @typedef {{d_model: number, base: number, positions: string, shift: {k: number, deviation: number}[]}} Positions
 *
 * @typedef {{shape: number[], data: ArrayBuffer}} WireArray
 * @typedef {{json: any, arrays: Record<string, WireArray>}} Answer
 * A saved page also says whether it `holds` the answer to a question.
 * @typedef {((kind: string, payload: Record<string, unknown>) => Promise<Answer>) & {holds?: (kind: string, payload: Record<string, unknown>) => boolean}} Ask
 */

/** A saved page raises this for an answer that it does not hold. */
export class NeedsLiveModel extends Error {
  needsLiveModel = true;

  constructor() {
    super("This saved page does not hold this view.");
  }
}

/** The command that opens the live view of a text, quoted for a shell. @param {string} text */
export function lookCommand(text) {
  return `allyouneed look '${text.replaceAll("'", "'\\''")}'`;
}

/** @param {unknown} error @returns {boolean} */
export function needsLiveModel(error) {
  return Boolean(error && /** @type {{needsLiveModel?: boolean}} */ (error).needsLiveModel);
}
