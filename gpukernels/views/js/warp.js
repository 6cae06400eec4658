// WarpView: the lanes of a warp step by step, beside the source.
import { unpack } from "./decode.js";
import { count, h, number, percent, put, say, thousands } from "./element.js";
import { selectOf } from "./figure.js";
import { barPath, pathOf, squareKey, symbol, track } from "./marks.js";

const BRANCH = 1,
  BARRIER = 2;
const ALL = 0xffffffff;

export const warpView = {
  noun: "step",
  // What is cut off has no finish.
  races: (record, trace) => trace.total <= record.start + trace.steps,
  pace: 500,
  open(payload) {
    const listing = h("div", { class: "gk-program", tabindex: 0, role: "group", "aria-label": "Source" });
    return {
      stage: [listing],
      choose(k, again) {
        const data = readWarps(payload.traces[k]);
        let front = 0;
        const lines = makeListing(listing, data);
        const several = data.warps.length > 1;
        return {
          steps: data.steps,
          tracks: warpTracks(payload, data),
          keys: warpKeys(data),
          controls: several
            ? [
                selectOf(
                  "Source follows",
                  data.warps.map((w, i) => [String(i), `warp ${w.warp}`]),
                  "0",
                  (value) => {
                    front = Number(value);
                    again();
                  },
                ),
              ]
            : [],
          sentence: (step) => warpSentence(data, data.warps[front], step, payload.start, several),
          counters: (step) => warpCounters(data, data.warps[front], step),
          show: (step) => lines.show(data.warps[front], step),
        };
      },
    };
  },
};

function popcount(mask) {
  let n = 0;
  for (let m = mask >>> 0; m; m &= m - 1) n++;
  return n;
}

function readWarps(trace) {
  const warps = trace.warps.map((w) => {
    const record = { warp: w.warp };
    for (const name of ["row", "kind", "mask", "taken", "at", "array", "access", "lanes", "cost", "least"])
      record[name] = unpack(w[name]);
    record.steps = record.row.length;
    record.splits = Array.from(record.mask, (mask, k) => record.taken[k] !== 0 && record.taken[k] !== mask);
    // Sums up to and including each step, so that a jump costs as little as a step.
    record.lanesTo = runningSum(Array.from(record.mask, popcount));
    record.splitsTo = runningSum(record.splits.map(Number));
    return record;
  });
  const moved = new Array(trace.steps).fill(0),
    least = new Array(trace.steps).fill(0);
  const requests = new Array(trace.steps).fill(0),
    conflicts = new Array(trace.steps).fill(0);
  let anyGlobal = false,
    anyShared = false;
  for (const w of warps) {
    w.at.forEach((step, i) => {
      if (w.access[i] >= 4) {
        anyShared = true;
        conflicts[step] += w.cost[i] - 1;
      } else {
        anyGlobal = true;
        moved[step] += w.cost[i];
        least[step] += w.least[i];
        requests[step] += 1;
      }
    });
  }
  return {
    steps: trace.steps,
    numbers: unpack(trace.numbers),
    indents: unpack(trace.indents),
    texts: trace.texts,
    arrays: trace.arrays,
    warps,
    moved,
    least,
    movedTo: runningSum(moved),
    leastTo: runningSum(least),
    requestsTo: runningSum(requests),
    conflictsTo: runningSum(conflicts),
    anyGlobal,
    anyShared,
  };
}

function runningSum(values) {
  let sum = 0;
  return values.map((v) => (sum += v));
}

export function lanePath(masks) {
  let d = "";
  const open = new Map();
  for (let x = 0; x <= masks.length; x++) {
    const mask = x < masks.length ? masks[x] >>> 0 : 0;
    const runs = new Set();
    for (let lane = 0; lane < 32; lane++) {
      if (!((mask >>> lane) & 1)) continue;
      const first = lane;
      while (lane < 31 && (mask >>> (lane + 1)) & 1) lane++;
      runs.add(first * 64 + (lane - first + 1));
    }
    for (const run of [...open.keys()].sort((a, b) => a - b)) {
      if (runs.has(run)) continue;
      const from = open.get(run),
        wide = x - from;
      open.delete(run);
      d += `M${from} ${Math.floor(run / 64)}h${wide}v${run % 64}h-${wide}z`;
    }
    for (const run of runs) if (!open.has(run)) open.set(run, x);
  }
  return d;
}

function laneLayers(record) {
  const layers = { "gk-f-work": [], "gk-f-barrier": [], "gk-f-new": [], "gk-f-wait": [] };
  for (let k = 0; k < record.steps; k++) {
    const mask = record.mask[k],
      taken = record.taken[k];
    const split = record.kind[k] === BRANCH && record.splits[k];
    layers["gk-f-new"].push(split ? taken : 0);
    layers["gk-f-wait"].push(split ? mask & ~taken : 0);
    layers["gk-f-barrier"].push(!split && record.kind[k] === BARRIER ? mask : 0);
    layers["gk-f-work"].push(!split && record.kind[k] !== BARRIER ? mask : 0);
  }
  return Object.entries(layers);
}

function stripHeight(warps) {
  return warps === 1 ? 128 : warps === 2 ? 96 : warps <= 4 ? 64 : warps <= 8 ? 32 : 16;
}

function rulesPath(steps, height) {
  let d = "";
  if (height >= 96) for (let lane = 1; lane < 32; lane++) d += `M0 ${lane}h${steps}`;
  if (steps <= 100) for (let k = 1; k < steps; k++) d += `M${k} 0v32`;
  return d;
}

function warpTracks(payload, data) {
  const each = stripHeight(data.warps.length);
  const tracks = data.warps.map((w) =>
    track(
      `warp ${w.warp}`,
      "lanes 0–31",
      data.steps,
      each,
      32,
      [
        h("rect", { class: "gk-f-idle", x: 0, y: 0, width: w.steps, height: 32 }),
        ...laneLayers(w).map(([name, masks]) => pathOf(name, lanePath(masks))),
        pathOf("gk-s-grid", rulesPath(w.steps, each)),
      ],
      true,
    ),
  );
  if (data.moved.some((v) => v)) {
    let bars = "",
      excess = "";
    data.moved.forEach((v, k) => {
      const low = (30 * data.least[k]) / payload.mostSectors,
        high = (30 * v) / payload.mostSectors;
      bars += barPath(k, 30, low, "", "1");
      excess += barPath(k, 30 - low, high - low, "", "1");
    });
    tracks.push(
      track(
        "sectors",
        `most ${payload.mostSectors}`,
        data.steps,
        30,
        30,
        [pathOf("gk-f-done", bars), pathOf("gk-f-clash", excess)],
        true,
      ),
    );
  }
  return tracks;
}

function stripPath(mask, top, tall) {
  let d = "";
  for (let lane = 0; lane < 32; lane++) {
    if ((mask >>> lane) & 1) d += `M${number(4 * lane + 0.3)} ${number(top)}h3.4v${number(tall)}h-3.4z`;
  }
  return d;
}

function makeListing(listing, data) {
  const rows = data.texts.map((text, i) => {
    const layers = ["gk-f-faint", "gk-f-work", "gk-f-new", "gk-f-wait"].map((name) => pathOf(name));
    const strip = h(
      "svg",
      {
        class: "gk-lanes",
        viewBox: "0 0 128 12",
        preserveAspectRatio: "none",
        "aria-hidden": "true",
        width: 128,
        height: 12,
      },
      ...layers,
    );
    const times = h("span", { class: "gk-times" });
    const gap = data.numbers[i] ? "" : " gk-row-gap";
    const row = h(
      "div",
      { class: `gk-row${gap}` },
      h("span", { class: "gk-num" }, data.numbers[i] ? String(data.numbers[i]) : ""),
      h("code", { style: `--in:${data.indents[i]}` }, text),
      strip,
      times,
    );
    return { row, layers, times, gap };
  });
  listing.replaceChildren(...rows.map((r) => r.row));
  return {
    show(record, step) {
      const last = new Array(rows.length).fill(-1),
        ran = new Array(rows.length).fill(0);
      for (let k = 0; k <= step && k < record.steps; k++) {
        last[record.row[k]] = k;
        ran[record.row[k]]++;
      }
      rows.forEach((r, i) => {
        const now = step < record.steps && record.row[step] === i;
        put(r.row, "class", `gk-row${now ? " gk-row-now" : ""}${r.gap}`);
        const k = last[i];
        const mask = k < 0 ? 0 : record.mask[k],
          taken = k < 0 ? 0 : record.taken[k];
        const split = k >= 0 && record.kind[k] === BRANCH && record.splits[k];
        put(r.layers[0], "d", stripPath(mask ? ALL : 0, 5, 2));
        put(r.layers[1], "class", k >= 0 && record.kind[k] === BARRIER ? "gk-f-barrier" : "gk-f-work");
        put(r.layers[1], "d", split ? "" : stripPath(mask, 0, 12));
        put(r.layers[2], "d", split ? stripPath(taken, 0, 12) : "");
        put(r.layers[3], "d", split ? stripPath(mask & ~taken, 3, 6) : "");
        say(r.times, ran[i] ? `×${ran[i]}` : "");
      });
    },
  };
}

function warpKeys(data) {
  const keys = [[symbol(["gk-f-idle", "M0 1.5h14v5h-14z"], ["gk-f-faint", "M0 9h14v2h-14z"]), "lane idle"]];
  if (data.warps.some((w) => w.kind.includes(BARRIER))) keys.push([squareKey("gk-f-barrier"), "at a barrier"]);
  if (data.anyGlobal) keys.push([squareKey("gk-f-done"), "sectors that hold what is asked for"]);
  return keys;
}

const VERBS = ["Loads", "Stores", "Atomic on"];

function accessWords(data, w, i) {
  const head = `${VERBS[w.access[i] % 4]} ${data.arrays[w.array[i]]}`;
  const lanes = count(w.lanes[i], "lane");
  if (w.access[i] >= 4) {
    if (w.cost[i] === 1) return `${head} in shared memory: ${lanes}, no bank conflict.`;
    return `${head} in shared memory: ${lanes}, ${w.cost[i]} passes over the banks.`;
  }
  if (w.cost[i] === w.least[i]) return `${head}: ${lanes}, ${count(w.cost[i], "sector")}, as few as can be.`;
  return `${head}: ${lanes}, ${count(w.cost[i], "sector")} where ${w.least[i]} would hold the data.`;
}

function warpSentence(data, w, step, start, several) {
  const who = several ? `Warp ${w.warp}, step ${start + step}` : `Step ${start + step}`;
  if (step >= w.steps) return `${who}: the warp has ended.`;
  const line = data.numbers[w.row[step]];
  const active = popcount(w.mask[step]),
    entering = popcount(w.taken[step]);
  let said;
  if (w.kind[step] === BARRIER) said = `${who}, line ${line}: ${count(active, "lane")} at the barrier.`;
  else if (w.kind[step] === BRANCH && w.splits[step]) {
    said = `${who}, line ${line}: the branch parts ${active} lanes, ${entering} go in and ${active - entering} do not.`;
  } else if (w.kind[step] === BRANCH) {
    said = `${who}, line ${line}: ${count(active, "active lane")}, ${entering ? "all go in" : "none goes in"}.`;
  } else said = `${who}, line ${line}: ${active} of 32 lanes active.`;
  w.at.forEach((at, i) => {
    if (at === step) said += ` ${accessWords(data, w, i)}`;
  });
  return said;
}

function warpCounters(data, front, step) {
  const inside = step < front.steps;
  const mask = inside ? front.mask[step] : 0;
  const taken = inside && front.splits[step] ? front.taken[step] : 0;
  let steps = 0,
    lanes = 0,
    splits = 0;
  for (const w of data.warps) {
    const at = Math.min(step, w.steps - 1);
    if (at < 0) continue;
    steps += at + 1;
    lanes += w.lanesTo[at];
    splits += w.splitsTo[at];
  }
  const counters = [
    [squareKey("gk-f-work"), "lanes active", `${popcount(mask)} of 32`],
    [squareKey("gk-f-new"), "branch taken by", taken ? String(popcount(taken)) : "–"],
    [symbol(["gk-f-wait", "M1.5 4.5h11v5h-11z"]), "not taken by", taken ? String(popcount(mask & ~taken)) : "–"],
    [null, "warp steps so far", thousands(steps)],
    [null, "SIMD efficiency", percent(lanes, 32 * steps)],
    [null, "divergent branches", thousands(splits)],
  ];
  const requests = data.requestsTo[step];
  if (data.anyGlobal) {
    counters.push([null, "sectors a request", requests ? (data.movedTo[step] / requests).toFixed(1) : "–"]);
    counters.push([squareKey("gk-f-clash"), "avoidable sectors", thousands(data.movedTo[step] - data.leastTo[step])]);
  }
  if (data.anyShared) counters.push([null, "bank conflicts", thousands(data.conflictsTo[step])]);
  return counters;
}
