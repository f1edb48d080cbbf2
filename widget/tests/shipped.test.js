import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULE = readFileSync(`${ROOT}../src/allyouneed/widget/static/view.js`, "utf8");

test("what is shipped is what src/ builds", () => {
  execFileSync("node", ["build.js", "--check"], { cwd: ROOT, stdio: "pipe" });
});

test("the module asks nobody else for anything, and can stand in a script", () => {
  expect(MODULE).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  expect(MODULE).not.toMatch(/<\/script|<!--/i);
  expect(MODULE).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
});
