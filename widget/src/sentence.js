// The sentence and its translation, token by token.
import { button, checkbox, isolated, make, number, percent, put } from "./dom.js";
import { withPopover } from "./popover.js";
import { withReplaced, withText, newState } from "./state.js";
import { groupText, continues, HALF_CHARACTER, prefixWith, singly, visible, wordGroups } from "./tokens.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./protocol.js").Translation} Translation */

const TYPING = 350; // milliseconds of rest before a sentence being typed is translated

/** A saved page's text, which cannot be changed. @param {Context} context @returns {import("./section.js").Part} */
function savedText({ study }) {
  const element = make("p", { class: "text saved-text", dir: "auto" });
  return { element, update: () => put(element, isolated(study.state.text)) };
}

/** The text to translate, the beam and the model. @param {Context} context @returns {import("./section.js").Part} */
export function sentenceInput(context) {
  if (!context.about.live) return savedText(context);
  const { study, about } = context;
  let timer = 0;
  const text = make("textarea", {
    class: "text",
    rows: 1,
    spellcheck: "false",
    dir: "auto",
    "aria-label": "Sentence to translate",
    placeholder: "Type a sentence …",
  });
  const translate = () => {
    clearTimeout(timer);
    if (text.value.trim()) study.change(withText(study.state, text.value), "typed a sentence", true);
  };
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(translate, TYPING);
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    translate();
  });
  const beam = make("input", { type: "number", min: 1, max: 64, class: "small", "aria-label": "Beam: hypotheses kept" });
  beam.addEventListener("change", () => {
    const wanted = Math.min(Math.max(Math.round(Number(beam.value)) || 1, 1), 64);
    study.change(newState({ ...study.state, beam: wanted }), `beam of ${wanted}`);
  });
  const model = make("select", { "aria-label": "Model" });
  about.models.forEach(({ name }, i) => model.append(make("option", { value: i }, name)));
  model.addEventListener("change", () =>
    study.change(newState({ ...study.state, model: Number(model.value) }), `model ${about.models[Number(model.value)].name}`),
  );
  const several = about.models.length > 1;
  const element = make(
    "div",
    { class: "input" },
    text,
    make("div", { class: "row" },
      button("Translate", translate, { class: "primary" }),
      make("label", { class: "quiet" }, "beam ", beam),
      several && make("label", { class: "quiet" }, "model ", model),
    ),
  );
  let known = "";
  const update = () => {
    if (study.state.text !== known && document.activeElement !== text) text.value = study.state.text;
    known = study.state.text;
    if (document.activeElement !== beam) beam.value = String(study.state.beam);
    model.value = String(study.state.model);
    element.classList.toggle("busy", study.busy);
  };
  return { element, update };
}

/** What the marks of the tokens mean. */
function legend() {
  const sample = (/** @type {string} */ share, /** @type {string} */ text) => make("span", { class: "sample", style: `--p:${share}` }, text);
  return make("p", { class: "legend", "aria-label": "Legend" },
    make("span", {}, sample("0.6", "word"), " bar: the token's probability, here 60 %; the tint is deeper for less probable tokens"),
    make("span", {}, sample("1", "wo"), make("span", { class: "sample more" }, "rd"), " dotted line: pieces of one word"));
}

/** Both sides as tokens. @param {Context} context */
export function tokenRows({ about, study, view }) {
  const source = make("div", { class: "tokens source", role: "group", "aria-label": "Source tokens" });
  const target = make("div", { class: "tokens target", role: "group", "aria-label": "Translation" });
  const facts = make("p", { class: "facts" });
  const joined = checkbox("whole words", view.look.words, (words) => view.set({ words }));
  const element = make("div", { class: "both" },
    make("div", { class: "side" }, make("span", { class: "side-name" }, "source"), source),
    make("div", { class: "side" }, make("span", { class: "side-name" }, "translation"), target),
    make("div", { class: "row" }, facts, joined),
    legend(),
  );
  /** @type {Translation | null} */
  let drawn = null;
  let words = false;
  const update = () => {
    const translation = study.translation;
    element.classList.toggle("stale", study.busy);
    if (!translation || (translation === drawn && words === view.look.words)) return;
    drawn = translation;
    words = view.look.words;
    /** @type {HTMLInputElement} */ (joined.firstChild).checked = words;
    keepingFocus(source, () => put(source, ...sourceTokens(study, translation, words, about.live)));
    keepingFocus(target, () => put(target, ...targetTokens(study, translation, words, about.live)));
    const seconds = translation.seconds < 1 ? `${Math.round(translation.seconds * 1000)} ms` : `${number(translation.seconds)} s`;
    put(facts, `log-probability ${number(translation.log_probability)} · score ${number(translation.score)} · ${seconds}`);
  };
  return { element, update };
}

/** Redraws a row of tokens without losing the keyboard's place in it. @param {HTMLElement} row @param {() => void} redraw */
function keepingFocus(row, redraw) {
  const holders = () => Array.from(row.querySelectorAll(".token"));
  const place = holders().findIndex((token) => token.parentElement?.contains(document.activeElement));
  redraw();
  if (place < 0) return;
  const next = holders()[Math.min(place, holders().length - 1)];
  if (next instanceof HTMLElement) next.focus();
}

/** @param {import("./study.js").Study} study @param {Translation} translation @param {boolean} words @param {boolean} live */
function sourceTokens(study, { source }, words, live) {
  const groups = words ? wordGroups(source) : singly(source);
  return groups.map((group) => {
    const at = source[group[0]].index ?? group[0];
    const replaced = group.some((i) => Object.hasOwn(study.shown.replaced, source[i].index ?? i));
    const token = make(
      "button",
      { type: "button", class: `token${live ? "" : " still"}${continues(source, group[0]) ? " more" : ""}${replaced ? " changed" : ""}` },
      isolated(groupText(source, group)),
    );
    const end = group[0] === source.length - 1;
    if (!live || group.length > 1 || end) {
      token.disabled = !live || end;
      token.title = end ? "The end of the sentence" : live ? "Show single tokens to replace one" : "";
      return token;
    }
    token.title = "Replace this token";
    return withPopover(token, () => replacement(study, source[group[0]].text, at), { hover: false });
  });
}

/** @param {import("./study.js").Study} study @param {string} text @param {number} index */
function replacement(study, text, index) {
  const input = make("input", { type: "text", value: text.trim(), "aria-label": `Instead of ${visible(text)}`, dir: "auto" });
  const form = make("form", { class: "replace" },
    make("span", { class: "quiet" }, "instead"),
    input,
    make("button", { type: "submit", class: "primary" }, "Replace"),
  );
  if (Object.hasOwn(study.shown.replaced, index))
    form.append(button("Restore", () => study.change(withReplaced(study.state, index, null), `token ${index} restored`)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    study.change(withReplaced(study.state, index, wanted), `token ${index} → “${visible(wanted)}”`);
  });
  queueMicrotask(() => input.select());
  return form;
}

/** @param {import("./study.js").Study} study @param {Translation} translation @param {boolean} words @param {boolean} live */
function targetTokens(study, translation, words, live) {
  const { target, steps } = translation;
  const groups = words ? wordGroups(target) : singly(target);
  return groups.map((group) => {
    const known = group.every((i) => steps[i]);
    const probability = known ? Math.exp(group.reduce((sum, i) => sum + steps[i].log_probability, 0)) : 1;
    const token = make(
      "button",
      {
        type: "button",
        class: `token${continues(target, group[0]) ? " more" : ""}`,
        style: `--p:${probability.toFixed(4)}`,
        "aria-label": `${groupText(target, group)}${known ? `, ${percent(probability)}` : ""}`,
      },
      isolated(groupText(target, group)),
    );
    return known ? withPopover(token, () => alternatives(study, translation, group[0], live)) : token;
  });
}

/**
 * The most probable tokens of this step. In the live view, choosing one makes the translation go on from it.
 * @param {import("./study.js").Study} study @param {Translation} translation @param {number} position @param {boolean} live
 */
function alternatives(study, { text, target, steps }, position, live) {
  const { log_probability: own, alternatives: others } = steps[position];
  const token = target[position];
  const list = make("ol", { class: "alternatives" });
  const rows = others.some(({ id }) => id === token.id) ? others : [{ id: token.id, text: token.text, log_probability: own }, ...others];
  for (const { id, text: piece, log_probability } of rows) {
    const share = Math.exp(log_probability);
    const end = target[target.length - 1].id === id;
    const prefix = prefixWith(text, target, position, piece);
    const why = end ? "The end cannot be forced" : prefix === null ? HALF_CHARACTER : "";
    const force = () => {
      if (prefix !== null) study.change(newState({ ...study.state, prefix }), `“${visible(piece)}” forced`);
    };
    const style = { class: `alternative${id === token.id ? " chosen" : ""}`, style: `--p:${share.toFixed(4)}` };
    const row = live ? button("", force, { ...style, disabled: why !== "", title: why || "Go on from here with this token" }) : make("span", style);
    put(row, isolated(visible(piece)), make("span", { class: "figure" }, percent(share)));
    list.append(make("li", {}, row));
  }
  return make("div", {}, make("p", { class: "quiet" }, `token ${position} · characters ${token.begin}–${token.end}`), list);
}
