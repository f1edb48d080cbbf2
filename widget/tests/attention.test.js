import { expect, test } from "vitest";
import { axes, grouped, headMatrix, largest, merged, range } from "../src/attention.js";
import { inkOn, PALETTES, scale } from "../src/colour.js";
import { sorted } from "../src/grid.js";
import { between, cellsScene, layout } from "../src/matrix.js";
import { headScene } from "../src/head_view.js";
import { toSVG } from "../src/scene.js";
import { tokenize } from "./fake_model.js";

const matrix = (/** @type {number[][]} */ rows) => ({ rows: rows.length, columns: rows[0].length, data: Float32Array.from(rows.flat()) });

test("heads are taken out, averaged, and compared", () => {
  const weights = { shape: [2, 1, 2], data: Float32Array.from([0.25, 0.75, 1, 0]) };
  expect([...headMatrix(weights, 1).data]).toEqual([1, 0]);
  const both = [headMatrix(weights, 0), headMatrix(weights, 1)];
  expect([...merged(both, "average").data]).toEqual([0.625, 0.375]);
  expect([...merged(both, "maximum").data]).toEqual([1, 0.75]);
  expect([...headMatrix({ shape: [1, 1, 2], data: Float32Array.from([3, 4]) }, 7).data]).toEqual([3, 4]);
  expect(() => headMatrix(weights, 7)).toThrow("this model has heads 0 … 1");
});

test("the strongest weight is the deepest shade, whatever its sign", () => {
  expect(largest([0.25, -0.75, 0.5])).toBe(0.75);
  expect(largest([0.25, -0.5, 0.75])).toBe(0.75);
});

test("words joined, every row still sums to one", () => {
  const weights = matrix([[0.5, 0.25, 0.25], [0, 0.5, 0.5], [1, 0, 0]]);
  const joined = grouped(weights, [[0], [1, 2]], [[0, 1], [2]]);
  expect([...joined.data]).toEqual([0.75, 0.25, 0.75, 0.25]);
});

test("each axis has the tokens that it stands for", () => {
  const source = tokenize("a standing man");
  const target = tokenize("ein Mann");
  const one = axes("cross", { source, target }, false);
  expect(one.rows.labels).toEqual(["ein", "Mann", "</s>"]);
  expect(one.columns.labels).toEqual(["a", "stan", "…ding", "man", "</s>"]);
  const own = axes("decoder", { source, target }, false);
  expect(own.columns.labels).toEqual(["<start>", "ein", "Mann"]);
  expect(axes("encoder", { source, target }, true).rows).toMatchObject({ labels: ["a", "standing", "man", "</s>"], groups: [[0], [1, 2], [3], [4]] });
  const long = tokenize("ein schlafender");
  expect(axes("decoder", { source, target: long }, true).columns).toMatchObject({ labels: ["<start>", "ein", "schlafender"], groups: [[0], [1], [2, 3]] });
});

test("colours keep the order of numbers in grey, and can be written on", () => {
  for (const palette of Object.values(PALETTES)) {
    const colour = scale(palette, { least: 0, most: 2 });
    const grey = [0, 0.5, 1, 1.5, 2].map((value) => colour(value).reduce((sum, part, i) => sum + part * [0.299, 0.587, 0.114][i], 0));
    const steps = grey.slice(1).map((value, i) => Math.sign(value - grey[i]));
    expect(new Set(steps).size).toBe(1);
    for (const value of [0, 1, 2]) {
      const [r, g, b] = colour(value);
      const bright = 0.299 * r + 0.587 * g + 0.114 * b;
      expect(Math.abs(bright - (inkOn(colour(value)) === "#ffffff" ? 255 : 20))).toBeGreaterThan(80);
    }
  }
  const signs = scale(PALETTES.light, { least: -1, most: 1 });
  expect(signs(-1)[0]).toBeGreaterThan(signs(-1)[2]); // orange
  expect(signs(1)[2]).toBeGreaterThan(signs(1)[0]); // blue
});

test("heads are sorted by a number, the unmeasured last", () => {
  const value = (/** @type {number} */ layer, /** @type {number} */ head) => [[1, 3], [undefined, 2]][layer][head];
  expect(sorted([[0, 0], [0, 1], [1, 0], [1, 1]], value)).toEqual([[0, 1], [1, 1], [0, 0], [1, 0]]);
});

test("a drag from corner to corner, in any direction", () => {
  expect(between([2, 1], [1, 2])).toEqual([[1, 1], [1, 2], [2, 1], [2, 2]]);
});

test("a long sentence's matrix stays small enough to draw", () => {
  const labels = Array.from({ length: 256 }, (_, i) => `token${i}`);
  const axis = { title: "", labels, groups: labels.map((_, i) => [i]) };
  const long = { matrix: { rows: 256, columns: 256, data: new Float32Array(65536) }, rows: axis, columns: axis };
  expect(layout(long, 600, true).cell * 256).toBeLessThan(4096);
});

test("a picture holds every label, escaped, and the numbers", () => {
  const source = tokenize("<b> & \u202e \u0000 a");
  const target = tokenize('"x"');
  const { rows, columns } = axes("cross", { source, target }, false);
  const data = Float32Array.from({ length: rows.labels.length * columns.labels.length }, (_, i) => (i % 5) / 10);
  const selection = { matrix: { rows: rows.labels.length, columns: columns.labels.length, data }, rows, columns };
  const svg = toSVG(headScene(selection, null, PALETTES.light), "#fff");
  expect(svg).toContain(">&#60;</text>");
  expect(svg).toContain("⟨U+202E⟩");
  expect(svg).not.toMatch(/[\u0000\u202e]|<b>/);
  const scene = cellsScene(selection, layout(selection, 400, true), PALETTES.light, { blocked: new Set(["0,1"]), forced: new Set() });
  const texts = scene.marks.flatMap((mark) => (mark.mark === "text" ? [mark.text] : []));
  expect(texts).toContain(".20");
  expect(scene.marks.filter(({ mark }) => mark === "line")).toHaveLength(2); // the cross on the blocked cell
  expect(range(selection.matrix.data)).toEqual({ least: 0, most: Math.fround(0.4) });
});
