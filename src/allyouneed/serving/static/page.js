// The page: text in, translation out, while one types. Nothing that is typed becomes an address or
// a part of the document's markup, and nothing is kept but in this browser.
import { translateFile } from "./files.js";
import { openGlossary, terms } from "./glossary.js";
import { reasonOf } from "./reasons.js";
import { ask } from "./service.js";
import { german, languageName, words } from "./words.js";

const DEBOUNCE = 250; // milliseconds without a key before a text is sent
// A word is tinted where it is below these, the more the lower: its confidence where the model is
// calibrated, else the probability of its pieces.
const DOUBTS = { confidence: [0.5, 0.35, 0.2], probability: [0.35, 0.2, 0.1] };
const MOST_CHOICES = 8;
const MOST_PAST = 20;
const LONGEST_TEXT = 400_000; // bytes of a text file that is opened in the page

const at = (id) => document.getElementById(id);
const [text, translation, source, target, state] = ["text", "translation", "source", "target", "state"].map(at);
let languages = [];
let between = {}; // directions that lead through a third language, and that language: {"de-fr": "en"}
let shown = null; // the translation on the page, as the service gave it, with what was asked
let asking = null; // the request that is under way, to be broken off by the next one
let timer = 0;
let looking = {}; // whether the live view can be opened, and if not, what to install

// ---- words of the page

function speak() {
  document.documentElement.lang = german ? "de" : "en";
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = words[node.dataset.word];
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", words[node.dataset.label]);
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = words[node.dataset.placeholder];
  for (const node of document.querySelectorAll("[data-title]")) {
    node.title = words[node.dataset.title];
    node.setAttribute("aria-label", node.title);
  }
}

function say(message, wrong = false) {
  state.textContent = message;
  state.classList.toggle("wrong", wrong);
}

function explain(error) {
  if (error.name === "AbortError") return;
  document.body.classList.remove("working");
  const needsKey = error.status === 403 || /API key/.test(error.message);
  if (needsKey && error.status) at("key-form").hidden = false;
  say(reasonOf(error), true);
}

// ---- languages

function option(code, name) {
  const node = document.createElement("option");
  node.value = code;
  node.textContent = name;
  return node;
}

function nameOf(code) {
  return languageName(code, languages.find((one) => one.code === code)?.name ?? code);
}

async function fillLanguages() {
  languages = await ask("languages");
  const { language } = await ask("frontend/settings");
  const ways = await ask("v1/models");
  between = Object.fromEntries(ways.filter((way) => way.via).map((way) => [`${way.source}-${way.target}`, way.via]));
  const sources = languages.filter((one) => one.targets.some((code) => code !== one.code));
  source.replaceChildren(option("auto", words.auto), ...sources.map((one) => option(one.code, nameOf(one.code))));
  const targets = [...new Set(sources.flatMap((one) => one.targets.filter((code) => code !== one.code)))];
  target.replaceChildren(...targets.map((code) => option(code, nameOf(code))));
  source.value = sources.length > 1 ? "auto" : sources[0].code;
  const wish = german ? "de" : language.target.code;
  target.value = targets.includes(wish) ? wish : targets[0];
}

/** Why a direction has no glossary and no other words; empty where a model of its own has them. */
function whyPlain(from, to) {
  const via = between[`${from}-${to}`];
  return via ? words.through(nameOf(from), nameOf(to), nameOf(via)) : "";
}

function otherTarget(code) {
  const entry = languages.find((one) => one.code === code);
  return entry?.targets.find((one) => one !== code);
}

function swap() {
  const from = source.value === "auto" ? shown?.source : source.value;
  const before = target.value;
  const next = from ?? otherTarget(before);
  if (next && [...target.options].some((one) => one.value === next)) target.value = next;
  if ([...source.options].some((one) => one.value === before)) source.value = before;
  if (shown?.text) text.value = shown.text;
  translate();
  text.focus();
}

// ---- translating

function later() {
  clearTimeout(timer);
  timer = setTimeout(translate, DEBOUNCE);
}

async function translate() {
  clearTimeout(timer);
  asking?.abort();
  closeChoices();
  const written = text.value;
  at("clear").hidden = !written;
  at("count").textContent = written ? words.characters([...written].length) : "";
  if (!written.trim()) {
    show(null);
    say("");
    document.body.classList.remove("working");
    return;
  }
  asking = new AbortController();
  document.body.classList.add("working");
  if (!shown) say(words.working);
  try {
    await findGlossary(written, asking.signal);
    const body = { text: written, source: source.value, target: target.value, alignments: true, tokens: true, terms: terms() };
    const { translations } = await ask("v1/translate", body, asking.signal);
    document.body.classList.remove("working");
    if (source.value === "auto" && translations[0].source === target.value && otherTarget(target.value)) {
      target.value = otherTarget(target.value); // what is there already in the target language
      translate();
      return;
    }
    if (openFrom(translations[0].source) && terms()) {
      translate(); // the language that was detected has a glossary of its own
      return;
    }
    say("");
    at("key-form").hidden = true;
    show({ ...translations[0], written, target: target.value });
    remember();
  } catch (error) {
    explain(error);
  }
}

/** Opens the glossary for a text. A glossary of a language that is still to be detected is sent with
no text of another language: the service is asked for the language first. */
async function findGlossary(written, signal) {
  const detected = source.value === "auto";
  openFrom(detected ? (shown?.source ?? otherTarget(target.value)) : source.value);
  if (detected && terms()) openFrom((await ask("detect", { q: written }, signal))[0].language);
}

function openFrom(from) {
  return openGlossary(from, target.value, whyPlain(from, target.value), translate);
}

function show(found) {
  shown = found;
  translation.lang = found?.target ?? "";
  text.lang = found?.source ?? "";
  at("detected").textContent = found && source.value === "auto" ? words.detected(nameOf(found.source)) : "";
  at("copy").hidden = at("hint").hidden = !found;
  at("look").hidden = !found || !looking.available;
  at("look-install").hidden = !found || !looking.install;
  at("news").textContent = found ? found.text : "";
  mark([]);
  if (!found) {
    translation.replaceChildren();
    return;
  }
  const [sure, doubts] = found.word_confidences
    ? [found.word_confidences, DOUBTS.confidence]
    : [probabilities(found), DOUBTS.probability];
  let number = -1;
  translation.replaceChildren(
    ...found.text.split(/(\s+)/).filter(Boolean).map((part) => {
      if (/^\s/.test(part)) return document.createTextNode(part);
      number += 1;
      return wordNode(part, number, doubts.filter((most) => sure[number] < most).length);
    }),
  );
}

function wordNode(part, number, doubt) {
  const node = document.createElement("span");
  node.className = doubt ? `word doubt doubt-${doubt}` : "word";
  node.textContent = part;
  node.dataset.number = number;
  node.setAttribute("role", "button");
  node.setAttribute("aria-haspopup", "listbox");
  node.tabIndex = number === 0 ? 0 : -1; // one stop for the Tab key; arrows go on from there
  return node;
}

/** For each word of the translation the probability of its pieces; words are what spaces part. None
 * where the model said something else than the text, such as a name in the place of an address. */
function probabilities(found) {
  const result = [];
  const letters = found.text.split(/\s+/).filter(Boolean).map((word) => [...word].length);
  const said = (found.tokens ?? []).filter((token) => token !== "</s>").join("").replace(/\s/g, "");
  if ([...said].length !== letters.reduce((sum, count) => sum + count, 0)) return result;
  let [word, room] = [0, letters[0]];
  for (const [n, token] of (found.tokens ?? []).entries()) {
    for (const letter of token === "</s>" ? [] : token.replace(/\s/g, "")) {
      if (room === 0) room = letters[(word += 1)];
      result[word] = Math.min(result[word] ?? 1, Math.exp(found.token_log_probabilities[n]));
      room -= letter ? 1 : 0;
    }
  }
  return result;
}

// ---- which words belong together

/** Marks words of the source, by number. */
function mark(numbers) {
  let number = -1;
  at("behind").replaceChildren(
    ...text.value.split(/(\s+)/).filter(Boolean).map((part) => {
      if (!/^\s/.test(part)) number += 1;
      if (/^\s/.test(part) || !numbers.includes(number)) return document.createTextNode(part);
      const node = document.createElement("mark");
      node.textContent = part;
      return node;
    }),
    document.createTextNode("\n"),
  );
}

function point(word) {
  const number = word && Number(word.dataset.number);
  mark(word && shown?.alignment && text.value === shown.written ? shown.alignment.filter(([, j]) => j === number).map(([i]) => i) : []);
}

// ---- other ways to say it

async function openChoices(word) {
  closeChoices();
  const place = lineOf(word);
  if (!place) return;
  word.setAttribute("aria-expanded", "true");
  const list = at("choices");
  const reason = whyPlain(shown.source, shown.target);
  list.replaceChildren(choice(reason || words.working, null));
  list.hidden = false;
  putBelow(list, word);
  if (reason) {
    list.firstChild.focus();
    return;
  }
  try {
    const body = { text: place.written, source: shown.source, target: shown.target, prefix: place.before, most: MOST_CHOICES };
    const { alternatives } = await ask("v1/alternatives", body);
    if (list.hidden) return;
    const others = alternatives.filter((one) => one.word !== word.textContent);
    const nodes = others.map((one) => choice(one.word, () => take(place, one.word)));
    list.replaceChildren(...(nodes.length ? nodes : [choice(words.noAlternatives, null)]));
    list.firstChild.focus();
    putBelow(list, word);
  } catch (error) {
    closeChoices();
    explain(error);
  }
}

/** The line that a word of the translation is in: each line is translated by itself. */
function lineOf(word) {
  const until = document.createRange();
  until.setStart(translation, 0);
  until.setEndBefore(word);
  const before = until.toString();
  const line = before.split("\n").length - 1;
  const lines = shown.written.split("\n");
  if (shown.text.split("\n").length !== lines.length || text.value !== shown.written) return null;
  return { line, written: lines[line], before: before.slice(before.lastIndexOf("\n") + 1).trimStart() };
}

function choice(label, onTake) {
  const node = document.createElement("li");
  node.textContent = label;
  node.setAttribute("role", "option");
  node.tabIndex = -1;
  if (onTake) node.onclick = onTake;
  else node.className = "none";
  return node;
}

async function take(place, next) {
  closeChoices();
  const lines = shown.text.split("\n");
  const kept = `${place.before.trimEnd()} ${next}`.trim();
  const body = { text: place.written, source: shown.source, target: shown.target, prefix: kept, alignments: true, tokens: true, terms: terms() };
  try {
    const [one] = (await ask("v1/translate", body)).translations;
    lines[place.line] = one.text;
    const single = lines.length === 1;
    show({ ...shown, text: lines.join("\n"), alignment: single ? one.alignment : null, tokens: single ? one.tokens : null, token_log_probabilities: one.token_log_probabilities, word_confidences: single ? one.word_confidences : null });
    remember();
  } catch (error) {
    explain(error);
  }
}

function putBelow(list, word) {
  const box = word.getBoundingClientRect();
  const left = Math.min(box.left, document.documentElement.clientWidth - list.offsetWidth - 8);
  list.style.left = `${Math.max(left, 8) + scrollX}px`;
  list.style.top = `${box.bottom + scrollY + 6}px`;
}

function closeChoices() {
  at("choices").hidden = true;
  const word = translation.querySelector('[aria-expanded="true"]');
  word?.removeAttribute("aria-expanded");
  return word;
}

function step(nodes, node, by) {
  const next = nodes[nodes.indexOf(node) + by];
  if (!next) return;
  if (node.classList.contains("word")) [node.tabIndex, next.tabIndex] = [-1, 0];
  next.focus();
}

// ---- the live view

async function findLook() {
  looking = await ask("v1/look");
  if (looking.install) at("look-install").textContent = words.lookInstall(looking.install);
}

async function look() {
  const { written, source: from, target: to } = shown;
  try {
    const { path } = await ask("v1/look", { text: written, source: from, target: to });
    if (!open(path, "_blank")) location.assign(path); // a browser that allows no new tabs
  } catch (error) {
    explain(error);
  }
}

// ---- earlier translations, in this browser

function past() {
  try {
    return JSON.parse(sessionStorage.getItem("past") ?? "[]");
  } catch {
    return [];
  }
}

function remember() {
  const { written, text: found, source: from, target: to } = shown;
  const rest = past().filter((one) => !written.startsWith(one.written) && one.written !== written);
  try {
    sessionStorage.setItem("past", JSON.stringify([{ written, text: found, source: from, target: to }, ...rest].slice(0, MOST_PAST)));
  } catch {
    sessionStorage.removeItem("past"); // no room: the newest text is long
  }
  listPast();
}

function listPast() {
  const all = past();
  at("history").hidden = !all.length;
  at("past").replaceChildren(
    ...all.map((one) => {
      const node = document.createElement("button");
      node.type = "button";
      const small = document.createElement("small");
      small.textContent = one.text;
      node.append(one.written, small);
      node.onclick = () => {
        [source.value, target.value, text.value] = [one.source, one.target, one.written];
        translate();
        text.focus();
      };
      const item = document.createElement("li");
      item.append(node);
      return item;
    }),
  );
}

// ---- files

function drop(event) {
  event.preventDefault();
  document.body.classList.remove("dropping");
  takeFiles([...event.dataTransfer.files]);
}

/** A single short text is opened in the page; all else is translated as files. */
async function takeFiles(files) {
  const [file] = files;
  if (files.length === 1 && file.name.endsWith(".txt") && file.size <= LONGEST_TEXT) {
    try {
      text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      translate();
      return;
    } catch {
      // not in UTF-8: the service finds out what it is
    }
  }
  for (const one of files) translateFile(one, source.value, target.value);
}

// ---- what the user does

function listen() {
  text.oninput = () => { mark([]); later(); };
  source.onchange = target.onchange = translate;
  at("swap").onclick = swap;
  at("clear").onclick = () => { text.value = ""; translate(); text.focus(); };
  at("copy").onclick = async () => {
    await navigator.clipboard.writeText(shown.text);
    say(words.copied);
  };
  at("look").onclick = look;
  at("forget").onclick = () => { sessionStorage.removeItem("past"); listPast(); text.focus(); };
  at("key-form").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", at("key").value);
    translate();
  };
  translation.onpointerover = (event) => point(event.target.closest(".word"));
  translation.onpointerleave = () => point(null);
  translation.onfocusin = (event) => point(event.target.closest(".word"));
  translation.onclick = (event) => event.target.closest(".word") && openChoices(event.target.closest(".word"));
  translation.onkeydown = (event) => {
    const word = event.target.closest(".word");
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!word) return;
    if (by) step([...translation.querySelectorAll(".word")], word, by);
    else if (event.key === "Enter" || event.key === " ") openChoices(word);
    else return;
    event.preventDefault();
  };
  at("choices").onkeydown = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) step([...at("choices").children], event.target, by);
    else if (event.key === "Enter" || event.key === " ") event.target.click();
    else if (event.key === "Escape" || event.key === "Tab") closeChoices()?.focus();
    else return;
    event.preventDefault();
  };
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#choices, .word")) closeChoices();
  });
  document.ondragover = (event) => { event.preventDefault(); document.body.classList.add("dropping"); };
  document.ondragleave = () => document.body.classList.remove("dropping");
  document.ondrop = drop;
  at("file").onchange = () => { takeFiles([...at("file").files]); at("file").value = ""; };
}

speak();
listen();
listPast();
Promise.all([fillLanguages(), findLook()]).then(translate, explain);
