// The whole view: one or two sentences, every section about them, and links that bring the view back.
import { beamTree } from "./beam_tree.js";
import { calculatorPart } from "./calculator.js";
import { changesPart } from "./changes.js";
import { PALETTES } from "./colour.js";
import { gridControls, headControls } from "./controls.js";
import { put, make } from "./dom.js";
import { headGrid } from "./grid.js";
import { header } from "./header.js";
import { keptInSight } from "./in_sight.js";
import { lensPart } from "./lens.js";
import { fromHash, toHash } from "./link.js";
import { KINDS } from "./names.js";
import { oneHead, chosenWords } from "./one_head.js";
import { partsPart } from "./parts.js";
import { positionsPart } from "./positions.js";
import { lookCommand, needsLiveModel } from "./protocol.js";
import { Section } from "./section.js";
import { sentenceInput, tokenRows } from "./sentence.js";
import { newState, sameState } from "./state.js";
import { Study } from "./study.js";
import { ViewState } from "./view_state.js";

/** @typedef {import("./protocol.js").Ask} Ask */
/** @typedef {import("./protocol.js").About} About */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./link.js").Saved} Saved */
/** @typedef {"auto" | "light" | "dark"} Theme */
/**
 * Everything that a part of the page needs; each sentence has its own study.
 * @typedef {object} Context
 * @property {Study} study
 * @property {ViewState} view
 * @property {About} about
 * @property {() => About["models"][number]} model
 * @property {() => import("./colour.js").Palette} palette
 * @property {(state: State) => boolean} can  whether a state can be translated; a saved page holds the translations of some states
 * @property {() => boolean} switching  whether a click on a small map switches the head off
 * @property {() => void} measure  starts measuring the effect of switching each head off
 */
/**
 * @typedef {object} Options
 * @property {Partial<State>[]} [states]  the states that are shown first: of one sentence, or of two beside each other
 * @property {boolean} [link]  whether the page's address follows the state; true by default where the page has an address
 */

const dark = () => window.matchMedia("(prefers-color-scheme: dark)");

class App {
  /** @type {Context[]} */ contexts = [];
  /** @type {Theme} */ theme = "auto";
  switching = false;
  #waiting = false;

  /** @param {HTMLElement} element @param {Ask} ask @param {About} about @param {Options} options */
  constructor(element, ask, about, options) {
    this.ask = ask;
    this.about = about;
    this.link = options.link ?? window.location.protocol !== "about:"; // a frame's srcdoc has no address
    this.root = make("div", { class: about.only ? "allyouneed plain" : "allyouneed" });
    this.status = make("div", { class: "status", role: "status" });
    this.main = make("main");
    element.append(this.root);
    const { saved, problem } = this.#first(options);
    this.headGiven = Boolean(saved.look.heads || about.only);
    this.view = new ViewState({ ...saved.look, ...(about.only && { kind: about.only }) });
    this.header = header(this);
    put(this.root, this.header.element, this.status, this.main);
    this.view.subscribe(() => this.refresh());
    this.open(saved.states);
    if (problem) this.say(problem);
    this.media = dark();
    this.redraw = () => this.refresh();
    this.follow = () => this.#fromAddress();
    this.media.addEventListener("change", this.redraw);
    if (this.link) window.addEventListener("hashchange", this.follow);
  }

  /** @param {Options} options @returns {{saved: Saved, problem: string}} */
  #first(options) {
    const { states = [{}] } = options;
    /** @type {Saved} */
    const given = { states: states.map((state) => newState(state)), look: {} };
    try {
      return { saved: (this.link && fromHash(location.hash)) || given, problem: "" };
    } catch (error) {
      return { saved: given, problem: /** @type {Error} */ (error).message };
    }
  }

  #fromAddress() {
    try {
      const saved = fromHash(location.hash);
      if (saved) this.restore(saved);
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
  }

  /** What a link or a file keeps. @returns {Saved} */
  saved() {
    return { states: this.contexts.map(({ study }) => study.state), look: this.view.look };
  }

  /** @param {Saved} saved */
  restore({ states, look }) {
    Object.assign(this.view.look, look);
    const now = this.contexts.map(({ study }) => study.state);
    if (now.length === states.length) states.forEach((state, i) => sameState(state, now[i]) || this.contexts[i].study.change(state, "restored"));
    else this.open(states);
    this.refresh();
  }

  /** Studies these sentences, one or two. @param {State[]} states */
  open(states) {
    const old = this.contexts;
    this.contexts = states.map((state, i) => (old[i] && sameState(old[i].study.state, state) ? old[i] : this.#context(state, i)));
    for (const context of old) if (!this.contexts.includes(context)) context.study.close();
    this.#build();
    for (const context of this.contexts) if (!old.includes(context)) context.study.start();
  }

  /** @param {State} state @param {number} pane @returns {Context} */
  #context(state, pane) {
    const study = new Study(this.ask, state, pane);
    const { view, about } = this;
    const model = () => about.models[study.state.model] ?? about.models[0];
    const measure = () => void study.measureEffects(model().config);
    const can = (/** @type {State} */ wanted) => !this.ask.holds || this.ask.holds("translate", { state: wanted });
    study.subscribe(() => this.refresh());
    return { study, view, about, model, palette: () => this.palette(), can, switching: () => this.switching, measure };
  }

  palette() {
    const night = this.theme === "dark" || (this.theme === "auto" && dark().matches);
    return PALETTES[night ? "dark" : "light"];
  }

  #build() {
    const { about, contexts } = this;
    const grids = gridControls(contexts, (switching) => (this.switching = switching));
    const heads = headControls(contexts);
    this.sections = [
      new Section("", (context) => joined("sentence", [sentenceInput(context), partsPart(context), tokenRows(context), changesPart(context)])),
      new Section("Every head", allGrids, { controls: grids.element }),
      (this.headSection = new Section("Chosen head", oneHead, { controls: heads.element })),
      ...(about.only ? [] : folded(about.asks)),
    ];
    this.controls = [grids, heads];
    this.main.classList.toggle("two", contexts.length > 1);
    put(this.main, ...this.sections.map(({ element }) => element));
    for (const section of this.sections) section.fill(contexts);
    this.bar?.close();
    this.bar = about.only ? null : keptInSight(contexts, this.sections[0].element);
    this.refresh();
  }

  /** Redraws everything once, even after several changes. */
  refresh() {
    if (this.#waiting) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      this.#update();
    });
  }

  /** Opens on the head that aligns best, unless the address names another. */
  #chooseHead() {
    const { aligning } = this.contexts[0].study.translation ?? {};
    if (this.headGiven || !aligning) return;
    this.headGiven = true;
    Object.assign(this.view.look, { kind: "cross", heads: [aligning] });
  }

  #update() {
    this.#chooseHead();
    this.view.fit(this.contexts[0].model().config);
    this.root.dataset.theme = this.palette().name;
    this.header.update();
    const title = this.headSection?.element.querySelector("h2");
    if (title) put(title, chosenWords(this.view.look, this.about.only));
    for (const { update } of this.controls ?? []) update();
    for (const section of this.sections ?? []) section.update();
    this.bar?.update();
    this.#report();
    if (this.link) window.history.replaceState(window.history.state, "", toHash(this.saved()));
  }

  #report() {
    const failed = this.contexts.map(({ study }) => study.error).find(Boolean);
    if (!failed) return this.status.dataset.error ? this.say("") : undefined;
    const text = this.contexts[0].study.shown.text;
    this.say(needsLiveModel(failed) ? `${failed.message} Run: ${lookCommand(text)}` : failed.message);
    this.status.dataset.error = "true";
    return undefined;
  }

  /** Shows a message above everything; "" removes it. @param {string} words */
  say(words) {
    delete this.status.dataset.error;
    put(this.status, words);
  }

  close() {
    this.media?.removeEventListener("change", this.redraw);
    window.removeEventListener("hashchange", this.follow);
    for (const { study } of this.contexts) study.close();
    this.bar?.close();
    this.root.remove();
  }
}

/** The sections that open on demand. A section is left out where the page cannot answer its questions. @param {string[] | undefined} asks */
function folded(asks) {
  const all = /** @type {const} */ ([
    ["translate", "Beam tree", beamTree],
    ["lens", "Layer by layer", lensPart],
    ["calculator", "Calculator", calculatorPart],
    ["positions", "Positional encodings", positionsPart],
  ]);
  return all.filter(([kind]) => !asks || asks.includes(kind)).map(([, title, part]) => new Section(title, part, { folded: true }));
}

/** One part that holds several parts and updates them together. @param {string} style @param {import("./section.js").Part[]} parts @returns {import("./section.js").Part} */
function joined(style, parts) {
  return { element: make("div", { class: style }, ...parts.map(({ element }) => element)), update: () => parts.forEach((part) => part.update()) };
}

/** The three grids; made anew for a model of another shape. @param {Context} context @returns {import("./section.js").Part} */
function allGrids(context) {
  const element = make("div", { class: "grids" });
  /** @type {import("./section.js").Part[]} */
  let grids = [];
  let model = NaN;
  const update = () => {
    if (model !== context.study.state.model) {
      model = context.study.state.model;
      const { only } = context.about;
      grids = (only ? [only] : KINDS).map((kind) => headGrid(context, kind));
      element.style.setProperty("--heads", String(context.model().config.heads));
      put(element, ...grids.map((grid) => grid.element));
    }
    for (const grid of grids) grid.update();
  };
  return { element, update };
}

/**
 * Puts the view into an element.
 * @param {HTMLElement} element @param {Ask} ask @param {Options} [options]
 * @returns {Promise<App>}
 */
export async function mount(element, ask, options = {}) {
  const { json } = await ask("about", {});
  return new App(element, ask, json, options);
}

/** @typedef {App} View */
