import { expect, test } from "vitest";
import { NeedsLiveModel } from "../src/protocol.js";
import { newState, toggled } from "../src/state.js";
import { Study } from "../src/study.js";
import { CONFIG, everyHead, fakeModel } from "./fake_model.js";

const first = newState({ text: "A man did it" });
const without = (/** @type {number} */ head) => toggled(first, { kind: "cross", layer: 0, head }, CONFIG.heads);

test("the newest request wins, however answers come", async () => {
  const { ask } = fakeModel();
  /** @type {(() => void)[]} */
  const release = [];
  const slow = new Study(async (kind, payload) => {
    const answer = ask(kind, payload);
    await new Promise((resolve) => release.push(() => resolve(null)));
    return answer;
  }, first, 0);
  const all = [slow.start(), slow.change(without(0), "off"), slow.change(newState({ text: "the boy" }), "typed")];
  for (const go of release.reverse()) go();
  await Promise.all(all);
  expect(slow.translation?.text).toBe("der Junge");
  expect(slow.busy).toBe(false);
});

test("history goes back and on, and a new change cuts what was ahead", async () => {
  const study = new Study(fakeModel().ask, first, 0);
  await study.start();
  const plain = study.translation?.text;
  await study.change(without(0), "off");
  expect(study.translation?.text).not.toBe(plain);
  expect(study.translation?.baseline?.text).toBe(plain);
  await study.goTo(0);
  expect(study.translation?.text).toBe(plain);
  await study.goTo(1);
  await study.goTo(0);
  await study.change(without(1), "off other");
  expect(study.history.map(({ label }) => label)).toEqual(["the sentence", "off other"]);
  expect(study.history[1].text).toBe(study.translation?.text);
});

test("letters of one sentence are one moment", async () => {
  const study = new Study(fakeModel().ask, first, 0);
  await study.start();
  for (const text of ["t", "th", "the"]) await study.change(newState({ text }), "typed", true);
  expect(study.history.map(({ state }) => state.text)).toEqual([first.text, "the"]);
});

test("what a saved page does not hold leaves everything as it was", async () => {
  const { ask } = fakeModel();
  const study = new Study(async (kind, payload) => {
    if (kind === "translate" && /** @type {any} */ (payload).state.prefix) throw new NeedsLiveModel();
    return ask(kind, payload);
  }, first, 0);
  await study.start();
  await study.change(newState({ ...first, prefix: "Das" }), "forced");
  expect(study.error).toMatchObject({ needsLiveModel: true });
  expect(study.state).toBe(first);
  expect(study.history).toHaveLength(1);
  await study.change(without(2), "off");
  expect(study.error).toBeNull();
});

test("numbers are asked for once for each translation", async () => {
  const { ask, asked } = fakeModel();
  const study = new Study(ask, first, 0);
  await study.start();
  const count = () => asked.filter(({ kind }) => kind === "attention").length;
  const weights = await study.attention("cross", 0, "raw");
  expect(weights.shape).toEqual([CONFIG.heads, 5, 5]);
  await study.attention("cross", 0, "raw");
  expect(count()).toBe(1);
  await study.change(without(0), "off");
  await study.attention("cross", 0, "raw");
  expect(count()).toBe(2);
});

test("effects come head by head, with the number of their translation", async () => {
  const { ask, asked } = fakeModel();
  const study = new Study(ask, first, 1);
  await study.start();
  await study.measureEffects(CONFIG);
  expect([...study.effects.keys()].sort()).toEqual(everyHead().sort());
  const [{ payload }] = asked.filter(({ kind }) => kind === "translate");
  for (const { kind, payload: effect } of asked) if (kind === "effects") expect(effect.request).toBe(payload.request);
  expect(payload.pane).toBe(1);
});

test("a newer translation stops the measuring", async () => {
  const { ask, asked } = fakeModel();
  const study = new Study(ask, first, 0);
  await study.start();
  const measuring = study.measureEffects(CONFIG);
  await study.change(without(0), "off");
  await measuring;
  expect(asked.filter(({ kind }) => kind === "effects").length).toBeLessThan(everyHead().length);
  expect(study.effects.size).toBe(0);
});

test("heads that cannot be measured are said so, once", async () => {
  const { ask } = fakeModel();
  let times = 0;
  const study = new Study(async (kind, payload) => {
    if (kind !== "effects") return ask(kind, payload);
    times++;
    throw new NeedsLiveModel();
  }, first, 0);
  await study.start();
  await study.measureEffects(CONFIG);
  await study.measureEffects(CONFIG);
  expect([times, study.effectsProblem]).toEqual([1, new NeedsLiveModel().message]);
  await study.change(without(0), "off");
  expect(study.effectsProblem).toBe("");
});

test("a closed study measures no further, shows no late answer, and asks nothing", async () => {
  const { ask, asked } = fakeModel();
  const study = new Study(ask, first, 0);
  await study.start();
  let told = 0;
  study.subscribe(() => told++);
  const measuring = study.measureEffects(CONFIG);
  study.close();
  await measuring;
  expect(asked.filter(({ kind }) => kind === "effects")).toHaveLength(1);
  study.change(without(0), "off");
  study.metrics();
  expect(asked).toHaveLength(2);
  expect([study.effects.size, told]).toEqual([0, 0]);
  const late = new Study(ask, first, 0);
  const starting = late.start();
  late.close();
  await starting;
  expect(late.translation).toBeNull();
});
