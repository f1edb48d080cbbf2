// The tree of the beam search: every hypothesis with its tokens, its score, and where it was dropped.
import { make, number, percent, put } from "./dom.js";
import { newState } from "./state.js";
import { HALF_CHARACTER, pathText, visible } from "./tokens.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./protocol.js").Node} Node */
/** @typedef {{node: Node, x: number, y: number, best: boolean}} Place */

const ROW = 26;
const LETTER = 7.4;
const ROOM = 26;
const SVG = "http://www.w3.org/2000/svg";

/** From the first token to a node. @param {Node[]} nodes @param {Node} node @returns {Node[]} */
export function pathTo(nodes, node) {
  const known = new Map(nodes.map((one) => [one.number, one]));
  const path = [];
  for (let here = /** @type {Node | undefined} */ (node); here; here = here.parent === null ? undefined : known.get(here.parent)) path.unshift(here);
  return path;
}

/** Where every hypothesis begins; the tree of an answer begins with the first tokens. */
const START = -1;

/** @param {Node} node */
function nodeText({ number, text }) {
  return number === START ? "⟨start⟩" : visible(text);
}

/** The tree with its root. @param {Node[]} nodes @returns {Node[]} */
function rooted(nodes) {
  const step = Math.min(...nodes.map((node) => node.step)) - 1;
  /** @type {Node} */
  const root = { number: START, parent: null, step, id: START, text: "", log_probability: 0, score: 0, fate: "alive" };
  return [root, ...nodes.map((node) => (node.parent === null ? { ...node, parent: START } : node))];
}

/**
 * The position of each node. Each step has a column, wide enough for its tokens. The best hypothesis
 * has the top row; each other one has the first row that is free from its parent's step to its end.
 * @param {Node[]} nodes
 * @returns {{places: Map<number, Place>, width: number, height: number}}
 */
export function treeLayout(nodes) {
  const best = new Set([START, ...nodes.flatMap(({ number: id, fate }) => (fate === "best" ? [id] : []))]);
  const all = rooted(nodes);
  const first = all[0].step;
  /** @type {Map<number | null, Node[]>} */
  const children = new Map();
  for (const node of all) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const rank = (/** @type {Node} */ node) => (best.has(node.number) ? Infinity : (node.score ?? -Infinity));
  /** @type {number[]} */
  const widths = [];
  for (const node of all) widths[node.step - first] = Math.max(widths[node.step - first] ?? 0, [...nodeText(node)].length * LETTER + ROOM);
  const lefts = widths.map((_, i) => widths.slice(0, i).reduce((sum, width) => sum + width, 4));
  /** First column that each row is free from, counted from the right. @type {number[]} */
  const taken = [];
  /** @type {Map<number, Place>} */
  const places = new Map();
  /** @param {Node} node @param {number} row */
  const put = (node, row) => {
    // The best child of a node stays in the node's row.
    const stack = [node];
    for (let here = node; ; ) {
      const [next] = [...(children.get(here.number) ?? [])].sort((a, b) => rank(b) - rank(a));
      if (!next) break;
      stack.push((here = next));
    }
    for (const one of stack) places.set(one.number, { node: one, x: lefts[one.step - first], y: (row + 0.5) * ROW, best: best.has(one.number) });
    taken[row] = node.step;
    for (const one of stack.slice(0, -1).reverse()) {
      const [, ...others] = [...(children.get(one.number) ?? [])].sort((a, b) => rank(b) - rank(a));
      for (const other of others) {
        let free = row + 1;
        while (taken[free] !== undefined && taken[free] <= lastStep(other)) free++;
        put(other, free);
      }
    }
  };
  /** @param {Node} node @returns {number} */
  const lastStep = (node) => {
    const [next] = [...(children.get(node.number) ?? [])].sort((a, b) => rank(b) - rank(a));
    return next ? lastStep(next) : node.step + 1;
  };
  put(all[0], 0);
  const width = Math.max(0, ...widths.map((size, i) => lefts[i] + size)) + 8;
  return { places, width, height: Math.max(1, taken.length) * ROW + 6 };
}

/** @type {Record<Node["fate"], string>} */
const FATES = { alive: "went on", dropped: "fell out of the beam", finished: "finished, but not the best", best: "the translation" };
/** @type {Record<Node["fate"], string>} */
const SIGNS = { alive: "", dropped: " ×", finished: " ◦", best: " ●" };

/** @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Record<string, string | number>} attributes @returns {SVGElementTagNameMap[Tag]} */
function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** @param {Context} context */
export function beamTree({ about, study }) {
  const lines = svg("svg", { class: "tree-lines", "aria-hidden": "true" });
  const board = make("div", { class: "tree" });
  const said = make("p", { class: "said", "aria-live": "polite" });
  const legend = make("p", { class: "quiet" }, `● the translation   ◦ finished   × fell out of the beam.${about.live ? " Click a hypothesis: the translation then begins with it." : ""}`);
  const element = make("div", {}, legend, make("div", { class: "scroll" }, board), said);
  /** @type {unknown} */
  let drawn = null;

  /** @param {Node[]} nodes @param {Place} place */
  const nodeButton = (nodes, { node, x, y, best }) => {
    const path = pathTo(nodes, node);
    const ended = node.fate === "finished" || (node.fate === "best" && !nodes.some(({ parent }) => parent === node.number));
    const text = pathText(ended ? path.slice(0, -1) : path); // the end itself is no text
    const half = text === null;
    const say = () => {
      const share = node.log_probability === null ? "" : ` · ${percent(Math.exp(node.log_probability))}`;
      put(said, make("bdi", {}, half ? "(part of a character)" : text || "(no token yet)"), make("span", { class: "quiet" }, ` — token ${node.step}${share} · score ${node.score === null ? "−∞" : number(node.score)} · ${FATES[node.fate]}`));
    };
    const force = () => {
      if (text !== null) study.change(newState({ ...study.state, prefix: text }), `“${visible(text)}” forced`);
    };
    return make("button", { type: "button", class: `tree-node ${node.fate}${best ? " on-best" : ""}`, style: `left:${x}px;top:${y - 11}px`, onclick: about.live ? force : say, onmouseenter: say, onfocus: say, disabled: half, title: half ? HALF_CHARACTER : undefined, "aria-label": `${nodeText(node)}: ${FATES[node.fate]}` },
      make("bdi", {}, nodeText(node)), node.fate !== "best" || ended ? SIGNS[node.fate] : "");
  };

  const update = () => {
    const { translation } = study;
    if (!translation || translation === drawn) return;
    drawn = translation;
    const nodes = translation.beamTree;
    if (!nodes.length) return put(board, make("p", { class: "quiet" }, "There is no beam to show for this translation."));
    const { places, width, height } = treeLayout(nodes);
    board.style.width = `${width}px`;
    board.style.height = `${height}px`;
    for (const [name, value] of Object.entries({ width, height })) lines.setAttribute(name, String(value));
    put(lines);
    for (const place of places.values()) {
      const from = place.node.parent === null ? null : places.get(place.node.parent);
      if (!from) continue;
      const start = from.x + 14;
      const d = from.y === place.y ? `M${start} ${from.y}H${place.x}` : `M${start} ${from.y + 8}C${start} ${place.y} ${start} ${place.y} ${place.x} ${place.y}`;
      lines.append(svg("path", { d, class: `${place.node.fate}${place.best ? " on-best" : ""}` }));
    }
    put(board, lines, ...[...places.values()].map((place) => nodeButton(nodes, place)));
    return undefined;
  };
  return { element, update };
}
