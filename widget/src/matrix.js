// The weights as a matrix of numbers with labels on both axes. Dragging chooses cells.
import { range } from "./attention.js";
import { css, inkOn, scale } from "./colour.js";
import { isolated, make, number, put } from "./dom.js";
import { moved, paint } from "./scene.js";

/** @typedef {import("./selection.js").Selection} Selection */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./scene.js").Mark} Mark */
/** @typedef {[number, number]} Cell  row, column */
/** @typedef {{blocked: Set<string>, forced: Set<string>}} Marked  cells as "row,column" */

const SMALLEST = 13; // pixels of a cell: its labels stay readable
const LARGEST = 34;
const FOR_NUMBERS = 30;
const MOST_NUMBERS = 60 * 60; // cells; beyond, a canvas with numbers would be larger than browsers draw

/** @param {number} weight */
function brief(weight) {
  const size = Math.abs(weight);
  if (size < 0.005) return "";
  const text = size >= 0.995 ? weight.toFixed(size >= 10 ? 0 : 1) : weight.toFixed(2).replace(/^(-?)0/, "$1");
  return text.replace("-", "−");
}

/** Room for the longest label. @param {string[]} labels @param {number} size */
function labelRoom(labels, size) {
  const longest = Math.max(0, ...labels.map((text) => Math.min([...text].length, 16)));
  return Math.ceil(longest * size * 0.58) + 10;
}

/** @param {string} text */
function shortened(text) {
  const characters = [...text];
  return characters.length > 16 ? `${characters.slice(0, 15).join("")}…` : text;
}

/** How large to draw. @param {Selection} selection @param {number} width  of the page's room @param {boolean} numbers */
export function layout({ matrix, rows, columns }, width, numbers) {
  const left = labelRoom(rows.labels, 12);
  const room = (width - left - 2) / matrix.columns;
  const withNumbers = numbers && matrix.rows * matrix.columns <= MOST_NUMBERS;
  const cell = Math.max(Math.min(Math.floor(room), LARGEST), withNumbers ? FOR_NUMBERS : SMALLEST);
  return { cell, left, top: labelRoom(columns.labels, 12), font: Math.min(12, cell - 2) };
}

/** @typedef {ReturnType<typeof layout>} Layout */

/** The cells. @param {Selection} selection @param {Layout} layout @param {import("./colour.js").Palette} palette @param {Marked} marked @returns {Scene} */
export function cellsScene({ matrix }, { cell }, palette, { blocked, forced }) {
  const colour = scale(palette, range(matrix.data));
  /** @type {Mark[]} */
  const marks = [];
  for (let row = 0; row < matrix.rows; row++)
    for (let column = 0; column < matrix.columns; column++) {
      const weight = matrix.data[row * matrix.columns + column];
      const fill = colour(weight);
      const x = column * cell;
      const y = row * cell;
      marks.push({ mark: "rect", x, y, width: cell - 1, height: cell - 1, fill: css(fill) });
      const key = `${row},${column}`;
      const middle = { x: x + (cell - 1) / 2, y: y + (cell - 1) / 2 };
      if (blocked.has(key))
        marks.push(
          { mark: "line", x1: x + 3, y1: y + 3, x2: x + cell - 4, y2: y + cell - 4, stroke: palette.warm, width: 2 },
          { mark: "line", x1: x + cell - 4, y1: y + 3, x2: x + 3, y2: y + cell - 4, stroke: palette.warm, width: 2 },
        );
      else if (cell >= FOR_NUMBERS && brief(weight))
        marks.push({ mark: "text", ...middle, text: brief(weight), fill: inkOn(fill), size: 11, anchor: "middle" });
      if (forced.has(key)) marks.push({ mark: "rect", x: x + 1, y: y + 1, width: cell - 3, height: cell - 3, stroke: palette.warm });
    }
  return { width: matrix.columns * cell, height: matrix.rows * cell, marks };
}

/** @param {string[]} labels @param {Layout} layout @param {import("./colour.js").Palette} palette @returns {Scene} */
function rowLabels(labels, { cell, left, font }, palette) {
  return {
    width: left,
    height: labels.length * cell,
    marks: labels.map((text, i) => ({ mark: "text", x: left - 6, y: (i + 0.5) * cell, text: shortened(text), fill: palette.ink, size: font, anchor: "end" })),
  };
}

/** @param {string[]} labels @param {Layout} layout @param {import("./colour.js").Palette} palette @returns {Scene} */
function columnLabels(labels, { cell, top, font }, palette) {
  return {
    width: labels.length * cell,
    height: top,
    marks: labels.map((text, i) => ({ mark: "text", x: (i + 0.5) * cell, y: top - 6, text: shortened(text), fill: palette.ink, size: font, turn: -90 })),
  };
}

/** The whole matrix, for a picture. @param {Selection} selection @param {import("./colour.js").Palette} palette @param {Marked} marked @returns {Scene} */
export function matrixScene(selection, palette, marked) {
  const plan = layout(selection, 1200, true);
  const { left, top } = plan;
  const body = cellsScene(selection, plan, palette, marked);
  const head = 18;
  return {
    width: left + body.width + 22,
    height: head + top + body.height + 4,
    marks: [
      { mark: "text", x: left, y: 9, text: `${selection.columns.title} →`, fill: palette.muted, size: 11 },
      { mark: "text", x: left + body.width + 10, y: head + top, text: `${selection.rows.title} →`, fill: palette.muted, size: 11, turn: 90 },
      ...moved(columnLabels(selection.columns.labels, plan, palette).marks, left, head),
      ...moved(rowLabels(selection.rows.labels, plan, palette).marks, 0, head + top),
      ...moved(body.marks, left, head + top),
    ],
  };
}

/** Every cell between two corners. @param {Cell} a @param {Cell} b @returns {Cell[]} */
export function between([r1, c1], [r2, c2]) {
  /** @type {Cell[]} */
  const cells = [];
  for (let row = Math.min(r1, r2); row <= Math.max(r1, r2); row++)
    for (let column = Math.min(c1, c2); column <= Math.max(c1, c2); column++) cells.push([row, column]);
  return cells;
}

/**
 * The live matrix.
 * @param {() => import("./colour.js").Palette} palette
 * @param {boolean} editable  whether cells can be blocked and forced
 * @param {(cells: Cell[]) => void} choose  called with the cells that are chosen
 */
export function matrixView(palette, editable, choose) {
  const cells = make("canvas", { "aria-hidden": "true" });
  const overlay = make("div", { class: "chosen-cells", "aria-hidden": "true" });
  const rowCanvas = make("canvas", { class: "row-labels", "aria-hidden": "true" });
  const columnCanvas = make("canvas", { class: "column-labels", "aria-hidden": "true" });
  const board = make("div", { class: "board", tabindex: 0, role: "application", "aria-roledescription": "matrix", "aria-label": `Weights: arrow keys move, with Shift they choose more${editable ? ", b blocks, f forces" : ""}` }, cells, overlay);
  const corner = make("span", { class: "matrix-corner" });
  const scroll = make("div", { class: "matrix-scroll" }, corner, columnCanvas, rowCanvas, board);
  const said = make("p", { class: "said", "aria-live": "polite" });
  const titles = make("p", { class: "quiet" });
  const element = make("div", { class: "matrix" }, titles, scroll, said);
  /** @type {Selection | null} */ let selection = null;
  /** @type {Layout} */ let plan;
  /** @type {Set<string>} */ let chosen = new Set();
  /** @type {Cell | null} */ let anchor = null;
  /** @type {Cell} */ let cursor = [0, 0];
  let numbers = true;
  /** @type {Marked} */ let marked = { blocked: new Set(), forced: new Set() };

  const draw = () => {
    if (!selection || !element.clientWidth) return;
    plan = layout(selection, element.clientWidth, numbers);
    paint(cells, cellsScene(selection, plan, palette(), marked));
    paint(rowCanvas, rowLabels(selection.rows.labels, plan, palette()));
    paint(columnCanvas, columnLabels(selection.columns.labels, plan, palette()));
    showChosen();
  };
  const list = () => [...chosen].map((key) => /** @type {Cell} */ (key.split(",").map(Number)));
  const showChosen = () => {
    put(overlay, ...list().map(([row, column]) =>
      make("span", { style: `left:${column * plan.cell}px;top:${row * plan.cell}px;width:${plan.cell - 1}px;height:${plan.cell - 1}px` })));
    choose(list());
  };
  /** @param {Cell} cell */
  const say = ([row, column]) => {
    if (!selection) return;
    const { matrix, rows, columns } = selection;
    put(said, isolated(rows.labels[row]), " → ", isolated(columns.labels[column]), ": ", make("strong", {}, number(matrix.data[row * matrix.columns + column])));
  };
  /** @param {PointerEvent} event @returns {Cell | null} */
  const at = (event) => {
    if (!selection) return null;
    const box = cells.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / plan.cell);
    const row = Math.floor((event.clientY - box.top) / plan.cell);
    const inside = row >= 0 && column >= 0 && row < selection.matrix.rows && column < selection.matrix.columns;
    return inside ? [row, column] : null;
  };

  board.addEventListener("pointerdown", (event) => {
    const cell = at(event);
    if (!cell || event.button) return;
    cursor = cell;
    if (event.pointerType === "touch") {
      // On a touch screen dragging scrolls, so a tap selects a cell or deselects it.
      const key = String(cell);
      if (!chosen.delete(key)) chosen.add(key);
    } else {
      anchor = cell;
      board.setPointerCapture(event.pointerId);
      if (!event.ctrlKey && !event.metaKey) chosen = new Set();
      chosen.add(String(cell));
    }
    say(cell);
    showChosen();
  });
  board.addEventListener("pointermove", (event) => {
    const cell = at(event);
    if (!cell) return;
    say(cell);
    if (!anchor) return;
    chosen = new Set(between(anchor, cell).map(String));
    showChosen();
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => (anchor = null));
  board.addEventListener("keydown", (event) => {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === "Escape") chosen = new Set();
    else if (!selection || (!down && !right)) return;
    else {
      const start = anchor ?? cursor;
      cursor = [
        Math.min(Math.max(cursor[0] + down, 0), selection.matrix.rows - 1),
        Math.min(Math.max(cursor[1] + right, 0), selection.matrix.columns - 1),
      ];
      anchor = event.shiftKey ? start : null;
      chosen = new Set(between(anchor ?? cursor, cursor).map(String));
      say(cursor);
    }
    event.preventDefault();
    showChosen();
  });
  board.addEventListener("keyup", (event) => event.key === "Shift" && (anchor = null));
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);

  /** @param {Selection} next @param {Marked} marks @param {boolean} withNumbers */
  const update = (next, marks, withNumbers) => {
    if (!selection || selection.matrix.rows !== next.matrix.rows || selection.matrix.columns !== next.matrix.columns) chosen = new Set();
    selection = next;
    marked = marks;
    numbers = withNumbers;
    const { least, most } = range(next.matrix.data);
    put(titles, `rows: ${next.rows.title} · columns: ${next.columns.title} · from ${number(Math.abs(least) < 5e-4 ? 0 : least)} to ${number(most)}`);
    draw();
  };
  const clear = () => {
    chosen = new Set();
    showChosen();
  };
  return { element, update, clear, board };
}
