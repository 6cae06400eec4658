// TileView: Floyd-Warshall on a matrix, plain or tile by tile, frame by frame on one clock.
import { countAfter } from "../js/counted.js";
import { unpack } from "../js/decode.js";
import { count, h, number, put, say, thousands } from "../js/element.js";
import { selectOf } from "../js/figure.js";
import { barPath, boxPath, pathOf, scaleKey, squareKey, symbol, track } from "../js/marks.js";
import { runControls } from "../js/runs.js";
import { insidePanel } from "./tile_inside.js";
import { matrixPanel } from "./tile_matrix.js";
import { readTileRun } from "./tile_run.js";

// Looks and names of the kinds of launches, in the order of gpukernels/views/tile_run.py.
const PHASE_LOOKS = ["gk-f-done", "gk-f-wait", "gk-f-work", "gk-f-clash", "gk-f-line"];
const PHASE_NAMES = [
  "the pivot tile",
  "its row and column",
  "the remainder",
  "rows and columns of the panel",
  "the whole matrix",
];
const PHASE_KEYS = ["pivot tile", "row and column", "remainder", "panel", "whole matrix"].map(
  (name) => `launch: ${name}`,
);

const TILE_MEANINGS = {
  launches: "Kernels that the host has started so far, one after the other.",
  "bytes, global memory": "32 for each sector that a request of a warp has moved so far.",
  operations: "Additions so far, each with a comparison.",
  "requests, shared memory": "Loads and stores of warps in shared memory, so far.",
};

export const tileView = {
  counted: countAfter("frame"),
  meanings: TILE_MEANINGS,
  pace: 700,
  open(payload) {
    const lengths = unpack(payload.lengths);
    const runs = payload.runs.map((run) => readTileRun(run));
    const scale = { lengths, shades: payload.shades };
    const shown = runs.length > 1 ? [0, 1] : [0];
    const stage = h("div", { class: runs.length > 1 ? "gk-tile gk-tile-two" : "gk-tile" });
    return {
      stage: [stage],
      parts(column, full) {
        const [matrix, inside] = stage.children,
          counts = matrix.lastElementChild,
          drawn = [...matrix.children].filter((node) => node !== counts);
        // Over the whole window the numbers leave their room to the matrices.
        const first = full ? [["Matrix", [matrix, ...drawn]]] : [["Matrix", [matrix]]];
        const last = full ? [["Counts", [matrix, counts]]] : [];
        return [...first, ...(inside ? [["Inside a tile", [inside]]] : []), ...last];
      },
      choose(k, refresh) {
        const clock = readClock(payload.traces[k]);
        let picked = null;
        const tileList = listOfTiles(runs, (place) => {
          picked = place;
          refresh();
        });
        const panels = shown.map(() =>
          matrixPanel(scale, (place) => {
            picked = place;
            tileList.select(place);
            refresh();
          }),
        );
        const inside = runs.some((run) => run.tile) ? insidePanel(scale) : null;
        const table = countsTable(runs);
        stage.replaceChildren(
          h("div", { class: "gk-tile-runs" }, ...panels.map((panel) => panel.node), table.node),
          ...(inside ? [inside.node] : []),
        );
        return {
          steps: clock.steps,
          tracks: tileTracks(runs, clock),
          keys: tileKeys(runs),
          controls: [...runControls(payload.dial, runs, shown, refresh), ...tileList.controls],
          counters: () => [],
          sentence: (step) => tileSentence(runs, clock, shown, step),
          show(step) {
            const states = shown.map((i) => stateAt(runs[i], clock.at[i], step));
            panels.forEach((panel, i) => panel.show(states[i], picked, stateWord(runs, states[i])));
            const tiled = states.findLast((state) => state.run.tile);
            if (inside) inside.show(tiled || null, picked);
            table.show(states);
          },
        };
      },
    };
  },
};

function readClock(trace) {
  return { label: trace.label, steps: trace.steps, value: unpack(trace.value), at: trace.at.map(unpack) };
}

// A place is a row and a column of the matrix, so that it also finds its tile where tiles have another size.
function listOfTiles(runs, pick) {
  const tiled = runs.filter((run) => run.tile);
  if (!tiled.length) return { controls: [], select() {} };
  const run = tiled.reduce((most, other) => (other.perRow > most.perRow ? other : most));
  const entries = Array.from({ length: run.perRow * run.perRow }, (_, t) => `tile ${run.tileName(t)}`);
  entries.unshift("each launch's first tile");
  const field = selectOf("Look into", entries, 0, (at) => pick(at ? run.corner(at - 1) : null));
  return {
    controls: [field],
    select(place) {
      field.lastElementChild.selectedIndex = place ? run.tileOf(place) + 1 : 0;
    },
  };
}

function tileTracks(runs, clock) {
  const tall = runs.length < 4 ? 26 : 16;
  const most = Math.max(1, ...runs.map((run) => Math.max(...run.bytes)));
  return runs.map((run, i) => {
    const looks = PHASE_LOOKS.map(() => ""),
      at = clock.at[i];
    let end = 0;
    for (let step = 1; step < clock.steps; step++) {
      if (at[step] === at[step - 1]) continue;
      const frame = at[step] - 1;
      // A frame is seen also where no bytes move.
      const high = 3 + ((tall - 3) * run.bytes[frame]) / most;
      looks[run.phase(run.launch[frame])] += barPath(step, tall, high, ".06", ".88");
      end = step;
    }
    const total = run.sums(run.frames).bytes;
    return track(run.label || "all", `${thousands(total)} bytes`, clock.steps, tall, tall, [
      ...PHASE_LOOKS.map((name, k) => pathOf(name, looks[k])),
      pathOf("gk-s-end", `M${end + 1} 0V${tall}`),
    ]);
  });
}

// A run that was done before shows what it left, without the marks of its last frame.
function stateAt(run, at, step) {
  const state = run.at(at[step]);
  return state.done && step && at[step - 1] === at[step] ? { ...state, frame: -1 } : state;
}

function stateWord(runs, { run, frame, done }) {
  if (!done) return frame < 0 ? `0 of ${run.launches} launches` : `launch ${run.launch[frame] + 1} of ${run.launches}`;
  const mine = run.sums(run.frames).bytes;
  const first = runs.length > 1 && runs.every((other) => other === run || other.sums(other.frames).bytes > mine);
  return first ? "✓ done, fewest bytes" : "✓ done";
}

function tileSentence(runs, clock, shown, step) {
  const value = clock.value[step];
  const start = clock.label === "bytes" ? `${count(value, "byte")} moved.` : `${count(value, "launch", "launches")}.`;
  // Words common to two runs are shown once.
  const labelsOf = new Map();
  for (const i of new Set(shown)) {
    const run = runs[i],
      at = clock.at[i];
    const words = !step || at[step] > at[step - 1] ? runSentence(run.at(at[step])) : waitSentence(run, at[step]);
    labelsOf.set(words, [...(labelsOf.get(words) || []), run.label]);
  }
  const sentences = [...labelsOf].map(([words, labels]) =>
    labels[0] ? `${labels.join(", ")}: ${words}` : words[0].toUpperCase() + words.slice(1),
  );
  return `${start} ${sentences.join(" ")}`;
}

// The words for a run while the clock, or another run on it, advances.
function waitSentence(run, over) {
  if (over >= run.frames) return `done after ${count(run.launches, "launch", "launches")}.`;
  return `launch ${run.launch[over] + 1} is under way.`;
}

function runSentence({ run, frame }) {
  if (frame < 0) return "nothing yet.";
  const launch = run.launch[frame];
  const [first, until] = run.pivotsAt(frame);
  const fell = run.loweredAt(frame).length;
  if (!run.tile) {
    const through = first < 0 ? "" : `all ${thousands(run.rows * run.rows)} pairs ask for the way through ${first}; `;
    return `launch ${launch + 1}, ${through}${count(fell, "length")} fell.`;
  }
  const where = `launch ${launch + 1}, ${PHASE_NAMES[run.phase(launch)]}`;
  const written = run.writesAt(frame).length;
  if (written) return `${where}: ${count(written, "tile")} written, ${count(fell, "length")} fell.`;
  if (first < 0) return `${where}: ${count(run.tilesOf(launch).length, "tile")} begun, slices come to shared memory.`;
  const through = first === until ? `vertex ${first}` : `vertices ${first} to ${until}`;
  const kept = count(run.keptAt(frame).length, "length");
  const next = run.boxesAt(frame).some((box) => box.state === 2) ? ", the next slices arrive" : "";
  return `${where}: ways through ${through}, from shared memory; ${kept} in registers fell${next}.`;
}

// The costs of each run so far, side by side; a bar under each number shows its share of the largest final cost.
function countsTable(runs) {
  const ends = runs.map((run) => costsOf(run.at(run.frames)));
  const names = Object.keys(TILE_MEANINGS);
  const most = names.map((_, k) => Math.max(1, ...ends.map((costs) => costs[k])));
  const node = h("div", { class: "gk-tile-counts", role: "table", "aria-label": "Costs so far" });
  return {
    node,
    show(states) {
      if (!node.childElementCount)
        node.replaceChildren(
          ...["so far", ...names].map((name, k) =>
            countLine(
              name,
              k ? "rowheader" : "columnheader",
              k ? k - 1 : null,
              states.map(() => h("span", { role: k ? "cell" : "columnheader", class: "gk-tile-cell" })),
            ),
          ),
        );
      states.forEach((state, i) => {
        const cell = (k) => node.children[k].children[i + 1];
        say(cell(0), state.run.label || "this run");
        costsOf(state).forEach((cost, k) => {
          say(cell(k + 1), thousands(cost));
          put(cell(k + 1), "style", `--gk-share:${number((100 * cost) / most[k])}%`);
        });
      });
    },
  };
}

// Blanks keep the words apart where there is no style sheet.
function countLine(name, head, stop, cells) {
  const parts = cells.flatMap((cell) => [" ", cell]);
  return h(
    "div",
    { role: "row", class: "gk-tile-count" },
    h("span", { role: head, tabindex: stop === null ? null : stop ? -1 : 0 }, name),
    ...parts,
  );
}

function costsOf({ run, over, sums }) {
  return [over ? run.launch[over - 1] + 1 : 0, sums.bytes, sums.operations, sums.shared];
}

function tileKeys(runs) {
  const tiled = runs.some((run) => run.tile);
  const box = boxPath(1.5, 1.5, 11, 11);
  const entries = [
    [scaleKey(["gk-tile-none", ...Array.from({ length: 6 }, (_, k) => `gk-tile-v${k}`)]), "no path, short to long"],
    [squareKey("gk-f-new"), "fell just now"],
  ];
  entries.push([symbol(["gk-s-tile-band", "M0 4.5h14v5h-14z"]), "row, column of the pivot"]);
  if (tiled) {
    entries.push(
      [symbol(["gk-s-tile-writes", box]), "written by this launch"],
      [symbol(["gk-s-tile-reads", box]), "read by it"],
      [symbol(["gk-s-tile-lies", box]), "in shared memory"],
      [symbol(["gk-s-tile-used", box]), "in use there"],
      [symbol(["gk-s-tile-comes", box]), "arriving"],
      [symbol(["gk-s-now", box]), "one thread's"],
      [symbol(["gk-s-tile-looked", box]), "looked into"],
      [symbol(["gk-s-tile-arrow", "M1 7h11m-4-4l4 4l-4 4"]), "read for it"],
      [squareKey("gk-tile-own"), "what the thread reads of the slices"],
      [symbol(["gk-s-tile-grid", box]), "tile"],
      [h("b", null, "5 ✓"), "last written by launch 5; ✓ done for this pivot tile"],
    );
  }
  for (const k of PHASE_LOOKS.keys()) {
    if (runs.some((run) => run.phases.includes(k))) entries.push([squareKey(PHASE_LOOKS[k]), PHASE_KEYS[k]]);
  }
  entries.push([symbol(["gk-s-end", "M7 1v12"]), "the run ends"]);
  return entries;
}
