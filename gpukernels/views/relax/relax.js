// RelaxView: searches for shortest paths side by side, iteration by iteration on one clock.
import { countAfter } from "../js/counted.js";
import { unpack, unpackLists } from "../js/decode.js";
import { readDrawing } from "../js/drawing.js";
import { count, h, number, put, say, thousands } from "../js/element.js";
import { counterList } from "../js/figure.js";
import { inspectable } from "../js/inspect.js";
import { lineKey, pathOf, scaleKey, symbol, track, stackedBars } from "../js/marks.js";
import { pressable } from "../js/press.js";
import { runControls } from "../js/runs.js";
import { rootKey, startsOf } from "../js/starts.js";

const RELAX_SHADES = 6,
  KIND_BARS = ["gk-f-work", "gk-f-clash", "gk-f-line"],
  RELAX_DOT = "M7 7h0";

const RELAX_MEANINGS = {
  "taken up now": "Vertices whose arcs are relaxed in this iteration.",
  "too early now": "Vertices taken up now whose distance falls later: their arcs must be relaxed again.",
  "lowered now": "Vertices whose distance falls in this iteration.",
  "relaxed now": "Relaxations of this iteration: checks whether an arc gives a shorter path.",
  "relaxed so far": "Relaxations of all iterations up to now.",
  needed: "Relaxations so far from a final distance, each arc once.",
  "too early": "Relaxations so far from a distance that fell later.",
  "done again": "Relaxations so far that repeat an earlier one.",
  "saved so far": "Relaxations that the method has skipped, up to now.",
};

export const relaxView = {
  counted: countAfter("iteration"),
  meanings: RELAX_MEANINGS,
  pace: 1100,
  open(payload) {
    const stage = h("div", { class: "gk-relax" });
    const start = payload.variants ? startsOf(payload, readDrawing(payload.traces[0].drawing).n) : null;
    // When a search starts elsewhere the pictures stay, with the focus, and which two are drawn.
    let kept = null,
      vertex = -1;
    return {
      stage: [...(start ? [start.offer] : []), stage],
      parts(column, full) {
        // Over the whole window the numbers leave their room to the graphs.
        if (!full) return kept.panels.map((panel) => [panel.name(), [panel.node]]);
        const counts = kept.panels.flatMap(({ node }) => [node, node.lastElementChild]);
        return [...kept.panels.map(({ name, node }) => [name(), [node, node.children[1]]]), ["Counts", counts]];
      },
      choose(k, refresh, go, anew = null) {
        const group = readGroup(payload, payload.traces[k], start ? start.at() : 0);
        if (start) start.anew = anew;
        if (!start || !kept) {
          const shown = group.runs.length > 1 ? [0, 1] : [0];
          const panels = shown.map(() =>
            relaxPanel(group, payload.classes, start, (v) => {
              vertex = v;
              for (const panel of panels) panel.ask(v);
            }),
          );
          kept = { shown, panels };
          vertex = -1;
          stage.replaceChildren(...panels.map((panel) => panel.node));
        }
        const { shown, panels } = kept;
        return {
          steps: group.steps,
          tracks: relaxTracks(group),
          keys: [...relaxKeys(payload.classes.length), ...(start ? [[rootKey(), "the root"]] : [])],
          controls: [...(start ? [start.list] : []), ...runControls(payload.dial, group.runs, shown, refresh)],
          room: start ? roomOfAll(payload, payload.traces[k], shown) : null,
          counters: () => [],
          sentence: (step) => relaxSentence(group, shown, step),
          show(step) {
            panels.forEach((panel, i) => panel.show(group, group.runs[shown[i]], step));
            for (const panel of panels) panel.ask(vertex);
          },
        };
      },
    };
  },
};

// The runs from the root in this place; a trace holds those of all roots, one by one.
function readGroup(payload, trace, place) {
  const runs = trace.runs.map((run) => readRun(ofRoot(run, place), payload.classes.length));
  const ends = runs.map((run) => run.iterations);
  return {
    ...trace,
    steps: Math.max(...ends) + 1,
    drawing: readDrawing(trace.drawing),
    offsets: unpack(trace.offsets),
    lineOfArc: unpack(trace.lineOfArc),
    classOfArc: trace.class ? unpack(trace.class) : null,
    runs,
    first: Math.min(...ends),
    last: Math.max(...ends),
  };
}

function ofRoot(run, place) {
  if (!run.roots) return { ...run, before: 0 };
  const iterations = unpack(run.iterations);
  return {
    ...run,
    root: run.roots[place],
    iterations: iterations[place],
    before: iterations.subarray(0, place).reduce((sum, many) => sum + many, 0),
  };
}

// Room for the longest sentence of any root.
function roomOfAll(payload, trace, shown) {
  const sentences = [];
  trace.variantSteps.forEach((steps, place) => {
    const group = readGroup(payload, trace, place);
    for (let step = 0; step < steps; step++) sentences.push(relaxSentence(group, shown, step));
  });
  return { steps: trace.steps, sentences, most: trace.mostArcs };
}

// Columns of a run; `at(step)` returns the state after `step` iterations. The marks shown are those of
// iteration `step`, counted from 1.
function readRun(run, classes) {
  const columns = {},
    { before } = run;
  for (const name of ["toggled", "needed", "early", "skipped", "lowered", "gains"]) {
    const list = unpackLists(run[name]);
    columns[name] = (k) => list(before + k);
  }
  columns.counts = unpack(run.counts).subarray(4 * before);
  const byClass = run.byClass ? unpack(run.byClass).subarray(2 * classes * before) : null;
  const relaxed = relaxedLists(run.iterations, columns.toggled);
  const firstLength = sumsBefore(before, (k) => columns.lowered(k - before).length)[before];
  columns.length = unpack(run.length).subarray(firstLength);
  const lengthsBefore = sumsBefore(run.iterations, (k) => columns.lowered(k).length);
  const now = (step) => step > 0 && step <= run.iterations;
  return {
    ...run,
    ...columns,
    classed: byClass !== null,
    relaxedAt: (step) => (now(step) ? relaxed[step - 1] : []),
    neededAt: (step) => (now(step) ? columns.needed(step - 1) : []),
    earlyAt: (step) => (now(step) ? columns.early(step - 1) : []),
    loweredAt: (step) => (now(step) ? columns.lowered(step - 1) : []),
    gainsAt: (step) => (now(step) ? columns.gains(step - 1) : []),
    skippedAt: (step) => (now(step) ? columns.skipped(step - 1) : []),
    countsAt: (step) => (now(step) ? Array.from(columns.counts.subarray(4 * step - 4, 4 * step)) : [0, 0, 0, 0]),
    soFar(step) {
      const sums = [0, 0, 0, 0];
      for (let i = 0; i < 4 * Math.min(step, run.iterations); i++) sums[i % 4] += columns.counts[i];
      return sums;
    },
    // Relaxations and what was saved, by classes, over all iterations so far; for a run that knows them.
    classesSoFar(step) {
      const sums = Array.from({ length: classes }, () => [0, 0]);
      for (let k = 0; k < Math.min(step, run.iterations); k++) {
        for (let c = 0; c < classes; c++) {
          sums[c][0] += byClass[2 * classes * k + c];
          sums[c][1] += byClass[2 * classes * k + classes + c];
        }
      }
      return sums;
    },
    distances(step, n) {
      const distance = new Float64Array(n).fill(Infinity);
      distance[run.root] = 0;
      for (let k = 0; k < Math.min(step, run.iterations); k++) {
        columns.lowered(k).forEach((v, i) => {
          distance[v] = columns.length[lengthsBefore[k] + i];
        });
      }
      return distance;
    },
  };
}

// The vertices taken up in each iteration, from the changes between iterations.
function relaxedLists(iterations, toggled) {
  const taken = new Set(),
    lists = [];
  for (let k = 0; k < iterations; k++) {
    for (const v of toggled(k)) if (!taken.delete(v)) taken.add(v);
    lists.push([...taken].sort((a, b) => a - b));
  }
  return lists;
}

function sumsBefore(rows, size) {
  const sums = [0];
  for (let k = 0; k < rows; k++) sums.push(sums[k] + size(k));
  return sums;
}

// The relaxations among an iteration's counts, of all kinds.
function allKinds(counts) {
  return counts[0] + counts[1] + counts[2];
}

function relaxTracks(group) {
  const many = group.runs.length;
  const tall = many < 4 ? 30 : many < 7 ? 20 : 14;
  return group.runs.map((run) => {
    const parts = (k) => {
      const counts = run.countsAt(k + 1),
        all = allKinds(counts);
      // A bar that is not 0 stays visible.
      const scale = all ? Math.max((tall * all) / group.mostArcs, 1) / all : 0;
      return KIND_BARS.map((_, i) => scale * counts[i]);
    };
    const total = allKinds(run.soFar(run.iterations));
    const end = pathOf("gk-s-end", `M${run.iterations + 1} 0V${tall}`);
    const bars = stackedBars(KIND_BARS, run.iterations, parts, tall, ".12", ".76", 1);
    return track(run.label || "all", `${thousands(total)} relaxed`, group.steps, tall, tall, [...bars, end]);
  });
}

function relaxKeys(classes) {
  const looks = Array.from({ length: RELAX_SHADES }, (_, k) => `gk-dot-v${k}`);
  return [
    [
      symbol(["gk-dot-rim", RELAX_DOT, 13], ["gk-dot-paper", RELAX_DOT, 11], ["gk-dot-v2", RELAX_DOT, 11]),
      "has a distance",
    ],
    [scaleKey(looks, true), "short to long"],
    [symbol(["gk-dot-unseen", RELAX_DOT, 12], ["gk-dot-paper", RELAX_DOT, 9]), "none yet"],
    [
      symbol(["gk-dot-done", RELAX_DOT, 13], ["gk-dot-paper", RELAX_DOT, 9.5], ["gk-dot-v2", RELAX_DOT, 8]),
      "taken up again",
    ],
    [lineKey(classes ? "gk-arc-gain" : "gk-arc-found"), "lowered along it"],
    [lineKey(classes ? "gk-arc-c0" : "gk-arc"), "not relaxed now"],
    [symbol(["gk-s-end", "M7 1v12"]), "the run ends"],
  ];
}

function relaxSentence(group, shown, step) {
  const phrases = [...new Set(shown)].map((k) => {
    const run = group.runs[k],
      name = run.label ? `${run.label}: ` : "";
    if (!step) return `${name}only vertex ${run.root} has a distance, which is 0.`;
    const far = allKinds(run.soFar(step));
    if (step > run.iterations) return `${name}done after ${count(run.iterations, "iteration")}.`;
    const arcs = allKinds(run.countsAt(step));
    return (
      `${name}${count(run.relaxedAt(step).length, "vertex", "vertices")} taken up, ` +
      `${count(arcs, "relaxation")} (${thousands(far)} so far), ` +
      `${count(run.loweredAt(step).length, "distance")} lowered.`
    );
  });
  return `${step ? `Iteration ${step}` : "Before the first iteration"}. ${phrases.join(" ")}`;
}

// A length as it stands in a vertex: whole, or with four digits.
function lengthWord(length) {
  if (length === Infinity) return "∞";
  return Number.isInteger(length) ? String(length) : String(Number(length.toPrecision(4)));
}

function crossPath([x, y]) {
  return `M${number(x - 3)} ${number(y - 3)}l6 6m0-6l-6 6`;
}

function relaxPanel(given, classNames, start, ask) {
  let group = given;
  const { drawing } = group,
    r = drawing.radius,
    n = drawing.n;
  const classes = classNames.length;
  const shade = (length) => {
    const [low, high] = group.shades;
    if (length === Infinity) return RELAX_SHADES;
    if (high <= low) return 0;
    return Math.max(0, Math.min(RELAX_SHADES - 1, Math.floor((RELAX_SHADES * (length - low)) / (high - low))));
  };
  const looks = Array.from({ length: classes || 1 }, (_, c) => (classes ? `gk-arc-c${c}` : "gk-arc"));
  const rest = looks.map((name) => pathOf(name));
  const gains = pathOf(classes ? "gk-arc-gain" : "gk-arc-found");
  const relaxed = looks.map((name) => pathOf(classes ? `${name} gk-arc-heavy` : "gk-arc-read"));
  const saved = pathOf("gk-arc-saved");
  const root = start ? { root: pathOf("gk-dot-ink", "", 3.1 * r), rootIn: pathOf("gk-dot-paper", "", 2.75 * r) } : {};
  const rings = {
    lowered: pathOf("gk-dot-new", "", 3.1 * r),
    gap: pathOf("gk-dot-paper", "", 2.75 * r),
    early: pathOf("gk-square-clash", "", 2.45 * r),
    again: pathOf("gk-dot-done", "", 2.55 * r),
    needed: pathOf("gk-dot-ink", "", 2.55 * r),
    inside: pathOf("gk-dot-paper", "", 2.15 * r),
  };
  const hollow = pathOf("gk-dot-unseen", "", (drawing.crowded ? 1 : 2) * r),
    hollowIn = pathOf("gk-dot-paper", "", 2 * r - 2);
  const rim = pathOf("gk-dot-rim", "", 2 * r + 1.6);
  const shades = Array.from({ length: RELAX_SHADES }, (_, k) => pathOf(`gk-dot-v${k}`, "", 2 * r));
  const x = (v) => drawing.x[v] / 10,
    y = (v) => drawing.y[v] / 10;
  const vertices = Array.from({ length: n }, (_, v) => v);
  const words = drawing.labeled ? vertices.map((v) => h("text", { class: "gk-text", x: x(v), y: y(v) + 3.6 })) : [];
  const names = drawing.labeled ? vertices.map((v) => drawing.name(v, "gk-relax-name")) : [];
  const lineWords = group.lineTexts.map((text, k) => {
    const [middleX, middleY] = drawing.middle(k);
    return h("text", { class: "gk-line-text", x: middleX, y: middleY + 3 }, text);
  });
  const halo = pathOf("gk-halo", "", 2 * r + 10);
  const note = h("text", { class: "gk-note", x: 4, y: drawing.height - 5 });
  const { lowered, gap, early, again, needed, inside } = rings;
  const svg = drawing.picture(
    ...rest,
    gains,
    ...relaxed,
    saved,
    h("g", { class: "gk-line-texts" }, ...lineWords),
    ...Object.values(root),
    lowered,
    gap,
    early,
    again,
    needed,
    inside,
    hollow,
    hollowIn,
    rim,
    ...shades,
    h("g", { class: "gk-labels" }, ...words),
    h("g", { class: "gk-names" }, ...names),
    halo,
    note,
  );
  const head = h("b"),
    state = h("small");
  const counters = counterList(RELAX_MEANINGS),
    ofClasses = counterList();
  const lists = h("div", { class: "gk-relax-lists" }, counters.list, classes ? ofClasses.list : null);
  const node = h("div", { class: "gk-relax-run" }, h("p", { class: "gk-relax-head" }, head, state), svg, lists);
  let run = null,
    at = 0,
    asked = -1,
    distance = null;

  const locate = (px, py) => drawing.nearest(px, py, r + 6);
  const tell = (v) => {
    if (start) put(svg, "class", start.roots.includes(v) ? "gk-graph gk-press" : "gk-graph");
    ask(v);
  };
  inspectable(svg, locate, tell, () => n);
  if (start) pressable(svg, locate, () => asked, start.start);

  function describe(v) {
    let times = 0;
    for (let step = 1; step <= Math.min(at, run.iterations); step++) times += run.relaxedAt(step).includes(v) ? 1 : 0;
    const last = run.distances(run.iterations, n)[v];
    const ends = distance[v] === last ? "" : `, in the end ${lengthWord(last)}`;
    return `vertex ${v}: ${lengthWord(distance[v])}${ends}; taken up in ${count(times, "iteration")}`;
  }

  // The arcs relaxed in this step, by the mark that draws them: one list of lines per class.
  function relaxedLines(shown, step) {
    const skipped = new Set(shown.skippedAt(step)),
      look = new Map();
    if (group.lineOfArc.length) {
      for (const u of shown.relaxedAt(step)) {
        for (let i = group.offsets[u]; i < group.offsets[u + 1]; i++) {
          const line = group.lineOfArc[i];
          if (!skipped.has(i)) look.set(line, Math.max(look.get(line) || 0, shown.classed ? group.classOfArc[i] : 0));
        }
      }
    }
    return looks.map((_, c) => [...look.keys()].filter((line) => look.get(line) === c).sort((a, b) => a - b));
  }

  // The look of a line is that of its arc with the highest class, unless the run has no classes.
  const lookOfLine = new Uint8Array(drawing.lineCount);
  if (classes) {
    group.lineOfArc.forEach((line, i) => {
      if (line >= 0) lookOfLine[line] = Math.max(lookOfLine[line], group.classOfArc[i]);
    });
  }

  function showArcs(step) {
    const relaxedNow = relaxedLines(run, step),
      gained = run.gainsAt(step);
    const used = new Set([...relaxedNow.flat(), ...gained]),
      gainedSet = new Set(gained);
    rest.forEach((path, c) => {
      const lines = [];
      for (let k = 0; k < drawing.lineCount; k++)
        if ((run.classed ? lookOfLine[k] : 0) === c && !used.has(k)) lines.push(k);
      put(path, "d", drawing.lines(lines));
    });
    put(gains, "d", drawing.lines(gained));
    relaxed.forEach((path, c) => {
      put(path, "d", drawing.lines(relaxedNow[c].filter((k) => classes || !gainedSet.has(k))));
    });
    const crossed = group.lineOfArc.length ? [...run.skippedAt(step)].map((i) => group.lineOfArc[i]) : [];
    put(saved, "d", [...new Set(crossed)].map((k) => crossPath(drawing.middle(k))).join(""));
  }

  function showVertices(step) {
    distance = run.distances(step, n);
    const shadeOf = Array.from(distance, shade);
    const of = (k) => vertices.filter((v) => shadeOf[v] === k);
    const none = drawing.dots(of(RELAX_SHADES));
    for (const path of Object.values(root)) put(path, "d", drawing.dots([run.root]));
    put(hollow, "d", none);
    put(hollowIn, "d", drawing.crowded ? "" : none);
    put(rim, "d", drawing.crowded ? "" : drawing.dots(vertices.filter((v) => shadeOf[v] < RELAX_SHADES)));
    shades.forEach((path, k) => put(path, "d", drawing.dots(of(k))));
    const taken = run.relaxedAt(step);
    const counted = new Set([...run.neededAt(step), ...run.earlyAt(step)]);
    put(needed, "d", drawing.dots(run.neededAt(step)));
    put(early, "d", drawing.dots(run.earlyAt(step)));
    put(again, "d", drawing.dots(taken.filter((v) => !counted.has(v))));
    put(inside, "d", drawing.dots(taken));
    put(lowered, "d", drawing.dots(run.loweredAt(step)));
    put(gap, "d", drawing.dots(run.loweredAt(step)));
    words.forEach((word, v) => {
      say(word, lengthWord(distance[v]));
      put(word, "class", shadeOf[v] === RELAX_SHADES ? "gk-text-quiet" : shadeOf[v] < 4 ? "gk-text" : "gk-on-dark");
    });
  }

  return {
    node,
    name: () => head.textContent,
    show(now, chosen, step) {
      group = now;
      run = chosen;
      at = step;
      put(svg, "aria-label", `Graph with ${count(n, "vertex", "vertices")}${run.label ? `, ${run.label}` : ""}`);
      showArcs(step);
      showVertices(step);
      say(head, run.label || "Distances");
      say(state, relaxState(group, run, step));
      put(node, "class", step >= run.iterations ? "gk-relax-run gk-relax-done" : "gk-relax-run");
      counters.show(relaxCounters(group, run, step));
      ofClasses.show(classCounters(group, classNames, run, step));
    },
    ask(v) {
      asked = v;
      put(halo, "d", v < 0 ? "" : drawing.dots([v]));
      say(note, v < 0 ? "" : describe(v));
    },
  };
}

function relaxState(group, run, step) {
  if (step < run.iterations) return `iteration ${step} of ${run.iterations}`;
  const first = run.iterations === group.first && group.first < group.last;
  return `✓ ${first ? "first to finish" : "finished"}: ${count(run.iterations, "iteration")}`;
}

function relaxCounters(group, run, step) {
  const now = run.countsAt(step),
    far = run.soFar(step);
  const ring = (name) => symbol([name, RELAX_DOT, 13], ["gk-dot-paper", RELAX_DOT, 9.5], ["gk-dot-v2", RELAX_DOT, 8]);
  const counters = [
    [ring("gk-dot-ink"), "taken up now", thousands(run.relaxedAt(step).length)],
    [
      symbol(["gk-square-clash", RELAX_DOT, 12], ["gk-dot-v2", RELAX_DOT, 9]),
      "too early now",
      thousands(run.earlyAt(step).length),
    ],
    [ring("gk-dot-new"), "lowered now", thousands(run.loweredAt(step).length)],
    [symbol(["gk-arc-read", "M0 7h14"]), "relaxed now", thousands(allKinds(now))],
    [null, "relaxed so far", thousands(allKinds(far))],
    [symbol(["gk-f-work", "M2 2h10v10h-10z"]), "needed", thousands(far[0])],
    [symbol(["gk-f-clash", "M2 2h10v10h-10z"]), "too early", thousands(far[1])],
    [symbol(["gk-f-line", "M2 2h10v10h-10z"]), "done again", thousands(far[2])],
  ];
  if (group.saves) counters.push([symbol(["gk-arc-saved", "M3 3l8 8m0-8l-8 8"]), "saved so far", thousands(far[3])]);
  return counters;
}

function classCounters(group, classNames, run, step) {
  if (!run.classed) return [];
  return run
    .classesSoFar(step)
    .map(([done, spared], c) => [
      symbol([`gk-arc-c${c} gk-arc-heavy`, "M0 7h14"]),
      classNames[c],
      `${thousands(done)}${group.saves ? `, saved ${thousands(spared)}` : ""}`,
    ]);
}
