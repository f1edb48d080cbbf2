// The controls of the grids and of the chosen heads.
import { button, checkbox, choice, make, put, showChoice } from "./dom.js";
import { headName, KINDS } from "./names.js";
import { askedLens, LENSES } from "./view_state.js";

/** @typedef {import("./app.js").Context} Context */

/**
 * Whether a lens can be shown for all sentences: a saved page holds some lenses of some translations.
 * @param {Context[]} contexts @param {import("./view_state.js").Lens} lens
 */
function canShow(contexts, lens) {
  return contexts.every(({ study, about, model }) => {
    if (!study.translation) return true;
    if (lens === "effect") return study.holds("effects", { heads: [headName("encoder", 0, 0)] }) || model().config.encoder_layers === 0;
    return (about.only ? [about.only] : KINDS).some((kind) => study.holds("maps", { kind, lens: askedLens(lens) }));
  });
}

/** The lens, the order and what a click does. @param {Context[]} contexts @param {(switching: boolean) => void} setSwitching */
export function gridControls(contexts, setSwitching) {
  const [{ view, study }] = contexts;
  const order = make("select", { "aria-label": "Order of the heads", onchange: () => view.set({ order: order.value }) });
  const progress = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "Heads measured" });
  const note = make("span", { class: "quiet" });
  const lens = choice("Lens", LENSES, view.look.lens, (chosen) => view.set({ lens: chosen }));
  const click = choice("A click", [["look", "looks"], ["switch", "switches off"]], "look", (what) => setSwitching(what === "switch"));
  const element = make("div", { class: "controls" },
    make("div", { class: "control" }, make("span", { class: "control-name" }, "lens"), lens),
    make("label", { class: "control" }, make("span", { class: "control-name" }, "order"), order),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "a click"), click),
    progress, note,
  );
  let known = "";
  const offer = async () => {
    const metrics = await study.metrics().catch(() => null);
    const found = metrics && KINDS.map((kind) => metrics[kind]?.[0]?.[0]).find(Boolean);
    const names = [...Object.keys(found ?? {}), ...(canShow(contexts, "effect") ? ["effect"] : [])];
    if (names.join() === known) return;
    known = names.join();
    put(order, make("option", { value: "" }, "layers × heads"), ...names.map((name) => make("option", { value: name }, `by ${name.replaceAll("_", " ")}`)));
    order.value = view.look.order;
  };
  const update = () => {
    for (const input of lens.querySelectorAll("input"))
      /** @type {HTMLElement} */ (input.parentElement).hidden = !canShow(contexts, /** @type {import("./view_state.js").Lens} */ (input.value));
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
    return undefined;
  };
  return { element, update };
}

/** Which heads are joined, and how. @param {Context[]} contexts */
export function headControls([context]) {
  const { view } = context;
  const chips = make("div", { class: "head-chips", role: "group", "aria-label": "Heads of the layer" });
  const layerChoice = make("select", { "aria-label": "Layer" });
  const kindChoice = make("select", { "aria-label": "Kind of attention" });
  const merge = choice("Join heads by", [["average", "average"], ["maximum", "maximum"]], view.look.merge, (chosen) => view.set({ merge: chosen }));
  const numbers = checkbox("numbers in every cell", view.look.numbers, (on) => view.set({ numbers: on }));
  const element = make("div", { class: "controls" },
    make("div", { class: "control" }, kindChoice, layerChoice),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "heads"), chips),
    make("div", { class: "control" }, make("span", { class: "control-name" }, "joined by"), merge),
    numbers,
  );
  put(kindChoice, make("option", { value: "encoder" }, "encoder"), make("option", { value: "decoder" }, "decoder"), make("option", { value: "cross" }, "cross"));
  const layers = () => {
    const { config } = context.model();
    return view.look.kind === "encoder" ? config.encoder_layers : config.decoder_layers;
  };
  kindChoice.addEventListener("change", () => {
    view.look.kind = /** @type {import("./names.js").Kind} */ (kindChoice.value);
    view.set({ heads: [[Math.min(view.look.heads[0][0], layers() - 1), view.look.heads[0][1]]] });
  });
  layerChoice.addEventListener("change", () => {
    const { config } = context.model();
    const all = layerChoice.value === "all";
    const wanted = all ? Array.from({ length: layers() }, (_, layer) => layer) : [Number(layerChoice.value)];
    const heads = all ? Array.from({ length: config.heads }, (_, head) => head) : [...new Set(view.look.heads.map(([, head]) => head))];
    view.set({ heads: wanted.flatMap((layer) => heads.map((head) => /** @type {[number, number]} */ ([layer, head]))) });
  });
  const update = () => {
    const { config } = context.model();
    const { heads, kind } = view.look;
    showChoice(merge, view.look.merge);
    /** @type {HTMLInputElement} */ (numbers.firstChild).checked = view.look.numbers;
    const chosenLayers = [...new Set(heads.map(([layer]) => layer))];
    put(layerChoice, ...Array.from({ length: layers() }, (_, layer) => make("option", { value: layer }, `layer ${layer}`)), make("option", { value: "all" }, "all layers"));
    if (chosenLayers.length > 1 && heads.length < layers() * config.heads) layerChoice.append(make("option", { value: "some", disabled: true }, "several layers"));
    kindChoice.value = kind;
    layerChoice.value = chosenLayers.length === 1 ? String(chosenLayers[0]) : heads.length === layers() * config.heads ? "all" : "some";
    const every = /** @type {[number, number][]} */ (chosenLayers.flatMap((layer) => Array.from({ length: config.heads }, (_, head) => [layer, head])));
    const full = heads.length === every.length;
    const focused = chips.contains(document.activeElement) ? [...chips.children].indexOf(/** @type {Element} */ (document.activeElement)) : -1;
    put(chips,
      ...Array.from({ length: config.heads }, (_, head) => {
        const on = heads.some(([, h]) => h === head);
        const flip = () => {
          const rest = heads.filter(([, h]) => h !== head);
          const more = /** @type {[number, number][]} */ (chosenLayers.map((layer) => [layer, head]));
          if (!on) view.set({ heads: [...heads, ...more] });
          else if (rest.length) view.set({ heads: rest });
        };
        const only = () => view.set({ heads: chosenLayers.map((layer) => [layer, head]) });
        return button(String(head), flip, { class: "head-chip", "aria-pressed": on, "aria-label": `Head ${head}`, title: "Click adds or takes away, double click shows it alone", ondblclick: only });
      }),
      button("all", () => view.set({ heads: every }), { class: "head-chip", "aria-pressed": full }),
    );
    if (focused >= 0) /** @type {HTMLElement} */ (chips.children[focused])?.focus();
  };
  return { element, update };
}
