// Marks that several views are made of.
import { h, number, say } from "./element.js";

// The square of a key, 14 by 14.
export const SQUARE = "M1.5 1.5h11v11h-11z";

export function boxPath(x, y, wide, tall) {
  return `M${number(x)} ${number(y)}h${number(wide)}v${number(tall)}h-${number(wide)}z`;
}

// A bar in column k of a track: it stands on `floor`, counted downwards; `from` and `wide` are within the column.
export function barPath(k, floor, tall, from = ".1", wide = ".8") {
  if (!tall) return "";
  const high = number(tall);
  return `M${k}${from} ${number(floor)}v-${high}h${wide}v${high}z`;
}

// Empty paths by their keys, in the order in which they are painted; `names` holds the class of each.
export function emptyPaths(names) {
  const paths = Object.entries(names).map(([key, name]) => [key, h("path", { class: name, d: "" })]);
  return Object.fromEntries(paths);
}

// One text of many words, each [x, y, word].
export function wordsText(name, font) {
  const text = h("text", { class: name, style: font ? `font-size:${number(font)}px` : null });
  return { text, show: (said) => text.replaceChildren(...said.map(([x, y, word]) => h("tspan", { x, y }, word))) };
}

// The line of source that a step ran, with its number.
export function codeLine() {
  const line = h("span", { class: "gk-num" }), code = h("code");
  return {
    node: h("p", { class: "gk-code-line" }, line, code),
    show(at, text) {
      say(line, String(at));
      say(code, text);
    },
  };
}
