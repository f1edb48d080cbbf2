import { expect, test } from "vitest";
import { axes } from "../src/attention.js";
import { PALETTES } from "../src/colour.js";
import { picture } from "../src/picture.js";
import { newState } from "../src/state.js";
import { ViewState } from "../src/view_state.js";
import { tokenize } from "./fake_model.js";

/** What of the page a picture is drawn from. @param {import("../src/protocol.js").About["only"]} only @param {Partial<import("../src/view_state.js").Look>} look */
function page(only, look) {
  const translation = { source: tokenize("a man"), target: tokenize("ein Mann"), text: only ? "" : "ein Mann" };
  const shown = { matrix: { rows: 3, columns: 3, data: new Float32Array(9) }, ...axes("cross", translation, false) };
  const part = { selection: () => shown, focus: () => null, marked: () => null };
  return /** @type {any} */ ({
    palette: () => PALETTES.light,
    contexts: [{ study: { shown: newState({ text: only ? "" : "a man" }), translation } }],
    headSection: { parts: [part] },
    about: { only },
    view: new ViewState(look),
  });
}

/** @param {any} app */
const titles = (app) => picture(app).marks.flatMap((mark) => (mark.mark === "text" && mark.bold ? [mark.text] : []));

test("a picture names the sentence, the head, and the lens that its numbers were asked through", () => {
  expect(titles(page(undefined, {}))).toEqual(["a man → ein Mann", "Cross-attention · layer 0 · head 0 · raw"]);
  expect(titles(page(undefined, { lens: "effect" }))[1]).toBe("Cross-attention · layer 0 · head 0 · raw");
});

test("a picture of plain weights names no sentence, and no kind that nobody knows", () => {
  expect(titles(page("encoder", { kind: "encoder" }))).toEqual(["Attention · layer 0 · head 0 · raw"]);
});

test("where no head is shown there is no picture", () => {
  const app = page(undefined, {});
  app.headSection.parts[0].selection = () => null;
  expect(() => picture(app)).toThrow("no head is shown");
});
