// src/dom.js
var WAITING = "The model is computing …";
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value2] of Object.entries(properties)) {
    if (value2 === void 0 || value2 === null || value2 === false && !name.startsWith("aria-")) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value2);
    else if (name === "class") element.className = value2;
    else if (name === "style") element.style.cssText = value2;
    else element.setAttribute(name, value2 === true && !name.startsWith("aria-") ? "" : String(value2));
  }
  put(element, ...children);
  return element;
}
function put(element, ...children) {
  const given = children.filter((child) => child !== null && child !== void 0 && child !== false);
  element.replaceChildren(.../** @type {(Node | string)[]} */
  given);
}
function isolated(text, style) {
  return make("bdi", { class: style }, text);
}
function choice(name, choices, chosen, choose) {
  const group = `choice-${Math.random().toString(36).slice(2)}`;
  const row = make("div", { class: "choice", role: "radiogroup", "aria-label": name });
  for (const [value2, words2, explanation] of choices) {
    const input = make("input", { type: "radio", name: group, value: value2, onchange: () => choose(value2) });
    input.checked = value2 === chosen;
    row.append(make("label", { title: explanation }, input, make("span", {}, words2)));
  }
  return row;
}
function showChoice(row, chosen) {
  for (const input of row.querySelectorAll("input")) input.checked = input.value === chosen;
}
function checkbox(words2, on, change) {
  const input = make("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = on;
  return make("label", { class: "check" }, input, words2);
}
function button(words2, act, properties = {}) {
  return make("button", { type: "button", onclick: act, ...properties }, words2);
}
function number(value2) {
  if (!Number.isFinite(value2)) return value2 > 0 ? "∞" : value2 < 0 ? "−∞" : "–";
  const size = Math.abs(value2);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? value2.toExponential(1) : value2.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1);
  return text.replaceAll("-", "−");
}
function signed(value2) {
  return (value2 > 0 ? "+" : "") + number(value2);
}
function percent(share) {
  return share >= 0.9995 ? "100 %" : share >= 0.1 ? `${(share * 100).toFixed(0)} %` : `${(share * 100).toFixed(1)} %`;
}

// src/canonical.js
function canonical(value2) {
  if (Array.isArray(value2)) return `[${value2.map(canonical).join(",")}]`;
  if (value2 === null || typeof value2 !== "object") return JSON.stringify(value2);
  const entries = Object.entries(value2).filter(([, member]) => member !== void 0).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}
function question(kind, payload) {
  return canonical({ kind, payload: { ...payload, request: void 0, pane: void 0 } });
}

// src/names.js
var KINDS = ["encoder", "decoder", "cross"];
var TITLES = {
  encoder: "Encoder self-attention",
  decoder: "Decoder self-attention",
  cross: "Cross-attention"
};
var MODULES = {
  encoder: ["encoder", "self_attention"],
  decoder: ["decoder", "self_attention"],
  cross: ["decoder", "cross_attention"]
};
function moduleName(kind, layer) {
  const [stack, module] = MODULES[kind];
  return `${stack}.layers.${layer}.${module}`;
}
function headName(kind, layer, head) {
  return `${moduleName(kind, layer)}[${head}]`;
}
var PATTERN = /^(encoder|decoder)\.layers\.(\d+)\.(self|cross)_attention(?:\[(\d+)\])?$/;
function parseName(name) {
  const found = PATTERN.exec(name);
  if (!found || found[1] === "encoder" && found[3] === "cross") return null;
  const kind = found[3] === "cross" ? "cross" : (
    /** @type {Kind} */
    found[1]
  );
  return { kind, layer: Number(found[2]), head: found[4] === void 0 ? null : Number(found[4]) };
}
function spoken(name) {
  const place2 = parseName(name);
  if (!place2) return name;
  const whole = `${TITLES[place2.kind].toLowerCase()}, layer ${place2.layer}`;
  return place2.head === null ? `${whole}, every head` : `${whole}, head ${place2.head}`;
}

// src/state.js
var EDITS = ["uniform", "diagonal", "block", "force"];
var LARGEST_BEAM = 64;
function newState(given = {}) {
  return normal({
    text: "",
    beam: 4,
    switchedOff: [],
    edits: [],
    replaced: {},
    prefix: "",
    model: 0,
    part: 0,
    ...given
  });
}
function normal(state) {
  const names = [...new Set(state.switchedOff)].sort();
  return { ...state, switchedOff: names };
}
function must(condition, what) {
  if (!condition) throw new Error(`This is not a state of the view: ${what}.`);
}
function isObject(value2) {
  return typeof value2 === "object" && value2 !== null && !Array.isArray(value2);
}
function isCount(value2) {
  return typeof value2 === "number" && Number.isInteger(value2) && value2 >= 0;
}
function readEdit(value2) {
  must(isObject(value2), "an edit must be an object");
  const { head, kind, cells } = value2;
  must(typeof head === "string" && parseName(head)?.head != null, "an edit must name a head");
  must(typeof kind === "string" && EDITS.includes(kind), `an edit is one of ${EDITS.join(", ")}`);
  if (kind === "uniform" || kind === "diagonal") return { head, kind };
  must(
    Array.isArray(cells) && cells.every((cell) => Array.isArray(cell) && cell.length === 2 && cell.every(isCount)),
    "cells must be pairs [target position, source position]"
  );
  return { head, kind: (
    /** @type {EditKind} */
    kind
  ), cells };
}
function readState(value2) {
  must(isObject(value2), "it must be an object");
  const { text = "", beam = 4, switchedOff = [], edits = [], replaced = {} } = value2;
  const { prefix = "", model = 0, part = 0 } = value2;
  must(typeof text === "string" && typeof prefix === "string", "text and prefix must be text");
  must(isCount(beam) && beam >= 1 && beam <= LARGEST_BEAM, `beam must be 1 … ${LARGEST_BEAM}`);
  must(isCount(model), "model must be a number from 0");
  must(isCount(part), "part must be a number from 0");
  must(
    Array.isArray(switchedOff) && switchedOff.every((name) => typeof name === "string" && parseName(name)),
    "switchedOff must name heads or attention modules"
  );
  must(Array.isArray(edits), "edits must be a list");
  must(
    isObject(replaced) && Object.entries(replaced).every(([i, word]) => /^\d+$/.test(i) && typeof word === "string"),
    "replaced must map numbers of source tokens to text"
  );
  return newState({
    text,
    beam,
    switchedOff,
    edits: edits.map(readEdit),
    replaced: (
      /** @type {Record<string, string>} */
      replaced
    ),
    prefix,
    model,
    part
  });
}
function sameState(a, b) {
  return canonical(a) === canonical(b);
}
function disturbed(state) {
  return state.switchedOff.length + state.edits.length + Object.keys(state.replaced).length > 0 || state.prefix !== "";
}
function undisturbed(state) {
  return newState({ text: state.text, beam: state.beam, model: state.model, part: state.part });
}
function isOff(state, name) {
  const place2 = parseName(name);
  return state.switchedOff.includes(name) || place2 !== null && state.switchedOff.includes(moduleName(place2.kind, place2.layer));
}
function toggled(state, { kind, layer, head }, heads) {
  const module = moduleName(kind, layer);
  const all = Array.from({ length: heads }, (_, h) => headName(kind, layer, h));
  const rest = state.switchedOff.filter((name) => name !== module && !all.includes(name));
  let off = all.filter((name) => isOff(state, name));
  if (head === null) off = off.length === heads ? [] : all;
  else if (off.includes(all[head])) off = off.filter((name) => name !== all[head]);
  else off = [...off, all[head]];
  return newState({ ...state, switchedOff: [...rest, ...off.length === heads ? [module] : off] });
}
function edited(state, edit) {
  const others = state.edits.filter(({ head }) => head !== edit.head);
  if (!edit.cells) return newState({ ...state, edits: [...others, edit] });
  const spelled3 = new Set(edit.cells.map(String));
  const cells = { block: [], force: [] };
  for (const { head, kind, cells: old } of state.edits)
    if (head === edit.head && (kind === "block" || kind === "force"))
      cells[kind].push(...(old ?? []).filter((cell) => !spelled3.has(String(cell))));
  cells[
    /** @type {"block" | "force"} */
    edit.kind
  ].push(...edit.cells);
  const mine = [];
  for (
    const kind of
    /** @type {const} */
    ["block", "force"]
  )
    if (cells[kind].length)
      mine.push({
        head: edit.head,
        kind,
        cells: cells[kind].sort(([a, b], [c, d]) => a - c || b - d)
      });
  return newState({ ...state, edits: [...others, ...mine] });
}
function unedited(state, head) {
  return newState({ ...state, edits: state.edits.filter((edit) => edit.head !== head) });
}
function withReplaced(state, index, text) {
  const replaced = { ...state.replaced };
  if (text === null) delete replaced[index];
  else replaced[index] = text;
  return newState({ ...state, replaced });
}
function withText(state, text) {
  const edits = state.edits.filter(({ cells }) => !cells);
  return newState({ ...state, text, edits, replaced: {}, prefix: "", part: 0 });
}
function withPart(state, part) {
  return part === state.part ? state : newState({ ...withText(state, state.text), part });
}

// src/tokens.js
var INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
var SIGNS = { "\n": "⏎", "	": "⇥", "\r": "␍" };
function sign(character) {
  const code = (
    /** @type {number} */
    character.codePointAt(0)
  );
  return SIGNS[character] ?? `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
function visible(text) {
  const trimmed = text.replace(/^ /, "");
  if (trimmed.trim() === "" && !/[\n\t\r]/.test(trimmed)) return text === "" ? "∅" : "␣".repeat(text.length);
  return trimmed.replace(INVISIBLE, sign);
}
function continues(tokens, i) {
  return i > 0 && tokens[i].word === tokens[i - 1].word;
}
function label(tokens, i) {
  const goesOn = continues(tokens, i) && /[\p{L}\p{N}]/u.test(tokens[i].text);
  return (goesOn ? "…" : "") + visible(tokens[i].text);
}
function wordGroups(tokens) {
  const groups = [];
  tokens.forEach((_, i) => {
    if (continues(tokens, i)) groups[groups.length - 1].push(i);
    else groups.push([i]);
  });
  return groups;
}
function groupText(tokens, group) {
  return visible(group.map((i) => tokens[i].text).join(""));
}
function singly(tokens) {
  return tokens.map((_, i) => [i]);
}
var HALF_CHARACTER = "half a character cannot be forced";
var BYTE = /(<0x[0-9A-F]{2}>)/;
function bytesOf(piece) {
  return piece.split(BYTE).flatMap((part, i) => i % 2 ? [Number(part.slice(1, -1))] : [...new TextEncoder().encode(part)]);
}
function spelled(pieces) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(pieces.flatMap(bytesOf)));
  } catch {
    return null;
  }
}
function prefixWith(text, target, position, piece) {
  let whole = position;
  while (whole > 0 && BYTE.test(target[whole - 1].text)) whole--;
  if (whole === 0) return pathText([...target.slice(0, position), { text: piece }]);
  const before = Array.from(text).slice(0, target[whole - 1].end).join("");
  const rest = spelled([...target.slice(whole, position).map((token) => token.text), piece]);
  return rest === null ? null : before + rest;
}
function pathText(path) {
  return spelled(path.map(({ text }) => text))?.replace(/^ /, "") ?? null;
}

// src/beam_tree.js
var ROW = 26;
var LETTER = 7.4;
var ROOM = 26;
var SVG = "http://www.w3.org/2000/svg";
function pathTo(nodes, node) {
  const known = new Map(nodes.map((one) => [one.number, one]));
  const path = [];
  for (let here = (
    /** @type {Node | undefined} */
    node
  ); here; here = here.parent === null ? void 0 : known.get(here.parent)) path.unshift(here);
  return path;
}
var START = -1;
function nodeText({ number: number2, text }) {
  return number2 === START ? "⟨start⟩" : visible(text);
}
function rooted(nodes) {
  const step = Math.min(...nodes.map((node) => node.step)) - 1;
  const root = { number: START, parent: null, step, id: START, text: "", log_probability: 0, score: 0, fate: "alive" };
  return [root, ...nodes.map((node) => node.parent === null ? { ...node, parent: START } : node)];
}
function treeLayout(nodes) {
  const best = /* @__PURE__ */ new Set([START, ...nodes.flatMap(({ number: id, fate }) => fate === "best" ? [id] : [])]);
  const all = rooted(nodes);
  const first = all[0].step;
  const children = /* @__PURE__ */ new Map();
  for (const node of all) children.set(node.parent, [...children.get(node.parent) ?? [], node]);
  const rank = (node) => best.has(node.number) ? Infinity : node.score ?? -Infinity;
  const widths = [];
  for (const node of all) widths[node.step - first] = Math.max(widths[node.step - first] ?? 0, [...nodeText(node)].length * LETTER + ROOM);
  const lefts = widths.map((_, i) => widths.slice(0, i).reduce((sum, width2) => sum + width2, 4));
  const taken = [];
  const places = /* @__PURE__ */ new Map();
  const put2 = (node, row) => {
    const stack = [node];
    for (let here = node; ; ) {
      const [next] = [...children.get(here.number) ?? []].sort((a, b) => rank(b) - rank(a));
      if (!next) break;
      stack.push(here = next);
    }
    for (const one of stack) places.set(one.number, { node: one, x: lefts[one.step - first], y: (row + 0.5) * ROW, best: best.has(one.number) });
    taken[row] = node.step;
    for (const one of stack.slice(0, -1).reverse()) {
      const [, ...others] = [...children.get(one.number) ?? []].sort((a, b) => rank(b) - rank(a));
      for (const other of others) {
        let free = row + 1;
        while (taken[free] !== void 0 && taken[free] <= lastStep(other)) free++;
        put2(other, free);
      }
    }
  };
  const lastStep = (node) => {
    const [next] = [...children.get(node.number) ?? []].sort((a, b) => rank(b) - rank(a));
    return next ? lastStep(next) : node.step + 1;
  };
  put2(all[0], 0);
  const width = Math.max(0, ...widths.map((size, i) => lefts[i] + size)) + 8;
  return { places, width, height: Math.max(1, taken.length) * ROW + 6 };
}
var FATES = { alive: "went on", dropped: "fell out of the beam", finished: "finished, but not the best", best: "the translation" };
var SIGNS2 = { alive: "", dropped: " ×", finished: " ◦", best: " ●" };
function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value2] of Object.entries(attributes)) element.setAttribute(name, String(value2));
  return element;
}
function beamTree({ about, study }) {
  const lines = svg("svg", { class: "tree-lines", "aria-hidden": "true" });
  const board = make("div", { class: "tree" });
  const said = make("p", { class: "said", "aria-live": "polite" });
  const legend2 = make("p", { class: "quiet" }, `● the translation   ◦ finished   × fell out of the beam.${about.live ? " Click a hypothesis: the translation then begins with it." : ""}`);
  const element = make("div", {}, legend2, make("div", { class: "scroll" }, board), said);
  let drawn = null;
  const nodeButton = (nodes, { node, x, y, best }) => {
    const path = pathTo(nodes, node);
    const ended = node.fate === "finished" || node.fate === "best" && !nodes.some(({ parent }) => parent === node.number);
    const text = pathText(ended ? path.slice(0, -1) : path);
    const half = text === null;
    const say = () => {
      const share = node.log_probability === null ? "" : ` · ${percent(Math.exp(node.log_probability))}`;
      put(said, make("bdi", {}, half ? "(part of a character)" : text || "(no token yet)"), make("span", { class: "quiet" }, ` — token ${node.step}${share} · score ${node.score === null ? "−∞" : number(node.score)} · ${FATES[node.fate]}`));
    };
    const force = () => {
      if (text !== null) study.change(newState({ ...study.state, prefix: text }), `“${visible(text)}” forced`);
    };
    return make(
      "button",
      { type: "button", class: `tree-node ${node.fate}${best ? " on-best" : ""}`, style: `left:${x}px;top:${y - 11}px`, onclick: about.live ? force : say, onmouseenter: say, onfocus: say, disabled: half, title: half ? HALF_CHARACTER : void 0, "aria-label": `${nodeText(node)}: ${FATES[node.fate]}` },
      make("bdi", {}, nodeText(node)),
      node.fate !== "best" || ended ? SIGNS2[node.fate] : ""
    );
  };
  const update = () => {
    const { translation } = study;
    if (!translation || translation === drawn) return;
    drawn = translation;
    const nodes = translation.beamTree;
    if (!nodes.length) return put(board, make("p", { class: "quiet" }, "There is no beam to show for this translation."));
    const { places, width, height } = treeLayout(nodes);
    board.style.width = `${width}px`;
    board.style.height = `${height}px`;
    for (const [name, value2] of Object.entries({ width, height })) lines.setAttribute(name, String(value2));
    put(lines);
    for (const place2 of places.values()) {
      const from = place2.node.parent === null ? null : places.get(place2.node.parent);
      if (!from) continue;
      const start = from.x + 14;
      const d = from.y === place2.y ? `M${start} ${from.y}H${place2.x}` : `M${start} ${from.y + 8}C${start} ${place2.y} ${start} ${place2.y} ${place2.x} ${place2.y}`;
      lines.append(svg("path", { d, class: `${place2.node.fate}${place2.best ? " on-best" : ""}` }));
    }
    put(board, lines, ...[...places.values()].map((place2) => nodeButton(nodes, place2)));
    return void 0;
  };
  return { element, update };
}

// src/attention.js
function headMatrix({ shape, data }, head) {
  const [heads, rows, columns] = shape;
  if (heads > 1 && head >= heads) throw new Error(`There is no head ${head} here: this model has heads 0 … ${heads - 1}.`);
  const start = (heads === 1 ? 0 : head) * rows * columns;
  return { rows, columns, data: data.subarray(start, start + rows * columns) };
}
function merged(matrices, merge) {
  const [{ rows, columns }] = matrices;
  const data = new Float32Array(rows * columns);
  for (let i = 0; i < data.length; i++) {
    let value2 = merge === "average" ? 0 : -Infinity;
    for (const matrix of matrices)
      value2 = merge === "average" ? value2 + matrix.data[i] / matrices.length : Math.max(value2, matrix.data[i]);
    data[i] = value2;
  }
  return { rows, columns, data };
}
function grouped(matrix, rowGroups, columnGroups) {
  const data = new Float32Array(rowGroups.length * columnGroups.length);
  rowGroups.forEach(
    (rows, r) => columnGroups.forEach((columns, c) => {
      let sum = 0;
      for (const row of rows) for (const column of columns) sum += matrix.data[row * matrix.columns + column];
      data[r * columnGroups.length + c] = sum / rows.length;
    })
  );
  return { rows: rowGroups.length, columns: columnGroups.length, data };
}
function axis(title, tokens, words2) {
  const groups = words2 ? wordGroups(tokens) : singly(tokens);
  const labels = words2 ? groups.map((group) => groupText(tokens, group)) : tokens.map((_, i) => label(tokens, i));
  return { title, labels, groups };
}
function writtenAxis(target, words2) {
  const { labels, groups } = axis("", target.slice(0, -1), words2);
  return {
    title: "words already written",
    labels: ["<start>", ...labels],
    groups: [[0], ...groups.map((group) => group.map((i) => i + 1))]
  };
}
function axes(kind, { source, target }, words2) {
  if (kind === "encoder")
    return { rows: axis("source word that looks", source, words2), columns: axis("source word looked at", source, words2) };
  const rows = axis("word being written", target, words2);
  return { rows, columns: kind === "cross" ? axis("source word looked at", source, words2) : writtenAxis(target, words2) };
}
function largest(data) {
  const { least, most } = range(data);
  return Math.max(most, -least);
}
function range(data) {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < data.length; i++) {
    if (data[i] < least) least = data[i];
    if (data[i] > most) most = data[i];
  }
  return { least, most };
}

// src/colour.js
var PALETTES = {
  light: {
    name: "light",
    ground: "#ffffff",
    ink: "#1b1d21",
    muted: "#5f646d",
    line: "#dddfe3",
    accent: "#1d5fae",
    warm: "#a84a00",
    amount: [[246, 248, 251], [190, 214, 236], [104, 162, 212], [36, 100, 170], [8, 42, 92]],
    minus: [[246, 247, 249], [247, 200, 150], [222, 130, 50], [150, 66, 0]],
    plus: [[246, 247, 249], [176, 206, 234], [80, 142, 202], [16, 72, 140]]
  },
  dark: {
    name: "dark",
    ground: "#16181c",
    ink: "#e6e7ea",
    muted: "#9da3ad",
    line: "#33373f",
    accent: "#82b4f2",
    warm: "#f0a35e",
    amount: [[30, 33, 39], [32, 66, 108], [52, 114, 178], [120, 180, 232], [224, 240, 255]],
    minus: [[34, 37, 43], [110, 62, 20], [196, 116, 44], [255, 196, 136]],
    plus: [[34, 37, 43], [30, 74, 122], [72, 138, 204], [186, 220, 252]]
  }
};
function mix(stops, share) {
  const place2 = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place2), stops.length - 2);
  const rest = place2 - low;
  return (
    /** @type {RGB} */
    stops[low].map((value2, i) => Math.round(value2 + (stops[low + 1][i] - value2) * rest))
  );
}
var css = ([r, g, b]) => `rgb(${r},${g},${b})`;
function colourOf(palette, value2, most) {
  return mix(palette.amount, most > 0 ? value2 / most : 0);
}
function signedColourOf(palette, value2, most) {
  return mix(value2 < 0 ? palette.minus : palette.plus, most > 0 ? Math.abs(value2) / most : 0);
}
function scale(palette, { least, most }) {
  if (least < 0) {
    const widest = Math.max(-least, most);
    return (value2) => signedColourOf(palette, value2, widest);
  }
  return (value2) => colourOf(palette, value2, most);
}
function inkOn([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#14161a" : "#ffffff";
}

// src/calculator.js
var BY_KEY = ["products", "scaled", "mask", "weights"];
var LONGEST = 256;
function strip(numbers, palette) {
  const values = Array.from(numbers).slice(0, LONGEST);
  const { least, most } = range(values);
  const colour = scale(palette, { least: Math.min(least, -1e-9), most });
  const canvas = make("canvas", { class: "strip", role: "img", "aria-label": `${numbers.length} numbers from ${number(least)} to ${number(most)}` });
  canvas.width = values.length;
  canvas.height = 1;
  const context = (
    /** @type {CanvasRenderingContext2D} */
    canvas.getContext("2d")
  );
  const image = context.createImageData(values.length, 1);
  values.forEach((value2, i) => image.data.set([...colour(value2), 255], 4 * i));
  context.putImageData(image, 0, 0);
  const told = make("span", { class: "quiet figure strip-number" }, `${number(least)} … ${number(most)}`);
  canvas.addEventListener("pointermove", (event) => {
    const i = Math.min(values.length - 1, Math.max(0, Math.floor(event.offsetX / canvas.clientWidth * values.length)));
    put(told, `[${i}] = ${number(values[i])}`);
  });
  canvas.addEventListener("pointerleave", () => put(told, `${number(least)} … ${number(most)}`));
  return make("span", { class: "strip-row" }, canvas, told);
}
function keyTable({ arrays }, labels, palette) {
  const [, width] = arrays.keys?.shape ?? [0, 0];
  const colour = scale(palette, range(arrays.weights.data));
  const rows = labels.map((text, s) => {
    const seen = !arrays.mask || arrays.mask.data[s] > 0;
    const weight = colour(arrays.weights.data[s]);
    return make(
      "tr",
      { class: seen ? "" : "hidden-key" },
      make("th", { scope: "row" }, isolated(text)),
      make("td", { class: "wide" }, strip(arrays.keys.data.subarray(s * width, (s + 1) * width), palette)),
      make("td", {}, number(arrays.products.data[s])),
      make("td", {}, number(arrays.scaled.data[s])),
      make("td", {}, seen ? "✓" : "−∞"),
      make("td", { style: `background:${css(weight)};color:${inkOn(weight)}` }, number(arrays.weights.data[s])),
      make("td", { class: "wide" }, strip(arrays.values.data.subarray(s * width, (s + 1) * width), palette))
    );
  });
  const heads = ["key of", "k", "q · k", "÷ √d_k", "may look", "softmax", "v"];
  return make("div", { class: "scroll" }, make("table", { class: "keys" }, make("thead", {}, make("tr", {}, ...heads.map((words2) => make("th", { scope: "col" }, words2)))), make("tbody", {}, ...rows)));
}
var shapeWords = (shape) => shape ? `[${shape.join(" × ")}]` : "";
function steps(found, labels, palette) {
  const { calculation, arrays } = found;
  const list = make("ol", { class: "steps" });
  for (const { name, title, words: words2, formula } of calculation.steps) {
    const item = make(
      "li",
      {},
      make("div", { class: "step-head" }, make("strong", {}, title), make("code", {}, formula), make("span", { class: "quiet figure" }, shapeWords(calculation.shapes[name]))),
      make("p", { class: "quiet" }, words2)
    );
    const data = arrays[name];
    if (data && !BY_KEY.includes(name) && data.shape.length === 1) item.append(strip(data.data, palette));
    if (name === "weights") item.append(keyTable(found, labels, palette));
    list.append(item);
  }
  return list;
}
function calculatorPart({ study, view, palette }) {
  const query = make("select", { "aria-label": "Query" });
  const what = make("span", { class: "quiet" });
  const body = make("div");
  const element = make("div", { class: "calculator" }, make("div", { class: "row" }, make("label", { class: "quiet" }, "query ", query), what), body);
  let chosen = 0;
  let stamp = 0;
  const update = async () => {
    const { translation } = study;
    if (!translation) return;
    const { kind, heads } = view.look;
    const [[layer, head]] = heads;
    const { rows, columns } = axes(kind, translation, false);
    chosen = Math.min(chosen, rows.labels.length - 1);
    put(query, ...rows.labels.map((text, i) => make("option", { value: i }, `${i} ${text}`)));
    query.value = String(chosen);
    put(what, `${rows.title} · ${TITLES[kind]}, layer ${layer}, head ${head}${heads.length > 1 ? " (the first of those chosen)" : ""}`);
    const mine = ++stamp;
    if (!body.firstChild) put(body, WAITING);
    try {
      const found = await study.calculator(moduleName(kind, layer), head, chosen);
      if (mine === stamp) put(body, steps(found, columns.labels, palette()));
    } catch (error) {
      if (mine === stamp) put(body, make(
        "p",
        { class: "note" },
        /** @type {Error} */
        error.message
      ));
    }
  };
  query.addEventListener("change", () => {
    chosen = Number(query.value);
    update();
  });
  return { element, update };
}

// src/diff.js
function words(text) {
  const segments = new Intl.Segmenter(void 0, { granularity: "word" }).segment(text);
  return Array.from(segments, ({ segment }) => segment);
}
function common(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  return (i, j) => lengths[i * width + j];
}
function diff(before, after) {
  const a = words(before);
  const b = words(after);
  const length = common(a, b);
  const pieces = [];
  const add = (kind, text) => {
    const last = pieces[pieces.length - 1];
    if (last?.kind === kind) last.text += text;
    else pieces.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i++]);
      j++;
    } else if (i < a.length && (j === b.length || length(i + 1, j) >= length(i, j + 1)))
      add("removed", a[i++]);
    else add("added", b[j++]);
  }
  return bridged(pieces);
}
function bridged(pieces) {
  const result = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) result.push({ kind: "removed", text: removed });
    if (added) result.push({ kind: "added", text: added });
    removed = added = "";
  };
  pieces.forEach((piece, i) => {
    if (piece.kind === "removed") removed += piece.text;
    else if (piece.kind === "added") added += piece.text;
    else if (piece.text.trim() === "" && removed + added && i + 1 < pieces.length) {
      removed += piece.text;
      added += piece.text;
    } else {
      flush();
      result.push(piece);
    }
  });
  flush();
  return result;
}

// src/changes.js
var EDIT_WORDS = { uniform: "uniform weights", diagonal: "diagonal weights", block: "cells blocked", force: "cells forced" };
function changesOf(state) {
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
function diffLine(before, after) {
  const line = make("p", { class: "diff", dir: "auto" });
  for (const { kind, text } of diff(before, after))
    line.append(kind === "same" ? isolated(text) : make(kind === "removed" ? "del" : "ins", {}, isolated(text)));
  return line;
}
function changesPart({ can, study }) {
  const chips = make("div", { class: "chips" });
  const result = make("div", { class: "result", "aria-live": "polite" });
  const past = make("details", { class: "history" });
  const element = make("section", { class: "changes", "aria-label": "Changes" }, chips, result, past);
  const update = () => {
    const { state, translation, shown } = study;
    const back = button("Step back", () => study.goTo(study.now - 1), { disabled: study.now === 0 });
    const forward = button("Forward", () => study.goTo(study.now + 1), { disabled: study.now >= study.history.length - 1 });
    const reset = button("Undo all", () => study.change(undisturbed(study.state), "all undone"), { disabled: !disturbed(state) || !can(undisturbed(state)) });
    put(
      chips,
      back,
      forward,
      reset,
      ...changesOf(state).map(
        ([words2, without]) => button(words2, () => study.change(without, `undone: ${words2}`), { class: "chip", disabled: !can(without), "aria-label": `Undo: ${words2}`, title: "Undo this change" })
      )
    );
    put(
      result,
      ...translation?.baseline && disturbed(shown) ? compared(translation, translation.baseline) : [],
      ...(translation?.notes ?? []).map((note) => make("p", { class: "note" }, isolated(note)))
    );
    put(past, make("summary", {}, `History (${study.history.length})`), history(study));
    past.hidden = study.history.length < 2;
    chips.hidden = study.history.length < 2 && !disturbed(state);
  };
  return { element, update };
}
function compared(now, baseline) {
  const same = now.text === baseline.text;
  const change = now.score - baseline.score;
  return [
    make("h3", {}, same ? "The translation stays the same" : "Old and new translation"),
    diffLine(baseline.text, now.text),
    make("p", { class: "facts" }, `score ${number(baseline.score)} → ${number(now.score)} (${signed(change)})`)
  ];
}
function history(study) {
  const list = make("ol", { class: "moments" });
  study.history.forEach(({ label: label2, text, score }, i) => {
    const go = button("", () => study.goTo(i), { "aria-current": i === study.now ? "step" : void 0 });
    put(go, make("span", {}, label2), score === void 0 ? null : make("span", { class: "figure" }, number(score)), text ? isolated(text, "quiet") : null);
    list.append(make("li", {}, go));
  });
  return list;
}

// src/view_state.js
var LENSES = [
  ["raw", "raw", "The attention weights themselves: softmax(QKᵀ / √d_k)"],
  ["value-weighted", "value-weighted", "Weights times the length of what is moved: α · ‖v W_O‖ (Kobayashi et al. 2020)"],
  ["rollout", "rollout", "Weights multiplied through the layers below, residuals counted in (Abnar & Zuidema 2020)"],
  ["gradient", "gradient", "Weights times the gradient of the translation's log-probability"],
  ["effect", "effect of switching off", "Measured: how the translation's log-probability changes when the head alone is off"]
];
var FIRST = { kind: "cross", heads: [[0, 0]], merge: "average", lens: "raw", words: false, order: "", numbers: true };
function askedLens(lens) {
  return lens === "effect" ? "raw" : lens;
}
function isPair(value2) {
  return Array.isArray(value2) && value2.length === 2 && value2.every((n) => Number.isInteger(n) && n >= 0);
}
function readLook(value2) {
  const given = (
    /** @type {Record<string, any>} */
    typeof value2 === "object" && value2 ? value2 : {}
  );
  const look = {};
  if (KINDS.includes(given.kind)) look.kind = given.kind;
  if (Array.isArray(given.heads) && given.heads.length && given.heads.every(isPair)) look.heads = given.heads;
  if (given.merge === "average" || given.merge === "maximum") look.merge = given.merge;
  if (LENSES.some(([lens]) => lens === given.lens)) look.lens = given.lens;
  if (typeof given.words === "boolean") look.words = given.words;
  if (typeof given.order === "string") look.order = given.order;
  if (typeof given.numbers === "boolean") look.numbers = given.numbers;
  return look;
}
function headsOf({ kind, heads }, config) {
  const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  return heads.filter(([layer, head]) => layer < layers && head < config.heads);
}
var ViewState = class {
  /** @type {Look} */
  look;
  /** @type {Set<() => void>} */
  #listeners = /* @__PURE__ */ new Set();
  /** @param {Partial<Look>} look */
  constructor(look) {
    this.look = { ...FIRST, ...look };
  }
  /** @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }
  /** @param {Partial<Look>} change */
  set(change) {
    this.look = { ...this.look, ...change };
    for (const listener of this.#listeners) listener();
  }
  /** Selects one head, or adds it to (or removes it from) the selected heads. @param {Kind} kind @param {number} layer @param {number} head @param {boolean} added */
  select(kind, layer, head, added) {
    const one = [layer, head];
    if (!added || kind !== this.look.kind) return this.set({ kind, heads: [one] });
    const rest = this.look.heads.filter(([l, h]) => l !== layer || h !== head);
    if (rest.length === this.look.heads.length) return this.set({ heads: [...rest, one] });
    return this.set({ heads: rest.length ? rest : [one] });
  }
  /** Keeps only heads that the model has. @param {import("./protocol.js").Config} config */
  fit(config) {
    const layers = this.look.kind === "encoder" ? config.encoder_layers : config.decoder_layers;
    const heads = headsOf(this.look, config);
    this.look.heads = heads.length ? heads : [[layers - 1, 0]];
  }
  /** Names of the selected heads. */
  names() {
    return this.look.heads.map(([layer, head]) => `${moduleName(this.look.kind, layer)}[${head}]`);
  }
};

// src/controls.js
function canShow(contexts, lens) {
  return contexts.every(({ study, about, model }) => {
    if (!study.translation) return true;
    if (lens === "effect") return study.holds("effects", { heads: [headName("encoder", 0, 0)] }) || model().config.encoder_layers === 0;
    return (about.only ? [about.only] : KINDS).some((kind) => study.holds("maps", { kind, lens: askedLens(lens) }));
  });
}
function gridControls(contexts, setSwitching) {
  const [{ view, study }] = contexts;
  const order = make("select", { "aria-label": "Order of the heads", onchange: () => view.set({ order: order.value }) });
  const progress = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "Heads measured" });
  const note = make("span", { class: "quiet" });
  const lens = choice("Lens", LENSES, view.look.lens, (chosen) => view.set({ lens: chosen }));
  const click = choice("A click", [["look", "looks"], ["switch", "switches off"]], "look", (what) => setSwitching(what === "switch"));
  const element = make(
    "div",
    { class: "controls" },
    make("div", { class: "control" }, make("span", { class: "control-name" }, "lens"), lens),
    make("label", { class: "control" }, make("span", { class: "control-name" }, "order"), order),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "a click"), click),
    progress,
    note
  );
  let known = "";
  const offer = async () => {
    const metrics = await study.metrics().catch(() => null);
    const found = metrics && KINDS.map((kind) => metrics[kind]?.[0]?.[0]).find(Boolean);
    const names = [...Object.keys(found ?? {}), ...canShow(contexts, "effect") ? ["effect"] : []];
    if (names.join() === known) return;
    known = names.join();
    put(order, make("option", { value: "" }, "layers × heads"), ...names.map((name) => make("option", { value: name }, `by ${name.replaceAll("_", " ")}`)));
    order.value = view.look.order;
  };
  const update = () => {
    for (const input of lens.querySelectorAll("input"))
      input.parentElement.hidden = !canShow(
        contexts,
        /** @type {import("./view_state.js").Lens} */
        input.value
      );
    if (!canShow(contexts, view.look.lens)) return view.set({ lens: "raw" });
    if (view.look.order === "effect" && !canShow(contexts, "effect")) return view.set({ order: "" });
    const { lens: chosen, order: by } = view.look;
    const wanted = chosen === "effect" || by === "effect";
    showChoice(lens, chosen);
    order.value = by;
    const asked = contexts.reduce((sum, { study: one }) => sum + one.effectsAsked, 0);
    const done = contexts.reduce((sum, { study: one }) => sum + one.effects.size, 0);
    const problem = contexts.map(({ study: one }) => one.effectsProblem).find(Boolean);
    progress.hidden = !wanted || done === asked || Boolean(problem);
    progress.value = asked ? done / asked : 0;
    put(note, wanted && problem ? problem : wanted && done < asked ? `${done} of ${asked} heads measured` : "");
    if (study.translation) offer();
    if (wanted) for (const context of contexts) context.measure();
    return void 0;
  };
  return { element, update };
}
function headControls([context]) {
  const { view } = context;
  const chips = make("div", { class: "head-chips", role: "group", "aria-label": "Heads of the layer" });
  const layerChoice = make("select", { "aria-label": "Layer" });
  const kindChoice = make("select", { "aria-label": "Kind of attention" });
  const merge = choice("Join heads by", [["average", "average"], ["maximum", "maximum"]], view.look.merge, (chosen) => view.set({ merge: chosen }));
  const numbers = checkbox("numbers in every cell", view.look.numbers, (on) => view.set({ numbers: on }));
  const element = make(
    "div",
    { class: "controls" },
    make("div", { class: "control" }, kindChoice, layerChoice),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "heads"), chips),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "joined by"), merge),
    numbers
  );
  put(kindChoice, make("option", { value: "encoder" }, "encoder"), make("option", { value: "decoder" }, "decoder"), make("option", { value: "cross" }, "cross"));
  const layers = () => {
    const { config } = context.model();
    return view.look.kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  };
  kindChoice.addEventListener("change", () => {
    view.look.kind = /** @type {import("./names.js").Kind} */
    kindChoice.value;
    view.set({ heads: [[Math.min(view.look.heads[0][0], layers() - 1), view.look.heads[0][1]]] });
  });
  layerChoice.addEventListener("change", () => {
    const { config } = context.model();
    const all = layerChoice.value === "all";
    const wanted = all ? Array.from({ length: layers() }, (_, layer) => layer) : [Number(layerChoice.value)];
    const heads = all ? Array.from({ length: config.heads }, (_, head) => head) : [...new Set(view.look.heads.map(([, head]) => head))];
    view.set({ heads: wanted.flatMap((layer) => heads.map((head) => (
      /** @type {[number, number]} */
      [layer, head]
    ))) });
  });
  const update = () => {
    const { config } = context.model();
    const { heads, kind } = view.look;
    showChoice(merge, view.look.merge);
    numbers.firstChild.checked = view.look.numbers;
    const chosenLayers = [...new Set(heads.map(([layer]) => layer))];
    put(layerChoice, ...Array.from({ length: layers() }, (_, layer) => make("option", { value: layer }, `layer ${layer}`)), make("option", { value: "all" }, "all layers"));
    if (chosenLayers.length > 1 && heads.length < layers() * config.heads) layerChoice.append(make("option", { value: "some", disabled: true }, "several layers"));
    kindChoice.value = kind;
    layerChoice.value = chosenLayers.length === 1 ? String(chosenLayers[0]) : heads.length === layers() * config.heads ? "all" : "some";
    const every = (
      /** @type {[number, number][]} */
      chosenLayers.flatMap((layer) => Array.from({ length: config.heads }, (_, head) => [layer, head]))
    );
    const full = heads.length === every.length;
    const focused = chips.contains(document.activeElement) ? [...chips.children].indexOf(
      /** @type {Element} */
      document.activeElement
    ) : -1;
    put(
      chips,
      ...Array.from({ length: config.heads }, (_, head) => {
        const on = heads.some(([, h]) => h === head);
        const flip = () => {
          const rest = heads.filter(([, h]) => h !== head);
          const more = (
            /** @type {[number, number][]} */
            chosenLayers.map((layer) => [layer, head])
          );
          if (!on) view.set({ heads: [...heads, ...more] });
          else if (rest.length) view.set({ heads: rest });
        };
        const only = () => view.set({ heads: chosenLayers.map((layer) => [layer, head]) });
        return button(String(head), flip, { class: "head-chip", "aria-pressed": on, "aria-label": `Head ${head}`, title: "Click adds or takes away, double click shows it alone", ondblclick: only });
      }),
      button("all", () => view.set({ heads: every }), { class: "head-chip", "aria-pressed": full })
    );
    if (focused >= 0) chips.children[focused]?.focus();
  };
  return { element, update };
}

// src/switching.js
function switched({ study, can, model }, place2) {
  const { heads } = model().config;
  const next = toggled(study.state, place2, heads);
  if (can(next)) return next;
  const alone = toggled(withPart(study.history[0].state, study.state.part), place2, heads);
  return can(alone) ? alone : null;
}

// src/grid.js
function paintMap(canvas, maps, layer, head, palette) {
  const [, heads, rows, columns] = maps.shape;
  const start = (layer * heads + Math.min(head, heads - 1)) * rows * columns;
  const data = maps.data.subarray(start, start + rows * columns);
  canvas.width = columns;
  canvas.height = rows;
  const context = (
    /** @type {CanvasRenderingContext2D} */
    canvas.getContext("2d")
  );
  const image = context.createImageData(columns, rows);
  const colour = scale(palette, range(data));
  data.forEach((value2, i) => image.data.set([...colour(value2), 255], 4 * i));
  context.putImageData(image, 0, 0);
}
function sorted(places, value2) {
  const known = places.map((place2) => ({ place: place2, value: value2(...place2) ?? -Infinity }));
  return known.sort((a, b) => b.value - a.value).map(({ place: place2 }) => place2);
}
function harm(effect) {
  return effect && -effect.change;
}
function headGrid(context, kind) {
  const { study, view } = context;
  const { config } = context.model();
  const layers = kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  const body = make("div", { class: "grid", role: "grid", "aria-label": TITLES[kind] });
  const problem = make("p", { class: "note", hidden: true });
  const element = make("figure", { class: "heads" }, make("figcaption", {}, make("h3", {}, TITLES[kind])), body, problem);
  const cells = /* @__PURE__ */ new Map();
  const places = [];
  const flip = (layer, head) => {
    const state = switched(context, { kind, layer, head });
    if (!state) return;
    const name = head === null ? moduleName(kind, layer) : headName(kind, layer, head);
    const where = `${kind} ${layer}${head === null ? ", every head" : `·${head}`}`;
    study.change(state, `${isOff(state, name) ? "off" : "on"}: ${where}`);
  };
  const makeCell = (layer, head) => {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const figure = make("span", { class: "map-figure", "aria-hidden": "true" });
    const named = make("span", { class: "map-name", "aria-hidden": "true" }, `${layer}·${head}`);
    const cell = make("button", { type: "button", class: "map", "data-layer": layer, "data-head": head, tabindex: -1 }, canvas, figure, named);
    cell.addEventListener("click", (event) => {
      if (context.switching()) return flip(layer, head);
      view.select(kind, layer, head, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    cell.addEventListener("keydown", (event) => {
      if (event.key === "o" || event.key === "Delete") flip(layer, head);
      else if (!walk(event)) return;
      event.preventDefault();
    });
    cells.set(`${layer}.${head}`, { cell, canvas, figure });
    places.push([layer, head]);
  };
  const walk = (event) => {
    const all = (
      /** @type {HTMLButtonElement[]} */
      Array.from(body.querySelectorAll(".map"))
    );
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: config.heads, ArrowUp: -config.heads }[event.key];
    const next = step && all[all.indexOf(
      /** @type {HTMLButtonElement} */
      event.currentTarget
    ) + step];
    if (next) next.focus();
    return Boolean(step);
  };
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < config.heads; head++) makeCell(layer, head);
  let value2 = () => void 0;
  const arrange = () => {
    const order = view.look.order ? sorted(places, value2) : places;
    const free = view.look.order !== "";
    const items = [];
    if (!free) {
      items.push(make("span", { class: "corner", "aria-hidden": "true" }));
      for (let head = 0; head < config.heads; head++) items.push(make("span", { class: "axis", "aria-hidden": "true" }, String(head)));
    }
    order.forEach(([layer, head]) => {
      if (!free && head === 0 && !switched(context, { kind, layer, head: null }))
        items.push(make("span", { class: "axis" }, String(layer)));
      else if (!free && head === 0)
        items.push(make("button", { type: "button", class: "axis layer", title: `Switch layer ${layer} off or on`, "aria-label": `Layer ${layer}: switch every head off or on`, "aria-pressed": isOff(study.state, moduleName(kind, layer)), onclick: () => flip(layer, null) }, String(layer)));
      items.push(
        /** @type {HTMLElement} */
        cells.get(`${layer}.${head}`)?.cell
      );
    });
    const focused = body.contains(document.activeElement) ? (
      /** @type {HTMLElement} */
      document.activeElement
    ) : null;
    body.classList.toggle("sorted", free);
    put(body, ...items);
    if (focused?.isConnected) focused.focus();
  };
  let maps = null;
  const paintAll = () => {
    const { look } = view;
    const palette = context.palette();
    const effects = [...study.effects.values()];
    const most = Math.max(0, ...effects.map(({ change }) => Math.abs(change)));
    let first = true;
    for (const [layer, head] of places) {
      const name = headName(kind, layer, head);
      const { cell, canvas, figure } = (
        /** @type {NonNullable<ReturnType<typeof cells.get>>} */
        cells.get(`${layer}.${head}`)
      );
      const chosen = look.kind === kind && look.heads.some(([l, h]) => l === layer && h === head);
      const off = isOff(study.state, name);
      const edited2 = study.state.edits.some((edit) => edit.head === name);
      cell.className = `map${chosen ? " chosen" : ""}${off ? " off" : ""}${edited2 ? " edited" : ""}`;
      cell.setAttribute("aria-pressed", String(chosen));
      cell.tabIndex = chosen || look.kind !== kind && first ? 0 : -1;
      first = false;
      const effect = study.effects.get(name);
      const measure = value2(layer, head);
      if (look.lens === "effect") {
        const colour = signedColourOf(palette, effect?.change ?? 0, most);
        cell.style.setProperty("--tile", css(colour));
        cell.style.setProperty("--tile-ink", effect ? inkOn(colour) : palette.muted);
        put(figure, effect ? signed(Number(effect.change.toFixed(effect.change > -10 ? 2 : 0))).replace(/\.?0+$/, "") : "·");
      } else {
        if (maps) paintMap(canvas, maps, layer, head, palette);
        put(figure);
      }
      canvas.hidden = look.lens === "effect";
      const measured = look.order && measure !== void 0 ? `, ${look.order} ${number(measure)}` : "";
      const words2 = `layer ${layer}, head ${head}${off ? ", switched off" : ""}${edited2 ? ", edited" : ""}${measured}`;
      cell.setAttribute("aria-label", words2 + (effect ? `, effect ${signed(effect.change)}` : ""));
      cell.title = `${words2}${effect ? `
effect of switching off: ${signed(effect.change)}
${effect.text}` : ""}`;
    }
  };
  let stamp = 0;
  const update = async () => {
    if (!study.translation) return;
    const mine = ++stamp;
    body.classList.toggle("effects", view.look.lens === "effect");
    try {
      const { order, lens } = view.look;
      if (order === "effect") value2 = (layer, head) => harm(study.effects.get(headName(kind, layer, head)));
      else if (order) {
        const metrics = await study.metrics();
        value2 = (layer, head) => metrics[kind]?.[layer]?.[head]?.[order];
      } else value2 = () => void 0;
      const found = await study.maps(kind, askedLens(lens));
      if (mine !== stamp) return;
      maps = found;
      body.hidden = false;
      problem.hidden = true;
    } catch (error) {
      if (mine !== stamp) return;
      put(
        problem,
        /** @type {Error} */
        error.message
      );
      problem.hidden = false;
      body.hidden = true;
    }
    arrange();
    paintAll();
  };
  return { element, update };
}

// src/scene.js
var FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
var ANCHORS = (
  /** @type {const} */
  { start: "left", middle: "center", end: "right" }
);
function paintText(context, mark) {
  context.save();
  context.translate(mark.x, mark.y);
  if (mark.turn) context.rotate(mark.turn * Math.PI / 180);
  context.font = `${mark.bold ? "600 " : ""}${mark.size}px ${FONT}`;
  context.textAlign = ANCHORS[mark.anchor ?? "start"];
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.fillStyle = mark.fill;
  context.fillText(mark.text, 0, 0);
  context.restore();
}
function trace(context, mark) {
  context.beginPath();
  if (mark.mark === "rect") context.roundRect(mark.x, mark.y, mark.width, mark.height, mark.radius ?? 0);
  else if (mark.mark === "path")
    mark.points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y));
  else {
    context.moveTo(mark.x1, mark.y1);
    const middle = (mark.x1 + mark.x2) / 2;
    if (mark.mark === "line") context.lineTo(mark.x2, mark.y2);
    else context.bezierCurveTo(middle, mark.y1, middle, mark.y2, mark.x2, mark.y2);
  }
}
function paintMark(context, mark) {
  if (mark.mark === "text") return paintText(context, mark);
  if (mark.mark === "rect" && mark.fill && !mark.stroke && !mark.radius) {
    context.fillStyle = mark.fill;
    return context.fillRect(mark.x, mark.y, mark.width, mark.height);
  }
  trace(context, mark);
  context.globalAlpha = "opacity" in mark ? mark.opacity ?? 1 : 1;
  context.setLineDash("dash" in mark && mark.dash || []);
  if ("fill" in mark && mark.fill) {
    context.fillStyle = mark.fill;
    context.fill();
  }
  if (mark.stroke) {
    context.strokeStyle = mark.stroke;
    context.lineWidth = "width" in mark && mark.mark !== "rect" && mark.width || 1;
    context.stroke();
  }
  context.globalAlpha = 1;
}
function paint(canvas, scene, density = Math.min(window.devicePixelRatio || 1, 2)) {
  const fine = scene.width * scene.height > 4e6 ? 1 : density;
  canvas.width = Math.max(1, Math.round(scene.width * fine));
  canvas.height = Math.max(1, Math.round(scene.height * fine));
  canvas.style.width = `${scene.width}px`;
  canvas.style.height = `${scene.height}px`;
  const context = (
    /** @type {CanvasRenderingContext2D} */
    canvas.getContext("2d")
  );
  context.scale(fine, fine);
  for (const mark of scene.marks) paintMark(context, mark);
}
function escaped(text) {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "�").replace(/[&<>"']/g, (sign2) => `&#${sign2.charCodeAt(0)};`);
}
function spelled2(attributes) {
  return Object.entries(attributes).filter(([, value2]) => value2 !== void 0).map(([name, value2]) => ` ${name}="${typeof value2 === "number" ? +value2.toFixed(2) : escaped(String(value2))}"`).join("");
}
function spelledMark(mark) {
  const dash = "dash" in mark && mark.dash ? mark.dash.join(" ") : void 0;
  switch (mark.mark) {
    case "rect": {
      const { x, y, width, height, fill = "none", stroke, radius } = mark;
      return `<rect${spelled2({ x, y, width, height, fill, stroke, rx: radius, "stroke-dasharray": dash })}/>`;
    }
    case "text": {
      const { x, y, size, fill, anchor, turn, bold } = mark;
      const place2 = { transform: turn ? `rotate(${turn} ${x} ${y})` : void 0, "text-anchor": anchor };
      const look = { "font-size": size, fill, "font-weight": bold ? 600 : void 0, "dominant-baseline": "central" };
      return `<text${spelled2({ x, y, ...place2, ...look })}>${escaped(mark.text)}</text>`;
    }
    case "path": {
      const points = mark.points.map(([x, y]) => `${+x.toFixed(2)},${+y.toFixed(2)}`).join(" ");
      return `<polyline${spelled2({ points, fill: "none", stroke: mark.stroke, "stroke-width": mark.width, "stroke-dasharray": dash })}/>`;
    }
    default: {
      const { x1, y1, x2, y2, stroke, width, opacity } = mark;
      const look = { stroke, "stroke-width": width, "stroke-opacity": opacity, "stroke-dasharray": dash };
      if (mark.mark === "line") return `<line${spelled2({ x1, y1, x2, y2, ...look })}/>`;
      const middle = (x1 + x2) / 2;
      const d = `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
      return `<path${spelled2({ d, fill: "none", ...look })}/>`;
    }
  }
}
function toSVG(scene, ground) {
  const { width, height } = scene;
  const size = spelled2({ width, height, viewBox: `0 0 ${width} ${height}` });
  return `<svg xmlns="http://www.w3.org/2000/svg"${size}${spelled2({ "font-family": FONT })} style="unicode-bidi: isolate">
<rect${spelled2({ width, height, fill: ground })}/>
${scene.marks.map(spelledMark).join("\n")}
</svg>
`;
}
function moved(marks, dx, dy) {
  return marks.map((mark) => {
    if (mark.mark === "path") return { ...mark, points: mark.points.map(([x, y]) => [x + dx, y + dy]) };
    if ("x1" in mark) return { ...mark, x1: mark.x1 + dx, x2: mark.x2 + dx, y1: mark.y1 + dy, y2: mark.y2 + dy };
    return { ...mark, x: mark.x + dx, y: mark.y + dy };
  });
}

// src/export_picture.js
var MARGIN = 16;
var DENSITY = 2;
function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
}
function stacked(parts, palette) {
  const marks = [];
  let y = MARGIN;
  let width = 320;
  for (const { title, scene } of parts) {
    if (title) {
      marks.push({ mark: "text", x: MARGIN, y: y + 8, text: title, fill: palette.ink, size: 14, bold: true });
      y += 26;
      width = Math.max(width, title.length * 8.2);
    }
    marks.push(...moved(scene.marks, MARGIN, y));
    y += scene.height + 20;
    width = Math.max(width, scene.width);
  }
  return { width: width + 2 * MARGIN, height: y, marks };
}
function saveSVG(name, scene, palette) {
  download(`${name}.svg`, new Blob([toSVG(scene, palette.ground)], { type: "image/svg+xml" }));
}
function savePNG(name, scene, palette) {
  const canvas = document.createElement("canvas");
  const ground = { mark: (
    /** @type {const} */
    "rect"
  ), x: 0, y: 0, width: scene.width, height: scene.height, fill: palette.ground };
  paint(canvas, { ...scene, marks: [ground, ...scene.marks] }, DENSITY);
  return new Promise(
    (resolve, reject) => canvas.toBlob((blob) => {
      if (!blob) return reject(new Error("The browser could not draw a picture of this size; save an SVG."));
      download(`${name}.png`, blob);
      return resolve();
    }, "image/png")
  );
}

// src/link.js
var PREFIX = "#view=";
var FORMAT = "allyouneed view 1";
function readSaved(value2) {
  const states = value2?.states;
  if (!Array.isArray(states) || states.length < 1 || states.length > 2)
    throw new Error("This does not hold a state of the view: it needs one or two states.");
  return { states: states.map(readState), look: readLook(value2.look) };
}
function toHash(saved) {
  return PREFIX + encodeURIComponent(canonical(saved));
}
function fromHash(hash) {
  if (!hash.startsWith(PREFIX)) return null;
  try {
    return readSaved(JSON.parse(decodeURIComponent(hash.slice(PREFIX.length))));
  } catch (error) {
    throw new Error(`The address holds no state that can be read: ${/** @type {Error} */
    error.message}`);
  }
}
function toFile(saved) {
  return `${JSON.stringify({ format: FORMAT, ...saved }, null, 1)}
`;
}
function fromFile(text) {
  const value2 = JSON.parse(text);
  if (value2?.format !== FORMAT) throw new Error(`This file is no "${FORMAT}".`);
  return readSaved(value2);
}

// src/head_view.js
var STEP = 24;
var FAINT = 0.04;
var GAP = 6;
function inFocus({ rows }, focus, row, column) {
  if (!focus) return true;
  if (row >= rows.labels.length) return false;
  return focus.side === "rows" ? focus.index === row : focus.index === column;
}
function linesScene(selection2, focus, width, palette) {
  const { matrix, rows, columns } = selection2;
  const widest = largest(matrix.data) || 1;
  const marks = [];
  for (let row = 0; row < matrix.rows; row++)
    for (let column = 0; column < matrix.columns; column++) {
      const weight = matrix.data[row * matrix.columns + column];
      const share = Math.abs(weight) / widest;
      if (share < FAINT || !inFocus(selection2, focus, row, column)) continue;
      marks.push({
        mark: "curve",
        x1: GAP,
        y1: (row + 0.5) * STEP,
        x2: width - GAP,
        y2: (column + 0.5) * STEP,
        stroke: weight < 0 ? palette.warm : palette.accent,
        width: 0.6 + 3.2 * share,
        opacity: 0.12 + 0.88 * share
      });
    }
  return { width, height: Math.max(rows.labels.length, columns.labels.length) * STEP, marks };
}
function headScene(selection2, focus, palette) {
  const between2 = 260;
  const side = 150;
  const lines = linesScene(selection2, focus, between2, palette);
  const top = 26;
  const marks = lines.marks.map((mark) => "x1" in mark ? { ...mark, x1: mark.x1 + side, x2: mark.x2 + side, y1: mark.y1 + top, y2: mark.y2 + top } : mark);
  const { rows, columns } = selection2;
  marks.push({ mark: "text", x: side - GAP, y: 10, text: rows.title, fill: palette.muted, size: 11, anchor: "end" });
  marks.push({ mark: "text", x: side + between2 + GAP, y: 10, text: columns.title, fill: palette.muted, size: 11 });
  rows.labels.forEach((text, i) => marks.push({ mark: "text", x: side - GAP, y: top + (i + 0.5) * STEP, text, fill: palette.ink, size: 13, anchor: "end" }));
  columns.labels.forEach((text, i) => marks.push({ mark: "text", x: side + between2 + GAP, y: top + (i + 0.5) * STEP, text, fill: palette.ink, size: 13 }));
  return { width: 2 * side + between2, height: lines.height + top + 4, marks };
}
function headView(palette) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const left = make("ol", { class: "side-tokens rows" });
  const right = make("ol", { class: "side-tokens columns" });
  const leftTitle = make("span", { class: "axis-title" });
  const rightTitle = make("span", { class: "axis-title" });
  const middle = make("div", { class: "lines" }, canvas);
  const element = make("div", { class: "head-view" }, leftTitle, make("span"), rightTitle, left, middle, right);
  let selection2 = null;
  let pinned = null;
  let hovered = null;
  const draw = () => {
    if (!selection2) return;
    const focus = hovered ?? pinned;
    paint(canvas, linesScene(selection2, focus, Math.max(60, middle.clientWidth), palette()));
    const { matrix } = selection2;
    const widest = largest(matrix.data) || 1;
    for (
      const [side, list] of
      /** @type {const} */
      [["rows", left], ["columns", right]]
    )
      Array.from(list.children).forEach((item, i) => {
        const token2 = (
          /** @type {HTMLElement} */
          item.firstElementChild
        );
        const other = focus && focus.side !== side;
        const weight = !other ? 0 : side === "columns" ? matrix.data[focus.index * matrix.columns + i] : matrix.data[i * matrix.columns + focus.index];
        const share = Math.abs(weight) / widest;
        token2.style.setProperty("--w", String(share));
        token2.dataset.weight = other && share >= FAINT ? number(weight) : "";
        token2.classList.toggle("focus", Boolean(focus && focus.side === side && focus.index === i));
        token2.setAttribute("aria-pressed", String(Boolean(pinned && pinned.side === side && pinned.index === i)));
      });
  };
  const token = (side, text, index) => {
    const mine = { side, index };
    const enter = () => (hovered = mine, draw());
    const leave = () => (hovered = null, draw());
    const pin = () => {
      pinned = pinned?.side === side && pinned.index === index ? null : mine;
      draw();
    };
    return make("li", {}, make("button", { type: "button", onmouseenter: enter, onmouseleave: leave, onfocus: enter, onblur: leave, onclick: pin, title: "Click to pin" }, isolated(text)));
  };
  new ResizeObserver(draw).observe(middle);
  const update = (next) => {
    const same = selection2 && selection2.rows.labels.join("\0") === next.rows.labels.join("\0") && selection2.columns.labels.join("\0") === next.columns.labels.join("\0");
    selection2 = next;
    if (!same) {
      pinned = hovered = null;
      put(leftTitle, next.rows.title);
      put(rightTitle, next.columns.title);
      put(left, ...next.rows.labels.map((text, i) => token("rows", text, i)));
      put(right, ...next.columns.labels.map((text, i) => token("columns", text, i)));
    }
    draw();
  };
  return { element, update, focus: () => hovered ?? pinned };
}

// src/matrix.js
var SMALLEST = 13;
var LARGEST = 34;
var FOR_NUMBERS = 30;
var MOST_NUMBERS = 60 * 60;
function brief(weight) {
  const size = Math.abs(weight);
  if (size < 5e-3) return "";
  const text = size >= 0.995 ? weight.toFixed(size >= 10 ? 0 : 1) : weight.toFixed(2).replace(/^(-?)0/, "$1");
  return text.replace("-", "−");
}
function labelRoom(labels, size) {
  const longest = Math.max(0, ...labels.map((text) => Math.min([...text].length, 16)));
  return Math.ceil(longest * size * 0.58) + 10;
}
function shortened(text) {
  const characters = [...text];
  return characters.length > 16 ? `${characters.slice(0, 15).join("")}…` : text;
}
function layout({ matrix, rows, columns }, width, numbers) {
  const left = labelRoom(rows.labels, 12);
  const room = (width - left - 2) / matrix.columns;
  const withNumbers = numbers && matrix.rows * matrix.columns <= MOST_NUMBERS;
  const cell = Math.max(Math.min(Math.floor(room), LARGEST), withNumbers ? FOR_NUMBERS : SMALLEST);
  return { cell, left, top: labelRoom(columns.labels, 12), font: Math.min(12, cell - 2) };
}
function cellsScene({ matrix }, { cell }, palette, { blocked, forced }) {
  const colour = scale(palette, range(matrix.data));
  const marks = [];
  for (let row = 0; row < matrix.rows; row++)
    for (let column = 0; column < matrix.columns; column++) {
      const weight = matrix.data[row * matrix.columns + column];
      const fill = colour(weight);
      const x = column * cell;
      const y = row * cell;
      marks.push({ mark: "rect", x, y, width: cell - 1, height: cell - 1, fill: css(fill) });
      const key = `${row},${column}`;
      const middle = { x: x + (cell - 1) / 2, y: y + (cell - 1) / 2 };
      if (blocked.has(key))
        marks.push(
          { mark: "line", x1: x + 3, y1: y + 3, x2: x + cell - 4, y2: y + cell - 4, stroke: palette.warm, width: 2 },
          { mark: "line", x1: x + cell - 4, y1: y + 3, x2: x + 3, y2: y + cell - 4, stroke: palette.warm, width: 2 }
        );
      else if (cell >= FOR_NUMBERS && brief(weight))
        marks.push({ mark: "text", ...middle, text: brief(weight), fill: inkOn(fill), size: 11, anchor: "middle" });
      if (forced.has(key)) marks.push({ mark: "rect", x: x + 1, y: y + 1, width: cell - 3, height: cell - 3, stroke: palette.warm });
    }
  return { width: matrix.columns * cell, height: matrix.rows * cell, marks };
}
function rowLabels(labels, { cell, left, font }, palette) {
  return {
    width: left,
    height: labels.length * cell,
    marks: labels.map((text, i) => ({ mark: "text", x: left - 6, y: (i + 0.5) * cell, text: shortened(text), fill: palette.ink, size: font, anchor: "end" }))
  };
}
function columnLabels(labels, { cell, top, font }, palette) {
  return {
    width: labels.length * cell,
    height: top,
    marks: labels.map((text, i) => ({ mark: "text", x: (i + 0.5) * cell, y: top - 6, text: shortened(text), fill: palette.ink, size: font, turn: -90 }))
  };
}
function matrixScene(selection2, palette, marked) {
  const plan = layout(selection2, 1200, true);
  const { left, top } = plan;
  const body = cellsScene(selection2, plan, palette, marked);
  const head = 18;
  return {
    width: left + body.width + 22,
    height: head + top + body.height + 4,
    marks: [
      { mark: "text", x: left, y: 9, text: `${selection2.columns.title} →`, fill: palette.muted, size: 11 },
      { mark: "text", x: left + body.width + 10, y: head + top, text: `${selection2.rows.title} →`, fill: palette.muted, size: 11, turn: 90 },
      ...moved(columnLabels(selection2.columns.labels, plan, palette).marks, left, head),
      ...moved(rowLabels(selection2.rows.labels, plan, palette).marks, 0, head + top),
      ...moved(body.marks, left, head + top)
    ]
  };
}
function between([r1, c1], [r2, c2]) {
  const cells = [];
  for (let row = Math.min(r1, r2); row <= Math.max(r1, r2); row++)
    for (let column = Math.min(c1, c2); column <= Math.max(c1, c2); column++) cells.push([row, column]);
  return cells;
}
function matrixView(palette, editable, choose) {
  const cells = make("canvas", { "aria-hidden": "true" });
  const overlay = make("div", { class: "chosen-cells", "aria-hidden": "true" });
  const rowCanvas = make("canvas", { class: "row-labels", "aria-hidden": "true" });
  const columnCanvas = make("canvas", { class: "column-labels", "aria-hidden": "true" });
  const board = make("div", { class: "board", tabindex: 0, role: "application", "aria-roledescription": "matrix", "aria-label": `Weights: arrow keys move, with Shift they choose more${editable ? ", b blocks, f forces" : ""}` }, cells, overlay);
  const corner = make("span", { class: "matrix-corner" });
  const scroll = make("div", { class: "matrix-scroll" }, corner, columnCanvas, rowCanvas, board);
  const said = make("p", { class: "said", "aria-live": "polite" });
  const titles = make("p", { class: "quiet" });
  const element = make("div", { class: "matrix" }, titles, scroll, said);
  let selection2 = null;
  let plan;
  let chosen = /* @__PURE__ */ new Set();
  let anchor = null;
  let cursor = [0, 0];
  let numbers = true;
  let marked = { blocked: /* @__PURE__ */ new Set(), forced: /* @__PURE__ */ new Set() };
  const draw = () => {
    if (!selection2 || !element.clientWidth) return;
    plan = layout(selection2, element.clientWidth, numbers);
    paint(cells, cellsScene(selection2, plan, palette(), marked));
    paint(rowCanvas, rowLabels(selection2.rows.labels, plan, palette()));
    paint(columnCanvas, columnLabels(selection2.columns.labels, plan, palette()));
    showChosen();
  };
  const list = () => [...chosen].map((key) => (
    /** @type {Cell} */
    key.split(",").map(Number)
  ));
  const showChosen = () => {
    put(overlay, ...list().map(([row, column]) => make("span", { style: `left:${column * plan.cell}px;top:${row * plan.cell}px;width:${plan.cell - 1}px;height:${plan.cell - 1}px` })));
    choose(list());
  };
  const say = ([row, column]) => {
    if (!selection2) return;
    const { matrix, rows, columns } = selection2;
    put(said, isolated(rows.labels[row]), " → ", isolated(columns.labels[column]), ": ", make("strong", {}, number(matrix.data[row * matrix.columns + column])));
  };
  const at = (event) => {
    if (!selection2) return null;
    const box = cells.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / plan.cell);
    const row = Math.floor((event.clientY - box.top) / plan.cell);
    const inside = row >= 0 && column >= 0 && row < selection2.matrix.rows && column < selection2.matrix.columns;
    return inside ? [row, column] : null;
  };
  board.addEventListener("pointerdown", (event) => {
    const cell = at(event);
    if (!cell || event.button) return;
    cursor = cell;
    if (event.pointerType === "touch") {
      const key = String(cell);
      if (!chosen.delete(key)) chosen.add(key);
    } else {
      anchor = cell;
      board.setPointerCapture(event.pointerId);
      if (!event.ctrlKey && !event.metaKey) chosen = /* @__PURE__ */ new Set();
      chosen.add(String(cell));
    }
    say(cell);
    showChosen();
  });
  board.addEventListener("pointermove", (event) => {
    const cell = at(event);
    if (!cell) return;
    say(cell);
    if (!anchor) return;
    chosen = new Set(between(anchor, cell).map(String));
    showChosen();
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => anchor = null);
  board.addEventListener("keydown", (event) => {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === "Escape") chosen = /* @__PURE__ */ new Set();
    else if (!selection2 || !down && !right) return;
    else {
      const start = anchor ?? cursor;
      cursor = [
        Math.min(Math.max(cursor[0] + down, 0), selection2.matrix.rows - 1),
        Math.min(Math.max(cursor[1] + right, 0), selection2.matrix.columns - 1)
      ];
      anchor = event.shiftKey ? start : null;
      chosen = new Set(between(anchor ?? cursor, cursor).map(String));
      say(cursor);
    }
    event.preventDefault();
    showChosen();
  });
  board.addEventListener("keyup", (event) => event.key === "Shift" && (anchor = null));
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
  const update = (next, marks, withNumbers) => {
    if (!selection2 || selection2.matrix.rows !== next.matrix.rows || selection2.matrix.columns !== next.matrix.columns) chosen = /* @__PURE__ */ new Set();
    selection2 = next;
    marked = marks;
    numbers = withNumbers;
    const { least, most } = range(next.matrix.data);
    put(titles, `rows: ${next.rows.title} · columns: ${next.columns.title} · from ${number(Math.abs(least) < 5e-4 ? 0 : least)} to ${number(most)}`);
    draw();
  };
  const clear = () => {
    chosen = /* @__PURE__ */ new Set();
    showChosen();
  };
  return { element, update, clear, board };
}

// src/selection.js
async function selection(study, look) {
  const translation = (
    /** @type {import("./protocol.js").Translation} */
    study.translation
  );
  const lens = askedLens(look.lens);
  const matrices = await Promise.all(
    look.heads.map(async ([layer, head]) => headMatrix(await study.attention(look.kind, layer, lens), head))
  );
  const { rows, columns } = axes(look.kind, translation, look.words);
  return { matrix: grouped(merged(matrices, look.merge), rows.groups, columns.groups), rows, columns };
}

// src/one_head.js
function chosenWords({ kind, heads, merge }, plain) {
  const [[layer, head]] = heads;
  const title = plain ? "Attention" : TITLES[kind];
  if (heads.length === 1) return `${title} · layer ${layer} · head ${head}`;
  return `${title} · ${merge} of ${heads.length} heads`;
}
function markedCells(state, names, { rows, columns }) {
  const marked = { blocked: /* @__PURE__ */ new Set(), forced: /* @__PURE__ */ new Set() };
  for (const { head, kind, cells } of state.edits)
    for (const [t, s] of names.includes(head) && cells || []) {
      const row = rows.groups.findIndex((group) => group.includes(t));
      const column = columns.groups.findIndex((group) => group.includes(s));
      (kind === "block" ? marked.blocked : marked.forced).add(`${row},${column}`);
    }
  return marked;
}
function oneHead(context) {
  const { about, study, view, palette } = context;
  const lines = headView(palette);
  let cells = [];
  let shown = null;
  const whole = make("div", { class: "row" });
  const some = make("div", { class: "row cell-actions" });
  const problem = make("p", { class: "note", hidden: true });
  const matrix = matrixView(palette, about.live, (chosen) => {
    cells = chosen;
    actions();
  });
  const drawings = make(
    "div",
    { class: "two-views" },
    make("figure", { class: "lines-figure" }, make("figcaption", { class: "quiet" }, "Point at a token to see its lines; click to pin it."), lines.element),
    make("figure", { class: "matrix-figure" }, matrix.element, about.live && some)
  );
  const element = make("div", { class: "one-head" }, whole, problem, drawings);
  const positions = () => {
    if (!shown) return [];
    const { rows, columns } = shown;
    return cells.flatMap(
      ([row, column]) => rows.groups[row].flatMap((t) => columns.groups[column].filter((s) => view.look.kind !== "decoder" || s <= t).map((s) => (
        /** @type {[number, number]} */
        [t, s]
      )))
    );
  };
  const edit = (kind, words2) => {
    const chosen = kind === "block" || kind === "force" ? positions() : void 0;
    if (chosen && !chosen.length) return;
    const names = view.names();
    study.change(names.reduce((state, head) => edited(state, { head, kind, cells: chosen }), study.state), words2);
    matrix.clear();
  };
  const block = () => edit("block", `${positions().length} cells blocked`);
  const force = () => edit("force", `${positions().length} cells forced`);
  matrix.board.addEventListener("keydown", (event) => {
    if (!about.live) return;
    if (event.key === "b") block();
    else if (event.key === "f") force();
  });
  const actions = () => {
    const count = cells.length;
    put(
      some,
      make("span", { class: "quiet" }, count ? `${count} cell${count > 1 ? "s" : ""} chosen` : "Drag over cells to choose them"),
      button("Block", block, { disabled: !count, title: "These cells get no weight (b)" }),
      button("Force", force, { disabled: !count, title: "All weight of the row goes to these cells (f)" })
    );
  };
  const headActions = () => {
    const { config } = context.model();
    if (headsOf(view.look, config).length < view.look.heads.length) return put(whole);
    const names = view.names();
    const off = names.every((name) => isOff(study.state, name));
    const changed = names.some((name) => study.state.edits.some(({ head }) => head === name));
    const effect = names.length === 1 && study.effects.get(names[0]);
    const { kind, heads } = view.look;
    const places = heads.map(([layer, head]) => ({ kind, layer, head }));
    let state = study.state;
    for (const place2 of places)
      if (isOff(state, headName(kind, place2.layer, place2.head)) === off) state = toggled(state, place2, config.heads);
    const next = places.length === 1 ? switched(context, places[0]) : context.can(state) ? state : null;
    const flip = () => next && study.change(next, `${off ? "on" : "off"}: ${chosenWords(view.look).toLowerCase()}`);
    const restore = () => study.change(names.reduce(unedited, study.state), "weights restored");
    return put(
      whole,
      next && button(off ? "Switch on" : "Switch off", flip, { class: "primary", "aria-pressed": off }),
      about.live && button("Uniform", () => edit("uniform", "uniform weights"), { title: "Every token gets the same weight" }),
      about.live && button("Diagonal", () => edit("diagonal", "diagonal weights"), { title: "Each position looks at the same position" }),
      about.live && changed && button("Restore weights", restore),
      off && make("span", { class: "quiet" }, "Switched off: this head adds nothing to the sum of the heads."),
      effect && make("span", { class: "facts" }, `switched off alone: log-probability ${signed(effect.change)}`)
    );
  };
  let stamp = 0;
  const update = async () => {
    if (!study.translation) return;
    headActions();
    const mine = ++stamp;
    try {
      const found = await selection(study, view.look);
      if (mine !== stamp) return;
      shown = found;
      problem.hidden = true;
      drawings.hidden = false;
      lines.update(shown);
      matrix.update(shown, markedCells(study.state, view.names(), shown), view.look.numbers);
      actions();
    } catch (error) {
      if (mine !== stamp) return;
      shown = null;
      drawings.hidden = true;
      put(
        problem,
        /** @type {Error} */
        error.message
      );
      problem.hidden = false;
    }
  };
  return { element, update, selection: () => shown, focus: lines.focus, marked: () => shown ? markedCells(study.state, view.names(), shown) : null };
}

// src/picture.js
function picture(app) {
  const palette = app.palette();
  const { only } = app.about;
  const { look } = app.view;
  const parts = [];
  for (const [i, { study }] of app.contexts.entries()) {
    const part = (
      /** @type {ReturnType<typeof import("./one_head.js").oneHead> | undefined} */
      app.headSection?.parts[i]
    );
    const selection2 = part?.selection();
    if (!part || !selection2 || !study.translation) continue;
    const marked = part.marked() ?? { blocked: /* @__PURE__ */ new Set(), forced: /* @__PURE__ */ new Set() };
    if (!only) parts.push({ title: `${study.shown.text} → ${study.translation.text}`, scene: { width: 0, height: 0, marks: [] } });
    parts.push({ title: `${chosenWords(look, only)} · ${askedLens(look.lens)}`, scene: headScene(selection2, part.focus(), palette) });
    parts.push({ title: "", scene: matrixScene(selection2, palette, marked) });
  }
  if (!parts.length) throw new Error("There is no picture to save: no head is shown.");
  return stacked(parts, palette);
}

// src/header.js
function header(app) {
  const about = make("p", { class: "about" });
  const saved = !app.about.live && !app.about.only;
  const theme = make(
    "select",
    { "aria-label": "Light or dark" },
    make("option", { value: "auto" }, "as the system"),
    make("option", { value: "light" }, "light"),
    make("option", { value: "dark" }, "dark")
  );
  theme.addEventListener("change", () => {
    app.theme = /** @type {import("./app.js").Theme} */
    theme.value;
    app.refresh();
  });
  const file = make("input", { type: "file", accept: ".json,application/json", hidden: true });
  file.addEventListener("change", async () => {
    try {
      const [chosen] = file.files ?? [];
      if (chosen) app.restore(fromFile(await chosen.text()));
    } catch (error) {
      app.say(
        /** @type {Error} */
        error.message
      );
    }
    file.value = "";
  });
  const second = button("", () => {
    const states = app.contexts.map(({ study }) => study.state);
    app.open(states.length > 1 ? states.slice(0, 1) : [states[0], newState(states[0])]);
  });
  const save = () => download("view.json", new Blob([toFile(app.saved())], { type: "application/json" }));
  const copy = async () => {
    const address = location.href.split("#")[0] + toHash(app.saved());
    await navigator.clipboard.writeText(address).then(() => app.say("The link is on the clipboard."), () => app.say(address));
  };
  const draw = async (keep) => {
    try {
      await keep("attention", picture(app), app.palette());
    } catch (error) {
      app.say(
        /** @type {Error} */
        error.message
      );
    }
  };
  const element = make(
    "header",
    { class: "top" },
    make("div", { class: "title" }, make("h1", {}, "Look inside"), about),
    saved && make("p", { class: "about saved" }, "Saved page. The lenses shown and every single head switched off are precomputed; for anything else run ", make("code", {}, "allyouneed look"), "."),
    make(
      "div",
      { class: "tools", role: "group", "aria-label": "Save and load" },
      make("span", { class: "of-model" }, app.about.live && second),
      app.link && button("Copy link", copy),
      !saved && button("Save state", save, { title: "Saves a file that brings this view back" }),
      !saved && button("Open state", () => file.click()),
      file,
      button("SVG", () => draw(saveSVG), { title: "A picture of the chosen head as it is shown now" }),
      button("PNG", () => draw(savePNG), { title: "A picture of the chosen head as it is shown now" }),
      theme
    )
  );
  const update = () => {
    const { name, engine, config } = app.contexts[0].model();
    const shape = `${config.encoder_layers} + ${config.decoder_layers} layers · ${config.heads} heads · d_model ${config.d_model}`;
    if (app.about.only) put(about, name);
    else put(about, `${name} · ${shape} · ${engine}`);
    put(second, app.contexts.length > 1 ? "One sentence" : "Two sentences");
    theme.value = app.theme;
  };
  return { element, update };
}

// src/in_sight.js
function summary({ study }) {
  const element = make("div", { class: "summary" });
  const update = () => {
    const { translation } = study;
    if (!translation) return put(element);
    const { source, text, score, baseline } = translation;
    const words2 = groupText(source, source.slice(0, -1).map((_, i) => i));
    element.classList.toggle("stale", study.busy);
    return put(
      element,
      make("p", { class: "quiet" }, isolated(words2)),
      baseline ? diffLine(baseline.text, text) : make("p", { class: "diff", dir: "auto" }, isolated(text)),
      baseline && make("p", { class: "facts" }, text === baseline.text ? "The translation stays the same. " : "", `score ${number(baseline.score)} → ${number(score)} (${signed(score - baseline.score)})`)
    );
  };
  return { element, update };
}
function keptInSight(contexts, section) {
  const parts = contexts.map(summary);
  const bar = make("div", { class: "bar", hidden: true, role: "status", "aria-label": "The translation now" }, ...parts.map((part) => part.element));
  const element = make("div", { class: "in-sight" }, bar);
  section.after(element);
  const watch = new IntersectionObserver((changes) => {
    const { intersectionRatio, boundingClientRect } = changes[changes.length - 1];
    bar.hidden = intersectionRatio === 1 || boundingClientRect.top > 0;
  }, { threshold: [0, 1] });
  watch.observe(
    /** @type {Element} */
    section.querySelector(".side")
  );
  const update = () => parts.forEach((part) => part.update());
  update();
  return { update, close: () => watch.disconnect() };
}

// src/lens.js
function rowName(name) {
  const found = /^decoder\.layers\.(\d+)\.(\w+)$/.exec(name);
  return found ? `${found[1]} ${found[2].replaceAll("_", "-")}` : name.replace("decoder.", "");
}
function lensPart({ study, palette }) {
  const table2 = make("table", { class: "lens" });
  const said = make("div", { class: "said lens-said", "aria-live": "polite" });
  const element = make("div", {}, make("div", { class: "scroll" }, table2), said);
  const say = (row, final) => put(
    said,
    make(
      "p",
      {},
      `prediction after layer ${rowName(row.name)}, at the place of “`,
      isolated(final),
      "”",
      row.crossShare === null ? "" : ` · cross-attention's share of the change: ${percent(row.crossShare)}`
    ),
    make("ol", { class: "lens-top" }, ...row.top.map(({ text, probability }) => make("li", {}, isolated(visible(text)), make("span", { class: "figure quiet" }, ` ${percent(probability)}`))))
  );
  const cell = (row, final, id) => {
    const [first] = row.top;
    const colour = colourOf(palette(), first?.probability ?? 0, 1);
    const show = () => say(row, final);
    return make(
      "td",
      {},
      make(
        "button",
        { type: "button", class: first?.id === id ? "right" : "", style: `background:${css(colour)};color:${inkOn(colour)}`, onmouseenter: show, onfocus: show, onclick: show, "aria-label": `${rowName(row.name)}: ${visible(first?.text ?? "")} ${percent(first?.probability ?? 0)}` },
        isolated(visible(first?.text ?? ""))
      )
    );
  };
  let stamp = 0;
  const update = async () => {
    const { translation } = study;
    if (!translation) return;
    const mine = ++stamp;
    if (!table2.firstChild) put(said, WAITING);
    try {
      const { positions } = await study.lens();
      if (mine !== stamp) return;
      const { target } = translation;
      const rows = (positions[0] ?? []).map((_, i) => i).reverse();
      const head = make("tr", {}, make("th", { scope: "col" }, "after layer"), ...target.map((_, t) => make("th", { scope: "col" }, isolated(label(target, t)))));
      put(table2, make("thead", {}, head), make("tbody", {}, ...rows.map((i) => make(
        "tr",
        {},
        make("th", { scope: "row" }, rowName(positions[0][i].name)),
        ...positions.map((column, t) => cell(column[i], visible(target[t].text), target[t].id))
      ))));
      put(said, make("p", { class: "quiet" }, "Deeper colour: more probable. Outlined: this layer already predicts the final token. Point at a cell for more."));
    } catch (error) {
      if (mine === stamp) put(said, make(
        "p",
        { class: "note" },
        /** @type {Error} */
        error.message
      ));
    }
  };
  return { element, update };
}

// src/parts.js
function partsPart({ study }) {
  const words2 = make("p", { class: "quiet" });
  const list = make("ol", { class: "parts" });
  const element = make("nav", { class: "whole-text", "aria-label": "Parts of the text" }, words2, list);
  const item = (translation, text, number2) => {
    const here = number2 === study.shown.part;
    const found = here ? translation.text : study.partTexts.get(number2);
    const show = () => study.change(withPart(study.state, number2), `part ${number2 + 1}`);
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", onclick: show, "aria-current": here ? "true" : void 0, "aria-label": `Part ${number2 + 1}: ${text}` },
        make("span", { class: "figure" }, String(number2 + 1)),
        isolated(text),
        isolated(found ?? "…", "quiet")
      )
    );
  };
  const update = () => {
    const { translation } = study;
    const parts = translation?.parts ?? [];
    element.hidden = parts.length < 2;
    if (!translation || element.hidden) return;
    put(words2, `This text is translated in ${parts.length} parts, as `, make("code", {}, "allyouneed translate"), ` splits it. Everything below shows part ${study.shown.part + 1}; click another part to see it.`);
    put(list, ...parts.map((text, number2) => item(translation, text, number2)));
    void study.translateParts();
  };
  return { element, update };
}

// src/positions.js
function encoding(position, dimension, { width, base }) {
  const angle = position / base ** ((dimension - dimension % 2) / width);
  return dimension % 2 ? Math.cos(angle) : Math.sin(angle);
}
function shiftDeviation({ width, base, positions, shift }) {
  let largest2 = 0;
  for (let dimension = 0; dimension < width; dimension += 2) {
    const angle = shift / base ** (dimension / width);
    for (let position = 0; position < positions; position++) {
      const sin = encoding(position, dimension, { width, base });
      const cos = encoding(position, dimension + 1, { width, base });
      const moved2 = [Math.cos(angle) * sin + Math.sin(angle) * cos, -Math.sin(angle) * sin + Math.cos(angle) * cos];
      for (const part of [0, 1])
        largest2 = Math.max(largest2, Math.abs(moved2[part] - encoding(position + shift, dimension + part, { width, base })));
    }
  }
  return largest2;
}
function curvesScene(settings, size, palette) {
  const height = 220;
  const left = 34;
  const bottom = 24;
  const x = (position) => left + position / (settings.positions - 1) * (size - left - 64);
  const y = (value2) => 8 + (1 - value2) / 2 * (height - bottom - 8);
  const strokes = [palette.accent, palette.warm, palette.ink, palette.muted];
  const dashes = [void 0, [7, 4], [2, 3], void 0];
  const marks = [-1, 0, 1].flatMap((value2) => (
    /** @type {Mark[]} */
    [
      { mark: "line", x1: left, x2: size - 60, y1: y(value2), y2: y(value2), stroke: palette.line },
      { mark: "text", x: left - 6, y: y(value2), text: String(value2).replace("-", "−"), fill: palette.muted, size: 11, anchor: "end" }
    ]
  ));
  for (let i = 0; i < 4; i++) {
    const dimension = settings.first + i;
    if (dimension >= settings.width) break;
    const points = Array.from({ length: 4 * settings.positions - 3 }, (_, step) => (
      /** @type {[number, number]} */
      [x(step / 4), y(encoding(step / 4, dimension, settings))]
    ));
    marks.push({ mark: "path", points, stroke: strokes[i], width: 1.8, dash: dashes[i] });
    marks.push({ mark: "path", points: [[size - 54, 16 + 18 * i], [size - 34, 16 + 18 * i]], stroke: strokes[i], width: 1.8, dash: dashes[i] });
    marks.push({ mark: "text", x: size - 28, y: 16 + 18 * i, text: String(dimension), fill: palette.ink, size: 12 });
  }
  for (let position = 0; position < settings.positions; position += Math.max(1, Math.round(settings.positions / 10)))
    marks.push({ mark: "text", x: x(position), y: height - 10, text: String(position), fill: palette.muted, size: 11, anchor: "middle" });
  return { width: size, height, marks };
}
function paintTable(canvas, settings, palette) {
  canvas.width = settings.positions;
  canvas.height = settings.width;
  const context = (
    /** @type {CanvasRenderingContext2D} */
    canvas.getContext("2d")
  );
  const image = context.createImageData(settings.positions, settings.width);
  for (let dimension = 0; dimension < settings.width; dimension++) {
    const row = dimension % 2 * settings.width / 2 + Math.floor(dimension / 2);
    for (let position = 0; position < settings.positions; position++) {
      const colour = signedColourOf(palette, encoding(position, dimension, settings), 1);
      image.data.set([...colour, 255], 4 * (row * settings.positions + position));
    }
  }
  context.putImageData(image, 0, 0);
}
function positionsPart({ model, palette, study }) {
  const { d_model } = model().config;
  const settings = { width: d_model, base: 1e4, positions: 100, first: Math.min(4, d_model - 4), shift: 10 };
  const curves = make("canvas", { role: "img", "aria-label": "Four dimensions of the encoding over the positions" });
  const table2 = make("canvas", { class: "pe-table", role: "img", "aria-label": "The encoding of every position, dimensions from top to bottom" });
  const check = make("p", { class: "said", "aria-live": "polite" });
  const measured = make("p", { class: "quiet" });
  const legend2 = make("p", { class: "quiet" }, "every position (across) and dimension (down: the sines 0, 2, 4 …, then the cosines 1, 3, 5 …); blue: above zero, orange: below");
  const sliders = make("div", { class: "sliders" });
  const element = make("div", { class: "positions" }, sliders, make("div", { class: "two-views" }, make("figure", {}, curves), make("figure", {}, table2, legend2)), check, measured);
  const draw = () => {
    const size = Math.max(260, curves.parentElement?.clientWidth ?? 0);
    paint(curves, curvesScene(settings, size, palette()));
    paintTable(table2, settings, palette());
    const deviation = shiftDeviation(settings);
    put(check, `Shift by ${settings.shift}: the matrix M with M·PE(pos) = PE(pos + ${settings.shift}) is the same for all ${settings.positions} positions; largest deviation ${number(deviation)}.`);
  };
  const slider = (words2, name, least, most, read = (x) => x, write = (x) => x) => {
    const told = make("output", {}, String(settings[name]));
    const input = make("input", { type: "range", min: least, max: most, value: write(settings[name]), "aria-label": words2 });
    input.addEventListener("input", () => {
      settings[name] = read(Number(input.value));
      put(told, String(settings[name]));
      draw();
    });
    return make("label", {}, make("span", { class: "quiet" }, words2), input, told);
  };
  put(
    sliders,
    slider("first of four dimensions", "first", 0, Math.max(0, d_model - 4)),
    slider("positions", "positions", 10, 300),
    slider("shift k", "shift", 1, 100),
    slider("base", "base", 4, 24, (x) => Math.round(10 ** (x / 4)), (x) => Math.round(4 * Math.log10(x)))
  );
  new ResizeObserver(draw).observe(element);
  const update = () => {
    draw();
    study.ask("positions", {}).then(
      ({ json }) => put(measured, json.shift?.length ? `In this model's own table (d_model ${json.d_model}, base ${json.base}): ${json.shift.map(({ k, deviation }) => `k = ${k}: ${number(deviation)}`).join(" · ")}` : json.positions ? `This model's positions are ${json.positions}; the formula above is the paper's.` : ""),
      () => put(measured)
    );
  };
  return { element, update };
}

// src/protocol.js
var NeedsLiveModel = class extends Error {
  needsLiveModel = true;
  constructor() {
    super("This saved page does not hold this view.");
  }
};
function lookCommand(text) {
  return `allyouneed look '${text.replaceAll("'", "'\\''")}'`;
}
function needsLiveModel(error) {
  return Boolean(error && /** @type {{needsLiveModel?: boolean}} */
  error.needsLiveModel);
}

// src/section.js
var Section = class {
  /** @type {Part[]} */
  parts = [];
  /**
   * @param {string} title
   * @param {(context: Context) => Part} makePart
   * @param {{controls?: HTMLElement | null, folded?: boolean}} [options]  folded: closed until the user opens it
   */
  constructor(title, makePart, { controls = null, folded: folded2 = false } = {}) {
    this.makePart = makePart;
    this.panes = make("div", { class: "panes" });
    this.folded = folded2;
    this.element = folded2 ? make("details", { class: "section folded" }, make("summary", {}, make("h2", {}, title)), controls, this.panes) : make("section", { class: "section" }, title ? make("h2", {}, title) : null, controls, this.panes);
    if (folded2) this.element.addEventListener("toggle", () => this.update());
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
};

// src/popover.js
var LEAVE = 140;
var closeOpen = null;
function withPopover(trigger, fill, { hover = true } = {}) {
  const holder = make("span", { class: "holder" }, trigger);
  let panel = null;
  let timer = 0;
  trigger.setAttribute("aria-expanded", "false");
  const close = () => {
    clearTimeout(timer);
    panel?.remove();
    panel = null;
    trigger.setAttribute("aria-expanded", "false");
    if (closeOpen === close) closeOpen = null;
  };
  const open = () => {
    clearTimeout(timer);
    if (panel) return;
    closeOpen?.();
    closeOpen = close;
    panel = make("div", { class: "popover" }, fill());
    holder.append(panel);
    trigger.setAttribute("aria-expanded", "true");
    place(holder, panel);
  };
  const leave = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => holder.contains(document.activeElement) || close(), LEAVE);
  };
  if (hover) holder.addEventListener("mouseenter", open);
  if (hover) holder.addEventListener("mouseleave", leave);
  holder.addEventListener("focusin", () => hover && trigger.matches(":focus-visible") && open());
  holder.addEventListener("focusout", (event) => {
    if (!holder.contains(
      /** @type {Node | null} */
      event.relatedTarget
    )) close();
  });
  trigger.addEventListener("click", open);
  holder.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !panel) return;
    event.stopPropagation();
    trigger.focus();
    close();
  });
  return holder;
}
function place(holder, panel) {
  const room = (
    /** @type {HTMLElement} */
    holder.closest(".allyouneed").getBoundingClientRect()
  );
  const box = panel.getBoundingClientRect();
  const over = box.right - (room.right - 8);
  if (over > 0) panel.style.left = `${-Math.min(over, box.left - room.left - 8)}px`;
}

// src/sentence.js
var TYPING = 350;
function savedText({ study }) {
  const element = make("p", { class: "text saved-text", dir: "auto" });
  return { element, update: () => put(element, isolated(study.state.text)) };
}
function sentenceInput(context) {
  if (!context.about.live) return savedText(context);
  const { study, about } = context;
  let timer = 0;
  const text = make("textarea", {
    class: "text",
    rows: 1,
    spellcheck: "false",
    dir: "auto",
    "aria-label": "Sentence to translate",
    placeholder: "Type a sentence …"
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
  model.addEventListener(
    "change",
    () => study.change(newState({ ...study.state, model: Number(model.value) }), `model ${about.models[Number(model.value)].name}`)
  );
  const several = about.models.length > 1;
  const element = make(
    "div",
    { class: "input" },
    text,
    make(
      "div",
      { class: "row" },
      button("Translate", translate, { class: "primary" }),
      make("label", { class: "quiet" }, "beam ", beam),
      several && make("label", { class: "quiet" }, "model ", model)
    )
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
function legend() {
  const sample = (share, text) => make("span", { class: "sample", style: `--p:${share}` }, text);
  return make(
    "p",
    { class: "legend", "aria-label": "Legend" },
    make("span", {}, sample("0.6", "word"), " bar: the token's probability, here 60 %; the tint is deeper for less probable tokens"),
    make("span", {}, sample("1", "wo"), make("span", { class: "sample more" }, "rd"), " dotted line: pieces of one word")
  );
}
function tokenRows({ about, study, view }) {
  const source = make("div", { class: "tokens source", role: "group", "aria-label": "Source tokens" });
  const target = make("div", { class: "tokens target", role: "group", "aria-label": "Translation" });
  const facts = make("p", { class: "facts" });
  const joined2 = checkbox("whole words", view.look.words, (words3) => view.set({ words: words3 }));
  const element = make(
    "div",
    { class: "both" },
    make("div", { class: "side" }, make("span", { class: "side-name" }, "source"), source),
    make("div", { class: "side" }, make("span", { class: "side-name" }, "translation"), target),
    make("div", { class: "row" }, facts, joined2),
    legend()
  );
  let drawn = null;
  let words2 = false;
  const update = () => {
    const translation = study.translation;
    element.classList.toggle("stale", study.busy);
    if (!translation || translation === drawn && words2 === view.look.words) return;
    drawn = translation;
    words2 = view.look.words;
    joined2.firstChild.checked = words2;
    keepingFocus(source, () => put(source, ...sourceTokens(study, translation, words2, about.live)));
    keepingFocus(target, () => put(target, ...targetTokens(study, translation, words2, about.live)));
    const seconds = translation.seconds < 1 ? `${Math.round(translation.seconds * 1e3)} ms` : `${number(translation.seconds)} s`;
    put(facts, `log-probability ${number(translation.log_probability)} · score ${number(translation.score)} · ${seconds}`);
  };
  return { element, update };
}
function keepingFocus(row, redraw) {
  const holders = () => Array.from(row.querySelectorAll(".token"));
  const place2 = holders().findIndex((token) => token.parentElement?.contains(document.activeElement));
  redraw();
  if (place2 < 0) return;
  const next = holders()[Math.min(place2, holders().length - 1)];
  if (next instanceof HTMLElement) next.focus();
}
function sourceTokens(study, { source }, words2, live) {
  const groups = words2 ? wordGroups(source) : singly(source);
  return groups.map((group) => {
    const at = source[group[0]].index ?? group[0];
    const replaced = group.some((i) => Object.hasOwn(study.shown.replaced, source[i].index ?? i));
    const token = make(
      "button",
      { type: "button", class: `token${live ? "" : " still"}${continues(source, group[0]) ? " more" : ""}${replaced ? " changed" : ""}` },
      isolated(groupText(source, group))
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
function replacement(study, text, index) {
  const input = make("input", { type: "text", value: text.trim(), "aria-label": `Instead of ${visible(text)}`, dir: "auto" });
  const form = make(
    "form",
    { class: "replace" },
    make("span", { class: "quiet" }, "instead"),
    input,
    make("button", { type: "submit", class: "primary" }, "Replace")
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
function targetTokens(study, translation, words2, live) {
  const { target, steps: steps2 } = translation;
  const groups = words2 ? wordGroups(target) : singly(target);
  return groups.map((group) => {
    const known = group.every((i) => steps2[i]);
    const probability = known ? Math.exp(group.reduce((sum, i) => sum + steps2[i].log_probability, 0)) : 1;
    const token = make(
      "button",
      {
        type: "button",
        class: `token${continues(target, group[0]) ? " more" : ""}`,
        style: `--p:${probability.toFixed(4)}`,
        "aria-label": `${groupText(target, group)}${known ? `, ${percent(probability)}` : ""}`
      },
      isolated(groupText(target, group))
    );
    return known ? withPopover(token, () => alternatives(study, translation, group[0], live)) : token;
  });
}
function alternatives(study, { text, target, steps: steps2 }, position, live) {
  const { log_probability: own, alternatives: others } = steps2[position];
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

// src/float16.js
var table = null;
function value(bits) {
  const sign2 = bits & 32768 ? -1 : 1;
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign2 * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign2 * Infinity;
  return sign2 * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
function decodeFloat16(buffer) {
  table ??= Float32Array.from({ length: 65536 }, (_, bits) => value(bits));
  const view = new DataView(buffer);
  const numbers = new Float32Array(buffer.byteLength >> 1);
  for (let i = 0; i < numbers.length; i++) numbers[i] = table[view.getUint16(2 * i, true)];
  return numbers;
}
function tensor(array) {
  const data = decodeFloat16(array.data);
  const wanted = array.shape.reduce((product, size) => product * size, 1);
  if (data.length !== wanted)
    throw new Error(`an array of shape [${array.shape}] holds ${data.length} numbers, not ${wanted}`);
  return { shape: array.shape, data };
}

// src/study.js
var lastRequest = 0;
function nextRequest() {
  lastRequest = Math.max(lastRequest + 1, Date.now());
  return lastRequest;
}
var Study = class {
  /** @type {Translation | null} */
  translation = null;
  /** The state that the translation answers. @type {State} */
  shown;
  /** @type {Error | null} */
  error = null;
  busy = false;
  /** @type {Moment[]} */
  history = [];
  now = 0;
  /** For each head that was asked for: the effect of switching this head alone off. @type {Map<string, Effect>} */
  effects = /* @__PURE__ */ new Map();
  effectsAsked = 0;
  /** Why not every head could be measured. */
  effectsProblem = "";
  /** The translations, so far, of the other parts of a long text. @type {Map<number, string>} */
  partTexts = /* @__PURE__ */ new Map();
  #partsAsked = false;
  /** @type {Map<string, Promise<any>>} */
  #answers = /* @__PURE__ */ new Map();
  /** @type {Set<() => void>} */
  #listeners = /* @__PURE__ */ new Set();
  /** The number of the newest translation request; answers to older ones are ignored. */
  #request = 0;
  /** @param {Ask} ask @param {State} state @param {number} pane  which of the page's sentences this is */
  constructor(ask, state, pane) {
    this.ask = ask;
    this.state = state;
    this.shown = state;
    this.pane = pane;
  }
  /** Calls back after every change. @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
  }
  #tell() {
    for (const listener of this.#listeners) listener();
  }
  /** Ends the study: it asks nothing more, ignores answers that still arrive, and calls no listener. */
  close() {
    this.#request = nextRequest();
    this.#listeners.clear();
    this.ask = () => new Promise(() => {
    });
  }
  /** Translates the first state. */
  start() {
    this.history = [{ state: this.state, label: "the sentence" }];
    return this.#translate();
  }
  /**
   * Moves to a new state. Changes that are joined, such as the letters of a sentence being typed, are
   * undone together, as one moment of the history.
   * @param {State} state @param {string} label @param {boolean} [joined]
   */
  change(state, label2, joined2 = false) {
    if (sameState(state, this.state)) return Promise.resolve();
    const replace = joined2 && this.history[this.now]?.label === label2 && this.now > 0;
    this.history.length = this.now + (replace ? 0 : 1);
    this.history.push({ state, label: label2 });
    this.now = this.history.length - 1;
    this.state = state;
    return this.#translate();
  }
  /** Goes back (or forward) to a moment of the history. @param {number} moment */
  goTo(moment) {
    if (!this.history[moment] || moment === this.now) return Promise.resolve();
    this.now = moment;
    this.state = this.history[moment].state;
    return this.#translate();
  }
  async #translate() {
    const request = this.#request = nextRequest();
    this.busy = true;
    this.error = null;
    this.#tell();
    try {
      const { json } = await this.ask("translate", { state: this.state, request, pane: this.pane });
      if (request !== this.#request) return;
      this.translation = json;
      this.shown = this.state;
      Object.assign(this.history[this.now], { text: json.text, score: json.score });
      this.#answers.clear();
      this.effects.clear();
      this.effectsAsked = 0;
      this.effectsProblem = "";
      this.partTexts.clear();
      this.#partsAsked = false;
    } catch (error) {
      if (request !== this.#request) return;
      this.error = /** @type {Error} */
      error;
      this.state = this.shown;
      this.history.length = Math.max(1, this.history.findLastIndex(({ state }) => sameState(state, this.shown)) + 1);
      this.now = this.history.length - 1;
    }
    this.busy = false;
    this.#tell();
  }
  /**
   * Asks once about the translation that is shown, and keeps the answer.
   * @template T
   * @param {string} kind @param {Record<string, unknown>} payload @param {(answer: import("./protocol.js").Answer) => T} read
   * @returns {Promise<T>}
   */
  #once(kind, payload, read) {
    const id = this.translation?.id;
    const key = JSON.stringify([kind, payload]);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.ask(kind, { id, ...payload }).then(read);
    this.#answers.set(key, answer);
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
  /** Weights [H, T, S] of one layer. @param {Kind} kind @param {number} layer @param {string} lens */
  attention(kind, layer, lens) {
    return this.#once("attention", { kind, layer, lens }, ({ arrays }) => tensor(arrays.weights));
  }
  /** Small maps [layers, H, T', S']. @param {Kind} kind @param {string} lens */
  maps(kind, lens) {
    return this.#once("maps", { kind, lens }, ({ arrays }) => tensor(arrays.maps));
  }
  /** @returns {Promise<import("./protocol.js").Metrics>} */
  metrics() {
    return this.#once("metrics", {}, ({ json }) => json);
  }
  /** @returns {Promise<import("./protocol.js").Lens>} */
  lens() {
    return this.#once("lens", {}, ({ json }) => json);
  }
  /** @param {string} module @param {number} head @param {number} query */
  calculator(module, head, query) {
    return this.#once("calculator", { module, head, query }, ({ json, arrays }) => ({
      calculation: (
        /** @type {import("./protocol.js").Calculation} */
        json
      ),
      arrays: Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, tensor(array)]))
    }));
  }
  /** Whether this question about the shown translation can be answered. A saved page has only some of the answers. @param {string} kind @param {Record<string, unknown>} payload */
  holds(kind, payload) {
    return !this.ask.holds || this.ask.holds(kind, { id: this.translation?.id, ...payload });
  }
  /**
   * Translates the other parts of a long text, one after the other, so that other questions are
   * answered in between. Ends early when something newer is translated. Parts whose translations a
   * saved page lacks are left out.
   */
  async translateParts() {
    const count = this.translation?.parts?.length ?? 0;
    if (this.#partsAsked || this.busy || count < 2) return;
    this.#partsAsked = true;
    const request = this.#request;
    const { id } = (
      /** @type {Translation} */
      this.translation
    );
    for (let part = 0; part < count; part++) {
      if (part === this.shown.part || !this.holds("part", { part })) continue;
      const answer = await this.ask("part", { id, part, request }).catch(() => null);
      if (request !== this.#request || !answer || answer.json.obsolete) return;
      this.partTexts.set(part, answer.json.text);
      this.#tell();
    }
  }
  /**
   * Measures every head's effect, one head after the other, so that other questions are answered in
   * between. Ends early when something newer is translated.
   * @param {import("./protocol.js").Config} config
   */
  async measureEffects(config) {
    if (this.effectsAsked || this.busy || !this.translation) return;
    const request = this.#request;
    const layers = { encoder: config.encoder_layers, decoder: config.decoder_layers, cross: config.decoder_layers };
    this.effectsAsked = KINDS.reduce((sum, kind) => sum + layers[kind] * config.heads, 0);
    try {
      await this.#measure(request, KINDS.flatMap((kind) => namesOf(kind, layers[kind], config.heads)));
    } catch (error) {
      if (request === this.#request) this.effectsProblem = /** @type {Error} */
      error.message;
      this.#tell();
    }
  }
  /** @param {number} request @param {string[]} heads */
  async #measure(request, heads) {
    for (const head of heads) {
      const { id } = (
        /** @type {Translation} */
        this.translation
      );
      const { json } = await this.ask("effects", { id, heads: [head], request });
      if (request !== this.#request || json.obsolete) return;
      for (const effect of json.effects) this.effects.set(effect.name, effect);
      this.#tell();
    }
  }
};
function namesOf(kind, layers, heads) {
  return Array.from({ length: layers * heads }, (_, i) => headName(kind, Math.floor(i / heads), i % heads));
}

// src/app.js
var dark = () => window.matchMedia("(prefers-color-scheme: dark)");
var App = class {
  /** @type {Context[]} */
  contexts = [];
  /** @type {Theme} */
  theme = "auto";
  switching = false;
  #waiting = false;
  /** @param {HTMLElement} element @param {Ask} ask @param {About} about @param {Options} options */
  constructor(element, ask, about, options) {
    this.ask = ask;
    this.about = about;
    this.link = options.link ?? window.location.protocol !== "about:";
    this.root = make("div", { class: about.only ? "allyouneed plain" : "allyouneed" });
    this.status = make("div", { class: "status", role: "status" });
    this.main = make("main");
    element.append(this.root);
    const { saved, problem } = this.#first(options);
    this.headGiven = Boolean(saved.look.heads || about.only);
    this.view = new ViewState({ ...saved.look, ...about.only && { kind: about.only } });
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
    const given = { states: states.map((state) => newState(state)), look: {} };
    try {
      return { saved: this.link && fromHash(location.hash) || given, problem: "" };
    } catch (error) {
      return { saved: given, problem: (
        /** @type {Error} */
        error.message
      ) };
    }
  }
  #fromAddress() {
    try {
      const saved = fromHash(location.hash);
      if (saved) this.restore(saved);
    } catch (error) {
      this.say(
        /** @type {Error} */
        error.message
      );
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
    this.contexts = states.map((state, i) => old[i] && sameState(old[i].study.state, state) ? old[i] : this.#context(state, i));
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
    const can = (wanted) => !this.ask.holds || this.ask.holds("translate", { state: wanted });
    study.subscribe(() => this.refresh());
    return { study, view, about, model, palette: () => this.palette(), can, switching: () => this.switching, measure };
  }
  palette() {
    const night = this.theme === "dark" || this.theme === "auto" && dark().matches;
    return PALETTES[night ? "dark" : "light"];
  }
  #build() {
    const { about, contexts } = this;
    const grids = gridControls(contexts, (switching) => this.switching = switching);
    const heads = headControls(contexts);
    this.sections = [
      new Section("", (context) => joined("sentence", [sentenceInput(context), partsPart(context), tokenRows(context), changesPart(context)])),
      new Section("Every head", allGrids, { controls: grids.element }),
      this.headSection = new Section("Chosen head", oneHead, { controls: heads.element }),
      ...about.only ? [] : folded(about.asks)
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
    if (!failed) return this.status.dataset.error ? this.say("") : void 0;
    const text = this.contexts[0].study.shown.text;
    this.say(needsLiveModel(failed) ? `${failed.message} Run: ${lookCommand(text)}` : failed.message);
    this.status.dataset.error = "true";
    return void 0;
  }
  /** Shows a message above everything; "" removes it. @param {string} words */
  say(words2) {
    delete this.status.dataset.error;
    put(this.status, words2);
  }
  close() {
    this.media?.removeEventListener("change", this.redraw);
    window.removeEventListener("hashchange", this.follow);
    for (const { study } of this.contexts) study.close();
    this.bar?.close();
    this.root.remove();
  }
};
function folded(asks) {
  const all = (
    /** @type {const} */
    [
      ["translate", "Beam tree", beamTree],
      ["lens", "Layer by layer", lensPart],
      ["calculator", "Calculator", calculatorPart],
      ["positions", "Positional encodings", positionsPart]
    ]
  );
  return all.filter(([kind]) => !asks || asks.includes(kind)).map(([, title, part]) => new Section(title, part, { folded: true }));
}
function joined(style, parts) {
  return { element: make("div", { class: style }, ...parts.map(({ element }) => element)), update: () => parts.forEach((part) => part.update()) };
}
function allGrids(context) {
  const element = make("div", { class: "grids" });
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
async function mount(element, ask, options = {}) {
  const { json } = await ask("about", {});
  return new App(element, ask, json, options);
}

// src/transport.js
function readAnswer(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const arrays = {};
  for (const { name, shape, offset, bytes } of head.arrays ?? [])
    arrays[name] = { shape, data: buffer.slice(start + offset, start + offset + bytes) };
  return { json: head.json, arrays };
}
function checked(answer) {
  if (answer.json && typeof answer.json.error === "string") throw new Error(answer.json.error);
  return answer;
}
function httpTransport(address) {
  return async (kind, payload) => {
    const response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ kind, payload })
    }).catch(() => {
      throw new Error("The server does not answer; is `allyouneed look` still running?");
    });
    if (!response.ok) throw new Error(await response.text() || `HTTP ${response.status}`);
    return checked(readAnswer(await response.arrayBuffer()));
  };
}
async function readSaved2(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readAnswer(await new Response(stream).arrayBuffer());
}
function rowOf({ shape, data }, row) {
  const size = data.byteLength / shape[0];
  return { shape: shape.slice(1), data: data.slice(row * size, (row + 1) * size) };
}
function savedTransport(saved) {
  let held = {};
  void saved.then(({ json }) => held = json, () => {
  });
  const ask = async (kind, payload) => {
    const heads = (
      /** @type {{heads?: string[]}} */
      payload.heads ?? []
    );
    if (kind === "effects" && heads.length !== 1) {
      const each = await Promise.all(heads.map((head) => ask(kind, { ...payload, heads: [head] })));
      return { json: { effects: each.flatMap(({ json: json2 }) => json2.effects) }, arrays: {} };
    }
    const { json, arrays } = await saved;
    const key = question(kind, payload);
    if (!Object.hasOwn(json, key)) throw new NeedsLiveModel();
    const places = json[key].arrays;
    const found = Object.entries(places).map(([name, [place2, row]]) => [
      name,
      row === null ? arrays[place2] : rowOf(arrays[place2], row)
    ]);
    return checked({ json: json[key].json, arrays: Object.fromEntries(found) });
  };
  ask.holds = (kind, payload) => Object.hasOwn(held, question(kind, payload));
  return ask;
}
function widgetTransport(model) {
  let last = 0;
  const session = Math.floor(Math.random() * 2 ** 20) * 2 ** 20;
  const waiting = /* @__PURE__ */ new Map();
  const receive = (message, buffers) => {
    const asked = waiting.get(message.id);
    if (!asked) return;
    waiting.delete(message.id);
    const arrays = {};
    (message.arrays ?? []).forEach(({ name, shape }, i) => {
      const view = buffers[i];
      const data = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
      arrays[name] = { shape, data: (
        /** @type {ArrayBuffer} */
        data
      ) };
    });
    try {
      asked.resolve(checked({ json: message.json, arrays }));
    } catch (error) {
      asked.reject(error);
    }
  };
  model.on("msg:custom", receive);
  return {
    ask: (kind, payload) => new Promise((resolve, reject) => {
      const id = session + ++last;
      waiting.set(id, { resolve, reject });
      model.send({ id, kind, payload });
    }),
    close: () => model.off("msg:custom", receive)
  };
}

// src/index.js
function pictureOf({ words: words2, png }) {
  if (!png) return make("p", {}, words2);
  return make("img", { alt: words2, src: `data:image/png;base64,${png}`, style: "max-width: 100%" });
}
async function render({ model, el }) {
  const { ask, close } = widgetTransport(model);
  const stand = document.createElement("div");
  for (const picture2 of model.get("pictures") ?? []) stand.append(pictureOf(picture2));
  el.append(stand);
  const mounted = mount(el, ask, { ...model.get("start"), link: false });
  void mounted.then(() => stand.remove(), () => {
  });
  return () => {
    void mounted.then((view) => view.close(), () => {
    });
    close();
  };
}
var src_default = { render };
export {
  src_default as default,
  httpTransport,
  mount,
  readSaved2 as readSaved,
  savedTransport
};
