// All heads at once: small maps, layers × heads, for each kind of attention.
import { range } from "./attention.js";
import { css, scale, signedColourOf, inkOn } from "./colour.js";
import { make, number, put, signed } from "./dom.js";
import { headName, moduleName, TITLES } from "./names.js";
import { isOff } from "./state.js";
import { switched } from "./switching.js";
import { askedLens } from "./view_state.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./names.js").Kind} Kind */
/** @typedef {import("./float16.js").Tensor} Tensor */

/** Paints one head's small map, stretched over the canvas. @param {HTMLCanvasElement} canvas @param {Tensor} maps @param {number} layer @param {number} head @param {import("./colour.js").Palette} palette */
function paintMap(canvas, maps, layer, head, palette) {
  const [, heads, rows, columns] = maps.shape;
  const start = (layer * heads + Math.min(head, heads - 1)) * rows * columns;
  const data = maps.data.subarray(start, start + rows * columns);
  canvas.width = columns;
  canvas.height = rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(columns, rows);
  const colour = scale(palette, range(data));
  data.forEach((value, i) => image.data.set([...colour(value), 255], 4 * i));
  context.putImageData(image, 0, 0);
}

/** The order of a kind's heads: by a number, the largest first; unmeasured heads last. @param {[number, number][]} places @param {(layer: number, head: number) => number | undefined} value @returns {[number, number][]} */
export function sorted(places, value) {
  const known = places.map((place) => ({ place, value: value(...place) ?? -Infinity }));
  return known.sort((a, b) => b.value - a.value).map(({ place }) => place);
}

/** By how much the translation gets less probable. @param {import("./protocol.js").Effect | undefined} effect */
function harm(effect) {
  return effect && -effect.change;
}

/** One grid. @param {Context} context @param {Kind} kind */
export function headGrid(context, kind) {
  const { study, view } = context;
  const { config } = context.model();
  const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  const body = make("div", { class: "grid", role: "grid", "aria-label": TITLES[kind] });
  const problem = make("p", { class: "note", hidden: true });
  const element = make("figure", { class: "heads" }, make("figcaption", {}, make("h3", {}, TITLES[kind])), body, problem);
  /** @type {Map<string, {cell: HTMLButtonElement, canvas: HTMLCanvasElement, figure: HTMLElement}>} */
  const cells = new Map();
  /** @type {[number, number][]} */
  const places = [];

  /** @param {number} layer @param {number | null} head */
  const flip = (layer, head) => {
    const state = switched(context, { kind, layer, head });
    if (!state) return;
    const name = head === null ? moduleName(kind, layer) : headName(kind, layer, head);
    const where = `${kind} ${layer}${head === null ? ", every head" : `·${head}`}`;
    study.change(state, `${isOff(state, name) ? "off" : "on"}: ${where}`);
  };

  /** @param {number} layer @param {number} head */
  const makeCell = (layer, head) => {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const figure = make("span", { class: "map-figure", "aria-hidden": "true" });
    const named = make("span", { class: "map-name", "aria-hidden": "true" }, `${layer}·${head}`);
    const cell = make("button", { type: "button", class: "map", "data-layer": layer, "data-head": head, tabindex: -1 }, canvas, figure, named);
    cell.addEventListener("click", (event) => {
      if (context.switching()) return flip(layer, head);
      view.select(kind, layer, head, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    cell.addEventListener("keydown", (event) => {
      if (event.key === "o" || event.key === "Delete") flip(layer, head);
      else if (!walk(event)) return;
      event.preventDefault();
    });
    cells.set(`${layer}.${head}`, { cell, canvas, figure });
    places.push([layer, head]);
  };

  /** The arrow keys. @param {KeyboardEvent} event */
  const walk = (event) => {
    const all = /** @type {HTMLButtonElement[]} */ (Array.from(body.querySelectorAll(".map")));
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: config.heads, ArrowUp: -config.heads }[event.key];
    const next = step && all[all.indexOf(/** @type {HTMLButtonElement} */ (event.currentTarget)) + step];
    if (next) next.focus();
    return Boolean(step);
  };

  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < config.heads; head++) makeCell(layer, head);

  /** @type {(layer: number, head: number) => number | undefined} */
  let value = () => undefined;

  const arrange = () => {
    const order = view.look.order ? sorted(places, value) : places;
    const free = view.look.order !== "";
    /** @type {HTMLElement[]} */
    const items = [];
    if (!free) {
      items.push(make("span", { class: "corner", "aria-hidden": "true" }));
      for (let head = 0; head < config.heads; head++) items.push(make("span", { class: "axis", "aria-hidden": "true" }, String(head)));
    }
    order.forEach(([layer, head]) => {
      if (!free && head === 0 && !switched(context, { kind, layer, head: null }))
        items.push(make("span", { class: "axis" }, String(layer)));
      else if (!free && head === 0)
        items.push(make("button", { type: "button", class: "axis layer", title: `Switch layer ${layer} off or on`, "aria-label": `Layer ${layer}: switch every head off or on`, "aria-pressed": isOff(study.state, moduleName(kind, layer)), onclick: () => flip(layer, null) }, String(layer)));
      items.push(/** @type {HTMLElement} */ (cells.get(`${layer}.${head}`)?.cell));
    });
    const focused = body.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
    body.classList.toggle("sorted", free);
    put(body, ...items);
    if (focused?.isConnected) focused.focus();
  };

  /** @type {Tensor | null} */
  let maps = null;
  const paintAll = () => {
    const { look } = view;
    const palette = context.palette();
    const effects = [...study.effects.values()];
    const most = Math.max(0, ...effects.map(({ change }) => Math.abs(change)));
    let first = true;
    for (const [layer, head] of places) {
      const name = headName(kind, layer, head);
      const { cell, canvas, figure } = /** @type {NonNullable<ReturnType<typeof cells.get>>} */ (cells.get(`${layer}.${head}`));
      const chosen = look.kind === kind && look.heads.some(([l, h]) => l === layer && h === head);
      const off = isOff(study.state, name);
      const edited = study.state.edits.some((edit) => edit.head === name);
      cell.className = `map${chosen ? " chosen" : ""}${off ? " off" : ""}${edited ? " edited" : ""}`;
      cell.setAttribute("aria-pressed", String(chosen));
      cell.tabIndex = chosen || (look.kind !== kind && first) ? 0 : -1;
      first = false;
      const effect = study.effects.get(name);
      const measure = value(layer, head);
      if (look.lens === "effect") {
        const colour = signedColourOf(palette, effect?.change ?? 0, most);
        cell.style.setProperty("--tile", css(colour));
        cell.style.setProperty("--tile-ink", effect ? inkOn(colour) : palette.muted);
        put(figure, effect ? signed(Number(effect.change.toFixed(effect.change > -10 ? 2 : 0))).replace(/\.?0+$/, "") : "·");
      } else {
        if (maps) paintMap(canvas, maps, layer, head, palette);
        put(figure);
      }
      canvas.hidden = look.lens === "effect";
      const measured = look.order && measure !== undefined ? `, ${look.order} ${number(measure)}` : "";
      const words = `layer ${layer}, head ${head}${off ? ", switched off" : ""}${edited ? ", edited" : ""}${measured}`;
      cell.setAttribute("aria-label", words + (effect ? `, effect ${signed(effect.change)}` : ""));
      cell.title = `${words}${effect ? `\neffect of switching off: ${signed(effect.change)}\n${effect.text}` : ""}`;
    }
  };

  let stamp = 0;
  const update = async () => {
    if (!study.translation) return;
    const mine = ++stamp;
    body.classList.toggle("effects", view.look.lens === "effect");
    try {
      const { order, lens } = view.look;
      if (order === "effect") value = (layer, head) => harm(study.effects.get(headName(kind, layer, head)));
      else if (order) {
        const metrics = await study.metrics();
        value = (layer, head) => metrics[kind]?.[layer]?.[head]?.[order];
      } else value = () => undefined;
      const found = await study.maps(kind, askedLens(lens));
      if (mine !== stamp) return;
      maps = found;
      body.hidden = false;
      problem.hidden = true;
    } catch (error) {
      if (mine !== stamp) return;
      put(problem, /** @type {Error} */ (error).message);
      problem.hidden = false;
      body.hidden = true; // old maps must not be shown beside a new translation
    }
    arrange();
    paintAll();
  };
  return { element, update };
}
