// Tokens as people read them: joined to words on demand, invisible characters made visible.

/** @typedef {import("./protocol.js").Token} Token */

// Controls, joiners, direction marks, unpaired surrogates: characters that are invisible or move their neighbours.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** @type {Record<string, string>} */
const SIGNS = { "\n": "⏎", "\t": "⇥", "\r": "␍" };

/** @param {string} character */
function sign(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  return SIGNS[character] ?? `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** A piece of text with nothing hidden in it: " Mann" → "Mann", "\u202e" → "⟨U+202E⟩", " " → "␣". @param {string} text */
export function visible(text) {
  const trimmed = text.replace(/^ /, "");
  if (trimmed.trim() === "" && !/[\n\t\r]/.test(trimmed)) return text === "" ? "∅" : "␣".repeat(text.length);
  return trimmed.replace(INVISIBLE, sign);
}

/** Whether token i goes on with the word of the token before it. @param {Token[]} tokens @param {number} i */
export function continues(tokens, i) {
  return i > 0 && tokens[i].word === tokens[i - 1].word;
}

/** A token's label on an axis; letters that continue a word begin with "…". @param {Token[]} tokens @param {number} i */
export function label(tokens, i) {
  const goesOn = continues(tokens, i) && /[\p{L}\p{N}]/u.test(tokens[i].text);
  return (goesOn ? "…" : "") + visible(tokens[i].text);
}

/** Token numbers, word by word. @param {Token[]} tokens @returns {number[][]} */
export function wordGroups(tokens) {
  /** @type {number[][]} */
  const groups = [];
  tokens.forEach((_, i) => {
    if (continues(tokens, i)) groups[groups.length - 1].push(i);
    else groups.push([i]);
  });
  return groups;
}

/** The text of a group of tokens. @param {Token[]} tokens @param {number[]} group */
export function groupText(tokens, group) {
  return visible(group.map((i) => tokens[i].text).join(""));
}

/** Each token alone. @param {Token[]} tokens @returns {number[][]} */
export function singly(tokens) {
  return tokens.map((_, i) => [i]);
}

/** Why some pieces cannot be forced. */
export const HALF_CHARACTER = "half a character cannot be forced";

/** How a piece names a byte that is no whole character. */
const BYTE = /(<0x[0-9A-F]{2}>)/;

/** A piece in UTF-8. @param {string} piece @returns {number[]} */
function bytesOf(piece) {
  return piece.split(BYTE).flatMap((part, i) => (i % 2 ? [Number(part.slice(1, -1))] : [...new TextEncoder().encode(part)]));
}

/** The text of some pieces; null where it is not made of whole characters. @param {string[]} pieces @returns {string | null} */
function spelled(pieces) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(pieces.flatMap(bytesOf)));
  } catch {
    return null;
  }
}

/**
 * The translation up to a target token, followed by another piece: the prefix to force. Spans count
 * code points, as Python does, not the UTF-16 units of JavaScript's strings. A character whose bytes
 * are several tokens lies in the span of each, so the bytes are joined anew. Null: half a character.
 * @param {string} text  the translation
 * @param {Token[]} target
 * @param {number} position  of the token that the piece replaces
 * @param {string} piece
 * @returns {string | null}
 */
export function prefixWith(text, target, position, piece) {
  let whole = position;
  while (whole > 0 && BYTE.test(target[whole - 1].text)) whole--;
  if (whole === 0) return pathText([...target.slice(0, position), { text: piece }]);
  const before = Array.from(text).slice(0, target[whole - 1].end).join("");
  const rest = spelled([...target.slice(whole, position).map((token) => token.text), piece]);
  return rest === null ? null : before + rest;
}

/** The path from the root to a node of the beam tree, as text; null where it ends in half a character. @param {{text: string}[]} path */
export function pathText(path) {
  return spelled(path.map(({ text }) => text))?.replace(/^ /, "") ?? null;
}
