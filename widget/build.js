// Joins src/ into the one module and the one style sheet that the Python package ships.
// `node build.js` writes them; `node build.js --check` only compares, and fails where they differ.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../src/allyouneed/widget/static/", import.meta.url));

const result = await build({
  absWorkingDir: HERE,
  entryPoints: { view: "src/index.js", style: "src/view.css" },
  outdir: SHIPPED,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  write: false,
});

let stale = 0;
for (const file of result.outputFiles) {
  const path = file.path.endsWith("style.css") ? `${SHIPPED}view.css` : file.path;
  if (!process.argv.includes("--check")) {
    writeFileSync(path, file.contents);
    console.log(`${path} ${file.contents.length} bytes`);
  } else if (file.text !== readFileSync(path, "utf8")) {
    console.error(`${path} is not what src/ builds; run: npm run build`);
    stale = 1;
  }
}
process.exitCode = stale;
