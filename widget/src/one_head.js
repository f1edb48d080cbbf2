// The chosen heads: their lines, their matrix, and the buttons that change them.
import { button, make, put, signed } from "./dom.js";
import { headView } from "./head_view.js";
import { matrixView } from "./matrix.js";
import { headName, TITLES } from "./names.js";
import { selection } from "./selection.js";
import { edited, isOff, toggled, unedited } from "./state.js";
import { switched } from "./switching.js";
import { headsOf } from "./view_state.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./matrix.js").Marked} Marked */
/** @typedef {import("./selection.js").Selection} Selection */

/**
 * "Cross-attention · layer 3 · head 5", or how many of them; plain weights are of an unknown kind.
 * @param {import("./view_state.js").Look} look @param {string} [plain]
 */
export function chosenWords({ kind, heads, merge }, plain) {
  const [[layer, head]] = heads;
  const title = plain ? "Attention" : TITLES[kind];
  if (heads.length === 1) return `${title} · layer ${layer} · head ${head}`;
  return `${title} · ${merge} of ${heads.length} heads`;
}

/** Which labels' cells an edit of the chosen heads covers. @param {import("./state.js").State} state @param {string[]} names @param {Selection} shown @returns {Marked} */
function markedCells(state, names, { rows, columns }) {
  /** @type {Marked} */
  const marked = { blocked: new Set(), forced: new Set() };
  for (const { head, kind, cells } of state.edits)
    for (const [t, s] of (names.includes(head) && cells) || []) {
      const row = rows.groups.findIndex((group) => group.includes(t));
      const column = columns.groups.findIndex((group) => group.includes(s));
      (kind === "block" ? marked.blocked : marked.forced).add(`${row},${column}`);
    }
  return marked;
}

/** @param {Context} context */
export function oneHead(context) {
  const { about, study, view, palette } = context;
  const lines = headView(palette);
  /** @type {import("./matrix.js").Cell[]} */
  let cells = [];
  /** @type {Selection | null} */
  let shown = null;
  const whole = make("div", { class: "row" });
  const some = make("div", { class: "row cell-actions" });
  const problem = make("p", { class: "note", hidden: true });
  const matrix = matrixView(palette, about.live, (chosen) => {
    cells = chosen;
    actions();
  });
  const drawings = make("div", { class: "two-views" },
    make("figure", { class: "lines-figure" }, make("figcaption", { class: "quiet" }, "Point at a token to see its lines; click to pin it."), lines.element),
    make("figure", { class: "matrix-figure" }, matrix.element, about.live && some),
  );
  const element = make("div", { class: "one-head" }, whole, problem, drawings);

  /** Token positions behind the chosen cells; cells in the decoder's future are left out. @returns {[number, number][]} */
  const positions = () => {
    if (!shown) return [];
    const { rows, columns } = shown;
    return cells.flatMap(([row, column]) =>
      rows.groups[row].flatMap((t) => columns.groups[column].filter((s) => view.look.kind !== "decoder" || s <= t).map((s) => /** @type {[number, number]} */ ([t, s]))),
    );
  };
  /** @param {import("./state.js").EditKind} kind @param {string} words */
  const edit = (kind, words) => {
    const chosen = kind === "block" || kind === "force" ? positions() : undefined;
    if (chosen && !chosen.length) return;
    const names = view.names();
    study.change(names.reduce((state, head) => edited(state, { head, kind, cells: chosen }), study.state), words);
    matrix.clear();
  };
  const block = () => edit("block", `${positions().length} cells blocked`);
  const force = () => edit("force", `${positions().length} cells forced`);
  matrix.board.addEventListener("keydown", (event) => {
    if (!about.live) return;
    if (event.key === "b") block();
    else if (event.key === "f") force();
  });

  const actions = () => {
    const count = cells.length;
    put(some, make("span", { class: "quiet" }, count ? `${count} cell${count > 1 ? "s" : ""} chosen` : "Drag over cells to choose them"),
      button("Block", block, { disabled: !count, title: "These cells get no weight (b)" }),
      button("Force", force, { disabled: !count, title: "All weight of the row goes to these cells (f)" }));
  };
  const headActions = () => {
    const { config } = context.model();
    if (headsOf(view.look, config).length < view.look.heads.length) return put(whole); // this model has no such head
    const names = view.names();
    const off = names.every((name) => isOff(study.state, name));
    const changed = names.some((name) => study.state.edits.some(({ head }) => head === name));
    const effect = names.length === 1 && study.effects.get(names[0]);
    const { kind, heads } = view.look;
    const places = heads.map(([layer, head]) => ({ kind, layer, head }));
    let state = study.state;
    for (const place of places)
      if (isOff(state, headName(kind, place.layer, place.head)) === off) state = toggled(state, place, config.heads);
    const next = places.length === 1 ? switched(context, places[0]) : context.can(state) ? state : null;
    const flip = () => next && study.change(next, `${off ? "on" : "off"}: ${chosenWords(view.look).toLowerCase()}`);
    const restore = () => study.change(names.reduce(unedited, study.state), "weights restored");
    return put(whole,
      next && button(off ? "Switch on" : "Switch off", flip, { class: "primary", "aria-pressed": off }),
      about.live && button("Uniform", () => edit("uniform", "uniform weights"), { title: "Every token gets the same weight" }),
      about.live && button("Diagonal", () => edit("diagonal", "diagonal weights"), { title: "Each position looks at the same position" }),
      about.live && changed && button("Restore weights", restore),
      off && make("span", { class: "quiet" }, "Switched off: this head adds nothing to the sum of the heads."),
      effect && make("span", { class: "facts" }, `switched off alone: log-probability ${signed(effect.change)}`),
    );
  };

  let stamp = 0;
  const update = async () => {
    if (!study.translation) return;
    headActions();
    const mine = ++stamp;
    try {
      const found = await selection(study, view.look);
      if (mine !== stamp) return;
      shown = found;
      problem.hidden = true;
      drawings.hidden = false;
      lines.update(shown);
      matrix.update(shown, markedCells(study.state, view.names(), shown), view.look.numbers);
      actions();
    } catch (error) {
      if (mine !== stamp) return;
      shown = null; // the drawing of the previous head must not be shown under this head's name
      drawings.hidden = true;
      put(problem, /** @type {Error} */ (error).message);
      problem.hidden = false;
    }
  };
  return { element, update, selection: () => shown, focus: lines.focus, marked: () => (shown ? markedCells(study.state, view.names(), shown) : null) };
}

