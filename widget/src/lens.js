// Layer by layer: the tokens that the decoder would predict after each sub-layer, at each position.
import { css, colourOf, inkOn } from "./colour.js";
import { isolated, make, percent, put, WAITING } from "./dom.js";
import { label, visible } from "./tokens.js";

/** @typedef {import("./app.js").Context} Context */
/** @typedef {import("./protocol.js").LensRow} LensRow */

/** "decoder.layers.3.cross_attention" → "3 cross-attention". @param {string} name */
export function rowName(name) {
  const found = /^decoder\.layers\.(\d+)\.(\w+)$/.exec(name);
  return found ? `${found[1]} ${found[2].replaceAll("_", "-")}` : name.replace("decoder.", "");
}

/** @param {Context} context */
export function lensPart({ study, palette }) {
  const table = make("table", { class: "lens" });
  const said = make("div", { class: "said lens-said", "aria-live": "polite" });
  const element = make("div", {}, make("div", { class: "scroll" }, table), said);

  /** @param {LensRow} row @param {string} final */
  const say = (row, final) =>
    put(said,
      make("p", {}, `prediction after layer ${rowName(row.name)}, at the place of “`, isolated(final), "”",
        row.crossShare === null ? "" : ` · cross-attention's share of the change: ${percent(row.crossShare)}`),
      make("ol", { class: "lens-top" }, ...row.top.map(({ text, probability }) => make("li", {}, isolated(visible(text)), make("span", { class: "figure quiet" }, ` ${percent(probability)}`)))),
    );

  /** @param {LensRow} row @param {string} final @param {number} id */
  const cell = (row, final, id) => {
    const [first] = row.top;
    const colour = colourOf(palette(), first?.probability ?? 0, 1);
    const show = () => say(row, final);
    return make("td", {},
      make("button", { type: "button", class: first?.id === id ? "right" : "", style: `background:${css(colour)};color:${inkOn(colour)}`, onmouseenter: show, onfocus: show, onclick: show, "aria-label": `${rowName(row.name)}: ${visible(first?.text ?? "")} ${percent(first?.probability ?? 0)}` },
        isolated(visible(first?.text ?? ""))));
  };

  let stamp = 0;
  const update = async () => {
    const { translation } = study;
    if (!translation) return;
    const mine = ++stamp;
    if (!table.firstChild) put(said, WAITING);
    try {
      const { positions } = await study.lens();
      if (mine !== stamp) return;
      const { target } = translation;
      const rows = (positions[0] ?? []).map((_, i) => i).reverse();
      const head = make("tr", {}, make("th", { scope: "col" }, "after layer"), ...target.map((_, t) => make("th", { scope: "col" }, isolated(label(target, t)))));
      put(table, make("thead", {}, head), make("tbody", {}, ...rows.map((i) =>
        make("tr", {}, make("th", { scope: "row" }, rowName(positions[0][i].name)),
          ...positions.map((column, t) => cell(column[i], visible(target[t].text), target[t].id))))));
      put(said, make("p", { class: "quiet" }, "Deeper colour: more probable. Outlined: this layer already predicts the final token. Point at a cell for more."));
    } catch (error) {
      if (mine === stamp) put(said, make("p", { class: "note" }, /** @type {Error} */ (error).message));
    }
  };
  return { element, update };
}
