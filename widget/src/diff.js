// The difference between two texts, word by word.

/** @typedef {{kind: "same" | "removed" | "added", text: string}} Piece */

/** Words, spaces and signs, in order; joined they are the text. @param {string} text @returns {string[]} */
export function words(text) {
  const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
  return Array.from(segments, ({ segment }) => segment);
}

/**
 * Lengths of the longest common subsequences of a[i:] and b[j:].
 * @param {string[]} a @param {string[]} b
 */
function common(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  return (/** @type {number} */ i, /** @type {number} */ j) => lengths[i * width + j];
}

/**
 * The smallest set of removed and added words that turns one text into the other; neighbours of one
 * kind are joined. The same and removed pieces give the old text, the same and added the new one.
 * @param {string} before @param {string} after @returns {Piece[]}
 */
export function diff(before, after) {
  const a = words(before);
  const b = words(after);
  const length = common(a, b);
  /** @type {Piece[]} */
  const pieces = [];
  /** @param {Piece["kind"]} kind @param {string} text */
  const add = (kind, text) => {
    const last = pieces[pieces.length - 1];
    if (last?.kind === kind) last.text += text;
    else pieces.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i++]);
      j++;
    } else if (i < a.length && (j === b.length || length(i + 1, j) >= length(i, j + 1)))
      add("removed", a[i++]);
    else add("added", b[j++]);
  }
  return bridged(pieces);
}

/**
 * Makes a space between two changes part of both, so that whole phrases are compared instead of
 * single words.
 * @param {Piece[]} pieces @returns {Piece[]}
 */
function bridged(pieces) {
  /** @type {Piece[]} */
  const result = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) result.push({ kind: "removed", text: removed });
    if (added) result.push({ kind: "added", text: added });
    removed = added = "";
  };
  pieces.forEach((piece, i) => {
    if (piece.kind === "removed") removed += piece.text;
    else if (piece.kind === "added") added += piece.text;
    else if (piece.text.trim() === "" && removed + added && i + 1 < pieces.length) {
      removed += piece.text;
      added += piece.text;
    } else {
      flush();
      result.push(piece);
    }
  });
  flush();
  return result;
}
