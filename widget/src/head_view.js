// Lines between the tokens of one side and those they look at.
import { largest } from "./attention.js";
import { isolated, make, number, put } from "./dom.js";
import { paint } from "./scene.js";

/** @typedef {import("./selection.js").Selection} Selection */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {{side: "rows" | "columns", index: number} | null} Focus */

const STEP = 24; // pixels from token to token
const FAINT = 0.04; // lines below this share of the largest absolute weight are left out
const GAP = 6;

/** @param {Selection} selection @param {Focus} focus @param {number} row @param {number} column */
function inFocus({ rows }, focus, row, column) {
  if (!focus) return true;
  if (row >= rows.labels.length) return false;
  return focus.side === "rows" ? focus.index === row : focus.index === column;
}

/**
 * The lines without the tokens. The two columns of tokens are `width` apart.
 * @param {Selection} selection @param {Focus} focus @param {number} width @param {import("./colour.js").Palette} palette
 * @returns {Scene}
 */
export function linesScene(selection, focus, width, palette) {
  const { matrix, rows, columns } = selection;
  const widest = largest(matrix.data) || 1;
  /** @type {import("./scene.js").Mark[]} */
  const marks = [];
  for (let row = 0; row < matrix.rows; row++)
    for (let column = 0; column < matrix.columns; column++) {
      const weight = matrix.data[row * matrix.columns + column];
      const share = Math.abs(weight) / widest;
      if (share < FAINT || !inFocus(selection, focus, row, column)) continue;
      marks.push({
        mark: "curve",
        x1: GAP,
        y1: (row + 0.5) * STEP,
        x2: width - GAP,
        y2: (column + 0.5) * STEP,
        stroke: weight < 0 ? palette.warm : palette.accent,
        width: 0.6 + 3.2 * share,
        opacity: 0.12 + 0.88 * share,
      });
    }
  return { width, height: Math.max(rows.labels.length, columns.labels.length) * STEP, marks };
}

/** Lines and tokens, for a picture. @param {Selection} selection @param {Focus} focus @param {import("./colour.js").Palette} palette @returns {Scene} */
export function headScene(selection, focus, palette) {
  const between = 260;
  const side = 150;
  const lines = linesScene(selection, focus, between, palette);
  const top = 26;
  /** @type {import("./scene.js").Mark[]} */
  const marks = lines.marks.map((mark) => ("x1" in mark ? { ...mark, x1: mark.x1 + side, x2: mark.x2 + side, y1: mark.y1 + top, y2: mark.y2 + top } : mark));
  const { rows, columns } = selection;
  marks.push({ mark: "text", x: side - GAP, y: 10, text: rows.title, fill: palette.muted, size: 11, anchor: "end" });
  marks.push({ mark: "text", x: side + between + GAP, y: 10, text: columns.title, fill: palette.muted, size: 11 });
  rows.labels.forEach((text, i) => marks.push({ mark: "text", x: side - GAP, y: top + (i + 0.5) * STEP, text, fill: palette.ink, size: 13, anchor: "end" }));
  columns.labels.forEach((text, i) => marks.push({ mark: "text", x: side + between + GAP, y: top + (i + 0.5) * STEP, text, fill: palette.ink, size: 13 }));
  return { width: 2 * side + between, height: lines.height + top + 4, marks };
}

/** The live head view: hover or focus shows one token's lines, a click pins them. @param {() => import("./colour.js").Palette} palette */
export function headView(palette) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const left = make("ol", { class: "side-tokens rows" });
  const right = make("ol", { class: "side-tokens columns" });
  const leftTitle = make("span", { class: "axis-title" });
  const rightTitle = make("span", { class: "axis-title" });
  const middle = make("div", { class: "lines" }, canvas);
  const element = make("div", { class: "head-view" }, leftTitle, make("span"), rightTitle, left, middle, right);
  /** @type {Selection | null} */
  let selection = null;
  /** @type {Focus} */
  let pinned = null;
  /** @type {Focus} */
  let hovered = null;

  const draw = () => {
    if (!selection) return;
    const focus = hovered ?? pinned;
    paint(canvas, linesScene(selection, focus, Math.max(60, middle.clientWidth), palette()));
    const { matrix } = selection;
    const widest = largest(matrix.data) || 1;
    for (const [side, list] of /** @type {const} */ ([["rows", left], ["columns", right]]))
      Array.from(list.children).forEach((item, i) => {
        const token = /** @type {HTMLElement} */ (item.firstElementChild);
        const other = focus && focus.side !== side;
        const weight = !other ? 0 : side === "columns" ? matrix.data[focus.index * matrix.columns + i] : matrix.data[i * matrix.columns + focus.index];
        const share = Math.abs(weight) / widest;
        token.style.setProperty("--w", String(share));
        token.dataset.weight = other && share >= FAINT ? number(weight) : "";
        token.classList.toggle("focus", Boolean(focus && focus.side === side && focus.index === i));
        token.setAttribute("aria-pressed", String(Boolean(pinned && pinned.side === side && pinned.index === i)));
      });
  };

  /** @param {"rows" | "columns"} side @param {string} text @param {number} index */
  const token = (side, text, index) => {
    const mine = { side, index };
    const enter = () => ((hovered = mine), draw());
    const leave = () => ((hovered = null), draw());
    const pin = () => {
      pinned = pinned?.side === side && pinned.index === index ? null : mine;
      draw();
    };
    return make("li", {}, make("button", { type: "button", onmouseenter: enter, onmouseleave: leave, onfocus: enter, onblur: leave, onclick: pin, title: "Click to pin" }, isolated(text)));
  };

  new ResizeObserver(draw).observe(middle);
  /** @param {Selection} next */
  const update = (next) => {
    const same = selection && selection.rows.labels.join("\0") === next.rows.labels.join("\0") && selection.columns.labels.join("\0") === next.columns.labels.join("\0");
    selection = next;
    if (!same) {
      pinned = hovered = null;
      put(leftTitle, next.rows.title);
      put(rightTitle, next.columns.title);
      put(left, ...next.rows.labels.map((text, i) => token("rows", text, i)));
      put(right, ...next.columns.labels.map((text, i) => token("columns", text, i)));
    }
    draw();
  };
  return { element, update, focus: () => hovered ?? pinned };
}
