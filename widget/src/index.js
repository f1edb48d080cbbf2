// The module's exports: `mount` for the page and the saved file, `render` for notebooks.
import { mount } from "./app.js";
import { make } from "./dom.js";
import { httpTransport, readSaved, savedTransport, widgetTransport } from "./transport.js";

/** An image, or words where there is none. @param {{words: string, png: string}} picture */
function pictureOf({ words, png }) {
  if (!png) return make("p", {}, words);
  return make("img", { alt: words, src: `data:image/png;base64,${png}`, style: "max-width: 100%" });
}

export { httpTransport, mount, readSaved, savedTransport };

/**
 * Called by anywidget for each place where the widget is shown. Pictures stand there until the kernel
 * has answered; in a page without a kernel they stay.
 * @param {{model: import("./transport.js").WidgetModel & {get: (name: string) => any}, el: HTMLElement}} place
 */
async function render({ model, el }) {
  const { ask, close } = widgetTransport(model);
  const stand = document.createElement("div");
  for (const picture of model.get("pictures") ?? []) stand.append(pictureOf(picture));
  el.append(stand);
  const mounted = mount(el, ask, { ...model.get("start"), link: false });
  void mounted.then(() => stand.remove(), () => {});
  return () => {
    void mounted.then((view) => view.close(), () => {});
    close();
  };
}

export default { render };
