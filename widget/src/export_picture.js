// Pictures of the chosen head, and downloads of files.
import { moved, paint, toSVG } from "./scene.js";

/** @typedef {import("./scene.js").Scene} Scene */

const MARGIN = 16;
const DENSITY = 2; // pixels of a PNG for one of the scene's

/** Downloads a file. @param {string} name @param {Blob} content */
export function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Scenes one below the other, each under its title. @param {{title: string, scene: Scene}[]} parts @param {import("./colour.js").Palette} palette @returns {Scene} */
export function stacked(parts, palette) {
  /** @type {import("./scene.js").Mark[]} */
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

/** @param {string} name @param {Scene} scene @param {import("./colour.js").Palette} palette */
export function saveSVG(name, scene, palette) {
  download(`${name}.svg`, new Blob([toSVG(scene, palette.ground)], { type: "image/svg+xml" }));
}

/** @param {string} name @param {Scene} scene @param {import("./colour.js").Palette} palette @returns {Promise<void>} */
export function savePNG(name, scene, palette) {
  const canvas = document.createElement("canvas");
  const ground = { mark: /** @type {const} */ ("rect"), x: 0, y: 0, width: scene.width, height: scene.height, fill: palette.ground };
  paint(canvas, { ...scene, marks: [ground, ...scene.marks] }, DENSITY);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => {
      if (!blob) return reject(new Error("The browser could not draw a picture of this size; save an SVG."));
      download(`${name}.png`, blob);
      return resolve();
    }, "image/png"),
  );
}
