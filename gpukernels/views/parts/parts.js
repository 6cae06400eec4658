// PartsView: a graph in ever more parts, its separators, and what all pairs then cost.
import { countEach } from "../js/counted.js";
import { unpackLists } from "../js/decode.js";
import { readDrawing } from "../js/drawing.js";
import { h, number, percent, put, say, thousands } from "../js/element.js";
import { inspectable } from "../js/inspect.js";
import { barPath, boxPath, lineKey, pathOf, squareKey, symbol, track, picture } from "../js/marks.js";

const PART_COLORS = 6,
  TERM_LOOKS = ["gk-f-wait", "gk-f-new", "gk-f-barrier", "gk-f-work"],
  SHARES = { wide: 440, tall: 15, top: 13 },
  PART_HINT = "Point at or tap a vertex: which part is it of?";

const PARTS_MEANINGS = {
  parts: "Pieces into which the graph is cut.",
  separators: "Vertices with an edge to another part.",
  additions: "Additions for all pairs, each with a comparison.",
  "times fewer than n³": "n³, the additions without a cut, divided by the additions with this cut.",
  "by the formula": "The same ratio by the paper’s formula.",
  "a worker holds": "Memory that one worker needs.",
};

export const partsView = {
  counted: countEach("cut"),
  meanings: PARTS_MEANINGS,
  pace: 1500,
  open(payload) {
    const drawing = readDrawing(payload.drawing);
    const graph = partsPicture(drawing),
      shares = sharesPicture();
    return {
      stage: [graph.svg, shares.svg],
      choose(k) {
        const data = readParts(payload.traces[k], drawing.n);
        return {
          steps: data.steps,
          tracks: partsTracks(data),
          keys: partsKeys(data),
          sentence: (step) => data.sentences[step],
          counters: (step) => partsCounters(data, step),
          show(step) {
            graph.show(data, step);
            shares.show(data, step);
          },
        };
      },
    };
  },
};

function readParts(trace) {
  const data = { ...trace };
  for (const name of ["part", "color", "separators", "crossing"]) data[name] = unpackLists(trace[name]);
  data.work = data.terms.map((of) => of.reduce((a, b) => a + b, 0));
  data.bytes = data.held.map((of) => of.reduce((a, b) => a + b, 0));
  return data;
}

const timesFewer = (data, work) => data.without / Math.max(1, work);

function bytesWord(bytes) {
  if (bytes < 1e3) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
}

function partsCounters(data, step) {
  return [
    [null, "parts", thousands(data.parts[step])],
    [
      symbol(["gk-dot-ink", "M7 7h0", 12], ["gk-dot-paper", "M7 7h0", 7]),
      "separators",
      thousands(data.separators(step).length),
    ],
    [null, "additions", thousands(data.work[step])],
    [squareKey("gk-f-work"), "times fewer than n³", timesFewer(data, data.work[step]).toFixed(1)],
    [symbol(["gk-s-end", "M1 7h12"]), "by the formula", timesFewer(data, data.predicted[step]).toFixed(1)],
    [squareKey("gk-f-done"), "a worker holds", bytesWord(data.bytes[step])],
  ];
}

function partsTracks(data) {
  const { steps } = data,
    every = Array.from({ length: steps }, (_, k) => k);
  const bars = (look, values, most, tall) =>
    pathOf(look, every.map((k) => barPath(k, tall, (tall * values[k]) / Math.max(1, most))).join(""));
  const wins = data.work.map((work) => timesFewer(data, work)),
    predicted = data.predicted.map((work) => timesFewer(data, work));
  const most = Math.max(...wins, ...predicted, 1);
  const ends = every.map((k) => `M${k}.05 ${number(46 - (45 * predicted[k]) / most)}h.9`).join("");
  const borders = every.map((k) => data.separators(k).length),
    held = Math.max(...data.bytes);
  return [
    track(
      "times fewer",
      `most ${Math.max(...wins).toFixed(1)}`,
      steps,
      46,
      46,
      [bars("gk-f-work", wins, most, 45), pathOf("gk-s-end", ends)],
      false,
    ),
    track(
      "separators",
      `most ${thousands(Math.max(...borders))}`,
      steps,
      26,
      26,
      [bars("gk-f-clash", borders, Math.max(...borders), 25)],
      false,
    ),
    track("a worker holds", `most ${bytesWord(held)}`, steps, 26, 26, [bars("gk-f-done", data.bytes, held, 25)], false),
  ];
}

const partsKeyDot = (k) => `M${2.5 + 4.5 * (k % 3)} ${k < 3 ? 4.5 : 9.5}h0`;

function partsKeys(data) {
  const looks = Array.from({ length: PART_COLORS }, (_, k) => [`gk-dot-part${k}`, partsKeyDot(k), 4.5]);
  return [
    [symbol(...looks), "parts, in colors of which neighbors differ"],
    [lineKey("gk-arc"), "edge"],
    [lineKey("gk-arc-cut"), "edge between parts"],
    [squareKey("gk-f-clash"), "separators of a cut"],
    ...data.termNames.map((name, k) => [squareKey(TERM_LOOKS[k]), `additions ${name}`]),
  ];
}

function partsPicture(drawing) {
  const r = drawing.radius,
    vertices = Array.from({ length: drawing.n }, (_, v) => v),
    lines = Array.from({ length: drawing.lineCount }, (_, k) => k);
  const rest = pathOf("gk-arc"),
    crossing = pathOf("gk-arc-cut");
  const dots = Array.from({ length: PART_COLORS }, (_, k) => pathOf(`gk-dot-part${k}`, "", 1.5 * r));
  const ring = pathOf("gk-dot-ink", "", 1.7 * r + 3),
    inside = Array.from({ length: PART_COLORS }, (_, k) => pathOf(`gk-dot-part${k}`, "", 1.7 * r));
  const halo = pathOf("gk-halo", "", 2 * r + 10);
  const note = h("text", { class: "gk-note", x: 4, y: drawing.height - 3 }, PART_HINT);
  const svg = drawing.picture(rest, crossing, ...dots, ring, ...inside, halo, note);
  let shown = null;
  const ask = inspectable(
    svg,
    (x, y) => drawing.nearest(x, y, r + 6),
    (v) => {
      put(halo, "d", v < 0 ? "" : drawing.dots([v]));
      if (v < 0 || !shown) return say(note, PART_HINT);
      const own = shown.part[v],
        size = shown.part.filter((p) => p === own).length;
      say(note, `vertex ${v}: part ${own}, of ${size}${shown.between.has(v) ? "; a separator" : ""}`);
    },
    () => drawing.n,
  );
  return {
    svg,
    show(data, step) {
      const part = Array.from(data.part(step)),
        color = data.color(step),
        between = new Set(data.separators(step)),
        cut = new Set(data.crossing(step));
      shown = { part, between };
      put(rest, "d", drawing.lines(lines.filter((k) => !cut.has(k))));
      put(crossing, "d", drawing.lines(cut));
      dots.forEach((path, c) =>
        put(path, "d", drawing.dots(vertices.filter((v) => color[part[v]] === c && !between.has(v)))),
      );
      put(ring, "d", drawing.dots(between));
      inside.forEach((path, c) =>
        put(path, "d", drawing.dots(vertices.filter((v) => color[part[v]] === c && between.has(v)))),
      );
      ask.again();
    },
  };
}

// The purposes of the additions, as shares of one bar.
function sharesPicture() {
  const title = h("text", { class: "gk-share-name", x: 0, y: 9 }, "what the additions are for"),
    bars = TERM_LOOKS.map((look) => pathOf(look)),
    words = TERM_LOOKS.map((look) =>
      h("text", { class: look === "gk-f-work" ? "gk-share gk-on-dark" : "gk-share gk-on-new" }),
    );
  const tall = SHARES.top + SHARES.tall + 1;
  const svg = picture("gk-shares", SHARES.wide, tall, "What the additions are for", title, ...bars, ...words);
  return {
    svg,
    show(data, step) {
      let x = 0;
      data.terms[step].forEach((term, k) => {
        const wide = (SHARES.wide * term) / Math.max(1, data.work[step]);
        put(bars[k], "d", wide >= 0.05 ? boxPath(x, SHARES.top, wide, SHARES.tall) : "");
        put(words[k], "x", number(x + wide / 2));
        put(words[k], "y", number(SHARES.top + SHARES.tall - 4));
        say(words[k], wide > 30 ? percent(term, data.work[step]) : "");
        x += wide;
      });
    },
  };
}
