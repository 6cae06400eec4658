// The little of a browser that drawings need, for a first frame made where none is: a document of text, and atob.

const VOICELESS = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const QUOTED = { ...VOICELESS, '"': "&quot;", "'": "&#x27;" };

function escaped(text) {
  return text.replace(/[&<>]/g, (sign) => VOICELESS[sign]);
}

function escapedValue(text) {
  return text.replace(/[&<>"']/g, (sign) => QUOTED[sign]);
}

export class StringElement {
  constructor(tag, drawn) {
    Object.assign(this, { tag, drawn, attributes: new Map(), childNodes: [] });
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.has(name) ? this.attributes.get(name) : null;
  }

  // Where nobody can point or press, nothing is ever heard.
  addEventListener() {}

  append(...nodes) {
    this.insert(this.childNodes.length, nodes);
  }

  insertBefore(node, next) {
    this.insert(this.childNodes.indexOf(next), [node]);
  }

  replaceChildren(...nodes) {
    this.childNodes = [];
    this.append(...nodes);
  }

  removeChild(node) {
    this.childNodes = this.childNodes.filter((one) => one !== node);
  }

  insert(at, nodes) {
    this.childNodes.splice(at, 0, ...nodes.map((node) => (node instanceof StringElement ? node : String(node))));
  }

  get children() {
    return this.childNodes.filter((node) => node instanceof StringElement);
  }

  get childElementCount() {
    return this.children.length;
  }

  get lastElementChild() {
    return this.children[this.childElementCount - 1] || null;
  }

  get textContent() {
    return this.childNodes.map((node) => (typeof node === "string" ? node : node.textContent)).join("");
  }

  set textContent(text) {
    this.childNodes = text === "" ? [] : [String(text)];
  }

  // Selectors are a tag or one class.
  querySelectorAll(selector) {
    const fits = selector.startsWith(".")
      ? (node) => (node.getAttribute("class") || "").split(" ").includes(selector.slice(1))
      : (node) => node.tag === selector;
    return this.children.flatMap((node) => [...(fits(node) ? [node] : []), ...node.querySelectorAll(selector)]);
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] || null;
  }
}

export const stringDocument = {
  createElement: (tag) => new StringElement(tag, false),
  createElementNS: (_, tag) => new StringElement(tag, true),
};

// `attributesOf` returns an element's attributes as pairs, or null to leave the element out.
export function toText(node, attributesOf) {
  if (typeof node === "string") return escaped(node);
  const attributes = attributesOf(node);
  if (!attributes) return "";
  const head = node.tag + attributes.map(([name, value]) => ` ${name}="${escapedValue(value)}"`).join("");
  const inner = node.childNodes.map((child) => toText(child, attributesOf)).join("");
  return !inner && node.drawn ? `<${head}/>` : `<${head}>${inner}</${node.tag}>`;
}

const SIXTY_FOUR = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Same as atob, which only browsers have.
export function binaryText(packed) {
  const text = packed.replace(/=+$/, "");
  let held = 0,
    bits = 0,
    bytes = "";
  for (const sign of text) {
    held = ((held << 6) | SIXTY_FOUR.indexOf(sign)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += String.fromCharCode((held >> bits) & 0xff);
  }
  return bytes;
}
