// How the page shows the answers, while state.js is what the model is asked. All sentences share it.
import { KINDS, moduleName } from "./names.js";

/** @typedef {import("./names.js").Kind} Kind */
/** @typedef {"raw" | "value-weighted" | "rollout" | "gradient" | "effect"} Lens */
/**
 * @typedef {object} Look
 * @property {Kind} kind
 * @property {[number, number][]} heads  [layer, head], at least one
 * @property {"average" | "maximum"} merge
 * @property {Lens} lens
 * @property {boolean} words  subwords joined
 * @property {string} order  "" for the model's own order, or the metric to sort by
 * @property {boolean} numbers  in every cell of the matrix
 */

/** @type {[Lens, string, string][]} */
export const LENSES = [
  ["raw", "raw", "The attention weights themselves: softmax(QKᵀ / √d_k)"],
  ["value-weighted", "value-weighted", "Weights times the length of what is moved: α · ‖v W_O‖ (Kobayashi et al. 2020)"],
  ["rollout", "rollout", "Weights multiplied through the layers below, residuals counted in (Abnar & Zuidema 2020)"],
  ["gradient", "gradient", "Weights times the gradient of the translation's log-probability"],
  ["effect", "effect of switching off", "Measured: how the translation's log-probability changes when the head alone is off"],
];

/** @type {Look} */
const FIRST = { kind: "cross", heads: [[0, 0]], merge: "average", lens: "raw", words: false, order: "", numbers: true };

/** The lens to ask for a matrix with; "effect" has no matrix, so it becomes "raw". @param {Lens} lens */
export function askedLens(lens) {
  return lens === "effect" ? "raw" : lens;
}

/** @param {unknown} value @returns {value is [number, number]} */
function isPair(value) {
  return Array.isArray(value) && value.length === 2 && value.every((n) => Number.isInteger(n) && n >= 0);
}

/**
 * Reads a look from a link or file. Values that do not fit are left out, and defaults apply.
 * @param {unknown} value @returns {Partial<Look>}
 */
export function readLook(value) {
  const given = /** @type {Record<string, any>} */ (typeof value === "object" && value ? value : {});
  /** @type {Partial<Look>} */
  const look = {};
  if (KINDS.includes(given.kind)) look.kind = given.kind;
  if (Array.isArray(given.heads) && given.heads.length && given.heads.every(isPair)) look.heads = given.heads;
  if (given.merge === "average" || given.merge === "maximum") look.merge = given.merge;
  if (LENSES.some(([lens]) => lens === given.lens)) look.lens = given.lens;
  if (typeof given.words === "boolean") look.words = given.words;
  if (typeof given.order === "string") look.order = given.order;
  if (typeof given.numbers === "boolean") look.numbers = given.numbers;
  return look;
}

/** The selected heads that a model has. @param {Look} look @param {import("./protocol.js").Config} config */
export function headsOf({ kind, heads }, config) {
  const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  return heads.filter(([layer, head]) => layer < layers && head < config.heads);
}

export class ViewState {
  /** @type {Look} */ look;
  /** @type {Set<() => void>} */ #listeners = new Set();

  /** @param {Partial<Look>} look */
  constructor(look) {
    this.look = { ...FIRST, ...look };
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  /** @param {Partial<Look>} change */
  set(change) {
    this.look = { ...this.look, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Selects one head, or adds it to (or removes it from) the selected heads. @param {Kind} kind @param {number} layer @param {number} head @param {boolean} added */
  select(kind, layer, head, added) {
    /** @type {[number, number]} */
    const one = [layer, head];
    if (!added || kind !== this.look.kind) return this.set({ kind, heads: [one] });
    const rest = this.look.heads.filter(([l, h]) => l !== layer || h !== head);
    if (rest.length === this.look.heads.length) return this.set({ heads: [...rest, one] });
    return this.set({ heads: rest.length ? rest : [one] });
  }

  /** Keeps only heads that the model has. @param {import("./protocol.js").Config} config */
  fit(config) {
    const layers = this.look.kind === "encoder" ? config.encoder_layers : config.decoder_layers;
    const heads = headsOf(this.look, config);
    this.look.heads = heads.length ? heads : [[layers - 1, 0]];
  }

  /** Names of the selected heads. */
  names() {
    return this.look.heads.map(([layer, head]) => `${moduleName(this.look.kind, layer)}[${head}]`);
  }
}
