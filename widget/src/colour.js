// Colours of numbers: one hue from pale to deep for amounts, blue against orange for signs. Both keep
// their order in grey and for every common kind of colour blindness.

/** @typedef {[number, number, number]} RGB */
/** @typedef {{name: "light" | "dark", ground: string, ink: string, muted: string, line: string, accent: string, warm: string, amount: RGB[], minus: RGB[], plus: RGB[]}} Palette */

/** @type {Record<"light" | "dark", Palette>} */
export const PALETTES = {
  light: {
    name: "light",
    ground: "#ffffff",
    ink: "#1b1d21",
    muted: "#5f646d",
    line: "#dddfe3",
    accent: "#1d5fae",
    warm: "#a84a00",
    amount: [[246, 248, 251], [190, 214, 236], [104, 162, 212], [36, 100, 170], [8, 42, 92]],
    minus: [[246, 247, 249], [247, 200, 150], [222, 130, 50], [150, 66, 0]],
    plus: [[246, 247, 249], [176, 206, 234], [80, 142, 202], [16, 72, 140]],
  },
  dark: {
    name: "dark",
    ground: "#16181c",
    ink: "#e6e7ea",
    muted: "#9da3ad",
    line: "#33373f",
    accent: "#82b4f2",
    warm: "#f0a35e",
    amount: [[30, 33, 39], [32, 66, 108], [52, 114, 178], [120, 180, 232], [224, 240, 255]],
    minus: [[34, 37, 43], [110, 62, 20], [196, 116, 44], [255, 196, 136]],
    plus: [[34, 37, 43], [30, 74, 122], [72, 138, 204], [186, 220, 252]],
  },
};

/** @param {RGB[]} stops @param {number} share  0 … 1 @returns {RGB} */
function mix(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const rest = place - low;
  return /** @type {RGB} */ (stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * rest)));
}

/** @param {RGB} colour */
const css = ([r, g, b]) => `rgb(${r},${g},${b})`;

/** @param {Palette} palette @param {number} value @param {number} most  what the deepest colour stands for @returns {RGB} */
export function colourOf(palette, value, most) {
  return mix(palette.amount, most > 0 ? value / most : 0);
}

/** @param {Palette} palette @param {number} value @param {number} most @returns {RGB} */
export function signedColourOf(palette, value, most) {
  return mix(value < 0 ? palette.minus : palette.plus, most > 0 ? Math.abs(value) / most : 0);
}

/**
 * A function from numbers to colours over a range: of amounts, or of signs where any is below zero.
 * @param {Palette} palette @param {{least: number, most: number}} range
 * @returns {(value: number) => RGB}
 */
export function scale(palette, { least, most }) {
  if (least < 0) {
    const widest = Math.max(-least, most);
    return (value) => signedColourOf(palette, value, widest);
  }
  return (value) => colourOf(palette, value, most);
}

/** Text that can be read on a colour. @param {RGB} colour */
export function inkOn([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#14161a" : "#ffffff";
}

export { css };
