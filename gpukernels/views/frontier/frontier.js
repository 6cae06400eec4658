// FrontierView: a search level by level on the graph itself.
import { countNames } from "../js/counted.js";
import { litMark } from "../js/cursor.js";
import { unpack, unpackLists, unpackTexts } from "../js/decode.js";
import { readDrawing } from "../js/drawing.js";
import { h, put, say, thousands } from "../js/element.js";
import { inspectable } from "../js/inspect.js";
import { lineKey, pathOf, roomsFor, squareKey, symbol, track, stackedBars } from "../js/marks.js";
import { pressable } from "../js/press.js";
import { rootKey, startsOf } from "../js/starts.js";
import { readWalks, walksOf } from "./walks.js";

const PART_CLASSES = ["gk-f-new", "gk-f-clash", "gk-f-done", "gk-f-faint", "gk-f-wait"];

const FRONTIER_MEANINGS = {
  "in the frontier": "Vertices from which this level searches: the level before has found them.",
  "copies in the queue": "Entries of the queue beyond the first for their vertex.",
  "arcs read": "Times that a thread reads an arc in this level.",
  found: "Vertices that this level is the first to reach.",
  "arcs to visited vertices": "Reads of arcs that find nothing: the vertex had been visited.",
  "not from the frontier": "Reads of arcs that do not leave the frontier.",
  duplicates: "Times that a vertex is found again, in this level.",
  "duplicates missed": "Times that a vertex enters the queue again, in this level.",
  "duplicates detected": "Times that a vertex is found again and kept out of the queue.",
};

export const frontierView = {
  counted: countNames("level", "levels"),
  meanings: FRONTIER_MEANINGS,
  races: () => true,
  pace: 1400,
  open(payload) {
    const drawing = readDrawing(payload.drawing);
    const start = payload.variants ? startsOf(payload, drawing.n) : null;
    const picture = levelPicture(drawing, payload.detected, start);
    const head = h("p", { class: "gk-makers-head" });
    const names = h("ul");
    const named = h("div", null, head, names);
    const makers = payload.mostNamed ? h("div", { class: "gk-makers" }, named) : null;
    const recorded = payload.traces.map((trace) => (trace.walks ? readWalks(trace.walks) : null));
    const walks = payload.arcs
      ? walksOf(payload.arcs, recorded.filter(Boolean), drawing, picture, frontierView.counted)
      : null;
    return {
      stage: [start && start.offer, picture.svg, ...(walks ? walks.stage : []), makers].filter(Boolean),
      // Parts that light up together stand together if the numbers fit next to them.
      parts(column) {
        const graph = ["Graph", [start && start.offer, picture.svg].filter(Boolean)],
          arcs = ["Arcs", walks ? walks.stage : []];
        const together = ["Graph", [...graph[1], ...arcs[1]], [graph, arcs]];
        return [...(walks && !column ? [together] : [graph, arcs]), ["Duplicates", makers ? [makers] : []]];
      },
      cursor: walks ? walks.cursor : null,
      runs: () =>
        payload.traces.map((trace) => ({
          label: trace.label,
          steps: start ? trace.variantSteps[start.at()] : trace.steps,
        })),
      choose(k, again, go, anew = null) {
        const data = readTrace(payload.traces[k], start ? start.at() : 0, drawing.n);
        if (start) start.anew = anew;
        const texts = data.allMakers.map((lines) => [makersHead(lines), ...lines].join("\n"));
        if (makers) makers.replaceChildren(named, ...roomsFor(texts));
        return {
          steps: data.steps,
          tracks: levelTracks(payload, data),
          keys: [
            ...levelKeys(payload, data),
            ...(walks ? walks.keys : []),
            ...(start ? [[rootKey(), "the root"]] : []),
          ],
          controls: start ? [start.list] : [],
          room: start ? { steps: payload.traces[k].steps, sentences: data.allSentences, most: payload.mostArcs } : null,
          sentence: data.sentence,
          counters: (step) => levelCounters(payload, data, step),
          show(step) {
            picture.show(data, step);
            if (walks) walks.show(recorded[k], data.before + step);
            const lines = data.makers(step);
            say(head, makersHead(lines));
            names.replaceChildren(...lines.map((line) => h("li", null, line)));
          },
        };
      },
    };
  },
};

function makersHead(lines) {
  return lines.length ? "Found more than once, by" : "No duplicates";
}

// The search from the root in this place; a trace holds the searches of all roots, one by one.
function readTrace(trace, place, n) {
  const all = trace.variantSteps || [trace.steps],
    kinds = trace.dropped ? 5 : 4;
  const before = all.slice(0, place).reduce((sum, steps) => sum + steps, 0),
    steps = all[place];
  const lists = (packed) => {
    const list = unpackLists(packed);
    return (k) => list(before + k);
  };
  const own = (packed, many) => unpack(packed).subarray(many * before, many * (before + steps));
  const { sentences, makers } = trace.variantSteps ? textsOf(trace) : trace;
  return {
    before,
    steps,
    reached: unpack(trace.reached).subarray(n * place, n * place + n),
    frontier: lists(trace.frontier),
    found: lists(trace.found),
    again: lists(trace.again),
    times: lists(trace.times),
    foundLines: lists(trace.foundLines),
    againLines: lists(trace.againLines),
    readLines: lists(trace.readLines),
    dropped: trace.dropped ? lists(trace.dropped) : () => [],
    kinds,
    parts: own(trace.parts, kinds),
    surplus: own(trace.surplus, 1),
    copies: trace.copies ? own(trace.copies, 1) : null,
    sentence: (k) => sentences[before + k],
    makers: (k) => makers[before + k],
    allSentences: sentences,
    allMakers: makers,
  };
}

function textsOf(trace) {
  const at = unpack(trace.makersAt),
    sentence = unpackTexts(trace.sentences),
    line = unpackTexts(trace.makers);
  const sentences = [],
    makers = [];
  for (let k = 0; k + 1 < at.length; k++) {
    sentences.push(sentence(k));
    makers.push(Array.from(new Array(at[k + 1] - at[k]), (_, i) => line(at[k] + i)));
  }
  return { sentences, makers };
}

function levelTracks(payload, data) {
  const { kinds, copies } = data;
  const row = (label, names, most, parts) => {
    const bars = stackedBars(names, data.steps, parts, 40, ".15", ".7");
    return track(label, `most ${thousands(most)}`, data.steps, 40, 40, bars);
  };
  const queued = (k) => {
    const tall = Math.max((40 * data.frontier(k).length) / payload.mostFrontier, 1);
    return copies ? [tall, (40 * copies[k]) / payload.mostFrontier] : [tall];
  };
  const read = (k) =>
    Array.from(data.parts.subarray(kinds * k, kinds * (k + 1)), (part) => (40 * part) / payload.mostArcs);
  const looks = ["gk-f-work", "gk-f-clash"].slice(0, copies ? 2 : 1);
  return [
    row(copies ? "queue" : "frontier", looks, payload.mostFrontier, queued),
    row("arcs read", PART_CLASSES.slice(0, kinds), payload.mostArcs, read),
  ];
}

const FRONTIER_DOT = "M7 7h0";

function levelKeys(payload, data) {
  const keys = [
    [squareKey("gk-f-work"), "vertices in the frontier"],
    [lineKey("gk-arc-found", "gk-f-new"), "arc that found a vertex"],
    [lineKey("gk-arc-again", "gk-f-clash"), "found it again"],
    [lineKey("gk-arc-read", "gk-f-done"), "to a visited vertex"],
    [lineKey("gk-arc"), "not read"],
    [symbol(["gk-dot-unseen", FRONTIER_DOT, 11], ["gk-dot-paper", FRONTIER_DOT, 8.5]), "not found yet"],
    [symbol(["gk-dot-done", FRONTIER_DOT, 11]), "visited before"],
  ];
  if (data.kinds > 4) keys.splice(4, 0, [squareKey("gk-f-wait"), "to a duplicate that was detected"]);
  return keys;
}

// A vertex found in this level; its ring says whether it was found again.
function ringKey(name) {
  return symbol([name, FRONTIER_DOT, 13], ["gk-dot-paper", FRONTIER_DOT, 9.5], ["gk-dot-new", FRONTIER_DOT, 7]);
}

function levelCounters(payload, data, step) {
  const parts = data.parts.subarray(data.kinds * step, data.kinds * (step + 1));
  const counters = [
    [symbol(["gk-dot-work", FRONTIER_DOT, 11]), "in the frontier", thousands(data.frontier(step).length)],
    ...(data.copies
      ? [[symbol(["gk-f-clash", "M2 2h10v10h-10z"]), "copies in the queue", thousands(data.copies[step])]]
      : []),
    [symbol(["gk-arc-read", "M0 7h14"]), "arcs read", thousands(parts.reduce((sum, part) => sum + part, 0))],
    [ringKey("gk-dot-new"), "found", thousands(data.found(step).length)],
    [symbol(["gk-dot-done", FRONTIER_DOT, 9]), "arcs to visited vertices", thousands(parts[2])],
  ];
  if (payload.outside) {
    counters.push([symbol(["gk-f-faint", "M2 2h10v10h-10z"]), "not from the frontier", thousands(parts[3])]);
  }
  counters.push([
    ringKey("gk-dot-clash"),
    payload.detected ? "duplicates missed" : "duplicates",
    thousands(data.surplus[step]),
  ]);
  if (payload.detected) {
    counters.push([ringKey("gk-dot-wait"), "duplicates detected", thousands(parts[4])]);
  }
  return counters;
}

function levelPicture(drawing, detected, start) {
  const r = drawing.radius;
  const lines = {
    rest: pathOf("gk-arc"),
    read: pathOf("gk-arc-read"),
    again: pathOf("gk-arc-again"),
    found: pathOf("gk-arc-found"),
  };
  const root = start
    ? { root: pathOf("gk-dot-ink", "", 2 * r + 9), rootIn: pathOf("gk-dot-paper", "", 2 * r + 6) }
    : {};
  const dots = {
    ...root,
    unseen: pathOf("gk-dot-unseen", "", (drawing.crowded ? 1 : 2) * r),
    unseenIn: pathOf("gk-dot-paper", "", 2 * r - 2),
    done: pathOf("gk-dot-done", "", 1.7 * r),
    work: pathOf("gk-dot-work", "", 2 * r + 1),
    again: pathOf("gk-dot-clash", "", 2.9 * r),
    ...(detected ? { dropped: pathOf("gk-dot-wait", "", 2.9 * r) } : {}),
    found: pathOf("gk-dot-new", "", 2.5 * r),
    foundIn: pathOf("gk-dot-paper", "", 2.16 * r),
    core: pathOf("gk-dot-new", "", 1.9 * r),
  };
  const texts = drawing.labeled
    ? Array.from(drawing.x, (x, v) =>
        h("text", { class: "gk-text-quiet", x: x / 10, y: drawing.y[v] / 10 + 3.6 }, String(v)),
      )
    : [];
  const badges = h("g", { class: "gk-badges" });
  const halo = pathOf("gk-halo", "", 2 * r + 10);
  const svg = drawing.picture(
    ...Object.values(lines),
    ...Object.values(dots),
    h("g", { class: "gk-labels" }, ...texts),
    badges,
  );
  const note = h("text", { class: "gk-note", x: 4, y: drawing.height - 5 });
  const lit = litMark();
  svg.append(halo, note);
  svg.insertBefore(lit.node, dots.unseen);

  let data = null,
    asked = -1;
  const locate = (x, y) => drawing.nearest(x, y, r + 6);
  const ask = inspectable(
    svg,
    locate,
    (v) => {
      asked = v;
      if (start) put(svg, "class", start.roots.includes(v) ? "gk-graph gk-press" : "gk-graph");
      put(halo, "d", v < 0 ? "" : drawing.dots([v]));
      say(note, v < 0 ? "" : describe(v));
    },
    () => drawing.n,
  );
  if (start) pressable(svg, locate, () => asked, start.start);

  function describe(v) {
    const reached = data.reached[v];
    if (reached < 0) return `vertex ${v}: never reached`;
    return reached === 0 ? `vertex ${v}: the root` : `vertex ${v}: found at level ${reached - 1}`;
  }

  function show(trace, step) {
    data = trace;
    const state = new Uint8Array(drawing.n);
    for (let k = 0; k <= step; k++) {
      for (const v of trace.frontier(k)) state[v] = 1;
      for (const v of trace.found(k)) state[v] = 1;
    }
    for (const v of trace.frontier(step)) state[v] = 2;
    const vertices = trace.found(step);
    for (const v of vertices) state[v] = 3;
    const again = trace.again(step);
    for (const v of again) state[v] = 4;
    const dropped = trace.dropped(step);
    for (const v of dropped) state[v] = 5;
    const of = [[], [], [], [], [], []];
    state.forEach((s, v) => of[s].push(v));
    const used = new Uint8Array(drawing.lineCount);
    for (const list of [trace.readLines, trace.againLines, trace.foundLines]) for (const k of list(step)) used[k] = 1;
    const rest = [];
    used.forEach((u, k) => {
      if (!u) rest.push(k);
    });
    put(lines.rest, "d", drawing.lines(rest));
    put(lines.read, "d", drawing.lines(trace.readLines(step)));
    put(lines.again, "d", drawing.lines(trace.againLines(step)));
    put(lines.found, "d", drawing.lines(trace.foundLines(step)));
    const unseen = drawing.dots(of[0]),
      all = drawing.dots(vertices);
    if (start) for (const path of Object.values(root)) put(path, "d", drawing.dots([start.root()]));
    put(dots.unseen, "d", unseen);
    put(dots.unseenIn, "d", drawing.crowded ? "" : unseen);
    put(dots.done, "d", drawing.dots(of[1]));
    put(dots.work, "d", drawing.dots(of[2]));
    put(dots.again, "d", drawing.dots(again));
    if (dots.dropped) put(dots.dropped, "d", drawing.dots(dropped));
    put(dots.found, "d", drawing.dots(of[3]));
    put(dots.foundIn, "d", all);
    put(dots.core, "d", all);
    const looks = ["gk-text-quiet", "gk-on-dark", "gk-on-dark", "gk-on-new", "gk-on-new", "gk-on-new"];
    texts.forEach((text, v) => put(text, "class", looks[state[v]]));
    const times = trace.times(step);
    badges.replaceChildren(
      ...(drawing.labeled
        ? Array.from(again, (v, i) =>
            h(
              "text",
              {
                class: "gk-text-clash",
                x: drawing.x[v] / 10 + (drawing.x[v] / 10 + 40 < drawing.width ? r + 4 : -r - 24),
                y: drawing.y[v] / 10 - r + 1,
              },
              `×${times[i]}`,
            ),
          )
        : []),
    );
    ask.again();
  }

  return { svg, show, lit };
}
