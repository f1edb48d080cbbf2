// Debian's Chromium on a page with the made-up model, built as the shipped module is.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../../../src/allyouneed/widget/static/", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** The policy of the served page. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:";

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>view</title><link rel="icon" href="data:,"><link rel="stylesheet" href="view.css"></head>
<body><main id="view"></main><script type="module" src="start.js"></script></body></html>`;

/** What starts the view: `?` holds the texts, the models and the delay of the made-up model. */
const START = `
import { fakeModel } from "./fake_model.js";
import widget, { mount } from "./view.js";
const asked = new URLSearchParams(location.search);
const fake = fakeModel({ delay: Number(asked.get("delay") ?? 0), live: !asked.has("saved") });
fake.ask.holds = fake.holds;
window.asked = fake.asked;
window.widget = widget;
window.view = await mount(document.getElementById("view"), fake.ask, {
  states: (asked.getAll("text").length ? asked.getAll("text") : ["A man in a blue shirt is standing on a ladder cleaning a window."]).map((text) => ({ text })),
});
`;

/** @returns {Promise<{address: string, close: () => void}>} */
async function serve() {
  const { outputFiles } = await build({ entryPoints: [`${HERE}../fake_model.js`], bundle: true, format: "esm", write: false, charset: "utf8" });
  /** @type {Record<string, [string, string | Buffer]>} */
  const files = {
    "/": ["text/html", PAGE],
    "/start.js": ["text/javascript", START],
    "/fake_model.js": ["text/javascript", outputFiles[0].text],
    "/view.js": ["text/javascript", readFileSync(`${SHIPPED}view.js`)],
    "/view.css": ["text/css", readFileSync(`${SHIPPED}view.css`)],
  };
  const server = createServer((request, response) => {
    const found = files[new URL(request.url ?? "/", "http://localhost").pathname];
    if (!found) return response.writeHead(404).end();
    return response.writeHead(200, { "Content-Type": `${found[0]}; charset=utf-8`, "Content-Security-Policy": POLICY }).end(found[1]);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Whether there is a browser to test with. */
export const haveBrowser = existsSync(CHROMIUM);

/** A browser and the address of the page. */
export async function openBrowser() {
  const { address, close } = await serve();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  return {
    address,
    /**
     * A page that has translated; a message of the browser's console fails the test.
     * @param {{query?: string, width?: number, height?: number, dark?: boolean, wait?: boolean}} [options]
     */
    async page({ query = "", width = 1280, height = 900, dark = false, wait = true } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
      const page = await context.newPage();
      page.setDefaultTimeout(10_000); // a failure then names what it waited for
      /** @type {string[]} */
      const problems = [];
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("dialog", (dialog) => (problems.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
      await page.goto(address + query);
      if (wait) await page.locator(".target .token").first().waitFor();
      return Object.assign(page, { problems });
    },
    async close() {
      await browser.close();
      close();
    },
  };
}
