// One sentence under study: its state, its history, and the model's answers about it.
import { tensor } from "./float16.js";
import { headName, KINDS } from "./names.js";
import { sameState } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./protocol.js").Ask} Ask */
/** @typedef {import("./protocol.js").Translation} Translation */
/** @typedef {import("./protocol.js").Effect} Effect */
/** @typedef {import("./names.js").Kind} Kind */
/** @typedef {{state: State, label: string, text?: string, score?: number}} Moment  with the translation it led to */

let lastRequest = 0;

/** Increasing numbers; they keep increasing after the page is reloaded. */
function nextRequest() {
  lastRequest = Math.max(lastRequest + 1, Date.now());
  return lastRequest;
}

export class Study {
  /** @type {Translation | null} */ translation = null;
  /** The state that the translation answers. @type {State} */ shown;
  /** @type {Error | null} */ error = null;
  busy = false;
  /** @type {Moment[]} */ history = [];
  now = 0;
  /** For each head that was asked for: the effect of switching this head alone off. @type {Map<string, Effect>} */ effects = new Map();
  effectsAsked = 0;
  /** Why not every head could be measured. */ effectsProblem = "";
  /** The translations, so far, of the other parts of a long text. @type {Map<number, string>} */ partTexts = new Map();
  #partsAsked = false;
  /** @type {Map<string, Promise<any>>} */ #answers = new Map();
  /** @type {Set<() => void>} */ #listeners = new Set();
  /** The number of the newest translation request; answers to older ones are ignored. */
  #request = 0;

  /** @param {Ask} ask @param {State} state @param {number} pane  which of the page's sentences this is */
  constructor(ask, state, pane) {
    this.ask = ask;
    this.state = state;
    this.shown = state;
    this.pane = pane;
  }

  /** Calls back after every change. @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }

  /** Ends the study: it asks nothing more, ignores answers that still arrive, and calls no listener. */
  close() {
    this.#request = nextRequest();
    this.#listeners.clear();
    this.ask = () => new Promise(() => {});
  }

  /** Translates the first state. */
  start() {
    this.history = [{ state: this.state, label: "the sentence" }];
    return this.#translate();
  }

  /**
   * Moves to a new state. Changes that are joined, such as the letters of a sentence being typed, are
   * undone together, as one moment of the history.
   * @param {State} state @param {string} label @param {boolean} [joined]
   */
  change(state, label, joined = false) {
    if (sameState(state, this.state)) return Promise.resolve();
    const replace = joined && this.history[this.now]?.label === label && this.now > 0;
    this.history.length = this.now + (replace ? 0 : 1);
    this.history.push({ state, label });
    this.now = this.history.length - 1;
    this.state = state;
    return this.#translate();
  }

  /** Goes back (or forward) to a moment of the history. @param {number} moment */
  goTo(moment) {
    if (!this.history[moment] || moment === this.now) return Promise.resolve();
    this.now = moment;
    this.state = this.history[moment].state;
    return this.#translate();
  }

  async #translate() {
    const request = (this.#request = nextRequest());
    this.busy = true;
    this.error = null;
    this.#tell();
    try {
      const { json } = await this.ask("translate", { state: this.state, request, pane: this.pane });
      if (request !== this.#request) return;
      this.translation = json;
      this.shown = this.state;
      Object.assign(this.history[this.now], { text: json.text, score: json.score });
      this.#answers.clear();
      this.effects.clear();
      this.effectsAsked = 0;
      this.effectsProblem = "";
      this.partTexts.clear();
      this.#partsAsked = false;
    } catch (error) {
      if (request !== this.#request) return;
      this.error = /** @type {Error} */ (error);
      this.state = this.shown;
      this.history.length = Math.max(1, this.history.findLastIndex(({ state }) => sameState(state, this.shown)) + 1);
      this.now = this.history.length - 1;
    }
    this.busy = false;
    this.#tell();
  }

  /**
   * Asks once about the translation that is shown, and keeps the answer.
   * @template T
   * @param {string} kind @param {Record<string, unknown>} payload @param {(answer: import("./protocol.js").Answer) => T} read
   * @returns {Promise<T>}
   */
  #once(kind, payload, read) {
    const id = this.translation?.id;
    const key = JSON.stringify([kind, payload]);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.ask(kind, { id, ...payload }).then(read);
    this.#answers.set(key, answer);
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }

  /** Weights [H, T, S] of one layer. @param {Kind} kind @param {number} layer @param {string} lens */
  attention(kind, layer, lens) {
    return this.#once("attention", { kind, layer, lens }, ({ arrays }) => tensor(arrays.weights));
  }

  /** Small maps [layers, H, T', S']. @param {Kind} kind @param {string} lens */
  maps(kind, lens) {
    return this.#once("maps", { kind, lens }, ({ arrays }) => tensor(arrays.maps));
  }

  /** @returns {Promise<import("./protocol.js").Metrics>} */
  metrics() {
    return this.#once("metrics", {}, ({ json }) => json);
  }

  /** @returns {Promise<import("./protocol.js").Lens>} */
  lens() {
    return this.#once("lens", {}, ({ json }) => json);
  }

  /** @param {string} module @param {number} head @param {number} query */
  calculator(module, head, query) {
    return this.#once("calculator", { module, head, query }, ({ json, arrays }) => ({
      calculation: /** @type {import("./protocol.js").Calculation} */ (json),
      arrays: Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, tensor(array)])),
    }));
  }

  /** Whether this question about the shown translation can be answered. A saved page has only some of the answers. @param {string} kind @param {Record<string, unknown>} payload */
  holds(kind, payload) {
    return !this.ask.holds || this.ask.holds(kind, { id: this.translation?.id, ...payload });
  }

  /**
   * Translates the other parts of a long text, one after the other, so that other questions are
   * answered in between. Ends early when something newer is translated. Parts whose translations a
   * saved page lacks are left out.
   */
  async translateParts() {
    const count = this.translation?.parts?.length ?? 0;
    if (this.#partsAsked || this.busy || count < 2) return;
    this.#partsAsked = true;
    const request = this.#request;
    const { id } = /** @type {Translation} */ (this.translation);
    for (let part = 0; part < count; part++) {
      if (part === this.shown.part || !this.holds("part", { part })) continue;
      const answer = await this.ask("part", { id, part, request }).catch(() => null);
      if (request !== this.#request || !answer || answer.json.obsolete) return;
      this.partTexts.set(part, answer.json.text);
      this.#tell();
    }
  }

  /**
   * Measures every head's effect, one head after the other, so that other questions are answered in
   * between. Ends early when something newer is translated.
   * @param {import("./protocol.js").Config} config
   */
  async measureEffects(config) {
    if (this.effectsAsked || this.busy || !this.translation) return;
    const request = this.#request;
    const layers = { encoder: config.encoder_layers, decoder: config.decoder_layers, cross: config.decoder_layers };
    this.effectsAsked = KINDS.reduce((sum, kind) => sum + layers[kind] * config.heads, 0);
    try {
      await this.#measure(request, KINDS.flatMap((kind) => namesOf(kind, layers[kind], config.heads)));
    } catch (error) {
      if (request === this.#request) this.effectsProblem = /** @type {Error} */ (error).message;
      this.#tell();
    }
  }

  /** @param {number} request @param {string[]} heads */
  async #measure(request, heads) {
    for (const head of heads) {
      const { id } = /** @type {Translation} */ (this.translation);
      const { json } = await this.ask("effects", { id, heads: [head], request });
      if (request !== this.#request || json.obsolete) return;
      for (const effect of json.effects) this.effects.set(effect.name, effect);
      this.#tell();
    }
  }
}

/** @param {Kind} kind @param {number} layers @param {number} heads */
function namesOf(kind, layers, heads) {
  return Array.from({ length: layers * heads }, (_, i) => headName(kind, Math.floor(i / heads), i % heads));
}
