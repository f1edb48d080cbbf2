// The glossary: how words are to be translated, for each pair of languages, kept in this browser.
import { words } from "./words.js";

const MOST = 500; // terms of a pair
const at = (id) => document.getElementById(id);
let pair = "";
let reason = "";
let changed = () => {};

/** Shows the glossary of these languages, and says whether it is another one than before; `missing`
is the reason why they can have none, or empty. `onChange` is called when the user changes it. */
export function openGlossary(from, to, missing, onChange) {
  changed = onChange;
  if (pair === `${from}-${to}`) return false;
  pair = `${from}-${to}`;
  reason = missing;
  fill();
  return true;
}

/** The terms of the shown pair as the service takes them; undefined where there are none. */
export function terms() {
  if (reason) return undefined;
  const found = Object.fromEntries(kept().filter(([term, wanted]) => term && wanted));
  return Object.keys(found).length ? found : undefined;
}

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(`glossary ${pair}`) ?? "[]");
    return found.filter((one) => Array.isArray(one) && one.every((each) => typeof each === "string"));
  } catch {
    return [];
  }
}

function keep(rows) {
  if (rows.length) localStorage.setItem(`glossary ${pair}`, JSON.stringify(rows));
  else localStorage.removeItem(`glossary ${pair}`);
  told();
  changed();
}

function told() {
  const count = Object.keys(terms() ?? {}).length;
  at("glossary-count").textContent = count ? ` (${count})` : "";
}

function fill() {
  at("glossary-missing").textContent = reason;
  at("term-form").hidden = at("terms").hidden = Boolean(reason);
  at("terms").replaceChildren(...kept().map(([term, wanted]) => row(term, wanted)));
  told();
}

function row(term, wanted) {
  const node = document.createElement("li");
  const [from, to] = [field(term, words.term), field(wanted, words.wanted)];
  const away = document.createElement("button");
  away.type = "button";
  away.className = "quiet";
  away.textContent = words.remove;
  away.setAttribute("aria-label", `${words.remove}: ${term}`);
  away.onclick = () => { node.remove(); keep(rows()); };
  from.onchange = to.onchange = () => keep(rows());
  node.append(from, to, away);
  return node;
}

function field(value, label) {
  const node = document.createElement("input");
  node.value = value;
  node.spellcheck = false;
  node.setAttribute("aria-label", label);
  return node;
}

function rows() {
  return [...at("terms").children].map((node) => [...node.querySelectorAll("input")].map((one) => one.value.trim()));
}

at("term-form").onsubmit = (event) => {
  event.preventDefault();
  const [term, wanted] = [at("term"), at("wanted")];
  if (!term.value.trim() || !wanted.value.trim() || rows().length >= MOST) return;
  at("terms").append(row(term.value.trim(), wanted.value.trim()));
  term.value = wanted.value = "";
  term.focus();
  keep(rows());
};
