// The head of the page: which model, and buttons that save, load and copy.
import { button, make, put } from "./dom.js";
import { download, savePNG, saveSVG } from "./export_picture.js";
import { fromFile, toFile, toHash } from "./link.js";
import { newState } from "./state.js";
import { picture } from "./picture.js";

/** @typedef {import("./app.js").View} View */

/** @param {View} app */
export function header(app) {
  const about = make("p", { class: "about" });
  const saved = !app.about.live && !app.about.only;
  const theme = make("select", { "aria-label": "Light or dark" },
    make("option", { value: "auto" }, "as the system"), make("option", { value: "light" }, "light"), make("option", { value: "dark" }, "dark"));
  theme.addEventListener("change", () => {
    app.theme = /** @type {import("./app.js").Theme} */ (theme.value);
    app.refresh();
  });
  const file = make("input", { type: "file", accept: ".json,application/json", hidden: true });
  file.addEventListener("change", async () => {
    try {
      const [chosen] = file.files ?? [];
      if (chosen) app.restore(fromFile(await chosen.text()));
    } catch (error) {
      app.say(/** @type {Error} */ (error).message);
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
  /** @param {typeof saveSVG | typeof savePNG} keep */
  const draw = async (keep) => {
    try {
      await keep("attention", picture(app), app.palette());
    } catch (error) {
      app.say(/** @type {Error} */ (error).message);
    }
  };
  const element = make("header", { class: "top" },
    make("div", { class: "title" }, make("h1", {}, "Look inside"), about),
    saved && make("p", { class: "about saved" }, "Saved page. The lenses shown and every single head switched off are precomputed; for anything else run ", make("code", {}, "allyouneed look"), "."),
    make("div", { class: "tools", role: "group", "aria-label": "Save and load" },
      make("span", { class: "of-model" }, app.about.live && second),
      app.link && button("Copy link", copy),
      !saved && button("Save state", save, { title: "Saves a file that brings this view back" }),
      !saved && button("Open state", () => file.click()),
      file,
      button("SVG", () => draw(saveSVG), { title: "A picture of the chosen head as it is shown now" }),
      button("PNG", () => draw(savePNG), { title: "A picture of the chosen head as it is shown now" }),
      theme,
    ),
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
