// The input of the model: a text and all changes to it and to the model. A plain value that is never
// changed in place, so that history, links and files can store it.
import { canonical } from "./canonical.js";
import { headName, moduleName, parseName } from "./names.js";

/**
 * @typedef {"uniform" | "diagonal" | "block" | "force"} EditKind
 * @typedef {{head: string, kind: EditKind, cells?: [number, number][]}} Edit  cells: [target, source]
 * @typedef {object} State
 * @property {string} text
 * @property {number} beam
 * @property {string[]} switchedOff  names of heads, or of modules for all their heads
 * @property {Edit[]} edits
 * @property {Record<string, string>} replaced  by number of the source token: its new text
 * @property {string} prefix  what the translation must begin with
 * @property {number} model
 * @property {number} part  of a text that is translated in parts, the one that is shown
 */

const EDITS = ["uniform", "diagonal", "block", "force"];
const LARGEST_BEAM = 64;

/** @param {Partial<State>} given @returns {State} */
export function newState(given = {}) {
  return normal({
    text: "",
    beam: 4,
    switchedOff: [],
    edits: [],
    replaced: {},
    prefix: "",
    model: 0,
    part: 0,
    ...given,
  });
}

/** Writes equal states in the same way, so that a saved page finds its answers. @param {State} state */
function normal(state) {
  const names = [...new Set(state.switchedOff)].sort();
  return { ...state, switchedOff: names };
}

/** @param {unknown} condition @param {string} what @returns {asserts condition} */
function must(condition, what) {
  if (!condition) throw new Error(`This is not a state of the view: ${what}.`);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value @returns {value is number} */
function isCount(value) {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/** @param {unknown} value @returns {Edit} */
function readEdit(value) {
  must(isObject(value), "an edit must be an object");
  const { head, kind, cells } = value;
  must(typeof head === "string" && parseName(head)?.head != null, "an edit must name a head");
  must(typeof kind === "string" && EDITS.includes(kind), `an edit is one of ${EDITS.join(", ")}`);
  if (kind === "uniform" || kind === "diagonal") return { head, kind };
  must(
    Array.isArray(cells) &&
      cells.every((cell) => Array.isArray(cell) && cell.length === 2 && cell.every(isCount)),
    "cells must be pairs [target position, source position]",
  );
  return { head, kind: /** @type {EditKind} */ (kind), cells };
}

/**
 * Reads a state from a link or a file. Missing values get defaults; a wrong value throws an Error.
 * @param {unknown} value
 * @returns {State}
 */
export function readState(value) {
  must(isObject(value), "it must be an object");
  const { text = "", beam = 4, switchedOff = [], edits = [], replaced = {} } = value;
  const { prefix = "", model = 0, part = 0 } = value;
  must(typeof text === "string" && typeof prefix === "string", "text and prefix must be text");
  must(isCount(beam) && beam >= 1 && beam <= LARGEST_BEAM, `beam must be 1 … ${LARGEST_BEAM}`);
  must(isCount(model), "model must be a number from 0");
  must(isCount(part), "part must be a number from 0");
  must(
    Array.isArray(switchedOff) && switchedOff.every((name) => typeof name === "string" && parseName(name)),
    "switchedOff must name heads or attention modules",
  );
  must(Array.isArray(edits), "edits must be a list");
  must(
    isObject(replaced) &&
      Object.entries(replaced).every(([i, word]) => /^\d+$/.test(i) && typeof word === "string"),
    "replaced must map numbers of source tokens to text",
  );
  return newState({
    text,
    beam,
    switchedOff,
    edits: edits.map(readEdit),
    replaced: /** @type {Record<string, string>} */ (replaced),
    prefix,
    model,
    part,
  });
}

/** @param {State} a @param {State} b */
export function sameState(a, b) {
  return canonical(a) === canonical(b);
}

/** Whether anything is changed in the text or in the model. @param {State} state */
export function disturbed(state) {
  return (
    state.switchedOff.length + state.edits.length + Object.keys(state.replaced).length > 0 ||
    state.prefix !== ""
  );
}

/** The same part of the same text, without any change. @param {State} state @returns {State} */
export function undisturbed(state) {
  return newState({ text: state.text, beam: state.beam, model: state.model, part: state.part });
}

/** @param {State} state @param {string} name of a head or a module */
export function isOff(state, name) {
  const place = parseName(name);
  return (
    state.switchedOff.includes(name) ||
    (place !== null && state.switchedOff.includes(moduleName(place.kind, place.layer)))
  );
}

/**
 * Switches a head off, or on again; with head null, every head of a layer.
 * Where all heads of a module are off, the state names the module instead of the heads.
 * @param {State} state
 * @param {import("./names.js").Place} place
 * @param {number} heads  of the model
 * @returns {State}
 */
export function toggled(state, { kind, layer, head }, heads) {
  const module = moduleName(kind, layer);
  const all = Array.from({ length: heads }, (_, h) => headName(kind, layer, h));
  const rest = state.switchedOff.filter((name) => name !== module && !all.includes(name));
  let off = all.filter((name) => isOff(state, name));
  if (head === null) off = off.length === heads ? [] : all;
  else if (off.includes(all[head])) off = off.filter((name) => name !== all[head]);
  else off = [...off, all[head]];
  return newState({ ...state, switchedOff: [...rest, ...(off.length === heads ? [module] : off)] });
}

/**
 * Adds an edit to a head. Uniform and diagonal replace all earlier edits of the head. Cells are added
 * to the edit of the same kind, and removed from the edit of the other kind.
 * @param {State} state @param {Edit} edit @returns {State}
 */
export function edited(state, edit) {
  const others = state.edits.filter(({ head }) => head !== edit.head);
  if (!edit.cells) return newState({ ...state, edits: [...others, edit] });
  const spelled = new Set(edit.cells.map(String));
  /** @type {Record<"block" | "force", [number, number][]>} */
  const cells = { block: [], force: [] };
  for (const { head, kind, cells: old } of state.edits)
    if (head === edit.head && (kind === "block" || kind === "force"))
      cells[kind].push(...(old ?? []).filter((cell) => !spelled.has(String(cell))));
  cells[/** @type {"block" | "force"} */ (edit.kind)].push(...edit.cells);
  /** @type {Edit[]} */
  const mine = [];
  for (const kind of /** @type {const} */ (["block", "force"]))
    if (cells[kind].length)
      mine.push({
        head: edit.head,
        kind,
        cells: cells[kind].sort(([a, b], [c, d]) => a - c || b - d),
      });
  return newState({ ...state, edits: [...others, ...mine] });
}

/** Removes the edits of a head. @param {State} state @param {string} head @returns {State} */
export function unedited(state, head) {
  return newState({ ...state, edits: state.edits.filter((edit) => edit.head !== head) });
}

/** Replaces a source token by another; null restores it. @param {State} state @param {number} index @param {string | null} text */
export function withReplaced(state, index, text) {
  const replaced = { ...state.replaced };
  if (text === null) delete replaced[index];
  else replaced[index] = text;
  return newState({ ...state, replaced });
}

/**
 * Another sentence. Heads stay as they are; changes at positions of the old sentence are left out.
 * @param {State} state @param {string} text @returns {State}
 */
export function withText(state, text) {
  const edits = state.edits.filter(({ cells }) => !cells);
  return newState({ ...state, text, edits, replaced: {}, prefix: "", part: 0 });
}

/** Another part of the same text, in the same way. @param {State} state @param {number} part @returns {State} */
export function withPart(state, part) {
  return part === state.part ? state : newState({ ...withText(state, state.text), part });
}
