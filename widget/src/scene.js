// A drawing as a list of marks, so that the screen, an SVG file and a PNG file show the same.

/**
 * @typedef {{mark: "rect", x: number, y: number, width: number, height: number, fill?: string, stroke?: string, dash?: number[], radius?: number}} Rect
 * @typedef {{mark: "line", x1: number, y1: number, x2: number, y2: number, stroke: string, width?: number, opacity?: number, dash?: number[]}} Line
 * @typedef {{mark: "curve", x1: number, y1: number, x2: number, y2: number, stroke: string, width?: number, opacity?: number}} Curve  leaves and arrives level
 * @typedef {{mark: "path", points: [number, number][], stroke: string, width?: number, dash?: number[]}} Path
 * @typedef {{mark: "text", x: number, y: number, text: string, fill: string, size: number, anchor?: "start" | "middle" | "end", turn?: number, bold?: boolean}} Text  turn in degrees; y is the middle
 * @typedef {Rect | Line | Curve | Path | Text} Mark
 * @typedef {{width: number, height: number, marks: Mark[]}} Scene
 */

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const ANCHORS = /** @type {const} */ ({ start: "left", middle: "center", end: "right" });

/** @param {CanvasRenderingContext2D} context @param {Text} mark */
function paintText(context, mark) {
  context.save();
  context.translate(mark.x, mark.y);
  if (mark.turn) context.rotate((mark.turn * Math.PI) / 180);
  context.font = `${mark.bold ? "600 " : ""}${mark.size}px ${FONT}`;
  context.textAlign = ANCHORS[mark.anchor ?? "start"];
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.fillStyle = mark.fill;
  context.fillText(mark.text, 0, 0);
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {Exclude<Mark, Text>} mark */
function trace(context, mark) {
  context.beginPath();
  if (mark.mark === "rect") context.roundRect(mark.x, mark.y, mark.width, mark.height, mark.radius ?? 0);
  else if (mark.mark === "path")
    mark.points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  else {
    context.moveTo(mark.x1, mark.y1);
    const middle = (mark.x1 + mark.x2) / 2;
    if (mark.mark === "line") context.lineTo(mark.x2, mark.y2);
    else context.bezierCurveTo(middle, mark.y1, middle, mark.y2, mark.x2, mark.y2);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Mark} mark */
function paintMark(context, mark) {
  if (mark.mark === "text") return paintText(context, mark);
  if (mark.mark === "rect" && mark.fill && !mark.stroke && !mark.radius) {
    context.fillStyle = mark.fill;
    return context.fillRect(mark.x, mark.y, mark.width, mark.height);
  }
  trace(context, mark);
  context.globalAlpha = "opacity" in mark ? (mark.opacity ?? 1) : 1;
  context.setLineDash(("dash" in mark && mark.dash) || []);
  if ("fill" in mark && mark.fill) {
    context.fillStyle = mark.fill;
    context.fill();
  }
  if (mark.stroke) {
    context.strokeStyle = mark.stroke;
    context.lineWidth = ("width" in mark && mark.mark !== "rect" && mark.width) || 1;
    context.stroke();
  }
  context.globalAlpha = 1;
}

/**
 * Paints a scene on a canvas, which takes the scene's size.
 * @param {HTMLCanvasElement} canvas @param {Scene} scene @param {number} [density]  pixels of the screen for one of the scene's
 */
export function paint(canvas, scene, density = Math.min(window.devicePixelRatio || 1, 2)) {
  const fine = scene.width * scene.height > 4e6 ? 1 : density;
  canvas.width = Math.max(1, Math.round(scene.width * fine));
  canvas.height = Math.max(1, Math.round(scene.height * fine));
  canvas.style.width = `${scene.width}px`;
  canvas.style.height = `${scene.height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(fine, fine);
  for (const mark of scene.marks) paintMark(context, mark);
}

/** Text for XML: what XML cannot hold becomes U+FFFD. @param {string} text */
function escaped(text) {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** @param {Record<string, string | number | undefined>} attributes */
function spelled(attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? +value.toFixed(2) : escaped(String(value))}"`)
    .join("");
}

/** @param {Mark} mark @returns {string} */
function spelledMark(mark) {
  const dash = "dash" in mark && mark.dash ? mark.dash.join(" ") : undefined;
  switch (mark.mark) {
    case "rect": {
      const { x, y, width, height, fill = "none", stroke, radius } = mark;
      return `<rect${spelled({ x, y, width, height, fill, stroke, rx: radius, "stroke-dasharray": dash })}/>`;
    }
    case "text": {
      const { x, y, size, fill, anchor, turn, bold } = mark;
      const place = { transform: turn ? `rotate(${turn} ${x} ${y})` : undefined, "text-anchor": anchor };
      const look = { "font-size": size, fill, "font-weight": bold ? 600 : undefined, "dominant-baseline": "central" };
      return `<text${spelled({ x, y, ...place, ...look })}>${escaped(mark.text)}</text>`;
    }
    case "path": {
      const points = mark.points.map(([x, y]) => `${+x.toFixed(2)},${+y.toFixed(2)}`).join(" ");
      return `<polyline${spelled({ points, fill: "none", stroke: mark.stroke, "stroke-width": mark.width, "stroke-dasharray": dash })}/>`;
    }
    default: {
      const { x1, y1, x2, y2, stroke, width, opacity } = mark;
      const look = { stroke, "stroke-width": width, "stroke-opacity": opacity, "stroke-dasharray": dash };
      if (mark.mark === "line") return `<line${spelled({ x1, y1, x2, y2, ...look })}/>`;
      const middle = (x1 + x2) / 2;
      const d = `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
      return `<path${spelled({ d, fill: "none", ...look })}/>`;
    }
  }
}

/** The scene as the text of an SVG file. @param {Scene} scene @param {string} ground @returns {string} */
export function toSVG(scene, ground) {
  const { width, height } = scene;
  const size = spelled({ width, height, viewBox: `0 0 ${width} ${height}` });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg"${size}${spelled({ "font-family": FONT })} style="unicode-bidi: isolate">\n` +
    `<rect${spelled({ width, height, fill: ground })}/>\n${scene.marks.map(spelledMark).join("\n")}\n</svg>\n`
  );
}

/** Marks moved by dx, dy. @param {Mark[]} marks @param {number} dx @param {number} dy @returns {Mark[]} */
export function moved(marks, dx, dy) {
  return marks.map((mark) => {
    if (mark.mark === "path") return { ...mark, points: mark.points.map(([x, y]) => [x + dx, y + dy]) };
    if ("x1" in mark) return { ...mark, x1: mark.x1 + dx, x2: mark.x2 + dx, y1: mark.y1 + dy, y2: mark.y2 + dy };
    return { ...mark, x: mark.x + dx, y: mark.y + dy };
  });
}
