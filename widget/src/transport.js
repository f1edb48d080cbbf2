// Three ways to ask the model: over HTTP, through the notebook's kernel, or from a saved page.
import { question } from "./canonical.js";
import { NeedsLiveModel } from "./protocol.js";

/** @typedef {import("./protocol.js").Ask} Ask */
/** @typedef {import("./protocol.js").Answer} Answer */

/**
 * Takes an answer apart: uint32 (little-endian) length of the JSON, the JSON, the arrays' bytes.
 * The JSON holds `json` and `arrays`: name, shape, offset (after the JSON) and bytes of each.
 * @param {ArrayBuffer} buffer
 * @returns {Answer}
 */
export function readAnswer(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  /** @type {Answer["arrays"]} */
  const arrays = {};
  for (const { name, shape, offset, bytes } of head.arrays ?? [])
    arrays[name] = { shape, data: buffer.slice(start + offset, start + offset + bytes) };
  return { json: head.json, arrays };
}

/** @param {Answer} answer @returns {Answer} */
function checked(answer) {
  if (answer.json && typeof answer.json.error === "string") throw new Error(answer.json.error);
  return answer;
}

/**
 * The page on localhost: POSTs to `address`.
 * @param {string} address
 * @returns {Ask}
 */
export function httpTransport(address) {
  return async (kind, payload) => {
    const response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ kind, payload }),
    }).catch(() => {
      throw new Error("The server does not answer; is `allyouneed look` still running?");
    });
    if (!response.ok) throw new Error((await response.text()) || `HTTP ${response.status}`);
    return checked(readAnswer(await response.arrayBuffer()));
  };
}

/**
 * The answers that a saved page holds. They are stored as one large answer, gzipped and in base64.
 * Its JSON has, for each question (see canonical.js), the JSON of the question's answer, and where
 * each array of that answer is among the arrays of the large one: [name, null] for a whole array,
 * [name, number] for one element along its first axis.
 * @param {string} base64
 * @returns {Promise<Answer>}
 */
export async function readSaved(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readAnswer(await new Response(stream).arrayBuffer());
}

/**
 * One element along the first axis.
 * @param {import("./protocol.js").WireArray} array @param {number} row
 * @returns {import("./protocol.js").WireArray}
 */
function rowOf({ shape, data }, row) {
  const size = data.byteLength / shape[0];
  return { shape: shape.slice(1), data: data.slice(row * size, (row + 1) * size) };
}

/**
 * Asks a saved page. The effects of several heads are put together from the answers for each head.
 * `holds` can tell which answers the page has once one question has been answered.
 * @param {Promise<Answer>} saved
 * @returns {Ask}
 */
export function savedTransport(saved) {
  /** @type {Record<string, unknown>} */
  let held = {};
  void saved.then(({ json }) => (held = json), () => {});
  /** @type {Ask} */
  const ask = async (kind, payload) => {
    const heads = /** @type {{heads?: string[]}} */ (payload).heads ?? [];
    if (kind === "effects" && heads.length !== 1) {
      const each = await Promise.all(heads.map((head) => ask(kind, { ...payload, heads: [head] })));
      return { json: { effects: each.flatMap(({ json }) => json.effects) }, arrays: {} };
    }
    const { json, arrays } = await saved;
    const key = question(kind, payload);
    if (!Object.hasOwn(json, key)) throw new NeedsLiveModel();
    /** @type {Record<string, [string, number | null]>} */
    const places = json[key].arrays;
    const found = Object.entries(places).map(([name, [place, row]]) => [
      name,
      row === null ? arrays[place] : rowOf(arrays[place], row),
    ]);
    return checked({ json: json[key].json, arrays: Object.fromEntries(found) });
  };
  ask.holds = (kind, payload) => Object.hasOwn(held, question(kind, payload));
  return ask;
}

/**
 * The notebook: custom messages {id, kind, payload} out; {id, json, arrays: [{name, shape}]} back,
 * with one buffer for each array.
 * @typedef {{id: number, json: any, arrays?: {name: string, shape: number[]}[]}} Reply
 * @typedef {{send: (message: object) => void, on: (event: string, callback: (message: Reply, buffers: DataView[]) => void) => void, off: (event: string, callback: any) => void}} WidgetModel
 * @param {WidgetModel} model
 * @returns {{ask: Ask, close: () => void}}
 */
export function widgetTransport(model) {
  let last = 0;
  const session = Math.floor(Math.random() * 2 ** 20) * 2 ** 20; // several views share one model
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (error: unknown) => void}>} */
  const waiting = new Map();
  /** @param {Reply} message @param {DataView[]} buffers */
  const receive = (message, buffers) => {
    const asked = waiting.get(message.id);
    if (!asked) return;
    waiting.delete(message.id);
    /** @type {Answer["arrays"]} */
    const arrays = {};
    (message.arrays ?? []).forEach(({ name, shape }, i) => {
      const view = buffers[i];
      const data = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
      arrays[name] = { shape, data: /** @type {ArrayBuffer} */ (data) };
    });
    try {
      asked.resolve(checked({ json: message.json, arrays }));
    } catch (error) {
      asked.reject(error);
    }
  };
  model.on("msg:custom", receive);
  return {
    ask: (kind, payload) =>
      new Promise((resolve, reject) => {
        const id = session + ++last;
        waiting.set(id, { resolve, reject });
        model.send({ id, kind, payload });
      }),
    close: () => model.off("msg:custom", receive),
  };
}
