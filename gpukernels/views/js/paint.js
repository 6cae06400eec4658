// Additions to a first frame for readers without a style sheet (plain notebook viewers, paper). looks.py reads rules
// for a single class. In addition, words need a font. Some lines on white paper need more ink.

const INK = "#1f2328",
  QUIET = "#57606a",
  PAPER = "#ffffff",
  BLUE = "#0072b2",
  ORANGE = "#e69f00",
  VERMILLION = "#d55e00",
  PURPLE = "#cc79a7",
  BROWN = "#a86a00";

function strokeOf(color, width, dash) {
  return { fill: "none", stroke: color, "stroke-width": width, ...(dash ? { "stroke-dasharray": dash } : {}) };
}

function dotOf(color, cap) {
  const wide = { "stroke-width": "8", "vector-effect": "non-scaling-stroke" };
  return { fill: "none", stroke: color, "stroke-linecap": cap, ...wide };
}

function wordOf(color, size, anchor = "middle", font = "sans-serif") {
  const place = anchor ? { "text-anchor": anchor } : {};
  return { ...(color ? { fill: color } : {}), "font-family": font, "font-size": size, ...place };
}

export const PAINT = {
  "gk-f-fetched": { fill: BLUE, "fill-opacity": ".16" },
  "gk-f-playhead": { fill: BLUE, "fill-opacity": ".14" },
  "gk-f-gray": { fill: "none" },
  "gk-f-pale": { fill: PAPER, "fill-opacity": ".6" },
  "gk-row-label": wordOf(INK, "10", "end", "monospace"),
  "gk-line-text": wordOf(INK, "9"),
  "gk-vertex-name": wordOf(QUIET, "8", null),
  "gk-cell": wordOf(null, "8", "middle", "monospace"),
  "gk-cell-index": wordOf(QUIET, "6"),
  "gk-array-name": wordOf(INK, "10", null, "monospace"),
  "gk-tick": wordOf(null, "8"),
  "gk-relax-name": wordOf(QUIET, "8.5", null),
  "gk-s-dot-rest": dotOf(BLUE, "round"),
  "gk-s-dot-best": dotOf(ORANGE, "square"),
  "gk-wire": { ...strokeOf(BLUE, "1"), "stroke-opacity": ".6" },
  "gk-wire-clash": strokeOf(VERMILLION, "1.2"),
  "gk-text": wordOf(INK, "10"),
  "gk-text-quiet": wordOf(QUIET, "9"),
  "gk-text-clash": wordOf(VERMILLION, "10", null),
  "gk-on-dark": wordOf(PAPER, "10"),
  "gk-on-new": wordOf("#1f1400", "10"),
  "gk-u-todo": { fill: "#e7eaee", stroke: "#b8c0c8" },
  "gk-u-mark": { fill: "none", stroke: INK, "stroke-opacity": ".55" },
  "gk-u-item": wordOf(INK, "11"),
  "gk-u-empty": wordOf(QUIET, "11"),
  "gk-u-dark": wordOf("#14110a", "11"),
  "gk-u-light": { fill: PAPER },
  "gk-u-once": wordOf(INK, "11"),
  "gk-u-often": wordOf(PAPER, "11"),
  "gk-energy-power": { "text-anchor": "end" },
  "gk-energy-line": { "text-anchor": "start" },
  "gk-s-old": strokeOf("#8d97a1", "1"),
  "gk-s-take": strokeOf(BROWN, "1.5", "3 2"),
  "gk-scan-step": wordOf(QUIET, "9"),
  "gk-s-valid": strokeOf(BROWN, "1.2"),
  "gk-s-duplicate": strokeOf("#68727d", "1.2", "4 2"),
  "gk-s-conflict": strokeOf("#a8527f", "1.2", "1.5 2"),
  "gk-hash-label": wordOf(INK, "9", "end"),
  "gk-s-tile-lies": strokeOf(PURPLE, "1.4"),
  "gk-s-tile-used": { ...strokeOf(PURPLE, "1.8"), fill: PURPLE, "fill-opacity": ".5" },
  "gk-s-tile-comes": strokeOf(PURPLE, "1.8", "2 2"),
  "gk-tile-number": wordOf(INK, "17", "start"),
  "gk-tile-word": wordOf(INK, "11.5"),
  "gk-tile-tight": wordOf(INK, "10.6"),
  "gk-tile-label": wordOf(INK, "11.5"),
  "gk-share": wordOf(INK, "9.5"),
  "gk-share-name": wordOf(QUIET, "9.5", "start"),
  "gk-worker-name": wordOf(INK, "11", "start"),
};
