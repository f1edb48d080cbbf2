// The parts that a long text is translated in, and which of them is shown.
import { isolated, make, put } from "./dom.js";
import { withPart } from "./state.js";

/** @typedef {import("./app.js").Context} Context */

/** @param {Context} context */
export function partsPart({ study }) {
  const words = make("p", { class: "quiet" });
  const list = make("ol", { class: "parts" });
  const element = make("nav", { class: "whole-text", "aria-label": "Parts of the text" }, words, list);

  /** @param {import("./protocol.js").Translation} translation @param {string} text @param {number} number */
  const item = (translation, text, number) => {
    const here = number === study.shown.part;
    const found = here ? translation.text : study.partTexts.get(number);
    const show = () => study.change(withPart(study.state, number), `part ${number + 1}`);
    return make("li", {},
      make("button", { type: "button", onclick: show, "aria-current": here ? "true" : undefined, "aria-label": `Part ${number + 1}: ${text}` },
        make("span", { class: "figure" }, String(number + 1)), isolated(text), isolated(found ?? "…", "quiet")));
  };
  const update = () => {
    const { translation } = study;
    const parts = translation?.parts ?? [];
    element.hidden = parts.length < 2;
    if (!translation || element.hidden) return;
    put(words, `This text is translated in ${parts.length} parts, as `, make("code", {}, "allyouneed translate"), ` splits it. Everything below shows part ${study.shown.part + 1}; click another part to see it.`);
    put(list, ...parts.map((text, number) => item(translation, text, number)));
    void study.translateParts();
  };
  return { element, update };
}
