// Names of attention modules and their heads, as everywhere in the package:
// "decoder.layers.3.cross_attention" and "decoder.layers.3.cross_attention[5]".

/** @typedef {"encoder" | "decoder" | "cross"} Kind */
/** @typedef {{kind: Kind, layer: number, head: number | null}} Place  head null: the whole module */

/** @type {Kind[]} */
export const KINDS = ["encoder", "decoder", "cross"];

/** @type {Record<Kind, string>} */
export const TITLES = {
  encoder: "Encoder self-attention",
  decoder: "Decoder self-attention",
  cross: "Cross-attention",
};

/** @type {Record<Kind, [string, string]>} */
const MODULES = {
  encoder: ["encoder", "self_attention"],
  decoder: ["decoder", "self_attention"],
  cross: ["decoder", "cross_attention"],
};

/** @param {Kind} kind @param {number} layer @returns {string} */
export function moduleName(kind, layer) {
  const [stack, module] = MODULES[kind];
  return `${stack}.layers.${layer}.${module}`;
}

/** @param {Kind} kind @param {number} layer @param {number} head @returns {string} */
export function headName(kind, layer, head) {
  return `${moduleName(kind, layer)}[${head}]`;
}

const PATTERN = /^(encoder|decoder)\.layers\.(\d+)\.(self|cross)_attention(?:\[(\d+)\])?$/;

/**
 * Reads a name back; null where it names no attention.
 * @param {string} name
 * @returns {Place | null}
 */
export function parseName(name) {
  const found = PATTERN.exec(name);
  if (!found || (found[1] === "encoder" && found[3] === "cross")) return null;
  const kind = found[3] === "cross" ? "cross" : /** @type {Kind} */ (found[1]);
  return { kind, layer: Number(found[2]), head: found[4] === undefined ? null : Number(found[4]) };
}

/** A short name for people: "cross-attention, layer 3, head 5". @param {string} name */
export function spoken(name) {
  const place = parseName(name);
  if (!place) return name;
  const whole = `${TITLES[place.kind].toLowerCase()}, layer ${place.layer}`;
  return place.head === null ? `${whole}, every head` : `${whole}, head ${place.head}`;
}
