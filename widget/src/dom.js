// Elements of the page. Text enters as text only: nothing here reads HTML.

/** Shown until an answer arrives. */
export const WAITING = "The model is computing …";

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with attributes, listeners (`onclick`, ...) and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") element.style.cssText = value; // an attribute would be refused by the page's policy
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

/** Replaces the children of an element. @param {Element} element @param {...Child} children */
export function put(element, ...children) {
  const given = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(.../** @type {(Node | string)[]} */ (given));
}

/** Text from a model or a user, isolated from the writing direction of its neighbours. @param {string} text @param {string} [style] */
export function isolated(text, style) {
  return make("bdi", { class: style }, text);
}

/**
 * A choice, as a row of radio buttons; the arrow keys move between them.
 * @template {string} Choice
 * @param {string} name  what is chosen
 * @param {[Choice, string, string?][]} choices  value, words, explanation
 * @param {Choice} chosen
 * @param {(choice: Choice) => void} choose
 */
export function choice(name, choices, chosen, choose) {
  const group = `choice-${Math.random().toString(36).slice(2)}`;
  const row = make("div", { class: "choice", role: "radiogroup", "aria-label": name });
  for (const [value, words, explanation] of choices) {
    const input = make("input", { type: "radio", name: group, value, onchange: () => choose(value) });
    input.checked = value === chosen;
    row.append(make("label", { title: explanation }, input, make("span", {}, words)));
  }
  return row;
}

/** Shows a choice that was made elsewhere. @param {Element} row  a `choice` @param {string} chosen */
export function showChoice(row, chosen) {
  for (const input of row.querySelectorAll("input")) input.checked = input.value === chosen;
}

/** @param {string} words @param {boolean} on @param {(on: boolean) => void} change */
export function checkbox(words, on, change) {
  const input = make("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = on;
  return make("label", { class: "check" }, input, words);
}

/** @param {string} words @param {() => void} act @param {Record<string, any>} [properties] */
export function button(words, act, properties = {}) {
  return make("button", { type: "button", onclick: act, ...properties }, words);
}

/** A number as displayed: three significant digits, and U+2212 as minus sign. @param {number} value */
export function number(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : value.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1);
  return text.replaceAll("-", "−");
}

/** A change as displayed, with its sign. @param {number} value */
export function signed(value) {
  return (value > 0 ? "+" : "") + number(value);
}

/** @param {number} share @returns {string} */
export function percent(share) {
  return share >= 0.9995 ? "100 %" : share >= 0.1 ? `${(share * 100).toFixed(0)} %` : `${(share * 100).toFixed(1)} %`;
}
