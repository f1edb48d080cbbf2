import { expect, test } from "vitest";
import { canonical, question } from "../src/canonical.js";
import { fromFile, fromHash, toFile, toHash } from "../src/link.js";
import { parseName, spoken } from "../src/names.js";
import { lookCommand } from "../src/protocol.js";
import { disturbed, edited, isOff, newState, readState, sameState, toggled, undisturbed, unedited, withReplaced, withText } from "../src/state.js";
import { headsOf, readLook, ViewState } from "../src/view_state.js";
import { CONFIG } from "./fake_model.js";

const text = "A man.";
const cross = (/** @type {number} */ layer, /** @type {number | null} */ head) => /** @type {const} */ ({ kind: "cross", layer, head });

test("names of heads are read and refused", () => {
  expect(parseName("decoder.layers.3.cross_attention[5]")).toEqual(cross(3, 5));
  expect(parseName("encoder.layers.0.self_attention")).toEqual({ kind: "encoder", layer: 0, head: null });
  for (const name of ["encoder.layers.0.cross_attention", "decoder.layers.x.self_attention", "decoder.layers.0.feed_forward", "__proto__"])
    expect(parseName(name)).toBeNull();
  expect(spoken("decoder.layers.3.cross_attention[5]")).toBe("cross-attention, layer 3, head 5");
});

test("a head goes off and on; all heads of a layer are the layer", () => {
  let state = newState({ text });
  for (const head of [0, 1, 2]) state = toggled(state, cross(1, head), 4);
  expect(state.switchedOff).toEqual([0, 1, 2].map((head) => `decoder.layers.1.cross_attention[${head}]`));
  state = toggled(state, cross(1, 3), 4);
  expect(state.switchedOff).toEqual(["decoder.layers.1.cross_attention"]);
  expect(isOff(state, "decoder.layers.1.cross_attention[2]")).toBe(true);
  expect(isOff(state, "decoder.layers.0.cross_attention[2]")).toBe(false);
  state = toggled(state, cross(1, 2), 4);
  expect(state.switchedOff).toHaveLength(3);
  expect(toggled(toggled(state, cross(1, null), 4), cross(1, null), 4).switchedOff).toEqual([]);
});

test("equal states are spelled alike, whatever came first", () => {
  const a = toggled(toggled(newState({ text }), cross(0, 1), 4), cross(1, 0), 4);
  const b = toggled(toggled(newState({ text }), cross(1, 0), 4), cross(0, 1), 4);
  expect(sameState(a, b)).toBe(true);
  expect(canonical(a)).toBe(canonical(b));
});

test("cells join those of their kind and leave the other", () => {
  const head = "decoder.layers.0.cross_attention[0]";
  let state = edited(newState({ text }), { head, kind: "block", cells: [[1, 1], [0, 2]] });
  state = edited(state, { head, kind: "force", cells: [[1, 1]] });
  expect(state.edits).toEqual([
    { head, kind: "block", cells: [[0, 2]] },
    { head, kind: "force", cells: [[1, 1]] },
  ]);
  expect(edited(state, { head, kind: "uniform" }).edits).toEqual([{ head, kind: "uniform" }]);
  expect(disturbed(state)).toBe(true);
  expect(disturbed(unedited(state, head))).toBe(false);
});

test("another sentence keeps heads and drops what belongs to positions", () => {
  const head = "decoder.layers.0.cross_attention[0]";
  let state = newState({ text, switchedOff: [head], prefix: "Ein", beam: 2 });
  state = withReplaced(edited(edited(state, { head, kind: "block", cells: [[0, 0]] }), { head: head.replace("[0]", "[1]"), kind: "uniform" }), 1, "dog");
  const next = withText(state, "A dog.");
  expect(next).toEqual(newState({ text: "A dog.", beam: 2, switchedOff: [head], edits: [{ head: head.replace("[0]", "[1]"), kind: "uniform" }] }));
  expect(undisturbed(next)).toEqual(newState({ text: "A dog.", beam: 2 }));
});

test.each([
  [[]],
  [{ text: 3 }],
  [{ beam: 0 }],
  [{ beam: 1e9 }],
  [{ switchedOff: ["rm -rf"] }],
  [{ edits: [{ head: "decoder.layers.0.cross_attention", kind: "block", cells: [] }] }],
  [{ edits: [{ head: "decoder.layers.0.cross_attention[0]", kind: "block", cells: [[0]] }] }],
  [{ edits: [{ head: "decoder.layers.0.cross_attention[0]", kind: "burn" }] }],
  [{ replaced: { x: "y" } }],
  [{ model: -1 }],
  [{ part: 0.5 }],
])("a state out of a link is trusted in nothing: %j", (value) => {
  expect(() => readState(value)).toThrow("not a state of the view");
});

test("a link and a file bring everything back", () => {
  const state = newState({ text: 'He said "</script>" \u202e& 100 %', switchedOff: ["encoder.layers.0.self_attention"], replaced: { 1: "#'" } });
  const saved = { states: [state, newState({ text })], look: readLook({ kind: "encoder", heads: [[1, 2]], lens: "effect", order: "entropy", words: true, merge: "maximum", numbers: false }) };
  expect(saved.look.numbers).toBe(false);
  expect(fromHash(toHash(saved))).toEqual(saved);
  expect(fromFile(toFile(saved))).toEqual(saved);
  expect(fromHash("#elsewhere")).toBeNull();
  expect(() => fromHash("#view=%7B%7D")).toThrow("no state that can be read");
  expect(() => fromFile("{}")).toThrow("allyouneed view 1");
  expect(readLook({ kind: "x", heads: [], lens: 7, order: {}, numbers: "no" })).toEqual({});
});

test("of the heads looked at, a model may lack some", () => {
  const { look } = new ViewState({ kind: "cross", heads: [[0, 3], [1, 7], [2, 0]] });
  expect(headsOf(look, CONFIG)).toEqual([[0, 3]]);
  expect(headsOf({ ...look, kind: "encoder" }, CONFIG)).toEqual([[0, 3], [2, 0]]);
});

test("a command in a shell takes a text as it is", () => {
  expect(lookCommand('a $(man) `did` "it" !')).toBe("allyouneed look 'a $(man) `did` \"it\" !'");
  expect(lookCommand("it's")).toBe("allyouneed look 'it'\\''s'");
});

test("questions are spelled without who asks and when", () => {
  expect(question("translate", { request: 5, pane: 1, state: { b: [1, "ü"], a: null } })).toBe('{"kind":"translate","payload":{"state":{"a":null,"b":[1,"ü"]}}}');
});
