// The current state as one drawing: sentence, translation, and the chosen heads as lines and matrix.
import { stacked } from "./export_picture.js";
import { headScene } from "./head_view.js";
import { matrixScene } from "./matrix.js";
import { chosenWords } from "./one_head.js";

/** @typedef {import("./app.js").View} View */

/** @param {View} app @returns {import("./scene.js").Scene} */
export function picture(app) {
  const palette = app.palette();
  const parts = [];
  for (const [i, { study }] of app.contexts.entries()) {
    const part = /** @type {ReturnType<typeof import("./one_head.js").oneHead> | undefined} */ (app.headSection?.parts[i]);
    const selection = part?.selection();
    if (!part || !selection || !study.translation) continue;
    const marked = part.marked() ?? { blocked: new Set(), forced: new Set() };
    parts.push({ title: `${study.shown.text} → ${study.translation.text}`, scene: { width: 0, height: 0, marks: [] } });
    parts.push({ title: `${chosenWords(app.view.look)} · ${app.view.look.lens}`, scene: headScene(selection, part.focus(), palette) });
    parts.push({ title: "", scene: matrixScene(selection, palette, marked) });
  }
  return stacked(parts, palette);
}
