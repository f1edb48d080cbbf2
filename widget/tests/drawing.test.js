import { expect, test } from "vitest";
import { pathTo, treeLayout } from "../src/beam_tree.js";
import { rowName } from "../src/lens.js";
import { encoding, shiftDeviation } from "../src/positions.js";
import { newState } from "../src/state.js";
import { changesOf } from "../src/changes.js";
import { fakeModel } from "./fake_model.js";

test("the positional encoding is the paper's", () => {
  const settings = { width: 512, base: 10_000 };
  expect(encoding(0, 0, settings)).toBe(0);
  expect(encoding(0, 1, settings)).toBe(1);
  expect(encoding(3, 4, settings)).toBeCloseTo(Math.sin(3 / 10_000 ** (4 / 512)), 12);
  expect(encoding(3, 5, settings)).toBeCloseTo(Math.cos(3 / 10_000 ** (4 / 512)), 12);
});

test("a shift of positions is linear", () => {
  for (const shift of [1, 7, 100]) expect(shiftDeviation({ width: 64, base: 10_000, positions: 200, first: 0, shift })).toBeLessThan(1e-12);
});

test("in the beam's tree nothing stands on anything else, and children stand right of parents", async () => {
  const { ask } = fakeModel();
  const { json } = await ask("translate", { state: newState({ text: "A man in a blue shirt is standing", beam: 5 }), request: 1 });
  const { places, width, height } = treeLayout(json.beamTree);
  expect(places.size).toBe(json.beamTree.length + 1); // and the root
  const spots = new Set([...places.values()].map(({ x, y }) => `${x},${y}`));
  expect(spots.size).toBe(places.size);
  for (const { node, x, y } of places.values()) {
    if (node.parent !== null && node.parent >= 0) expect(x).toBeGreaterThan(/** @type {any} */ (places.get(node.parent)).x);
    expect(x).toBeLessThan(width);
    expect(y).toBeLessThan(height);
  }
  const best = json.beamTree.findLast((/** @type {any} */ { fate }) => fate === "best");
  const path = pathTo(json.beamTree, best);
  expect(path[0].parent).toBeNull();
  expect(new Set(path.map(({ number }) => places.get(number)?.y)).size).toBe(1); // along the top
});

test("sub-layers are named in short", () => {
  expect(rowName("decoder.layers.3.cross_attention")).toBe("3 cross-attention");
  expect(rowName("decoder.embeddings")).toBe("embeddings");
});

test("every change can be undone by itself", () => {
  const head = "decoder.layers.0.cross_attention[1]";
  const state = newState({ text: "a", switchedOff: [head, "encoder.layers.0.self_attention"], edits: [{ head, kind: "block", cells: [[0, 0]] }], replaced: { 2: "dog" }, prefix: "Ein" });
  let left = state;
  expect(changesOf(state)).toHaveLength(5);
  while (changesOf(left).length) left = changesOf(left)[0][1];
  expect(left).toEqual(newState({ text: "a" }));
});
