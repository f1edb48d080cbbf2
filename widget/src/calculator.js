// One query's attention, with every number: the paper's equation 1, step by step.
import { axes, range } from "./attention.js";
import { css, inkOn, scale } from "./colour.js";
import { isolated, make, number, put, WAITING } from "./dom.js";
import { moduleName, TITLES } from "./names.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./float16.js").Tensor} Tensor */
/** @typedef {{calculation: import("./protocol.js").Calculation, arrays: Record<string, Tensor>}} Found */

const BY_KEY = ["products", "scaled", "mask", "weights"];
const LONGEST = 256; // numbers of a long vector that are drawn

/** A vector as a strip of colours; pointing at a colour shows its number. @param {ArrayLike<number>} numbers @param {import("./colour.js").Palette} palette */
function strip(numbers, palette) {
  const values = Array.from(numbers).slice(0, LONGEST);
  const { least, most } = range(values);
  const colour = scale(palette, { least: Math.min(least, -1e-9), most });
  const canvas = make("canvas", { class: "strip", role: "img", "aria-label": `${numbers.length} numbers from ${number(least)} to ${number(most)}` });
  canvas.width = values.length;
  canvas.height = 1;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(values.length, 1);
  values.forEach((value, i) => image.data.set([...colour(value), 255], 4 * i));
  context.putImageData(image, 0, 0);
  const told = make("span", { class: "quiet figure strip-number" }, `${number(least)} … ${number(most)}`);
  canvas.addEventListener("pointermove", (event) => {
    const i = Math.min(values.length - 1, Math.max(0, Math.floor((event.offsetX / canvas.clientWidth) * values.length)));
    put(told, `[${i}] = ${number(values[i])}`);
  });
  canvas.addEventListener("pointerleave", () => put(told, `${number(least)} … ${number(most)}`));
  return make("span", { class: "strip-row" }, canvas, told);
}

/** A table with one row of numbers for each key. @param {Found} found @param {string[]} labels @param {import("./colour.js").Palette} palette */
function keyTable({ arrays }, labels, palette) {
  const [, width] = arrays.keys?.shape ?? [0, 0];
  const colour = scale(palette, range(arrays.weights.data));
  const rows = labels.map((text, s) => {
    const seen = !arrays.mask || arrays.mask.data[s] > 0;
    const weight = colour(arrays.weights.data[s]);
    return make("tr", { class: seen ? "" : "hidden-key" },
      make("th", { scope: "row" }, isolated(text)),
      make("td", { class: "wide" }, strip(arrays.keys.data.subarray(s * width, (s + 1) * width), palette)),
      make("td", {}, number(arrays.products.data[s])),
      make("td", {}, number(arrays.scaled.data[s])),
      make("td", {}, seen ? "✓" : "−∞"),
      make("td", { style: `background:${css(weight)};color:${inkOn(weight)}` }, number(arrays.weights.data[s])),
      make("td", { class: "wide" }, strip(arrays.values.data.subarray(s * width, (s + 1) * width), palette)));
  });
  const heads = ["key of", "k", "q · k", "÷ √d_k", "may look", "softmax", "v"];
  return make("div", { class: "scroll" }, make("table", { class: "keys" }, make("thead", {}, make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words)))), make("tbody", {}, ...rows)));
}

/** @param {number[] | undefined} shape */
const shapeWords = (shape) => (shape ? `[${shape.join(" × ")}]` : "");

/** Every step in words; the numbers by key stand in one table. @param {Found} found @param {string[]} labels @param {import("./colour.js").Palette} palette */
function steps(found, labels, palette) {
  const { calculation, arrays } = found;
  const list = make("ol", { class: "steps" });
  for (const { name, title, words, formula } of calculation.steps) {
    const item = make("li", {},
      make("div", { class: "step-head" }, make("strong", {}, title), make("code", {}, formula), make("span", { class: "quiet figure" }, shapeWords(calculation.shapes[name]))),
      make("p", { class: "quiet" }, words));
    const data = arrays[name];
    if (data && !BY_KEY.includes(name) && data.shape.length === 1) item.append(strip(data.data, palette));
    if (name === "weights") item.append(keyTable(found, labels, palette));
    list.append(item);
  }
  return list;
}

/** @param {Context} context */
export function calculatorPart({ study, view, palette }) {
  const query = make("select", { "aria-label": "Query" });
  const what = make("span", { class: "quiet" });
  const body = make("div");
  const element = make("div", { class: "calculator" }, make("div", { class: "row" }, make("label", { class: "quiet" }, "query ", query), what), body);
  let chosen = 0;
  let stamp = 0;
  const update = async () => {
    const { translation } = study;
    if (!translation) return;
    const { kind, heads } = view.look;
    const [[layer, head]] = heads;
    const { rows, columns } = axes(kind, translation, false);
    chosen = Math.min(chosen, rows.labels.length - 1);
    put(query, ...rows.labels.map((text, i) => make("option", { value: i }, `${i} ${text}`)));
    query.value = String(chosen);
    put(what, `${rows.title} · ${TITLES[kind]}, layer ${layer}, head ${head}${heads.length > 1 ? " (the first of those chosen)" : ""}`);
    const mine = ++stamp;
    if (!body.firstChild) put(body, WAITING);
    try {
      const found = await study.calculator(moduleName(kind, layer), head, chosen);
      if (mine === stamp) put(body, steps(found, columns.labels, palette()));
    } catch (error) {
      if (mine === stamp) put(body, make("p", { class: "note" }, /** @type {Error} */ (error).message));
    }
  };
  query.addEventListener("change", () => {
    chosen = Number(query.value);
    update();
  });
  return { element, update };
}
