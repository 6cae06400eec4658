// Makes HTML and SVG elements: h("rect", { x: 1 }, child, ...).

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "rect", "circle", "line", "text", "tspan", "title", "desc"]);

export function h(tag, attributes, ...children) {
  const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : attributeText(value));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

// A coordinate with at most one decimal: the one place where coordinates are rounded.
export function number(value) {
  const text = value.toFixed(1);
  return text.endsWith(".0") ? text.slice(0, -2) : text;
}

// The text of an attribute's value.
export function attributeText(value) {
  return typeof value === "number" ? number(value) : value;
}

// Writes an attribute only where it changes: an unchanged path is not laid out again.
export function put(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// Changes the text that is there where it can. Of a new node a browser asks whether it changes the styles around it.
export function say(node, text) {
  if (node.textContent === text) return;
  const only = node.firstChild;
  if (text && only && only === node.lastChild && only.nodeType === 3) only.data = text;
  else node.textContent = text;
}

// Not toLocaleString, which an engine without languages answers without commas.
export function thousands(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function count(value, one, many) {
  return `${thousands(value)} ${value === 1 ? one : many || one + "s"}`;
}

export function percent(part, whole) {
  return whole ? `${Math.floor((100 * part) / whole + 0.5)}%` : "0%";
}
