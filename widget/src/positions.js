// Positional encodings (section 3.5): the sinusoids, and that a shift of positions is linear.
import { signedColourOf } from "./colour.js";
import { make, number, put } from "./dom.js";
import { paint } from "./scene.js";

/** @typedef {import("./scene.js").Mark} Mark */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./colour.js").Palette} Palette */
/** @typedef {{width: number, base: number, positions: number, first: number, shift: number}} Settings  width: d_model */

/** PE(pos, 2i) = sin(pos / base^(2i/d_model)), PE(pos, 2i+1) = cos(the same). @param {number} position @param {number} dimension @param {Pick<Settings, "width" | "base">} settings */
export function encoding(position, dimension, { width, base }) {
  const angle = position / base ** ((dimension - (dimension % 2)) / width);
  return dimension % 2 ? Math.cos(angle) : Math.sin(angle);
}

/**
 * How far M·PE(pos) is from PE(pos + shift), at most: M turns each sine and its cosine by
 * shift / base^(2i/d_model), and does not depend on pos.
 * @param {Settings} settings
 */
export function shiftDeviation({ width, base, positions, shift }) {
  let largest = 0;
  for (let dimension = 0; dimension < width; dimension += 2) {
    const angle = shift / base ** (dimension / width);
    for (let position = 0; position < positions; position++) {
      const sin = encoding(position, dimension, { width, base });
      const cos = encoding(position, dimension + 1, { width, base });
      const moved = [Math.cos(angle) * sin + Math.sin(angle) * cos, -Math.sin(angle) * sin + Math.cos(angle) * cos];
      for (const part of [0, 1])
        largest = Math.max(largest, Math.abs(moved[part] - encoding(position + shift, dimension + part, { width, base })));
    }
  }
  return largest;
}

/** Four dimensions as curves over the positions. @param {Settings} settings @param {number} size @param {Palette} palette @returns {Scene} */
export function curvesScene(settings, size, palette) {
  const height = 220;
  const left = 34;
  const bottom = 24;
  const x = (/** @type {number} */ position) => left + (position / (settings.positions - 1)) * (size - left - 64);
  const y = (/** @type {number} */ value) => 8 + ((1 - value) / 2) * (height - bottom - 8);
  const strokes = [palette.accent, palette.warm, palette.ink, palette.muted];
  const dashes = [undefined, [7, 4], [2, 3], undefined];
  /** @type {Mark[]} */
  const marks = [-1, 0, 1].flatMap((value) => /** @type {Mark[]} */ ([
    { mark: "line", x1: left, x2: size - 60, y1: y(value), y2: y(value), stroke: palette.line },
    { mark: "text", x: left - 6, y: y(value), text: String(value).replace("-", "−"), fill: palette.muted, size: 11, anchor: "end" },
  ]));
  for (let i = 0; i < 4; i++) {
    const dimension = settings.first + i;
    if (dimension >= settings.width) break;
    const points = Array.from({ length: 4 * settings.positions - 3 }, (_, step) => /** @type {[number, number]} */ ([x(step / 4), y(encoding(step / 4, dimension, settings))]));
    marks.push({ mark: "path", points, stroke: strokes[i], width: 1.8, dash: dashes[i] });
    marks.push({ mark: "path", points: [[size - 54, 16 + 18 * i], [size - 34, 16 + 18 * i]], stroke: strokes[i], width: 1.8, dash: dashes[i] });
    marks.push({ mark: "text", x: size - 28, y: 16 + 18 * i, text: String(dimension), fill: palette.ink, size: 12 });
  }
  for (let position = 0; position < settings.positions; position += Math.max(1, Math.round(settings.positions / 10)))
    marks.push({ mark: "text", x: x(position), y: height - 10, text: String(position), fill: palette.muted, size: 11, anchor: "middle" });
  return { width: size, height, marks };
}

/** The whole table, positions across; dimensions down, first all sines, then all cosines. @param {HTMLCanvasElement} canvas @param {Settings} settings @param {Palette} palette */
function paintTable(canvas, settings, palette) {
  canvas.width = settings.positions;
  canvas.height = settings.width;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(settings.positions, settings.width);
  for (let dimension = 0; dimension < settings.width; dimension++) {
    const row = ((dimension % 2) * settings.width) / 2 + Math.floor(dimension / 2);
    for (let position = 0; position < settings.positions; position++) {
      const colour = signedColourOf(palette, encoding(position, dimension, settings), 1);
      image.data.set([...colour, 255], 4 * (row * settings.positions + position));
    }
  }
  context.putImageData(image, 0, 0);
}

/** @param {import("./app.js").Context} context */
export function positionsPart({ model, palette, study }) {
  const { d_model } = model().config;
  /** @type {Settings} */
  const settings = { width: d_model, base: 10_000, positions: 100, first: Math.min(4, d_model - 4), shift: 10 };
  const curves = make("canvas", { role: "img", "aria-label": "Four dimensions of the encoding over the positions" });
  const table = make("canvas", { class: "pe-table", role: "img", "aria-label": "The encoding of every position, dimensions from top to bottom" });
  const check = make("p", { class: "said", "aria-live": "polite" });
  const measured = make("p", { class: "quiet" });
  const legend = make("p", { class: "quiet" }, "every position (across) and dimension (down: the sines 0, 2, 4 …, then the cosines 1, 3, 5 …); blue: above zero, orange: below");
  const sliders = make("div", { class: "sliders" });
  const element = make("div", { class: "positions" }, sliders, make("div", { class: "two-views" }, make("figure", {}, curves), make("figure", {}, table, legend)), check, measured);

  const draw = () => {
    const size = Math.max(260, curves.parentElement?.clientWidth ?? 0);
    paint(curves, curvesScene(settings, size, palette()));
    paintTable(table, settings, palette());
    const deviation = shiftDeviation(settings);
    put(check, `Shift by ${settings.shift}: the matrix M with M·PE(pos) = PE(pos + ${settings.shift}) is the same for all ${settings.positions} positions; largest deviation ${number(deviation)}.`);
  };
  /** @param {string} words @param {"first" | "positions" | "shift" | "base"} name @param {number} least @param {number} most @param {(x: number) => number} [read] @param {(x: number) => number} [write] */
  const slider = (words, name, least, most, read = (x) => x, write = (x) => x) => {
    const told = make("output", {}, String(settings[name]));
    const input = make("input", { type: "range", min: least, max: most, value: write(settings[name]), "aria-label": words });
    input.addEventListener("input", () => {
      settings[name] = read(Number(input.value));
      put(told, String(settings[name]));
      draw();
    });
    return make("label", {}, make("span", { class: "quiet" }, words), input, told);
  };
  put(sliders,
    slider("first of four dimensions", "first", 0, Math.max(0, d_model - 4)),
    slider("positions", "positions", 10, 300),
    slider("shift k", "shift", 1, 100),
    slider("base", "base", 4, 24, (x) => Math.round(10 ** (x / 4)), (x) => Math.round(4 * Math.log10(x))));

  new ResizeObserver(draw).observe(element);
  const update = () => {
    draw();
    study.ask("positions", {}).then(
      ({ json }) => put(measured, json.shift?.length
        ? `In this model's own table (d_model ${json.d_model}, base ${json.base}): ${json.shift.map((/** @type {{k: number, deviation: number}} */ { k, deviation }) => `k = ${k}: ${number(deviation)}`).join(" · ")}`
        : json.positions ? `This model's positions are ${json.positions}; the formula above is the paper's.` : ""),
      () => put(measured),
    );
  };
  return { element, update };
}
