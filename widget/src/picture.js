// The current state as one drawing: sentence, translation, and the chosen heads as lines and matrix.
import { stacked } from "./export_picture.js";
import { headScene } from "./head_view.js";
import { matrixScene } from "./matrix.js";
import { chosenWords } from "./one_head.js";
import { askedLens } from "./view_state.js";

/** @typedef {import("./app.js").View} View */

/**
 * @param {Pick<View, "palette" | "contexts" | "headSection" | "about" | "view">} app
 * @returns {import("./scene.js").Scene}
 */
export function picture(app) {
  const palette = app.palette();
  const { only } = app.about;
  const { look } = app.view;
  const parts = [];
  for (const [i, { study }] of app.contexts.entries()) {
    const part = /** @type {ReturnType<typeof import("./one_head.js").oneHead> | undefined} */ (app.headSection?.parts[i]);
    const selection = part?.selection();
    if (!part || !selection || !study.translation) continue;
    const marked = part.marked() ?? { blocked: new Set(), forced: new Set() };
    if (!only) parts.push({ title: `${study.shown.text} → ${study.translation.text}`, scene: { width: 0, height: 0, marks: [] } });
    parts.push({ title: `${chosenWords(look, only)} · ${askedLens(look.lens)}`, scene: headScene(selection, part.focus(), palette) });
    parts.push({ title: "", scene: matrixScene(selection, palette, marked) });
  }
  if (!parts.length) throw new Error("There is no picture to save: no head is shown.");
  return stacked(parts, palette);
}
