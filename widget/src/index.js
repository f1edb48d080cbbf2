// The module's door: `mount` for the page and the saved file, `render` for notebooks.
import { mount } from "./app.js";
import { httpTransport, readSaved, savedTransport, widgetTransport } from "./transport.js";

export { httpTransport, mount, readSaved, savedTransport };

/**
 * Called by anywidget for each place the widget is shown at.
 * @param {{model: import("./transport.js").WidgetModel & {get: (name: string) => any}, el: HTMLElement}} place
 */
async function render({ model, el }) {
  const { ask, close } = widgetTransport(model);
  const view = await mount(el, ask, { ...model.get("start"), link: false });
  return () => {
    view.close();
    close();
  };
}

export default { render };
