// A link or a file that brings the view back as it was.
import { canonical } from "./canonical.js";
import { readState } from "./state.js";
import { readLook } from "./view_state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./view_state.js").Look} Look */
/** @typedef {{states: State[], look: Partial<Look>}} Saved  one state for each sentence, one or two */

const PREFIX = "#view=";
const FORMAT = "allyouneed view 1";

/**
 * Checks what was read from a link or a file.
 * @param {any} value @returns {Saved}
 */
function readSaved(value) {
  const states = value?.states;
  if (!Array.isArray(states) || states.length < 1 || states.length > 2)
    throw new Error("This does not hold a state of the view: it needs one or two states.");
  return { states: states.map(readState), look: readLook(value.look) };
}

/** @param {Saved} saved @returns {string} */
export function toHash(saved) {
  return PREFIX + encodeURIComponent(canonical(saved));
}

/** Null where the address holds no state. @param {string} hash @returns {Saved | null} */
export function fromHash(hash) {
  if (!hash.startsWith(PREFIX)) return null;
  try {
    return readSaved(JSON.parse(decodeURIComponent(hash.slice(PREFIX.length))));
  } catch (error) {
    throw new Error(`The address holds no state that can be read: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Saved} saved @returns {string} */
export function toFile(saved) {
  return `${JSON.stringify({ format: FORMAT, ...saved }, null, 1)}\n`;
}

/** @param {string} text @returns {Saved} */
export function fromFile(text) {
  const value = JSON.parse(text);
  if (value?.format !== FORMAT) throw new Error(`This file is no "${FORMAT}".`);
  return readSaved(value);
}
