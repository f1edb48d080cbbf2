import { gzipSync } from "node:zlib";
import { afterEach, expect, test, vi } from "vitest";
import { question } from "../src/canonical.js";
import { tensor } from "../src/float16.js";
import { httpTransport, readAnswer, readSaved, savedTransport, widgetTransport } from "../src/transport.js";
import { encodeFloat16 } from "./fake_model.js";

/** An answer as Python packs it. @param {any} json @param {Record<string, {shape: number[], numbers: number[]}>} arrays @returns {ArrayBuffer} */
function packed(json, arrays) {
  let offset = 0;
  const parts = Object.entries(arrays).map(([name, { shape, numbers }]) => {
    const bytes = new Uint8Array(encodeFloat16(numbers));
    const listed = { name, shape, offset, bytes: bytes.length };
    offset += bytes.length;
    return { listed, bytes };
  });
  const head = new TextEncoder().encode(JSON.stringify({ json, arrays: parts.map(({ listed }) => listed) }));
  const buffer = new Uint8Array(4 + head.length + offset);
  new DataView(buffer.buffer).setUint32(0, head.length, true);
  buffer.set(head, 4);
  for (const { listed, bytes } of parts) buffer.set(bytes, 4 + head.length + listed.offset);
  return buffer.buffer;
}

afterEach(() => vi.unstubAllGlobals());

test("a packed answer comes apart", () => {
  const { json, arrays } = readAnswer(packed({ text: "Straße" }, { a: { shape: [2], numbers: [1, 2] }, b: { shape: [1, 1], numbers: [0.5] } }));
  expect(json).toEqual({ text: "Straße" });
  expect([...tensor(arrays.a).data, ...tensor(arrays.b).data]).toEqual([1, 2, 0.5]);
});

test("over HTTP: what is asked, what is answered, what is refused", async () => {
  const fetched = vi.fn(async () => new Response(packed({ ok: 1 }, {})));
  vi.stubGlobal("fetch", fetched);
  expect((await httpTransport("ask")("about", { x: 1 })).json).toEqual({ ok: 1 });
  const [[address, { body }]] = /** @type {any} */ (fetched.mock.calls);
  expect([address, JSON.parse(body)]).toEqual(["ask", { kind: "about", payload: { x: 1 } }]);
  vi.stubGlobal("fetch", async () => new Response("no such token", { status: 404 }));
  await expect(httpTransport("ask")("about", {})).rejects.toThrow("no such token");
  vi.stubGlobal("fetch", async () => new Response(packed({ error: "beam=0" }, {})));
  await expect(httpTransport("ask")("about", {})).rejects.toThrow("beam=0");
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("failed")));
  await expect(httpTransport("ask")("about", {})).rejects.toThrow("still running");
});

test("a saved page answers what it holds, in parts and joined, and says what it does not", async () => {
  const about = { head: "h", change: -1 };
  const found = {
    [question("attention", { layer: 1 })]: { json: {}, arrays: { weights: ["0/maps", 1] } },
    [question("effects", { id: "x", heads: ["a"] })]: { json: { effects: [about] }, arrays: {} },
    [question("effects", { id: "x", heads: ["b"] })]: { json: { effects: [about] }, arrays: {} },
  };
  const bytes = packed(found, { "0/maps": { shape: [2, 2], numbers: [1, 2, 3, 4] } });
  const ask = savedTransport(readSaved(gzipSync(new Uint8Array(bytes)).toString("base64")));
  const { arrays } = await ask("attention", { layer: 1, request: 99 });
  expect([...tensor(arrays.weights).data]).toEqual([3, 4]);
  expect((await ask("effects", { id: "x", heads: ["a", "b"], request: 3 })).json).toEqual({ effects: [about, about] });
  await expect(ask("attention", { layer: 0 })).rejects.toMatchObject({ needsLiveModel: true });
  await expect(ask("toString", {})).rejects.toMatchObject({ needsLiveModel: true });
});

test("in a notebook answers find their questions, in any order", async () => {
  /** @type {any[]} */
  const sent = [];
  /** @type {(message: any, buffers: DataView[]) => void} */
  let receive = () => {};
  const model = { send: (/** @type {object} */ message) => sent.push(message), on: (/** @type {string} */ _, /** @type {any} */ callback) => (receive = callback), off: () => {} };
  const { ask } = widgetTransport(model);
  const [one, two] = [ask("about", {}), ask("attention", { layer: 2 })];
  const inside = new Uint8Array([9, 9, ...new Uint8Array(encodeFloat16([7]))]); // a view into a larger buffer
  receive({ id: sent[1].id, json: {}, arrays: [{ name: "weights", shape: [1] }] }, [new DataView(inside.buffer, 2)]);
  receive({ id: sent[0].id, json: { error: "no" } }, []);
  receive({ id: -1, json: {} }, []); // of another view
  expect([...tensor((await two).arrays.weights).data]).toEqual([7]);
  await expect(one).rejects.toThrow("no");
});
