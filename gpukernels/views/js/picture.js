// A figure as one SVG that needs nothing around it: pictures, words and lines where the page has them, each with the style
// that the page computed for it. Controls are left out.
import { h } from "./element.js";

// Properties that a mark inherits from the mark around it, and the values of those that it does not.
const PASSED_ON = [
  "fill fill-opacity stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity paint-order",
  "text-anchor font-family font-size font-weight font-style font-variant-numeric letter-spacing",
].flatMap((names) => names.split(" "));
const UNCHANGED = { opacity: "1", "vector-effect": "none", "mix-blend-mode": "normal", transform: "none" };
// The attributes of marks that give their place.
const PLACED = "d x y width height viewBox preserveAspectRatio cx cy r transform".split(" ");
const SIDES_OF_BOX = ["top", "right", "bottom", "left"];

const isClear = (color) => /^rgba\(.*, 0\)$|transparent/.test(color);

function styleOf(node, around) {
  const own = getComputedStyle(node),
    theirs = around && getComputedStyle(around);
  const passed = PASSED_ON.filter((name) => !theirs || own.getPropertyValue(name) !== theirs.getPropertyValue(name));
  const changed = Object.keys(UNCHANGED).filter((name) => own.getPropertyValue(name) !== UNCHANGED[name]);
  return [...passed, ...changed].map((name) => `${name}:${own.getPropertyValue(name)}`).join(";");
}

function copyOf(mark, around) {
  if (getComputedStyle(mark).display === "none") return null;
  const attributes = PLACED.filter((name) => mark.hasAttribute(name)).map((name) => [name, mark.getAttribute(name)]);
  const inner = [...mark.childNodes].map((child) => (child.localName ? copyOf(child, mark) : child.data));
  return h(mark.localName, { ...Object.fromEntries(attributes), style: styleOf(mark, around) || null }, ...inner);
}

// The lines in which a text is set, each [words, box].
function linesOf(text, keepsBlanks) {
  const range = document.createRange(),
    lines = [];
  for (const { index, 0: word } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = range.getBoundingClientRect(),
      line = lines.at(-1);
    if (line && Math.abs(line.box.top - box.top) < 1) line.end = index + word.length;
    else lines.push({ box, start: index, end: index + word.length });
  }
  return lines.map(({ box, start, end }) => {
    const words = text.data.slice(start, end);
    return [keepsBlanks ? words : words.replace(/\s+/g, " "), box];
  });
}

// `about` is a sentence on where the picture is from.
export function pictureOf(figure, about) {
  figure.toggleAttribute("data-saved", true);
  const origin = figure.getBoundingClientRect(),
    scale = origin.width / figure.offsetWidth,
    ruler = document.createElement("canvas").getContext("2d");
  const placed = (box) => ({
    x: (box.left - origin.left) / scale,
    y: (box.top - origin.top) / scale,
    width: box.width / scale,
    height: box.height / scale,
  });

  function wordsOf(text, style) {
    const { fontStyle, fontWeight, fontSize, fontFamily, color, whiteSpace } = style;
    ruler.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = ruler.measureText("x");
    const font = `font:${ruler.font};fill:${color};white-space:pre;font-variant-numeric:${style.fontVariantNumeric}`;
    return linesOf(text, whiteSpace.startsWith("pre")).map(([words, box]) => {
      const { x, y, height } = placed(box);
      return h("text", { x, y: y + height / 2 + (above - below) / 2, style: font }, words);
    });
  }

  // The parts of a box besides its content: its paper and the lines at its sides.
  function boxOf(node, style) {
    const { x, y, width, height } = placed(node.getBoundingClientRect()),
      marks = [];
    if (!isClear(style.backgroundColor)) marks.push(h("rect", { x, y, width, height, fill: style.backgroundColor }));
    // The one gradient that is drawn is a bar of one color at the foot of a cell.
    const bar = /^linear-gradient\((rgb[^)]*\))/.exec(style.backgroundImage);
    if (bar) {
      const [share, tall] = style.backgroundSize.split(" ").map(Number.parseFloat);
      const foot = y + height - Number.parseFloat(style.borderBottomWidth) - tall;
      marks.push(h("rect", { x, y: foot, width: (width * share) / 100, height: tall, fill: bar[1] }));
    }
    for (const side of SIDES_OF_BOX) {
      const thick = Number.parseFloat(style.getPropertyValue(`border-${side}-width`)),
        color = style.getPropertyValue(`border-${side}-color`);
      if (!thick || isClear(color)) continue;
      const far = { right: x + width - thick, bottom: y + height - thick };
      const lies = side === "top" || side === "bottom" ? { width, height: thick } : { width: thick, height };
      const at = { x: side === "right" ? far.right : x, y: side === "bottom" ? far.bottom : y };
      marks.push(h("rect", { ...at, ...lies, fill: color }));
    }
    return marks;
  }

  function partsOf(node) {
    if (node.nodeName === "#text") return wordsOf(node, getComputedStyle(node.parentElement));
    if (!node.getClientRects?.().length) return [];
    const style = getComputedStyle(node),
      at = placed(node.getBoundingClientRect());
    if (style.visibility === "hidden") return [];
    if (node.localName === "svg") {
      const copy = copyOf(node, null);
      for (const name of ["x", "y", "width", "height"]) copy.setAttribute(name, at[name].toFixed(2));
      copy.style.overflow = style.overflow;
      return [copy];
    }
    const inner = [...node.childNodes].flatMap(partsOf);
    // Only the visible part of a scrolling box.
    const cut = style.overflowY !== "visible" && node.scrollHeight > node.clientHeight + 1;
    const view = Object.values(at).join(" ");
    return [...boxOf(node, style), ...(cut ? [h("svg", { ...at, viewBox: view }, ...inner)] : inner)];
  }

  // Whole pixels, since programs show a picture in its rounded size.
  const [width, height] = [origin.width, origin.height].map((size) => Math.ceil(size / scale));
  const parts = partsOf(figure);
  figure.toggleAttribute("data-saved", false);
  const own = { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` };
  const title = figure.getAttribute("aria-label");
  return h("svg", own, h("title", null, title), h("desc", null, about), ...parts);
}
