import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { haveBrowser, openBrowser } from "./browser.js";

/** @typedef {Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["page"]>>} Page */

describe.skipIf(!haveBrowser)("the view in a browser", () => {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser;
  /** @type {Page} */
  let page;
  /** @param {Parameters<typeof browser.page>[0]} [options] */
  const open = async (options) => (page = await browser.page(options));
  const translation = () => page.locator(".target").innerText().then((text) => text.replace(/\s+/g, " "));
  const button = (/** @type {string} */ name) => page.getByRole("button", { name, exact: true });
  const map = (/** @type {string} */ grid, /** @type {string} */ name) => page.getByRole("grid", { name: grid }).getByRole("button", { name: new RegExp(`^${name}`) });
  const asked = (/** @type {string} */ kind) => page.evaluate((wanted) => /** @type {any} */ (window).asked.filter((/** @type {any} */ one) => one.kind === wanted), kind);

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    const { problems } = page;
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test("a sentence is translated while it is typed, the newest alone being shown", async () => {
    await open({ query: "?delay=30" });
    await page.getByLabel("Sentence to translate").fill("the boy did it");
    await page.locator(".target", { hasText: "Junge" }).waitFor();
    expect(await translation()).toBe("der Junge tat es </s>");
  });

  test("alternatives open on hover and on focus, and choosing one forces it", async () => {
    await open();
    await page.locator(".target .token").nth(1).hover();
    await page.locator(".alternative").first().waitFor();
    expect(await page.locator(".alternative").count()).toBe(5);
    await page.mouse.move(0, 0);
    await page.locator(".alternative").first().waitFor({ state: "detached" });
    await page.locator(".target .token").nth(1).focus();
    await page.locator(".alternative", { hasText: "eine" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await page.locator(".alternative").first().waitFor({ state: "detached" });
    await page.locator(".target .token").nth(1).hover();
    await page.locator(".alternative", { hasText: "Mädchen" }).click();
    await page.locator(".chip", { hasText: "begins with “ein Mädchen”" }).waitFor();
    await page.mouse.move(0, 0);
    await expect.poll(translation).toMatch(/^ein Mädc hen in/); // two tokens
  });

  test("it opens on the cross-attention head that aligns best, and a link on the head that it names", async () => {
    await open();
    await page.locator("h2", { hasText: "Cross-attention · layer 1 · head 2" }).waitFor();
    await map("Decoder self-attention", "layer 0, head 1").click();
    await page.locator("h2", { hasText: "Decoder self-attention · layer 0 · head 1" }).waitFor();
    await page.reload();
    await page.locator("h2", { hasText: "Decoder self-attention · layer 0 · head 1" }).waitFor();
  });

  test("a long text is shown part by part, each part with its translation", async () => {
    await open({ query: `?text=${encodeURIComponent("the boy did it\na man in a shirt\nthe window")}` });
    const parts = page.getByRole("navigation", { name: "Parts of the text" });
    expect(await parts.innerText()).toContain("This text is translated in 3 parts");
    await parts.locator("li", { hasText: "ein Mann in ein Hemd" }).waitFor();
    expect(await translation()).toBe("der Junge tat es </s>");
    await parts.getByRole("button", { name: "Part 3: the window" }).click();
    await expect.poll(translation).toBe("der Fens ter </s>");
    await parts.locator("li", { hasText: "der Junge tat es" }).waitFor();
    expect(await parts.locator("[aria-current]").innerText()).toContain("the window");
    await map("Cross-attention", "layer 0, head 0").focus();
    await page.keyboard.press("o");
    await parts.locator("li", { hasText: "es tat Junge der" }).waitFor(); // the other parts follow
    await page.getByLabel("Sentence to translate").fill("the boy did it");
    await parts.waitFor({ state: "hidden" });
  });

  for (const [width, height] of [[1280, 800], [390, 800]])
    test(`source, translation and comparison stay in sight when a head is switched off, ${width} × ${height}`, async () => {
      await open({ width, height });
      const bar = page.locator(".bar");
      expect(await bar.isVisible()).toBe(false);
      await page.locator(".board").scrollIntoViewIfNeeded();
      await bar.waitFor();
      await page.getByRole("button", { name: "Switch off", exact: true }).click();
      await bar.locator("del").first().waitFor();
      const words = (await bar.innerText()).replace(/\s+/g, " ");
      expect(words).toContain("A man in a blue shirt is standing on a ladder cleaning a window.");
      expect(words).toMatch(/score −\d.* → −\d.* \([+−]\d/);
      const box = await bar.boundingBox();
      expect(box && box.y >= 0 && box.y + box.height <= height / 2).toBe(true);
      await page.evaluate(() => window.scrollTo(0, 0));
      await bar.waitFor({ state: "hidden" });
    });

  test("a legend explains the tint, the bar and the dotted line", async () => {
    await open();
    const words = await page.getByLabel("Legend").innerText();
    for (const word of ["tint", "bar", "dotted line"]) expect(words).toContain(word);
  });

  test("a saved page hides what it cannot do, and says so", async () => {
    await open({ query: "?saved" });
    expect(await page.locator("header").innerText()).toContain("Saved page. The lenses shown and every single head switched off are precomputed; for anything else run allyouneed look.");
    for (const name of ["Translate", "Two sentences", "Save state", "Open state", "Uniform", "Diagonal", "Block", "Force", /^Layer \d/])
      expect(await page.getByRole("button", { name }).count(), String(name)).toBe(0);
    expect(await page.locator("textarea, input[type=number]").count()).toBe(0);
    expect(await page.locator(".source .token:not(:disabled)").count()).toBe(0);
    await page.locator(".target .token").nth(1).hover();
    await page.locator("span.alternative").first().waitFor();
    expect(await page.locator("button.alternative").count()).toBe(0);
    await page.mouse.move(0, 0);
    await page.getByText("gradient", { exact: true }).click();
    await map("Cross-attention", "layer 0, head 1").focus();
    await page.keyboard.press("o");
    await page.locator(".chip", { hasText: "layer 0, head 1" }).waitFor();
    expect(await page.getByText("gradient", { exact: true }).isVisible()).toBe(false);
    expect(await page.getByRole("radio", { name: "raw", exact: true }).isChecked()).toBe(true);
    await map("Cross-attention", "layer 1, head 3").focus();
    await page.keyboard.press("o");
    await page.locator(".chip", { hasText: "layer 1, head 3" }).waitFor(); // alone: two heads off are not held
    expect(await page.locator(".chip").count()).toBe(1);
    expect(await page.locator(".status").innerText()).toBe("");
    await map("Cross-attention", "layer 1, head 3").focus();
    await page.keyboard.press("o");
    await page.locator(".chip").waitFor({ state: "detached" });
  });

  test("a head is switched off in the grid: old and new translation, score, and the way back", async () => {
    await open();
    const before = await translation();
    await map("Cross-attention", "layer 1, head 2").focus();
    await page.keyboard.press("o");
    await page.locator(".changes .diff del").first().waitFor();
    expect(await page.locator(".changes .diff ins").count()).toBeGreaterThan(0);
    expect(await page.locator(".result .facts").innerText()).toMatch(/score −\d.* → −\d.* \([+−]\d/);
    expect(await map("Cross-attention", "layer 1, head 2, switched off").count()).toBe(1);
    expect(await translation()).not.toBe(before);
    await button("Step back").click();
    await page.locator(".changes .diff").waitFor({ state: "detached" });
    expect(await translation()).toBe(before);
    await button("Forward").click();
    await page.locator(".chip").click(); // each change is undone by itself
    await page.locator(".chip").waitFor({ state: "detached" });
    expect(await translation()).toBe(before);
  });

  test("a whole layer is switched off, and a click can switch", async () => {
    await open();
    await page.getByRole("grid", { name: "Encoder self-attention" }).getByRole("button", { name: "Layer 1:" }).click();
    await page.locator(".chip", { hasText: "encoder self-attention, layer 1, every head" }).waitFor();
    await page.getByText("switches off", { exact: true }).click();
    await map("Encoder self-attention", "layer 1, head 0").click();
    await page.locator(".chip", { hasText: "layer 1, head 3" }).waitFor();
    expect(await page.locator(".chip").count()).toBe(3);
  });

  test("cells are blocked by dragging, and by keyboard", async () => {
    await open();
    await page.locator(".board").scrollIntoViewIfNeeded();
    const board = await page.locator(".board").boundingBox();
    if (!board) throw new Error("no matrix");
    const size = board.width / 18;
    await page.mouse.move(board.x + size * 1.5, board.y + size * 0.5);
    await page.mouse.down();
    await page.mouse.move(board.x + size * 2.5, board.y + size * 1.5, { steps: 4 });
    await page.mouse.up();
    await page.locator(".cell-actions", { hasText: "4 cells chosen" }).waitFor();
    await button("Block").click();
    await page.locator(".chip", { hasText: "4 cells blocked" }).waitFor();
    let [last] = (await asked("translate")).slice(-1);
    expect(last.payload.state.edits).toEqual([{ head: "decoder.layers.1.cross_attention[2]", kind: "block", cells: [[0, 1], [0, 2], [1, 1], [1, 2]] }]);
    await page.locator(".board").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("f");
    await page.locator(".chip", { hasText: "2 cells forced" }).waitFor();
    [last] = (await asked("translate")).slice(-1);
    expect(last.payload.state.edits).toHaveLength(2);
  });

  test("in the decoder nothing of the future can be chosen", async () => {
    await open();
    await map("Decoder self-attention", "layer 0, head 0").click();
    await page.locator("h2", { hasText: "Decoder self-attention · layer 0 · head 0" }).waitFor();
    await page.locator(".matrix", { hasText: "words already written" }).waitFor();
    await page.locator(".board").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("b");
    await page.locator(".chip", { hasText: "1 cells blocked" }).waitFor();
    const [last] = (await asked("translate")).slice(-1);
    expect(last.payload.state.edits[0].cells).toEqual([[0, 0]]);
  });

  test("a source token is replaced, and restored", async () => {
    await open();
    await page.locator(".source .token").nth(1).click();
    await page.getByLabel("Instead of man").fill("boy");
    await page.keyboard.press("Enter");
    await page.locator(".target", { hasText: "Junge" }).waitFor();
    expect(await page.locator(".source .changed").innerText()).toBe("boy");
    await page.locator(".chip", { hasText: "source token 1" }).click();
    await page.locator(".target", { hasText: "Mann" }).waitFor();
  });

  test("lines: pointing shows one token's, a click pins them", async () => {
    await open();
    const token = page.locator(".side-tokens.rows button").nth(2);
    await token.hover();
    expect(await page.locator(".side-tokens.columns button:not([data-weight=''])").count()).toBeGreaterThan(0);
    await token.click();
    await page.mouse.move(0, 0);
    expect(await token.getAttribute("aria-pressed")).toBe("true");
    expect(await page.locator(".side-tokens.columns button:not([data-weight=''])").count()).toBeGreaterThan(0);
  });

  test("lenses, orders, and any number of heads", async () => {
    await open();
    await page.getByText("gradient", { exact: true }).click();
    await page.locator(".matrix", { hasText: "from −" }).waitFor();
    await page.getByText("effect of switching off", { exact: true }).click();
    await page.getByRole("progressbar").waitFor({ state: "hidden" });
    expect(await map("Encoder self-attention", "layer 0, head 0.*effect [+−]").count()).toBe(1);
    await page.getByLabel("Order of the heads").selectOption("entropy");
    await page.locator(".grid.sorted").first().waitFor();
    const order = await page.getByRole("grid", { name: "Cross-attention" }).locator(".map").evaluateAll((cells) => cells.map((cell) => Number(/entropy ([\d.]+)/.exec(cell.getAttribute("aria-label") ?? "")?.[1])));
    expect(order).toEqual([...order].sort((a, b) => b - a));
    await page.getByRole("group", { name: "Heads of the layer" }).getByRole("button", { name: "all" }).click();
    await page.locator("h2", { hasText: "average of 4 heads" }).waitFor();
    await page.getByText("maximum", { exact: true }).click();
    await button("Head 2").click();
    await page.locator("h2", { hasText: "maximum of 3 heads" }).waitFor();
    await page.getByLabel("Layer", { exact: true }).selectOption("all");
    await page.locator("h2", { hasText: "maximum of 8 heads" }).waitFor();
  });

  test("on demand: the beam's tree, layer by layer, the calculator, positions", async () => {
    await open();
    for (const title of ["Beam tree", "Layer by layer", "Calculator", "Positional encodings"]) await page.getByRole("heading", { name: title }).click();
    await page.locator(".tree-node.dropped", { hasText: "Kind" }).first().click();
    await page.locator(".chip", { hasText: /begins with “.+ Kind”/ }).waitFor();
    await page.locator(".lens button").first().focus();
    await page.locator(".lens-top li").first().waitFor();
    await page.getByLabel("Query").selectOption("2");
    const sums = await page.locator(".keys tbody td:nth-of-type(5)").evaluateAll((cells) => cells.reduce((sum, cell) => sum + Number((cell.textContent ?? "").replace("−", "-")), 0));
    expect(sums).toBeGreaterThan(0.99);
    expect(sums).toBeLessThan(1.01);
    await page.getByLabel("shift k").fill("25");
    await page.locator(".positions", { hasText: "Shift by 25" }).waitFor();
    expect(await page.locator(".positions .said").innerText()).toMatch(/largest deviation \d\.\de−1\d/);
  });

  test("a link brings the view back as it was", async () => {
    await open();
    await map("Encoder self-attention", "layer 2, head 1").click();
    await button("Switch off").click();
    await page.locator(".chip").waitFor();
    const seen = [await translation(), page.url()];
    await page.reload();
    await page.locator(".chip", { hasText: "encoder self-attention, layer 2, head 1" }).waitFor();
    await page.locator(".changes .diff").waitFor();
    expect([await translation(), page.url()]).toEqual(seen);
    await page.locator("h2", { hasText: "Encoder self-attention · layer 2 · head 1" }).waitFor();
  });

  test("controls follow a look that is restored", async () => {
    await open();
    const first = page.url();
    await page.getByLabel("numbers in every cell").uncheck();
    await page.getByRole("radio", { name: "maximum" }).check({ force: true });
    await expect.poll(() => page.url()).toContain("maximum");
    await page.evaluate((address) => (location.href = address), first);
    await expect.poll(() => page.getByRole("radio", { name: "average" }).isChecked()).toBe(true);
    expect(await page.getByLabel("numbers in every cell").isChecked()).toBe(true);
    await page.getByLabel("numbers in every cell").uncheck();
    await expect.poll(() => page.url()).toContain("numbers%22%3Afalse");
    await page.reload();
    await page.locator(".target .token").first().waitFor();
    expect(await page.getByLabel("numbers in every cell").isChecked()).toBe(false);
  });

  test("inside a page's frame, where there is no address to follow", async () => {
    await open();
    await page.evaluate(async () => {
      const frame = document.createElement("iframe");
      frame.srcdoc = await (await fetch("/")).text();
      document.body.append(frame);
    });
    const frame = page.frameLocator("iframe");
    await frame.locator(".target .token").first().waitFor();
    expect(await frame.getByRole("button", { name: "Copy link" }).count()).toBe(0);
  });

  test("a file brings the view back, and a strange one is refused in words", async () => {
    await open();
    await map("Cross-attention", "layer 0, head 3").focus();
    await page.keyboard.press("o");
    await page.locator(".chip").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), button("Save state").click()]);
    const path = await download.path();
    await page.locator(".chip").click();
    await page.locator(".chip").waitFor({ state: "detached" });
    await page.locator("input[type=file]").setInputFiles({ name: "view.json", mimeType: "application/json", buffer: readFileSync(path) });
    await page.locator(".chip", { hasText: "layer 0, head 3" }).waitFor();
    await page.locator("input[type=file]").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from('{"a":1}') });
    await page.locator(".status", { hasText: "allyouneed view 1" }).waitFor();
  });

  test("pictures of the current state", async () => {
    await open();
    const [svg] = await Promise.all([page.waitForEvent("download"), button("SVG").click()]);
    const text = readFileSync(await svg.path(), "utf8");
    for (const word of ["Mann", "ladder", "word being written", "Cross-attention · layer 1 · head 2"]) expect(text).toContain(word);
    const [png] = await Promise.all([page.waitForEvent("download"), button("PNG").click()]);
    expect(readFileSync(await png.path()).subarray(1, 4).toString()).toBe("PNG");
  });

  test("in a notebook, pictures stand until the kernel answers", async () => {
    await open();
    const shown = await page.evaluate(async () => {
      const { widget } = /** @type {any} */ (window);
      const el = document.createElement("div");
      document.body.append(el);
      const traits = /** @type {Record<string, any>} */ ({ start: {}, pictures: [{ words: "A man → Ein Mann", png: "" }] });
      void widget.render({ el, model: { get: (/** @type {string} */ name) => traits[name], on() {}, off() {}, send() {} } });
      await new Promise((resolve) => setTimeout(resolve, 100));
      return el.innerText;
    });
    expect(shown).toBe("A man → Ein Mann");
  });

  test("two sentences beside each other, each with its own state", async () => {
    await open({ query: "?text=The+man+did+it+said+the+boy&text=The+man+said+the+boy+did+it" });
    expect(await page.locator(".pane .target").count()).toBe(2);
    await page.getByRole("grid", { name: "Cross-attention" }).nth(1).getByRole("button", { name: /^layer 0, head 0/ }).focus();
    await page.keyboard.press("o");
    await page.locator(".changes .diff").waitFor();
    const texts = await page.locator(".target").allInnerTexts();
    expect(texts.map((text) => text.replace(/\s+/g, " "))).toEqual(["der Mann tat es sagte der Junge </s>", "es tat Junge der sagte Mann der </s>"]);
    await page.getByLabel("Model").first().selectOption("1");
    await page.locator(".target").first().getByText("mann", { exact: true }).waitFor();
    await button("One sentence").click();
    expect(await page.locator(".target").count()).toBe(1);
  });

  test("a head that the other model does not have is not shown as another", async () => {
    await open({ query: "?text=The+man+did+it&text=The+man+did+it" });
    const second = page.locator(".pane").filter({ has: page.locator(".one-head") }).nth(1);
    await map("Cross-attention", "layer 1, head 3").first().click();
    await second.getByRole("button", { name: "Switch off" }).waitFor();
    await page.getByLabel("Model", { exact: true }).nth(1).selectOption("1");
    await second.locator(".note", { hasText: "this model has heads 0 … 1" }).waitFor();
    await second.locator(".matrix").waitFor({ state: "hidden" });
    expect(await second.getByRole("button", { name: "Switch off" }).count()).toBe(0);
    await map("Cross-attention", "layer 1, head 1").first().click();
    await second.locator(".matrix canvas").first().waitFor();
    expect(await second.locator(".note:visible").count()).toBe(0);
  });

  test("a closed pane is measured no further", async () => {
    await open({ query: "?text=The+man+did+it&text=The+man+said+it" });
    const closed = await page.evaluate(async () => {
      const { view } = /** @type {any} */ (window);
      const { id } = view.contexts[1].study.translation;
      view.view.set({ lens: "effect" });
      await Promise.resolve(); // both begin
      view.open(view.saved().states.slice(0, 1));
      return id;
    });
    await page.getByRole("progressbar").waitFor({ state: "hidden" });
    expect((await asked("effects")).filter((/** @type {any} */ { payload }) => payload.id === closed)).toHaveLength(1);
    await page.evaluate(() => /** @type {any} */ (window).view.close());
    expect(await page.locator(".allyouneed").count()).toBe(0);
  });

  test("what is typed is text, whatever it looks like", async () => {
    const text = '</script><img src=x onerror=alert(1)> "\' \u202eevil\u202c &amp; <b>';
    await open({ query: `?text=${encodeURIComponent(text)}` });
    await page.getByRole("heading", { name: "Beam tree" }).click();
    await page.getByRole("heading", { name: "Layer by layer" }).click();
    expect(await page.locator(".allyouneed :is(img, script, b)").count()).toBe(0);
    const shown = (await page.locator(".source .token").allInnerTexts()).join("");
    for (const part of ["script", "onerror", "⟨U+202E⟩", "evil", "amp"]) expect(shown).toContain(part);
    expect(await page.locator(".source bdi").count()).toBe(await page.locator(".source .token").count());
    await page.reload();
    await page.locator(".target .token").first().waitFor();
    expect(await page.getByLabel("Sentence to translate").inputValue()).toBe(text);
  });

  test("a spoilt link is named, and the view opens all the same", async () => {
    await open({ query: "#view=%7B%22states%22%3A%5B%7B%22beam%22%3A0%7D%5D%7D" });
    await page.locator(".status", { hasText: "The address holds no state that can be read" }).waitFor();
  });

  test.each([[1280, false], [1280, true], [390, false], [390, true]])("nothing sticks out at %i pixels, dark %s", async (width, dark) => {
    await open({ width, dark });
    await map("Cross-attention", "layer 0, head 0").focus();
    await page.keyboard.press("o");
    await page.locator(".changes .diff").waitFor();
    for (const title of ["Beam tree", "Layer by layer", "Calculator", "Positional encodings"]) await page.getByRole("heading", { name: title }).click();
    await page.locator(".keys").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const ground = await page.locator(".allyouneed").evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(ground).toBe(dark ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)");
    await page.getByLabel("Light or dark").selectOption(dark ? "light" : "dark");
    await expect.poll(() => page.locator(".allyouneed").evaluate((element) => getComputedStyle(element).backgroundColor)).not.toBe(ground);
  });

  test("everything is reached by keyboard, and every control has a name", async () => {
    await open();
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll(".allyouneed :is(button, select, input, textarea)")].filter((element) => {
        const field = /** @type {HTMLInputElement} */ (element);
        return !element.getAttribute("aria-label") && !element.textContent?.trim() && !field.labels?.length && !field.hidden;
      }).map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
    await map("Cross-attention", "layer 0, head 0").focus();
    for (const key of ["ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.locator("h2", { hasText: "Cross-attention · layer 1 · head 1" }).waitFor();
  });
});
