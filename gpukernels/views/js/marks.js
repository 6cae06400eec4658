// Marks that several views are made of.
import { h, number, put, say, attributeText } from "./element.js";

// The square of a key, 14 by 14.
export const SQUARE = "M1.5 1.5h11v11h-11z";

// All marks of one look are one path: a step of thousands is then a handful of attributes that change.
export function pathOf(name, d = "", width = null) {
  return h("path", { class: name, d, "stroke-width": width });
}

export function boxPath(x, y, wide, tall) {
  return `M${number(x)} ${number(y)}h${number(wide)}v${number(tall)}h-${number(wide)}z`;
}

// A picture with its own units, and a name for screen readers.
export function picture(name, wide, tall, label, ...marks) {
  const view = `0 0 ${number(wide)} ${number(tall)}`;
  return h("svg", { class: name, viewBox: view, role: "img", "aria-label": label }, ...marks);
}

// A strip of units that are as wide as the page makes them; `height` is on the page, `tall` in the strip.
export function stretched(name, wide, tall, height, ...marks) {
  const view = { viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: "none", width: "100%", height };
  return h("svg", { class: name, ...view, "aria-hidden": "true" }, ...marks);
}

// Bars of several looks, one on the other, in each of so many columns from `first` on: `partsOf(k)` says how tall each is.
export function stackedBars(names, columns, partsOf, floor, from, wide, first = 0) {
  const d = names.map(() => "");
  for (let k = 0; k < columns; k++) {
    let base = floor;
    partsOf(k).forEach((part, i) => {
      d[i] += barPath(k + first, base, part, from, wide);
      base -= part;
    });
  }
  return names.map((name, i) => pathOf(name, d[i]));
}

// A bar in column k of a track: it stands on `floor`, counted downwards; `from` and `wide` are within the column.
export function barPath(k, floor, tall, from = ".1", wide = ".8") {
  if (!tall) return "";
  const high = number(tall);
  return `M${k}${from} ${number(floor)}v-${high}h${wide}v${high}z`;
}

// Empty paths by their keys, in the order in which they are painted; `names` holds the class of each.
export function emptyPaths(names) {
  const paths = Object.entries(names).map(([key, name]) => [key, pathOf(name)]);
  return Object.fromEntries(paths);
}

// One text of many words, each [x, y, word]. The words of the step before are changed: to find the styles of new nodes takes
// a browser longer than to draw them.
export function wordsText(name, font) {
  const text = h("text", { class: name, style: font ? `font-size:${number(font)}px` : null }),
    words = [];
  return {
    text,
    show(marks) {
      while (words.length > marks.length) text.removeChild(words.pop());
      words.forEach((node, k) => {
        const [x, y, word] = marks[k];
        put(node, "x", attributeText(x));
        put(node, "y", attributeText(y));
        say(node, String(word));
      });
      const added = marks.slice(words.length).map(([x, y, word]) => h("tspan", { x, y }, word));
      words.push(...added);
      text.append(...added);
    },
  };
}

// How many of the longest texts are given room: the longest in letters need not be the tallest.
const TRIED = 6;

// Invisible nodes that keep room for the longest of some texts, in the grid in which one text is shown.
export function roomsFor(texts) {
  const longest = [...texts].sort((a, b) => b.length - a.length).slice(0, TRIED);
  return longest.map((text) => h("span", { class: "gk-room", "data-said": text, "aria-hidden": "true" }));
}

// The line of source that a step ran, with its number.
export function codeLine() {
  const line = h("span", { class: "gk-num" }),
    code = h("code"),
    place = h("span", { class: "gk-place" }, code);
  return {
    node: h("p", { class: "gk-code-line" }, line, place),
    // Any of these may be shown: there is room for it.
    hold: (texts) => place.replaceChildren(code, ...roomsFor(texts)),
    show(at, text) {
      say(line, String(at));
      say(code, text);
    },
  };
}

// One row of a timeline: a label and a strip with one column per step, stretched to the page's width. `height` is on the
// page, `unit` in the strip. `dim` fades the columns after the playhead.
export function track(label, note, steps, height, unit, marks, dim) {
  return h(
    "div",
    { class: "gk-track" },
    h("span", { class: "gk-track-label" }, label, h("small", null, note)),
    h(
      "svg",
      {
        class: "gk-strip",
        viewBox: `0 0 ${steps} ${unit}`,
        preserveAspectRatio: "none",
        height,
        width: "100%",
        "aria-hidden": "true",
      },
      h("rect", { class: "gk-f-playhead", x: 0, y: 0, width: Math.max(1, steps / 160), height: unit }),
      ...marks,
      // Without hue, so that future steps do not look like another color of past ones.
      ...(dim ? ["gk-f-gray", "gk-f-pale"] : []).map((look) =>
        h("rect", { class: `gk-f-future ${look}`, x: 0, y: 0, width: 0, height: unit }),
      ),
    ),
  );
}

// A key, 14 by 14, of marks that are each [class, path data, stroke width].
export function symbol(...marks) {
  return h(
    "svg",
    { class: "gk-symbol", viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
    ...marks.map((mark) => pathOf(...mark)),
  );
}

export function squareKey(name) {
  return symbol([name, SQUARE]);
}

// A line of a picture, and perhaps the bars of the timeline that count such lines.
export function lineKey(line, bars = null) {
  return bars ? symbol([line, "M0 3.5h14"], [bars, "M1.5 7h11v5.5h-11z"]) : symbol([line, "M0 7h14"]);
}

// A scale of looks side by side, as strokes or as boxes.
export function scaleKey(names, stroked = false) {
  const wide = 14 / names.length;
  const marks = names.map((name, k) => {
    const x = number(wide * (stroked ? k + 0.5 : k));
    return stroked ? [name, `M${x} 3v8`, wide] : [name, boxPath(wide * k, 1.5, wide, 11)];
  });
  return symbol(...marks);
}
