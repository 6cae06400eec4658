// The first parameters of a program as fields above it. The program's text is the truth: a field changes the text.
import { h } from "../../../gpukernels/views/js/element.js";

const NAMES = "warp_size threads blocks tile root seed scale edge_factor degree per_thread units_per_thread".split(" ");
const PARAMETER = new RegExp(String.raw`\b(${NAMES.join("|")})=(\d+)\b`, "g");
const CONSTANT = /^([A-Za-z_]\w*) = (\d+)$/gm;
const MOST_FIELDS = 5;

// The numbers of a program that have a name, each name once.
export function parametersOf(text) {
  const values = new Map();
  for (const pattern of [CONSTANT, PARAMETER])
    for (const [, name, value] of text.matchAll(pattern)) if (!values.has(name)) values.set(name, value);
  return [...values].slice(0, MOST_FIELDS);
}

// The text with `value` for `old`, wherever the parameter has this value.
export function withParameter(text, name, old, value) {
  const given = new RegExp(String.raw`\b${name}( ?= ?)${old}\b`, "g");
  return text.replace(given, (_, equals) => `${name}${equals}${value}`);
}

// Fields that follow `editor`, and the function that reads the text again.
export function parameterFields(editor) {
  const row = h("div", { class: "gk-parameters" });
  let shown = "";
  function follow() {
    const parameters = parametersOf(editor.text());
    const names = parameters.map(([name]) => name).join();
    if (names !== shown) {
      shown = names;
      row.replaceChildren(...parameters.map(([name]) => fieldOf(name)));
    }
    for (const [k, [, value]] of parameters.entries()) {
      const input = row.children[k].lastElementChild;
      if (document.activeElement !== input) input.value = value;
    }
  }
  function fieldOf(name) {
    const input = h("input", { type: "number", min: 0, step: 1 });
    input.addEventListener("input", () => {
      const old = new Map(parametersOf(editor.text())).get(name);
      if (/^\d+$/.test(input.value)) editor.write(withParameter(editor.text(), name, old, input.value));
    });
    return h("label", null, h("code", null, name), input);
  }
  follow();
  return { row, follow };
}
