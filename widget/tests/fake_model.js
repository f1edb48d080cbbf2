// A made-up model that answers every question the same way twice, for tests and for development.
// It knows no language: it looks words up in a short table, and its attention is a fixed pattern.
import { decodeFloat16 } from "../src/float16.js";
import { headName, KINDS, parseName } from "../src/names.js";

/** @typedef {import("../src/protocol.js").Token} Token */
/** @typedef {import("../src/state.js").State} State */

export const CONFIG = { encoder_layers: 3, decoder_layers: 2, heads: 4, d_model: 32 };
const CONFIGS = [CONFIG, { ...CONFIG, heads: 2 }];
const K = CONFIG.d_model / CONFIG.heads;
/** @type {Record<string, string>} */
const WORDS = {
  a: "ein", man: "Mann", in: "in", blue: "blauen", shirt: "Hemd", is: "ist", standing: "steht", on: "auf",
  ladder: "Leiter", cleaning: "putzt", window: "Fenster", the: "der", did: "tat", it: "es", said: "sagte", boy: "Junge",
};

/** A number in 0 … 1 that follows from a text. @param {...unknown} parts */
export function chance(...parts) {
  let hash = 2166136261;
  for (const character of parts.join("|")) hash = Math.imul(hash ^ /** @type {number} */ (character.codePointAt(0)), 16777619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2246822507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}


/** Nearest halves by search: slow and plain. @param {ArrayLike<number>} numbers @returns {ArrayBuffer} */
export function encodeFloat16(numbers) {
  const all = decodeFloat16(Uint16Array.from({ length: 0x7c00 }, (_, i) => i).buffer);
  const view = new DataView(new ArrayBuffer(2 * numbers.length));
  for (let i = 0; i < numbers.length; i++) {
    const size = Math.abs(numbers[i]);
    let low = 0;
    let high = all.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle] < size) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && size - all[low - 1] < all[low] - size) low--;
    view.setUint16(2 * i, low | (numbers[i] < 0 ? 0x8000 : 0), true);
  }
  return view.buffer;
}

/** Pieces with their spans in code points; long words fall in two. @param {string} text @returns {Token[]} */
export function tokenize(text) {
  /** @type {Token[]} */
  const tokens = [];
  let place = 0;
  let word = -1;
  for (const found of text.match(/ ?[\p{L}\p{N}]+| ?[^\p{L}\p{N}\s]+|\s/gu) ?? []) {
    const characters = [...found];
    const pieces = characters.length > 7 ? [characters.slice(0, 5), characters.slice(5)] : [characters];
    word++;
    for (const piece of pieces) {
      const end = place + piece.length;
      const own = piece.join("");
      tokens.push({ text: own, id: 10 + Math.floor(chance(own) * 990), begin: place + (own.startsWith(" ") ? 1 : 0), end, word });
      place = end;
    }
  }
  tokens.push({ text: "</s>", id: 2, begin: place, end: place, word: word + 1 });
  return tokens;
}

/** Each line is a part of the text. @param {State} state */
const partsOf = ({ text }) => text.split("\n");

/** @param {State} state */
function sourceOf(state) {
  const tokens = tokenize(partsOf(state)[state.part] ?? "");
  const words = tokens.slice(0, -1).map(({ text }, i) => {
    const other = state.replaced[i];
    return other === undefined ? text : (text.startsWith(" ") ? " " : "") + other;
  });
  return tokenize(words.join(""));
}

/** The translation. Heads that are off and edits change the order of the words, or drop a word. @param {State} state @returns {string} */
function say(state) {
  const source = sourceOf(state).map(({ text }) => text).join("").replace("</s>", "");
  let words = source.split(" ").map((word) => word.replace(/^([\p{L}]+)/u, (letters) => WORDS[letters.toLowerCase()] ?? letters));
  if (state.model === 1) words = words.map((word) => word.toLowerCase());
  const off = state.switchedOff.map(parseName);
  if (off.some((place) => place?.kind === "cross")) words.reverse();
  if (off.some((place) => place?.kind === "encoder")) words = words.filter((_, i) => i !== 1);
  if (state.edits.length) words = [...words.slice(1), words[0]];
  const free = words.join(" ");
  if (!state.prefix) return free;
  const done = state.prefix.split(" ").length;
  return [state.prefix, ...words.slice(done)].join(" ");
}

/** @param {Token[]} target @param {string} seed */
function stepsOf(target, seed) {
  return target.map((token, t) => {
    const best = Math.log(0.35 + 0.64 * chance(seed, token.text, t));
    const rest = 1 - Math.exp(best);
    const others = ["eine", "das", "Mädchen", "Straße"].map((word, i) => ({
      id: 2000 + i,
      text: token.text.startsWith(" ") ? ` ${word}` : word,
      log_probability: Math.log(rest * 0.5 ** (i + 1)),
    }));
    const own = { id: token.id, text: token.text, log_probability: best };
    return { log_probability: best, alternatives: [own, ...others].sort((a, b) => b.log_probability - a.log_probability) };
  });
}

/** @param {Token[]} target @param {number} beam */
function treeOf(target, beam) {
  /** @type {import("../src/protocol.js").Node[]} */
  const nodes = [];
  /** @type {number | null} */
  let stem = null;
  target.forEach((token, t) => {
    const parent = stem;
    for (let h = 0; h < beam; h++) {
      const last = t === target.length - 1;
      const text = h === 0 || (last && h === 1) ? token.text : ` ${["eine", "das", "Kind", "und"][(t + h) % 4]}`;
      const number = nodes.length;
      if (h === 0) stem = number;
      const fate = h === 0 ? "best" : last && h === 1 ? "finished" : "dropped";
      nodes.push({ number, parent, step: t, id: 100 + h, text, log_probability: -0.2 - h * 0.7, score: -0.3 * (h + 1) - 0.01 * t, fate });
    }
  });
  return nodes;
}

/** @param {import("../src/names.js").Kind} kind @param {number} layer @param {number} head @param {number} T @param {number} S */
function weightsOf(kind, layer, head, T, S) {
  const data = new Float64Array(T * S);
  for (let t = 0; t < T; t++) {
    let sum = 0;
    for (let s = 0; s < S; s++) {
      const near = { 0: -Math.abs(s - t), 1: -Math.abs(s - t + 1), 2: s === S - 1 ? 1.5 : 0, 3: 2 * chance(kind, layer, t, s) }[head % 4] ?? 0;
      const value = kind === "decoder" && s > t ? 0 : Math.exp(1.6 * near + chance(kind, layer, head, t, s));
      data[t * S + s] = value;
      sum += value;
    }
    for (let s = 0; s < S; s++) data[t * S + s] /= sum;
  }
  return data;
}

/** @param {string} name @param {number} size */
const vector = (name, size) => Float64Array.from({ length: size }, (_, i) => 2 * chance(name, i) - 1);

/** @param {import("../src/names.js").Kind} kind */
const layersOf = (kind) => (kind === "encoder" ? CONFIG.encoder_layers : CONFIG.decoder_layers);

/**
 * @param {{delay?: number, live?: boolean, models?: number}} [options]  delay in milliseconds, of translations
 */
export function fakeModel({ delay = 0, live = true, models = 2 } = {}) {
  /** @type {Map<string, {state: State, source: Token[], target: Token[]}>} */
  const known = new Map();
  /** @type {{kind: string, payload: any}[]} */
  const asked = [];
  /** @type {Record<number, number>} */
  const newest = {};

  /** @param {State} state */
  const translated = (state) => {
    const text = say(state);
    const target = tokenize(text);
    const steps = stepsOf(target, JSON.stringify(state.switchedOff));
    const log_probability = steps.reduce((sum, step) => sum + step.log_probability, 0);
    return { text, target, steps, log_probability, score: log_probability / target.length };
  };
  /** @param {State} state */
  const translate = (state) => {
    const source = sourceOf(state).map((token, index) => ({ ...token, index }));
    const result = translated(state);
    const plain = { ...state, switchedOff: [], edits: [], replaced: {}, prefix: "" };
    const baseline = JSON.stringify(plain) === JSON.stringify(state) ? null : translated(plain);
    const id = String(chance(JSON.stringify(state)));
    known.set(id, { state, source, target: result.target });
    return { id, source, ...result, beamTree: treeOf(result.target, state.beam), seconds: 0.042, baseline, aligning: [1, 2], parts: partsOf(state), notes: [] };
  };
  /** @param {import("../src/names.js").Kind} kind @param {string} id @returns {[number, number]} */
  const sizes = (kind, id) => {
    const { source, target } = /** @type {{source: Token[], target: Token[]}} */ (known.get(id));
    return [kind === "encoder" ? source.length : target.length, kind === "decoder" ? target.length : source.length];
  };
  /** @param {number[]} shape @param {ArrayLike<number>} data */
  const array = (shape, data) => ({ shape, data: encodeFloat16(data) });

  /** @type {Record<string, (payload: any) => {json: any, arrays: Record<string, {shape: number[], data: ArrayBuffer}>}>} */
  const answers = {
    about: () => ({
      json: { models: ["made-up", "made-up, small letters"].slice(0, models).map((name, i) => ({ name, engine: "core", config: CONFIGS[i] })), version: "0", live, asks: Object.keys(answers) },
      arrays: {},
    }),
    translate: ({ state }) => ({ json: translate(state), arrays: {} }),
    part: ({ id, part }) => {
      const { state } = /** @type {{state: State}} */ (known.get(id));
      return { json: { text: translated({ ...state, part }).text }, arrays: {} };
    },
    attention: ({ id, kind, layer, lens }) => {
      const [T, S] = sizes(kind, id);
      const sign = lens === "gradient" ? -0.5 : 0;
      const { heads } = CONFIGS[/** @type {{state: State}} */ (known.get(id)).state.model];
      const data = Array.from({ length: heads }, (_, head) => [...weightsOf(kind, layer, head, T, S)].map((w, i) => w + sign * chance(head, i))).flat();
      return { json: {}, arrays: { weights: array([heads, T, S], data) } };
    },
    maps: ({ id, kind }) => {
      const [T, S] = sizes(kind, id).map((size) => Math.min(size, 32));
      /** @type {number[]} */
      const data = [];
      for (let layer = 0; layer < layersOf(kind); layer++)
        for (let head = 0; head < CONFIG.heads; head++) data.push(...weightsOf(kind, layer, head, T, S));
      return { json: {}, arrays: { maps: array([layersOf(kind), CONFIG.heads, T, S], data) } };
    },
    metrics: () => ({
      json: Object.fromEntries(KINDS.map((kind) => [kind, Array.from({ length: layersOf(kind) }, (_, layer) => Array.from({ length: CONFIG.heads }, (_, head) => ({ entropy: 3 * chance(kind, layer, head), distance: 5 * chance(head, kind, layer), previous: chance(layer, head), end: chance(head, layer, "e") })))])),
      arrays: {},
    }),
    effects: ({ id, heads }) => {
      const { state } = /** @type {{state: State}} */ (known.get(id));
      const effects = heads.map((/** @type {string} */ name) => ({ name, change: -3 * chance(name) ** 3 + 0.2, text: translated({ ...state, switchedOff: [...state.switchedOff, name] }).text }));
      return { json: { effects }, arrays: {} };
    },
    lens: ({ id }) => {
      const { target } = /** @type {{target: Token[]}} */ (known.get(id));
      const parts = ["self_attention", "cross_attention", "feed_forward"];
      const names = Array.from({ length: CONFIG.decoder_layers }, (_, layer) => parts.map((part) => `decoder.layers.${layer}.${part}`)).flat();
      const positions = target.map((token, t) =>
        names.map((name, i) => {
          const right = (i + 1) / names.length > chance(t, "lens");
          const probability = right ? 0.3 + (0.65 * (i + 1)) / names.length : 0.3 * chance(t, i);
          const other = { id: 7, text: [" und", " die", " .", " zu"][Math.floor(4 * chance(t, i, "w"))], probability: (1 - probability) / 2 };
          const own = { id: token.id, text: token.text, probability };
          return { name, top: right ? [own, other] : [{ ...other, probability }, { ...own, probability: probability / 3 }], crossShare: name.endsWith("cross_attention") ? chance(t, i, "c") : null };
        }),
      );
      return { json: { positions }, arrays: {} };
    },
    calculator: ({ id, module, head, query }) => calculation(module, head, query, sizes, id, array),
    positions: () => ({ json: { d_model: CONFIG.d_model, base: 10000, positions: "sinusoidal", shift: [{ k: 1, deviation: 2e-7 }, { k: 10, deviation: 3e-7 }] }, arrays: {} }),
  };

  /** @type {import("../src/protocol.js").Ask} */
  const ask = async (kind, payload) => {
    asked.push({ kind, payload });
    if (kind === "translate") {
      const { pane = 0, request } = /** @type {any} */ (payload);
      newest[pane] = Math.max(newest[pane] ?? 0, request);
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (request < newest[pane]) return { json: { obsolete: true }, arrays: {} };
    }
    return structuredClone(answers[kind](payload));
  };
  /** A saved page holds one sentence and each of its heads off by itself; through other lenses, the sentence alone. @param {string} kind @param {any} payload */
  const holds = (kind, payload) => {
    if (live || kind === "about") return true;
    const { state } = kind === "translate" ? payload : known.get(payload.id) ?? {};
    const { switchedOff, edits, replaced, prefix } = /** @type {State} */ (state);
    if (edits.length || Object.keys(replaced).length || prefix || switchedOff.some((name) => parseName(name)?.head === null)) return false;
    return switchedOff.length <= (kind === "effects" || (payload.lens ?? "raw") !== "raw" ? 0 : 1);
  };
  return { ask, asked, holds };
}

/**
 * @param {string} module @param {number} head @param {number} query
 * @param {(kind: import("../src/names.js").Kind, id: string) => [number, number]} sizes @param {string} id
 * @param {(shape: number[], data: ArrayLike<number>) => {shape: number[], data: ArrayBuffer}} array
 */
function calculation(module, head, query, sizes, id, array) {
  const place = /** @type {import("../src/names.js").Place} */ (parseName(module));
  const [T, S] = sizes(place.kind, id);
  const all = weightsOf(place.kind, place.layer, head, T, S);
  const weights = all.slice(query * S, (query + 1) * S);
  const scaled = Array.from(weights, (w) => (w > 0 ? Math.log(w) + 2 : 1.5));
  const values = vector(`v${module}${head}`, S * K);
  const sum = Float64Array.from({ length: K }, (_, k) => weights.reduce((total, w, s) => total + w * values[s * K + k], 0));
  const big = (/** @type {string} */ name) => vector(`${name}${module}${query}`, CONFIG.d_model);
  const mask = Array.from(weights, (_, s) => (place.kind === "decoder" && s > query ? 0 : 1));
  const products = scaled.map((x) => x * Math.sqrt(K));
  const arrays = {
    q: array([K], vector(`q${module}${head}${query}`, K)), keys: array([S, K], vector(`k${module}${head}`, S * K)),
    products: array([S], products), scaled: array([S], scaled), mask: array([S], mask), weights: array([S], weights),
    values: array([S, K], values), sum: array([K], sum), output: array([CONFIG.d_model], big("o")),
    attention: array([CONFIG.d_model], big("a")), residual: array([CONFIG.d_model], big("r")), norm: array([CONFIG.d_model], big("n")),
  };
  const steps = [
    ["q", "Query", "q = x W_Q"], ["keys", "Keys", "k = memory W_K"], ["products", "Dot products", "q · k"], ["scaled", "Scaling", "q · k / √d_k"],
    ["mask", "Mask", "may look?"], ["weights", "Softmax", "softmax(q · k / √d_k)"], ["values", "Values", "v = memory W_V"], ["sum", "Weighted sum", "Σ weight · v"],
    ["output", "Output projection", "head W_O"], ["attention", "MultiHead", "Concat(head_1, …, head_h) W_O"], ["residual", "Add", "x + Sublayer(x)"], ["norm", "Norm", "LayerNorm(x + Sublayer(x))"],
  ].map(([name, title, formula]) => ({ name, title, formula, words: `what ${title.toLowerCase()} does` }));
  const shapes = Object.fromEntries(Object.entries(arrays).map(([name, { shape }]) => [name, shape]));
  return { json: { shapes: { W_Q: [CONFIG.d_model, CONFIG.d_model], ...shapes }, steps }, arrays };
}

/** Every head's name. */
export function everyHead() {
  return KINDS.flatMap((kind) => Array.from({ length: layersOf(kind) * CONFIG.heads }, (_, i) => headName(kind, Math.floor(i / CONFIG.heads), i % CONFIG.heads)));
}

