// ScanView: the values of a prefix sum after each step.
import { countAfter } from "../js/counted.js";
import { unpack, unpackLists } from "../js/decode.js";
import { h, number, put, say } from "../js/element.js";
import { inspectable } from "../js/inspect.js";
import {
  SQUARE,
  boxPath,
  codeLine,
  emptyPaths,
  lineKey,
  pathOf,
  squareKey,
  symbol,
  track,
  wordsText,
  picture,
  stackedBars,
} from "../js/marks.js";

const ADDS = 0,
  TAKES = 1,
  READS = 2,
  // About so many columns are a picture of its own where each is a row.
  TURNED = 32;
const HINT = "Point at or tap a value, or press an arrow key: what went into it?";

const SCAN_MEANINGS = {
  "values added": "In this step: values that were read and added to another.",
  "values taken": "In this step: values that were read and took the place of another.",
  "values read": "In this step: values that were read, and neither added nor kept here.",
  "additions so far": "All values added up to now.",
  "requests so far": "Loads and stores of warps in shared memory, up to now.",
  "bank conflicts so far": "Passes over the banks of shared memory, beyond one for each request.",
};

export const scanView = {
  counted: countAfter("step"),
  meanings: SCAN_MEANINGS,
  races: () => true,
  pace: 1400,
  open(payload) {
    const code = codeLine();
    const place = h("div", { class: "gk-scan" });
    let turned = [],
      noun = "";
    // Pictures of some of the columns each, where these are drawn.
    const pieces = () => ({
      word: `${noun[0].toUpperCase()}${noun.slice(1)}s`,
      nodes: turned.map(({ svg }) => [code.node, svg]),
      ends: turned.map(({ from, to }) => [from, to - 1]),
    });
    const isTurned = () => turned[0].svg.getClientRects().length > 0;
    return {
      stage: [code.node, place],
      parts: () => [["Picture", [code.node, place], isTurned() ? pieces() : null]],
      choose(k) {
        const data = readScan(payload.traces[k]);
        turned = [];
        noun = data.noun;
        const own = Math.ceil(data.columns / Math.max(1, Math.round(data.columns / TURNED)));
        for (let from = 0; from < data.columns; from += own)
          turned.push(scanPicture(data, true, from, Math.min(from + own, data.columns)));
        const pictures = [scanPicture(data, false), ...turned];
        place.replaceChildren(...pictures.map(({ svg }) => svg));
        code.hold(data.texts.map(([, text]) => text));
        return {
          steps: data.steps,
          tracks: data.steps > 1 ? scanTracks(data) : [],
          keys: scanKeys(data),
          sentence: (step) => data.sentences[step],
          counters: (step) => scanCounters(data, step),
          show(step) {
            code.show(...data.texts[data.text[step]]);
            for (const { show } of pictures) show(step);
          },
        };
      },
    };
  },
};

function readScan(trace) {
  const data = { ...trace, words: trace.words.map((row) => row.split(" ")) };
  for (const name of ["of", "to", "kinds", "changed", "crowded"]) data[name] = unpackLists(trace[name]);
  for (const name of ["requests", "conflicts", "text"]) data[name] = unpack(trace[name]);
  data.used = new Set(unpack(trace.kinds.of));
  return data;
}

// For the columns `from` up to `to`.
function scanLayout(data, turned, from, to) {
  const { columns, steps } = data;
  const longest = Math.max(...data.words.flat().map((word) => word.length));
  const many = columns > 32,
    left = 24,
    top = 15;
  const column = turned ? (many ? 12.6 : 14) : many ? 12.2 : 17.5;
  const pitch = turned ? Math.min(334 / steps, 60) : many ? 34 : 42;
  const along = turned ? 0.58 * pitch : many ? 22 : 16,
    across = column - 1;
  // Numbers of many columns alternate between two lines, so that each has the width of two cells. No word gets too small
  // to read; a long one leaves its cell instead.
  const font = many && !turned ? 10.5 : turned ? 9.4 : Math.max(Math.min(9, across / (0.68 * longest)), 7.4);
  const lineOf = (c) => (many && !turned ? (c % 2 ? 5.2 : -5.2) : 0);
  const box = (c, k) =>
    turned
      ? [left + k * pitch, top + (c - from) * column + 0.5, along, across]
      : [left + c * column + 0.5, top + k * pitch, across, along];
  const middle = (c, k) => {
    const [x, y, w, t] = box(c, k);
    return [x + w / 2, y + t / 2 + 0.36 * font + lineOf(c)];
  };
  return {
    turned,
    font,
    box,
    middle,
    along,
    across,
    width: turned ? left + steps * pitch : left + columns * column + (data.array ? 30 : 0),
    // Marks beyond these columns are cut off.
    view: [0, top, left + steps * pitch, (to - from) * column],
    height: turned ? top + (to - from) * column + (data.array ? 28 : 15) : top + (steps - 1) * pitch + along + 18,
    row(k) {
      const [x, y, w, t] = box(from, k);
      const long = number((to - from) * column);
      return turned ? `M${number(x + w / 2)} ${number(y)}v${long}` : `M${number(x)} ${number(y + t / 2)}h${long}`;
    },
    cell: (c, k) => boxPath(...box(c, k)),
    arc(of, by, k) {
      const [x, y, w, t] = box(of, k - 1),
        [u, v, p, q] = box(by, k);
      const bow = 0.6 * (pitch - along);
      const ends = turned
        ? [x + w, y + t / 2, x + w + bow, y + t / 2, u - bow, v + q / 2, u, v + q / 2]
        : [x + w / 2, y + t, x + w / 2, y + t + bow, u + p / 2, v - bow, u + p / 2, v];
      const [a, b, ...rest] = ends.map(number);
      return `M${a} ${b}C${rest.join(" ")}`;
    },
    crowd(c, k) {
      const [x, y, w, t] = box(c, k);
      return turned ? boxPath(x + w, y, 2.5, t) : boxPath(x, y + t, w, 2.5);
    },
    ticks() {
      const every = turned || !many ? 1 : 8;
      const ticks = [];
      for (let c = from; c < to; c += every) {
        ticks.push(turned ? [left - 10, middle(c, 0)[1], String(c)] : [middle(c, 0)[0], top - 5, String(c)]);
      }
      return ticks;
    },
    stepName(k) {
      const [x, y, w, t] = box(from, k);
      return turned ? [x + w / 2, top - 5] : [left - 11, y + t / 2 + 3.2];
    },
    stepNote(k) {
      const [x, y, w, t] = box(to - 1, k);
      return turned ? [x + w / 2, y + t + 10] : [x + w + 15, y + t / 2 + 3.2];
    },
    locate(x, y) {
      const c = from + Math.floor(turned ? (y - top) / column : (x - left) / column);
      const k = Math.floor(turned ? (x - left) / pitch : (y - top) / pitch);
      return c >= from && c < to && k >= 0 && k < steps ? k * (to - from) + c - from : -1;
    },
  };
}

// Marks of a part of a picture, clipped to it; its units are the picture's.
function clipped([x, y, width, height], marks) {
  const view = [x, y, width, height].map(number);
  return h("svg", { x: view[0], y: view[1], width: view[2], height: view[3], viewBox: view.join(" ") }, ...marks);
}

function scanPicture(data, turned, from = 0, to = data.columns) {
  const place = scanLayout(data, turned, from, to),
    wide = to - from,
    whole = wide === data.columns;
  const names = {
    row: "gk-s-row",
    was: "gk-scan-was",
    added: "gk-f-work",
    taken: "gk-f-new",
    crowd: "gk-f-clash",
    now: "gk-follow",
    old: "gk-s-old",
    carry: "gk-s-carry",
    add: "gk-s-add",
    take: "gk-s-take",
  };
  const layers = emptyPaths(names);
  put(layers.row, "stroke-width", number(place.along));
  put(layers.row, "stroke-dasharray", `${number(place.across)} 1`);
  const texts = {
    ticks: wordsText("gk-tick gk-text-quiet"),
    steps: wordsText("gk-scan-step"),
    notes: wordsText("gk-text-clash gk-scan-note"),
    quiet: wordsText("gk-scan-word gk-text-quiet", place.font),
    plain: wordsText("gk-scan-word gk-text", place.font),
    dark: wordsText("gk-scan-word gk-on-dark", place.font),
    fresh: wordsText("gk-scan-word gk-on-new", place.font),
  };
  texts.ticks.show(place.ticks());
  const halo = pathOf("gk-wire-picked");
  const note = h("text", { class: "gk-note", x: 2, y: place.height - 3 }, HINT);
  const marks = Object.values(layers);
  const svg = picture(
    turned ? "gk-scan-tall" : data.columns > 32 ? "gk-scan-wide gk-scan-many" : "gk-scan-wide",
    place.width,
    place.height,
    whole
      ? `Values of ${data.columns} ${data.noun}s after each step`
      : `Values of the ${data.noun}s ${from} to ${to - 1} after each step`,
    ...(whole ? marks : [clipped(place.view, marks)]),
    ...Object.values(texts).map((t) => t.text),
    ...(whole ? [halo] : [clipped(place.view, [halo])]),
    note,
  );

  let shown = 0;
  const ask = inspectable(
    svg,
    (x, y) => {
      const mark = place.locate(x, y);
      return mark < wide * (shown + 1) ? mark : -1;
    },
    pick,
    () => wide * (shown + 1),
  );

  // Everything that went into a value, step by step back to the first.
  function pick(mark) {
    const column = from + (mark % wide),
      step = Math.floor(mark / wide);
    if (mark < 0 || step > shown) {
      put(halo, "d", "");
      return say(note, HINT);
    }
    let wanted = new Set([column]),
      d = "";
    const parts = [];
    for (let k = step; k >= 0; k--) {
      const before = new Set(),
        sources = data.of(k),
        readers = data.to(k),
        kinds = data.kinds(k),
        changed = new Set(data.changed(k));
      for (const c of wanted) {
        d += place.cell(c, k);
        let keeps = k > 0;
        let read = false;
        readers.forEach((t, i) => {
          if (t !== c) return;
          read = true;
          before.add(sources[i]);
          d += place.arc(sources[i], c, k);
          if (k === step) parts.push(`${data.words[k - 1][sources[i]]} of ${data.noun} ${sources[i]}`);
          if (kinds[i] === TAKES) keeps = false;
        });
        if (data.array && changed.has(c) && !read) keeps = false;
        if (keeps) {
          before.add(c);
          if (read) d += place.arc(c, c, k);
          if (k === step && read) parts.unshift(`${data.words[k - 1][c]} of its own`);
        }
      }
      wanted = before;
    }
    put(halo, "d", d);
    say(
      note,
      `step ${step}, ${data.noun} ${column}: ${data.words[step][column]}${parts.length ? ` from ${parts.join(" and ")}` : ""}`,
    );
  }

  return {
    svg,
    from,
    to,
    show(step) {
      shown = step;
      const d = Object.fromEntries(Object.keys(layers).map((key) => [key, ""]));
      const labels = { quiet: [], plain: [], dark: [], fresh: [], steps: [], notes: [] };
      for (let k = 0; k <= step; k++) {
        const now = k === step,
          changed = new Set(data.changed(k));
        const of = data.of(k),
          readers = data.to(k),
          kinds = data.kinds(k);
        const kindOf = new Map(Array.from(readers, (t, i) => [t, kinds[i]]));
        for (let c = from; c < to; c++) {
          const takes = kindOf.get(c) === TAKES,
            unseen = data.words[k][c] === "·";
          const still = unseen || !changed.has(c);
          const look = still ? "" : !now ? "was" : takes ? "taken" : "added";
          const text = still ? (k === 0 && !unseen ? "plain" : "quiet") : !now ? "plain" : takes ? "fresh" : "dark";
          if (look) d[look] += place.cell(c, k);
          if (data.columns <= 32 || changed.has(c)) labels[text].push([...place.middle(c, k), data.words[k][c]]);
        }
        d.row += place.row(k);
        for (const c of data.crowded(k)) d.crowd += place.crowd(c, k);
        readers.forEach((t, i) => {
          d[!now ? "old" : kinds[i] === TAKES ? "take" : "add"] += place.arc(of[i], t, k);
          if (now && kinds[i] === ADDS) d.carry += place.arc(t, t, k);
        });
        labels.steps.push([...place.stepName(k), String(k)]);
        if (data.conflicts[k]) labels.notes.push([...place.stepNote(k), `+${data.conflicts[k]}`]);
      }
      if (!turned) d.now = place.cell(0, step);
      for (const key of Object.keys(layers)) put(layers[key], "d", d[key]);
      for (const key of Object.keys(labels)) texts[key].show(labels[key]);
      ask.again();
    },
  };
}

// A row of the timeline with the counts of each step, one on the other.
function scanTrack(data, label, names, counts, least) {
  const most = Math.max(...Array.from(counts[0], (_, k) => counts.reduce((sum, of) => sum + of[k], 0)), least);
  const bars = stackedBars(names, data.steps, (k) => counts.map((of) => (30 * of[k]) / most), 30);
  return track(label, `most ${most}`, data.steps, 30, 30, bars, true);
}

function scanTracks(data) {
  const reads = Array.from(data.requests, (_, k) => data.to(k).length);
  const asked = [data.requests, data.conflicts];
  return [
    scanTrack(data, "reads", ["gk-f-work"], [reads], 1),
    ...(data.array ? [scanTrack(data, "passes", ["gk-f-done", "gk-f-clash"], asked, 0)] : []),
  ];
}

function scanKeys(data) {
  const keys = [
    [lineKey("gk-s-add"), "is added"],
    ...(data.used.has(TAKES) ? [[lineKey("gk-s-take"), "is taken"]] : []),
    [lineKey("gk-s-carry"), "its own, which stays"],
    [symbol(["gk-scan-was", "M0 1h14v7h-14z"], ["gk-s-old", "M0 11.5h14"]), "of an earlier step"],
    [symbol(["gk-s-row", "M0 7h14", 10]), "unchanged"],
  ];
  if (data.array) keys.push([squareKey("gk-f-done"), "requests"]);
  return keys;
}

function scanCounters(data, step) {
  const now = [0, 0, 0],
    all = [0, 0, 0];
  let requests = 0,
    conflicts = 0;
  for (let k = 0; k <= step; k++) {
    for (const kind of data.kinds(k)) {
      all[kind]++;
      if (k === step) now[kind]++;
    }
    requests += data.requests[k];
    conflicts += data.conflicts[k];
  }
  const counters = [[squareKey("gk-f-work"), "values added", String(now[ADDS])]];
  if (data.used.has(TAKES)) counters.push([squareKey("gk-f-new"), "values taken", String(now[TAKES])]);
  if (data.used.has(READS)) counters.push([null, "values read", String(now[READS])]);
  counters.push([null, "additions so far", String(all[ADDS])]);
  if (data.array) {
    counters.push(
      [null, "requests so far", String(requests)],
      [
        symbol(["gk-f-faint", SQUARE], ["gk-f-clash", "M1.5 10h11v2.5h-11z"]),
        "bank conflicts so far",
        String(conflicts),
      ],
    );
  }
  return counters;
}
