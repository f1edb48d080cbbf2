import { expect, test } from "vitest";
import { diff } from "../src/diff.js";
import { groupText, label, pathText, prefixWith, visible, wordGroups } from "../src/tokens.js";
import { tokenize } from "./fake_model.js";

/** @param {string} before @param {string} after */
function bothTexts(before, after) {
  const pieces = diff(before, after);
  const joined = (/** @type {string} */ gone) => pieces.filter(({ kind }) => kind !== gone).map((piece) => piece.text).join("");
  return [joined("added"), joined("removed")];
}

test("a diff gives both texts back, whatever they are", () => {
  const words = ["der", "Mann", " ", "  ", ".", "ein", "日本語", "😀", "\u202e", ""];
  let seed = 7;
  const next = () => (seed = (seed * 48271) % 2147483647);
  for (let round = 0; round < 300; round++) {
    const make = () => Array.from({ length: next() % 9 }, () => words[next() % words.length]).join(next() % 2 ? " " : "");
    const [a, b] = [make(), make()];
    expect(bothTexts(a, b)).toEqual([a, b]);
  }
});

test("a diff keeps what is common and joins phrases", () => {
  expect(diff("Ein Mann steht.", "Ein Mann steht.")).toEqual([{ kind: "same", text: "Ein Mann steht." }]);
  expect(diff("Ein alter Mann steht.", "Ein Mann steht.").map(({ kind }) => kind)).toEqual(["same", "removed", "same"]);
  expect(diff("Der Hund schläft.", "Die Katze schläft.")).toEqual([
    { kind: "removed", text: "Der Hund" },
    { kind: "added", text: "Die Katze" },
    { kind: "same", text: " schläft." },
  ]);
});

test("nothing in a token stays unseen", () => {
  expect(visible(" Mann")).toBe("Mann");
  expect(visible("\u202eabc")).toBe("⟨U+202E⟩abc");
  expect(visible("a\u200db\u0000")).toBe("a⟨U+200D⟩b⟨U+0000⟩");
  expect(visible(" ")).toBe("␣");
  expect(visible("\n")).toBe("⏎");
  expect(visible("")).toBe("∅");
  expect(visible("</script>")).toBe("</script>");
});

test("subwords are joined to words and marked where they go on", () => {
  const tokens = tokenize("a standing man");
  expect(tokens.map((_, i) => label(tokens, i))).toEqual(["a", "stan", "…ding", "man", "</s>"]);
  expect(wordGroups(tokens)).toEqual([[0], [1, 2], [3], [4]]);
  expect(groupText(tokens, [1, 2])).toBe("standing");
});

test("a prefix counts characters as Python does", () => {
  const text = "Ein 😀 Mann";
  const target = tokenize(text);
  expect(target.map(({ end }) => end)).toEqual([3, 5, 10, 10]);
  expect(prefixWith(text, target, 2, " Hund")).toBe("Ein 😀 Hund");
  expect(prefixWith(text, target, 0, " Das")).toBe("Das");
});

test("a path through the beam is its text", () => {
  const nodes = ["", " Ein", " Mann"].map((piece, number) => ({ number, parent: number ? number - 1 : null, step: number, id: 5, text: piece, log_probability: 0, score: 0, fate: /** @type {const} */ ("alive") }));
  expect(pathText(nodes)).toBe("Ein Mann");
});

test("bytes are forced as the character they spell, and half a character not at all", () => {
  const path = (/** @type {string[]} */ ...pieces) => pathText(pieces.map((text) => ({ text })));
  expect(path(" Ein", " <0xF0>", "<0x9F>", "<0x98>", "<0x80>", " Mann")).toBe("Ein 😀 Mann");
  expect(path("<0xF0>", "<0x9F><0x98>", "<0x80>!")).toBe("😀!");
  expect(path(" Ein", " <0xF0>", "<0x9F>")).toBeNull();
  expect(path("<0xF0>", " Mann")).toBeNull();
  expect(path("<0xEF>", "<0xBB>", "<0xBF>", "a")).toBe("\ufeffa");
  expect(path("<", "0xF0>")).toBe("<0xF0>"); // letters that only look like a byte
  const text = "Ein 😀 da";
  const pieces = ["Ein", " <0xF0>", "<0x9F>", "<0x98>", "<0x80>", " da"];
  const spans = [[0, 3], [3, 5], [4, 5], [4, 5], [4, 5], [5, 8]]; // every byte touches the whole character
  const target = pieces.map((piece, i) => ({ text: piece, id: i, begin: spans[i][0], end: spans[i][1], word: i }));
  expect(prefixWith(text, target, 5, " Mann")).toBe("Ein 😀 Mann");
  expect(prefixWith(text, target, 4, "<0x8E>")).toBe("Ein 😎");
  expect(prefixWith(text, target, 3, "<0x98>")).toBeNull();
  expect(prefixWith(text, target, 2, " Mann")).toBeNull();
  expect(prefixWith(text, target, 1, " Mann")).toBe("Ein Mann");
  expect(prefixWith("😀 da", target.slice(1), 3, "<0x8E>")).toBe("😎");
});
