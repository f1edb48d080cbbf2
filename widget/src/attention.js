// Attention weights as matrices: heads joined, subwords joined, both axes labelled.
import { groupText, label, singly, wordGroups } from "./tokens.js";

/** @typedef {import("./float16.js").Tensor} Tensor */
/** @typedef {import("./protocol.js").Token} Token */
/** @typedef {import("./protocol.js").Translation} Translation */
/** @typedef {{rows: number, columns: number, data: Float32Array}} Matrix */
/**
 * `groups` says which token positions each label stands for.
 * @typedef {{title: string, labels: string[], groups: number[][]}} Axis
 */

/**
 * One head of [H, T, S]; a tensor with a single head is used for every head. When two models are
 * compared, one may have fewer heads than the selection.
 * @param {Tensor} weights @param {number} head @returns {Matrix}
 */
export function headMatrix({ shape, data }, head) {
  const [heads, rows, columns] = shape;
  if (heads > 1 && head >= heads) throw new Error(`There is no head ${head} here: this model has heads 0 … ${heads - 1}.`);
  const start = (heads === 1 ? 0 : head) * rows * columns;
  return { rows, columns, data: data.subarray(start, start + rows * columns) };
}

/**
 * Several heads as one: the mean, or the largest weight of each cell.
 * @param {Matrix[]} matrices  of one shape, at least one
 * @param {"average" | "maximum"} merge
 * @returns {Matrix}
 */
export function merged(matrices, merge) {
  const [{ rows, columns }] = matrices;
  const data = new Float32Array(rows * columns);
  for (let i = 0; i < data.length; i++) {
    let value = merge === "average" ? 0 : -Infinity;
    for (const matrix of matrices)
      value = merge === "average" ? value + matrix.data[i] / matrices.length : Math.max(value, matrix.data[i]);
    data[i] = value;
  }
  return { rows, columns, data };
}

/**
 * Joins tokens to words: sums the weights over a key word's tokens, averages them over a query word's.
 * @param {Matrix} matrix @param {number[][]} rowGroups @param {number[][]} columnGroups @returns {Matrix}
 */
export function grouped(matrix, rowGroups, columnGroups) {
  const data = new Float32Array(rowGroups.length * columnGroups.length);
  rowGroups.forEach((rows, r) =>
    columnGroups.forEach((columns, c) => {
      let sum = 0;
      for (const row of rows) for (const column of columns) sum += matrix.data[row * matrix.columns + column];
      data[r * columnGroups.length + c] = sum / rows.length;
    }),
  );
  return { rows: rowGroups.length, columns: columnGroups.length, data };
}

/** @param {string} title @param {Token[]} tokens @param {boolean} words @returns {Axis} */
function axis(title, tokens, words) {
  const groups = words ? wordGroups(tokens) : singly(tokens);
  const labels = words
    ? groups.map((group) => groupText(tokens, group))
    : tokens.map((_, i) => label(tokens, i));
  return { title, labels, groups };
}

/** The words before each target token: the decoder's input. @param {Token[]} target @param {boolean} words @returns {Axis} */
function writtenAxis(target, words) {
  const { labels, groups } = axis("", target.slice(0, -1), words);
  return {
    title: "words already written",
    labels: ["<start>", ...labels],
    groups: [[0], ...groups.map((group) => group.map((i) => i + 1))],
  };
}

/**
 * Which tokens the rows and columns of an attention stand for.
 * @param {import("./names.js").Kind} kind @param {Pick<Translation, "source" | "target">} translation @param {boolean} words
 * @returns {{rows: Axis, columns: Axis}}
 */
export function axes(kind, { source, target }, words) {
  if (kind === "encoder")
    return { rows: axis("source word that looks", source, words), columns: axis("source word looked at", source, words) };
  const rows = axis("word being written", target, words);
  return { rows, columns: kind === "cross" ? axis("source word looked at", source, words) : writtenAxis(target, words) };
}

/** The largest absolute value; the strongest line and the deepest shade stand for it. @param {ArrayLike<number>} data */
export function largest(data) {
  const { least, most } = range(data);
  return Math.max(most, -least);
}

/** Smallest and largest number. @param {ArrayLike<number>} data */
export function range(data) {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < data.length; i++) {
    if (data[i] < least) least = data[i];
    if (data[i] > most) most = data[i];
  }
  return { least, most };
}
