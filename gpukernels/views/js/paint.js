// The printed look: Okabe and Ito's colors and what each means, for readers without a style sheet (plain notebook
// viewers, paper). views.css holds the same roles as custom properties, for light and dark pages.

export const OKABE_ITO = {
  black: "#000000",
  orange: "#e69f00",
  sky: "#56b4e9",
  green: "#009e73",
  yellow: "#f0e442",
  blue: "#0072b2",
  vermillion: "#d55e00",
  purple: "#cc79a7",
};

// Light to dark, for values on a scale; the style sheet turns the order round on dark pages.
export const RAMP = ["#dcebf5", "#b3d4ea", "#83b9dc", "#4f9acb", "#1f7ab5", "#0b5488"];

const COLOR = {
  work: OKABE_ITO.blue,
  fresh: OKABE_ITO.orange,
  clash: OKABE_ITO.vermillion,
  wait: OKABE_ITO.sky,
  barrier: OKABE_ITO.purple,
  ink: "#1f2328",
  quiet: "#57606a",
  line: "#b8c0c8",
  faint: "#e7eaee",
  paper: "#ffffff",
  done: "#68727d",
};

// Fills of threads, warps and blocks by their number; the number itself stands on them, in dark ink except on the fifth.
const OWNERS = ["sky", "orange", "green", "yellow", "blue", "vermillion", "purple"]
  .map((name) => OKABE_ITO[name])
  .concat("#9aa3ac");

// Parts of a graph; those that touch differ.
const PART_PAINT = ["sky", "orange", "green", "purple", "blue"].map((name) => OKABE_ITO[name]).concat("#9aa3ac");

function dotOf(color) {
  return { fill: "none", stroke: color, "stroke-linecap": "round" };
}

function strokeOf(color, width, dash) {
  return { fill: "none", stroke: color, "stroke-width": width, ...(dash ? { "stroke-dasharray": dash } : {}) };
}

function wordOf(color, size, anchor = "middle") {
  return { fill: color, "font-family": "sans-serif", "font-size": size, "text-anchor": anchor };
}

// Presentation attributes of each class that marks in a first frame carry.
export const PAINT = {
  "gk-f-work": { fill: COLOR.work },
  "gk-f-new": { fill: COLOR.fresh },
  "gk-f-wait": { fill: COLOR.wait },
  "gk-f-clash": { fill: COLOR.clash },
  "gk-f-barrier": { fill: COLOR.barrier },
  "gk-f-line": { fill: COLOR.line },
  "gk-f-faint": { fill: COLOR.faint },
  "gk-f-paper": { fill: COLOR.paper },
  "gk-f-done": { fill: COLOR.done },
  "gk-f-idle": { fill: COLOR.faint },
  "gk-s-sector": { ...strokeOf(COLOR.quiet, "1"), "vector-effect": "non-scaling-stroke" },
  "gk-s-grid": { ...strokeOf(COLOR.paper, ".5"), "vector-effect": "non-scaling-stroke" },
  "gk-f-fetched": { fill: COLOR.work, "fill-opacity": ".16" },
  "gk-f-playhead": { fill: COLOR.work, "fill-opacity": ".14" },
  "gk-f-gray": { fill: "none" },
  "gk-f-pale": { fill: COLOR.paper, "fill-opacity": ".6" },
  "gk-s-work": strokeOf(COLOR.work, ".8"),
  "gk-row-label": { fill: COLOR.ink, "font-family": "monospace", "font-size": "10", "text-anchor": "end" },
  "gk-line-text": wordOf(COLOR.ink, "9"),
  "gk-vertex-name": { fill: COLOR.quiet, "font-family": "sans-serif", "font-size": "8" },
  "gk-cell": { "font-family": "monospace", "font-size": "8", "text-anchor": "middle" },
  "gk-cell-index": wordOf(COLOR.quiet, "6"),
  "gk-array-name": { fill: COLOR.ink, "font-family": "monospace", "font-size": "10" },
  "gk-tick": { "font-family": "sans-serif", "font-size": "8", "text-anchor": "middle" },
  "gk-arc": strokeOf(COLOR.line, "1"),
  "gk-arc-read": strokeOf(COLOR.quiet, "1.4", "4 2.5"),
  "gk-arc-found": strokeOf(COLOR.fresh, "2.6"),
  "gk-arc-again": strokeOf(COLOR.clash, "2.2", "2 2"),
  "gk-arc-tree": strokeOf(COLOR.work, "2.4"),
  "gk-dot-ink": dotOf(COLOR.ink),
  "gk-square-clash": { fill: "none", stroke: COLOR.clash, "stroke-linecap": "square" },
  "gk-arc-gain": { ...strokeOf(COLOR.fresh, "6"), "stroke-opacity": ".45" },
  "gk-arc-saved": strokeOf(COLOR.ink, "1.4"),
  "gk-arc-c0": strokeOf(COLOR.line, "1"),
  "gk-arc-c1": strokeOf(OKABE_ITO.green, "1", "1.5 2.5"),
  "gk-arc-c2": strokeOf(OKABE_ITO.purple, "1", "6 2.5"),
  "gk-arc-c3": strokeOf(COLOR.work, "1", "7 2 1.5 2"),
  "gk-arc-heavy": { "stroke-width": "2.6" },
  "gk-s-end": { ...strokeOf(COLOR.ink, "3"), "vector-effect": "non-scaling-stroke" },
  "gk-relax-name": { fill: COLOR.quiet, "font-family": "sans-serif", "font-size": "8.5" },
  "gk-s-rule": { ...strokeOf(COLOR.line, "1"), "vector-effect": "non-scaling-stroke" },
  "gk-compare-bar-rest": { fill: COLOR.work },
  "gk-compare-bar-best": { fill: COLOR.fresh },
  "gk-s-dot-rest": { ...dotOf(COLOR.work), "stroke-width": "8", "vector-effect": "non-scaling-stroke" },
  "gk-s-dot-best": {
    fill: "none",
    stroke: COLOR.fresh,
    "stroke-linecap": "square",
    "stroke-width": "8",
    "vector-effect": "non-scaling-stroke",
  },
  "gk-dot-rim": dotOf(COLOR.quiet),
  "gk-dot-paper": dotOf(COLOR.paper),
  "gk-dot-unseen": dotOf(COLOR.line),
  "gk-dot-done": dotOf(COLOR.done),
  "gk-dot-work": dotOf(COLOR.work),
  "gk-dot-new": dotOf(COLOR.fresh),
  "gk-dot-clash": dotOf(COLOR.clash),
  "gk-dot-wait": dotOf(COLOR.wait),
  ...Object.fromEntries(RAMP.map((color, k) => [`gk-dot-v${k}`, dotOf(color)])),
  "gk-wire": { ...strokeOf(COLOR.work, "1"), "stroke-opacity": ".6" },
  "gk-wire-clash": strokeOf(COLOR.clash, "1.2"),
  "gk-text": wordOf(COLOR.ink, "10"),
  "gk-text-quiet": wordOf(COLOR.quiet, "9"),
  "gk-text-clash": { fill: COLOR.clash, "font-family": "sans-serif", "font-size": "10" },
  "gk-on-dark": wordOf(COLOR.paper, "10"),
  "gk-on-new": wordOf("#1f1400", "10"),
  ...Object.fromEntries(OWNERS.map((color, k) => [`gk-u-${k}`, { fill: "none", stroke: color }])),
  "gk-u-todo": { fill: COLOR.faint, stroke: COLOR.line },
  "gk-u-mark": { fill: "none", stroke: COLOR.ink, "stroke-opacity": ".55" },
  "gk-u-rest": { fill: "none", stroke: COLOR.line },
  "gk-u-load": { fill: "none", stroke: COLOR.work },
  "gk-s-now": strokeOf(COLOR.ink, "2"),
  "gk-s-cut": strokeOf(COLOR.ink, "1.6"),
  "gk-u-item": wordOf(COLOR.ink, "11"),
  "gk-u-empty": wordOf(COLOR.quiet, "11"),
  "gk-u-dark": wordOf("#14110a", "11"),
  "gk-u-light": { fill: COLOR.paper },
  "gk-u-one": { fill: COLOR.line },
  "gk-u-many": { fill: COLOR.ink },
  "gk-u-once": wordOf(COLOR.ink, "11"),
  "gk-u-often": wordOf(COLOR.paper, "11"),
  "gk-s-row": { fill: "none", stroke: COLOR.faint },
  "gk-follow": { fill: "none" },
  "gk-scan-was": { fill: "#b3d4ea" },
  "gk-s-energy": { ...strokeOf(COLOR.line, "1", "3 3"), "vector-effect": "non-scaling-stroke" },
  "gk-energy-power": { "text-anchor": "end" },
  "gk-energy-line": { "text-anchor": "start" },
  "gk-s-old": strokeOf("#8d97a1", "1"),
  "gk-s-carry": strokeOf(COLOR.line, "1"),
  "gk-s-add": strokeOf(COLOR.work, "1.5"),
  "gk-s-take": strokeOf("#a86a00", "1.5", "3 2"),
  "gk-scan-step": wordOf(COLOR.quiet, "9"),
  "gk-s-valid": strokeOf("#a86a00", "1.2"),
  "gk-s-duplicate": strokeOf(COLOR.done, "1.2", "4 2"),
  "gk-s-conflict": strokeOf("#a8527f", "1.2", "1.5 2"),
  "gk-s-sign": { ...strokeOf(COLOR.ink, "1.6"), "stroke-linecap": "round" },
  "gk-s-missed": { ...strokeOf(COLOR.clash, "1.9"), "stroke-linecap": "round" },
  "gk-hash-label": wordOf(COLOR.ink, "9", "end"),
  ...Object.fromEntries(RAMP.map((color, k) => [`gk-tile-v${k}`, { fill: color }])),
  "gk-tile-none": { fill: COLOR.paper },
  "gk-s-tile-band": { ...strokeOf(COLOR.ink, "1.6"), fill: COLOR.ink, "fill-opacity": ".12" },
  "gk-s-tile-grid": strokeOf(COLOR.done, ".8"),
  "gk-s-tile-lies": strokeOf(OKABE_ITO.purple, "1.4"),
  "gk-s-tile-used": { ...strokeOf(OKABE_ITO.purple, "1.8"), fill: OKABE_ITO.purple, "fill-opacity": ".5" },
  "gk-s-tile-comes": strokeOf(OKABE_ITO.purple, "1.8", "2 2"),
  "gk-s-tile-reads": strokeOf(COLOR.ink, "2", "5 3"),
  "gk-s-tile-writes": strokeOf(COLOR.ink, "3"),
  "gk-s-tile-looked": strokeOf(OKABE_ITO.vermillion, "2.4"),
  "gk-s-tile-arrow": strokeOf(COLOR.ink, "1.6"),
  "gk-tile-own": { fill: COLOR.ink, "fill-opacity": ".55" },
  "gk-tile-number": wordOf(COLOR.ink, "17", "start"),
  "gk-tile-word": wordOf(COLOR.ink, "11.5"),
  "gk-tile-tight": wordOf(COLOR.ink, "10.6"),
  "gk-tile-label": wordOf(COLOR.ink, "11.5"),
  ...Object.fromEntries(PART_PAINT.map((color, k) => [`gk-dot-part${k}`, dotOf(color)])),
  "gk-arc-cut": strokeOf(COLOR.ink, "1.6", "3 2"),
  "gk-share": wordOf(COLOR.ink, "9.5"),
  "gk-share-name": wordOf(COLOR.quiet, "9.5", "start"),
  "gk-worker-name": wordOf(COLOR.ink, "11", "start"),
  "gk-s-task": { fill: COLOR.paper, stroke: COLOR.line, "stroke-width": "1" },
  "gk-s-lost": strokeOf(COLOR.clash, "1.8"),
  "gk-task-wire": strokeOf(COLOR.line, ".6"),
};
