// The sentence, its translation and the changes, visible while the page is scrolled.
import { diffLine } from "./changes.js";
import { isolated, make, number, put, signed } from "./dom.js";
import { groupText } from "./tokens.js";

/** @typedef {import("./app.js").Context} Context */

/** One sentence in two or three lines. @param {Context} context @returns {import("./section.js").Part} */
function summary({ study }) {
  const element = make("div", { class: "summary" });
  const update = () => {
    const { translation } = study;
    if (!translation) return put(element);
    const { source, text, score, baseline } = translation;
    const words = groupText(source, source.slice(0, -1).map((_, i) => i));
    element.classList.toggle("stale", study.busy);
    return put(element,
      make("p", { class: "quiet" }, isolated(words)),
      baseline ? diffLine(baseline.text, text) : make("p", { class: "diff", dir: "auto" }, isolated(text)),
      baseline && make("p", { class: "facts" }, text === baseline.text ? "The translation stays the same. " : "", `score ${number(baseline.score)} → ${number(score)} (${signed(score - baseline.score)})`));
  };
  return { element, update };
}

/**
 * A bar at the top edge of the window, shown while the source row of a section is scrolled out of sight.
 * @param {Context[]} contexts @param {Element} section
 */
export function keptInSight(contexts, section) {
  const parts = contexts.map(summary);
  const bar = make("div", { class: "bar", hidden: true, role: "status", "aria-label": "The translation now" }, ...parts.map((part) => part.element));
  const element = make("div", { class: "in-sight" }, bar);
  section.after(element);
  const watch = new IntersectionObserver((changes) => {
    const { intersectionRatio, boundingClientRect } = changes[changes.length - 1];
    bar.hidden = intersectionRatio === 1 || boundingClientRect.top > 0;
  }, { threshold: [0, 1] });
  watch.observe(/** @type {Element} */ (section.querySelector(".side")));
  const update = () => parts.forEach((part) => part.update());
  update();
  return { update, close: () => watch.disconnect() };
}
