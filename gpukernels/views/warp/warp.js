// WarpView: the lanes of a warp step by step, beside the source.
import { countEach } from "../js/counted.js";
import { cursorOf, lightNode, litMark, namesOf } from "../js/cursor.js";
import { unpack } from "../js/decode.js";
import { count, h, number, percent, put, say, thousands } from "../js/element.js";
import { selectOf } from "../js/figure.js";
import { placeIn } from "../js/inspect.js";
import { SQUARE, boxPath, pathOf, squareKey, symbol, track, stackedBars } from "../js/marks.js";

const BRANCH = 1,
  BARRIER = 2;
const ALL = 0xffffffff;

const WARP_MEANINGS = {
  "lanes active": "Lanes of this warp that take part in the step, of 32. The others wait.",
  "branch taken by": "Lanes that go into the branch, if the active lanes disagree about it.",
  "not taken by": "Lanes that do not go in, if the active lanes disagree. They wait.",
  "warp steps so far":
    "Steps of all warps here, up to now. A step is a statement that a warp runs, with any number of lanes.",
  "SIMD efficiency": "Active lanes of all steps so far, divided by 32 times the steps: 100% if no lane has waited.",
  "divergent branches": "Times so far that the active lanes of a warp disagreed about a branch.",
  "sectors per request":
    "Mean number of sectors that a load, store or atomic of a warp has moved so far. A sector has 32 bytes.",
  "avoidable sectors": "Sectors moved so far beyond those that the requested bytes would fill.",
  "bank conflicts": "Passes over the banks of shared memory so far, beyond one for each request.",
};

export const warpView = {
  counted: countEach("step"),
  meanings: WARP_MEANINGS,
  // A run that is cut off has no finish.
  races: (record, trace) => trace.total <= record.start + trace.steps,
  pace: 500,
  open(payload) {
    const listing = h("div", { class: "gk-program", tabindex: 0, role: "group", "aria-label": "Source" });
    // The drawn state.
    const drawn = { data: null, lines: null, strips: [], memory: null, front: 0, step: 0 };
    const counted = countEach("step", payload.start + 1),
      cursor = warpCursor(drawn, counted);
    cursor.over(listing, (event) => drawn.lines.locate(event, drawn.data.warps[drawn.front], drawn.front, drawn.step));
    cursor.keys(listing, () => drawn.lines.marks(), ["ArrowUp", "ArrowDown"]);
    return {
      counted,
      stage: [listing],
      parts: () => [["Source", [listing]]],
      cursor,
      choose(k, again) {
        const data = readWarps(payload.traces[k]);
        let front = 0;
        const lines = makeListing(listing, data);
        const [tracks, strips] = warpTracks(payload, data);
        const memory = data.sectorsMost ? memoryTrack(data, cursor) : null;
        strips.forEach((strip, i) => pointAtLanes(strip, i, cursor, drawn));
        Object.assign(drawn, { data, lines, strips, memory, front });
        const several = data.warps.length > 1,
          names = data.warps.map((w) => `warp ${w.warp}`);
        const follows = selectOf("Source follows", names, 0, (at) => {
          drawn.front = front = at;
          again();
        });
        return {
          steps: data.steps,
          tracks: memory ? [...tracks, memory.node] : tracks,
          keys: warpKeys(data),
          controls: several ? [follows] : [],
          sentence: (step) => warpSentence(data, data.warps[front], step, counted, several),
          counters: (step) => warpCounters(data, data.warps[front], step),
          show(step) {
            drawn.step = step;
            lines.show(data.warps[front], step);
            if (memory) memory.show(step);
          },
        };
      },
    };
  },
};

// Numbers of marks: the lanes of all warps, the rows of the listing, the elements and the sectors of each array are each
// numbered.
const LANES = 32,
  SECTOR_BYTES = 32,
  ARRAYS_APART = 2 ** 32;

// A word common to all ids is shown once.
function within(ids, of) {
  const all = new Set([...ids].map(of));
  return all.size > 1 ? "" : ` of ${[...all][0]}`;
}

function warpCursor(drawn, counted) {
  const arrayOf = (id) => drawn.data.arrays[Math.floor(id / ARRAYS_APART)];
  const longName = () => drawn.data.arrays.reduce((a, b) => (b.length > a.length ? b : a), "");
  const several = () => drawn.data.warps.length > 1;
  const warpOf = (id) => `warp ${drawn.data.warps[Math.floor(id / LANES)].warp}`;
  return cursorOf(
    {
      lane: {
        say(ids) {
          const words = namesOf(ids, "lane", "lanes", (id) => id % LANES);
          return several() ? words + (within(ids, warpOf) || " of several warps") : words;
        },
        light: (ids, step) => drawn.strips.forEach((strip, i) => strip.light(ids, i, step)),
        longest: () => (several() ? "lanes 30, 31 of several warps" : "lanes 30, 31"),
      },
      row: {
        say: (ids) => namesOf(ids, "line", "lines", (i) => drawn.data.numbers[i]),
        light: (ids) => drawn.lines.light(ids),
        longest: () => "line 999",
        // The step that last ran a line.
        at: (row, step) => drawn.data.warps[drawn.front].lastRun(row, step),
      },
      element: {
        say: (ids) => namesOf(ids, "", "elements", (id) => `${arrayOf(id)}[${id % ARRAYS_APART}]`),
        longest: () => `elements ${longName()}[999], ${longName()}[999]`,
      },
      sector: {
        say: (ids) => namesOf(ids, "sector", "sectors", (id) => id % ARRAYS_APART) + within(ids, arrayOf),
        light: (ids, step) => drawn.memory?.light(ids, step),
        longest: () => `sectors 99, 99 of ${longName()}`,
      },
    },
    (step) => drawn.data.ties(step),
    "Point at a lane, a line or a sector: what goes with it lights up; a click or tap keeps it.",
    counted,
  );
}

// Lanes are asked in the timeline of their warp, whose columns are steps.
function pointAtLanes(strip, i, cursor, drawn) {
  cursor.over(strip.svg, (event) => {
    const { x, y } = placeIn(strip.svg, event);
    const at = Math.floor(x),
      lane = Math.floor(y);
    if (at < 0 || at >= drawn.data.warps[i].steps || lane < 0 || lane >= LANES) return null;
    return ["lane", LANES * i + lane, at];
  });
  cursor.keys(strip.svg, () => Array.from({ length: LANES }, (_, lane) => ["lane", LANES * i + lane]), [
    "ArrowUp",
    "ArrowDown",
  ]);
}

// The line of each warp in a step, and the elements that each lane touched.
function tiesOfWarps(warps, sizes, step) {
  const ties = [];
  warps.forEach((w, i) => {
    if (step >= w.steps) return;
    const row = w.row[step];
    for (let lane = 0; lane < LANES; lane++)
      if ((w.mask[step] >>> lane) & 1) ties.push({ lane: LANES * i + lane, row });
    for (const access of w.accessesAt(step)) {
      const base = ARRAYS_APART * w.array[access],
        size = sizes ? sizes[w.array[access]] : 0;
      for (const [lane, index] of w.touched(access)) {
        const tie = { lane: LANES * i + lane, row, element: base + index };
        const shared = w.access[access] >= 4;
        ties.push(shared ? tie : { ...tie, sector: base + Math.floor((index * size) / SECTOR_BYTES) });
      }
    }
  });
  return ties;
}

// The sectors that a step moves, one beside the other, and which part of each is wanted.
function memoryTrack(data, cursor) {
  const wide = Math.max(data.sectorsMost, 16);
  const boxes = pathOf("gk-f-fetched"),
    wanted = pathOf("gk-f-work"),
    frames = pathOf("gk-s-sector"),
    lit = litMark();
  const svg = h(
    "svg",
    {
      class: "gk-memory",
      viewBox: `0 0 ${SECTOR_BYTES * wide} 16`,
      preserveAspectRatio: "none",
      width: "100%",
      height: 16,
      role: "img",
      "aria-label": "Sectors of the step",
    },
    boxes,
    wanted,
    frames,
    lit.node,
  );
  let at = -1,
    sectors = [];
  const box = (k) => boxPath(SECTOR_BYTES * k + 2, 1, SECTOR_BYTES - 4, 14);
  const showStep = (step) => {
    if (step === at) return;
    at = step;
    const elements = new Map();
    for (const { sector, element } of data.ties(step)) {
      if (sector === undefined) continue;
      if (!elements.has(sector)) elements.set(sector, new Set());
      elements.get(sector).add(element);
    }
    sectors = [...elements.keys()].sort((a, b) => a - b);
    let all = "",
      parts = "";
    sectors.forEach((sector, k) => {
      all += box(k);
      const size = data.sizes[Math.floor(sector / ARRAYS_APART)];
      for (const element of elements.get(sector)) {
        const from = ((element % ARRAYS_APART) * size) % SECTOR_BYTES;
        parts += boxPath(
          SECTOR_BYTES * k + 2 + (from * (SECTOR_BYTES - 4)) / SECTOR_BYTES,
          1,
          (size * (SECTOR_BYTES - 4)) / SECTOR_BYTES,
          14,
        );
      }
    });
    put(boxes, "d", all);
    put(wanted, "d", parts);
    put(frames, "d", all);
  };
  cursor.over(svg, (event) => {
    const k = Math.floor(placeIn(svg, event).x / SECTOR_BYTES);
    return k >= 0 && k < sectors.length ? ["sector", sectors[k], at] : null;
  });
  cursor.keys(svg, () => sectors.map((sector) => ["sector", sector]), ["ArrowUp", "ArrowDown"]);
  return {
    node: h(
      "div",
      { class: "gk-track" },
      h("span", { class: "gk-track-label" }, "memory", h("small", null, "this step")),
      svg,
    ),
    show: showStep,
    light(ids, step) {
      showStep(step);
      lit.show(sectors.map((sector, k) => (ids.has(sector) ? box(k) : "")).join(""));
    },
  };
}

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
    readAccesses(record, w);
    record.lastRun = (row, step) => {
      for (let k = Math.min(step, record.steps - 1); k >= 0; k--) if (record.row[k] === row) return k;
      return step;
    };
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
  let sectorsMost = 0;
  const ties = (step) => tiesOfWarps(warps, trace.sizes, step);
  if (trace.sizes && warps.some((w) => w.index)) {
    for (let k = 0; k < trace.steps; k++) {
      if (moved[k] > 0) sectorsMost = Math.max(sectorsMost, new Set(ties(k).map((tie) => tie.sector)).size);
    }
  }
  return {
    sizes: trace.sizes,
    sectorsMost,
    ties,
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

// The accesses of a step, and the elements that their lanes touch; not all records have these.
function readAccesses(record, w) {
  const at = new Map();
  record.at.forEach((step, i) => at.set(step, [...(at.get(step) || []), i]));
  record.accessesAt = (step) => at.get(step) || [];
  record.index = w.index ? unpack(w.index) : null;
  if (!record.index) {
    record.touched = () => [];
    return;
  }
  const who = unpack(w.who);
  const begins = [0, ...runningSum(Array.from(who, popcount))];
  record.touched = (i) => {
    const pairs = [];
    for (let lane = 0, k = begins[i]; lane < LANES; lane++) {
      if ((who[i] >>> lane) & 1) pairs.push([lane, record.index[k++]]);
    }
    return pairs;
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
  const strips = [];
  const tracks = data.warps.map((w) => {
    const node = track(
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
    );
    strips.push(laneStrip(node.lastElementChild, w));
    return node;
  });
  if (data.moved.some((v) => v)) {
    const parts = (k) => [data.least[k], data.moved[k] - data.least[k]].map((v) => (30 * v) / payload.mostSectors);
    const bars = stackedBars(["gk-f-done", "gk-f-clash"], data.steps, parts, 30, "", "1");
    tracks.push(track("sectors", `most ${payload.mostSectors}`, data.steps, 30, 30, bars, true));
  }
  return [tracks, strips];
}

// Lights lanes of one warp's timeline in the column of a step.
function laneStrip(svg, w) {
  const lit = litMark();
  svg.append(lit.node);
  put(svg, "aria-hidden", "false");
  put(svg, "role", "img");
  put(svg, "aria-label", `Lanes of warp ${w.warp}, by steps`);
  return {
    svg,
    light(ids, i, step) {
      let mask = 0;
      for (const id of ids) if (Math.floor(id / LANES) === i && step < w.steps) mask |= 1 << (id % LANES);
      lit.show(mask ? lanePath([...new Array(step).fill(0), mask]) : "");
    },
  };
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
  const reached = rows.map((_, i) => i).filter((i) => data.warps.some((w) => w.row.includes(i)));
  return {
    // A line that ran, or a lane of its last run.
    locate(event, record, front, step) {
      const i = rows.findIndex((r) => r.row === event.target.closest(".gk-row"));
      if (!reached.includes(i)) return null;
      const strip = event.target.closest(".gk-lanes");
      const at = record.lastRun(i, step);
      if (!strip || record.row[at] !== i) return ["row", i];
      const box = strip.getBoundingClientRect();
      const lane = Math.floor((LANES * (event.clientX - box.left)) / box.width);
      return ["lane", LANES * front + Math.min(Math.max(lane, 0), LANES - 1), at];
    },
    marks: () => reached.map((i) => ["row", i]),
    light(ids) {
      rows.forEach((r, i) => lightNode(r.row, ids.has(i)));
    },
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
  if (data.sectorsMost) {
    keys.push([
      symbol(["gk-f-fetched", SQUARE], ["gk-f-work", "M1.5 1.5h4v11h-4z"], ["gk-s-sector", SQUARE]),
      "a sector that this step moves, and the part of it that lanes requested",
    ]);
  }
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

function warpSentence(data, w, step, counted, several) {
  const who = several ? `Warp ${w.warp}, ${counted.name(step)}` : `Step ${counted.number(step)}`;
  if (step >= w.steps) return `${who}: the warp has ended.`;
  const line = data.numbers[w.row[step]];
  const active = popcount(w.mask[step]),
    entering = popcount(w.taken[step]);
  let text;
  if (w.kind[step] === BARRIER) text = `${who}, line ${line}: ${count(active, "lane")} at the barrier.`;
  else if (w.kind[step] === BRANCH && w.splits[step]) {
    text = `${who}, line ${line}: the branch parts ${active} lanes, ${entering} go in and ${active - entering} do not.`;
  } else if (w.kind[step] === BRANCH) {
    text = `${who}, line ${line}: ${count(active, "active lane")}, ${entering ? "all go in" : "none goes in"}.`;
  } else text = `${who}, line ${line}: ${active} of 32 lanes active.`;
  w.at.forEach((at, i) => {
    if (at === step) text += ` ${accessWords(data, w, i)}`;
  });
  return text;
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
    counters.push([null, "sectors per request", requests ? (data.movedTo[step] / requests).toFixed(1) : "–"]);
    counters.push([squareKey("gk-f-clash"), "avoidable sectors", thousands(data.movedTo[step] - data.leastTo[step])]);
  }
  if (data.anyShared) counters.push([null, "bank conflicts", thousands(data.conflictsTo[step])]);
  return counters;
}
