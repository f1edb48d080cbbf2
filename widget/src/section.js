// A part of the page: a title, its settings, and one view for each sentence, side by side.
import { make, put } from "./dom.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {{element: HTMLElement, update: () => unknown}} Part */

export class Section {
  /** @type {Part[]} */ parts = [];

  /**
   * @param {string} title
   * @param {(context: Context) => Part} makePart
   * @param {{controls?: HTMLElement | null, folded?: boolean}} [options]  folded: closed until the user opens it
   */
  constructor(title, makePart, { controls = null, folded = false } = {}) {
    this.makePart = makePart;
    this.panes = make("div", { class: "panes" });
    this.folded = folded;
    this.element = folded
      ? make("details", { class: "section folded" }, make("summary", {}, make("h2", {}, title)), controls, this.panes)
      : make("section", { class: "section" }, title ? make("h2", {}, title) : null, controls, this.panes);
    if (folded) this.element.addEventListener("toggle", () => this.update());
  }

  /** Replaces the parts by new ones, one for each sentence. @param {Context[]} contexts */
  fill(contexts) {
    this.parts = contexts.map(this.makePart);
    put(this.panes, ...this.parts.map(({ element }) => make("div", { class: "pane" }, element)));
    this.update();
  }

  update() {
    if (this.element instanceof HTMLDetailsElement && !this.element.open) return;
    for (const part of this.parts) part.update();
  }
}
