// Switching heads off and on; a saved page has answers for some states only.
import { toggled, withPart } from "./state.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./state.js").State} State */

/**
 * The state with a head, or with head null every head of a layer, switched off or on. A saved page
 * holds each head switched off by itself: there the other heads are switched on again.
 * @param {Context} context @param {import("./names.js").Place} place
 * @returns {State | null}  null: a saved page does not hold this
 */
export function switched({ study, can, model }, place) {
  const { heads } = model().config;
  const next = toggled(study.state, place, heads);
  if (can(next)) return next;
  const alone = toggled(withPart(study.history[0].state, study.state.part), place, heads);
  return can(alone) ? alone : null;
}
