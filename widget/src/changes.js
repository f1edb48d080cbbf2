// The changes made to the model, their effect on the translation, and buttons that undo them.
import { button, isolated, make, number, put, signed } from "./dom.js";
import { diff } from "./diff.js";
import { spoken } from "./names.js";
import { disturbed, newState, undisturbed, unedited, withReplaced } from "./state.js";
import { visible } from "./tokens.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./state.js").State} State */

const EDIT_WORDS = { uniform: "uniform weights", diagonal: "diagonal weights", block: "cells blocked", force: "cells forced" };

/** Every change of a state in words, each with the state that undoes this change. @param {State} state @returns {[string, State][]} */
export function changesOf(state) {
  /** @type {[string, State][]} */
  const changes = [];
  for (const name of state.switchedOff)
    changes.push([`off: ${spoken(name)}`, newState({ ...state, switchedOff: state.switchedOff.filter((other) => other !== name) })]);
  for (const { head, kind, cells } of state.edits)
    changes.push([`${cells ? `${cells.length} ` : ""}${EDIT_WORDS[kind]}: ${spoken(head)}`, unedited(state, head)]);
  for (const [index, text] of Object.entries(state.replaced))
    changes.push([`source token ${index}: “${visible(text)}”`, withReplaced(state, Number(index), null)]);
  if (state.prefix) changes.push([`begins with “${state.prefix}”`, newState({ ...state, prefix: "" })]);
  return changes;
}

/** One line with the old and the new text. @param {string} before @param {string} after */
export function diffLine(before, after) {
  const line = make("p", { class: "diff", dir: "auto" });
  for (const { kind, text } of diff(before, after))
    line.append(kind === "same" ? isolated(text) : make(kind === "removed" ? "del" : "ins", {}, isolated(text)));
  return line;
}

/** @param {Context} context */
export function changesPart({ can, study }) {
  const chips = make("div", { class: "chips" });
  const result = make("div", { class: "result", "aria-live": "polite" });
  const past = make("details", { class: "history" });
  const element = make("section", { class: "changes", "aria-label": "Changes" }, chips, result, past);
  const update = () => {
    const { state, translation, shown } = study;
    const back = button("Step back", () => study.goTo(study.now - 1), { disabled: study.now === 0 });
    const forward = button("Forward", () => study.goTo(study.now + 1), { disabled: study.now >= study.history.length - 1 });
    const reset = button("Undo all", () => study.change(undisturbed(study.state), "all undone"), { disabled: !disturbed(state) || !can(undisturbed(state)) });
    put(chips, back, forward, reset,
      ...changesOf(state).map(([words, without]) =>
        button(words, () => study.change(without, `undone: ${words}`), { class: "chip", disabled: !can(without), "aria-label": `Undo: ${words}`, title: "Undo this change" }),
      ),
    );
    put(result, ...(translation?.baseline && disturbed(shown) ? compared(translation, translation.baseline) : []),
      ...(translation?.notes ?? []).map((note) => make("p", { class: "note" }, isolated(note))));
    put(past, make("summary", {}, `History (${study.history.length})`), history(study));
    past.hidden = study.history.length < 2;
    chips.hidden = study.history.length < 2 && !disturbed(state);
  };
  return { element, update };
}

/** @param {import("./protocol.js").Translation} now @param {import("./protocol.js").Baseline} baseline */
function compared(now, baseline) {
  const same = now.text === baseline.text;
  const change = now.score - baseline.score;
  return [
    make("h3", {}, same ? "The translation stays the same" : "Old and new translation"),
    diffLine(baseline.text, now.text),
    make("p", { class: "facts" }, `score ${number(baseline.score)} → ${number(now.score)} (${signed(change)})`),
  ];
}

/** @param {import("./study.js").Study} study */
function history(study) {
  const list = make("ol", { class: "moments" });
  study.history.forEach(({ label, text, score }, i) => {
    const go = button("", () => study.goTo(i), { "aria-current": i === study.now ? "step" : undefined });
    put(go, make("span", {}, label), score === undefined ? null : make("span", { class: "figure" }, number(score)), text ? isolated(text, "quiet") : null);
    list.append(make("li", {}, go));
  });
  return list;
}
