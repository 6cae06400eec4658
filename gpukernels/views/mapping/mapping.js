// MappingView: a strip of units, sectors and loads for each technique.
import { countEach } from "../js/counted.js";
import { cursorOf, litMark, namesOf } from "../js/cursor.js";
import { unpack, unpackRows, unpackTexts } from "../js/decode.js";
import { count, h, number, put, say, thousands } from "../js/element.js";
import { selectOf } from "../js/figure.js";
import { placeIn } from "../js/inspect.js";
import { SQUARE, boxPath, pathOf, roomsFor, scaleKey, squareKey, symbol, track, stretched } from "../js/marks.js";
import { sizeBars } from "./sizes.js";

const STRIP_WIDE = 432,
  TALL = 19,
  HEAD = 14,
  BAR = 12,
  ROW_PITCH = 54,
  HUES = 8,
  LEAST_BARS = 12,
  // The threads of each technique have numbers of their own.
  THREADS_APART = 2 ** 20;
const LEVELS = ["thread", "warp", "block"];
const COLUMNS = [...LEVELS, "round", "request"];

const MAPPING_MEANINGS = {
  "visited now": "Units that threads visit in this round, in all techniques together.",
  "visited before": "Units visited in earlier rounds, in all techniques together.",
  "not yet": "Units that wait for their round, in all techniques together.",
  "sectors moved": "Sectors of 32 bytes that were moved at least once so far, in all techniques together.",
  "moved again": "Times so far that a sector was moved beyond its first, by another request.",
};

export const mappingView = {
  counted: countEach("round"),
  meanings: MAPPING_MEANINGS,
  pace: 1000,
  open(payload) {
    const panels = h("div", { class: "gk-map" }),
      key = h("p", { class: "gk-map-key" });
    let color = payload.color,
      before = { step: payload.step, steps: 0 };
    const sizes = payload.variants ? sizeBars(payload.variants, payload.traces[0]) : null;
    const drawn = { load: null, panels: [] };
    const cursor = unitCursor(drawn);
    const offer = sizes ? [sizes.node] : [];
    // A technique's strip, with its controls.
    const stripNodes = (column) => drawn.panels.map((panel) => [...offer, ...(column ? [] : [key]), panel.node]);
    return {
      cursor,
      // How to read the strips stands beside the sizes, or below all.
      parts: (column) => [
        ["Strips", [...offer, ...(column ? [] : [key]), panels], { word: "Strips", nodes: stripNodes(column) }],
        [null, column ? [key] : []],
      ],
      stage: [sizes ? h("div", { class: "gk-map-top" }, sizes.node, key) : key, panels],
      choose(k, refresh, go, anew = null) {
        const whole = payload.traces[k];
        const trace = sizes ? withSizes(whole, sizes) : whole;
        const load = readWorkload(trace);
        // A reader at the end stays at the end of the new workload.
        if (sizes)
          sizes.changed = () => {
            const steps = whole.variantSteps[sizes.at()];
            anew(before.step >= before.steps - 1 ? steps - 1 : Math.min(before.step, steps - 1));
          };
        const shown = load.methods.map((method, i) => mappingPanel(load, method, i, cursor));
        Object.assign(drawn, { load, panels: shown });
        panels.replaceChildren(...shown.map((panel) => panel.node));
        return {
          steps: load.steps,
          fields: sizes ? sizes.fields : [],
          room: sizes
            ? { steps: whole.steps, sentences: trace.allSentences, most: whole.mostUnits * load.methods.length }
            : null,
          tracks: whole.steps > 1 ? [workTrack(load)] : [],
          controls: [
            selectOf("Color by", LEVELS, LEVELS.indexOf(color), (at) => {
              color = LEVELS[at];
              refresh();
            }),
          ],
          keys: mappingKeys(load),
          sentence: (step) => load.sentences[step],
          counters: (step) => mappingCounters(load, step),
          show(step) {
            before = { step, steps: load.steps };
            say(key, mappingKey(color, load.methods[0].sector));
            for (const panel of shown) panel.show(color, step);
          },
        };
      },
    };
  },
};

// The threads of technique k among the marks `ids`.
function threadsOf(ids, k) {
  return [...ids].filter((id) => Math.floor(id / THREADS_APART) === k).map((id) => id % THREADS_APART);
}

// A unit is the same in every panel: there its own thread visits it, in a request with others.
function unitCursor(drawn) {
  const methods = () => drawn.load.methods;
  return cursorOf(
    {
      unit: {
        say: (ids) => namesOf(ids, "unit", "units"),
        light: (ids) => drawn.panels.forEach((panel) => panel.light(ids)),
        longest: () => "units 239, 239",
      },
      item: {
        say: (ids) => namesOf(ids, "item", "items", (i) => drawn.load.names[i] || i),
        longest: () => "items A, B",
      },
      thread: {
        say(ids) {
          const of = methods()
            .map((_, k) => k)
            .filter((k) => threadsOf(ids, k).length);
          if (of.length > 1) return `its thread in each of ${of.length} techniques`;
          return `${namesOf(threadsOf(ids, of[0]), "thread", "threads")} of “${methods()[of[0]].label}”`;
        },
        light: (ids) => drawn.panels.forEach((panel, k) => panel.lightThreads(threadsOf(ids, k))),
        longest: () => "threads 999, 999 of “work_item_to_threads_of_warp”",
      },
    },
    () => drawn.load.ties,
    "Point at a unit, an item's letter or a thread's bar: what goes with it lights up; a click or tap keeps it.",
    mappingView.counted,
  );
}

function mappingKey(color, sector) {
  return (
    "A cell is a unit, below the letter of its item; its number and color are those of the " +
    `${color} that visits it. A bar below ${sector} cells is a sector of 32 bytes, ×2 if it is moved twice.`
  );
}

function mappingKeys(load) {
  const hues = Array.from({ length: HUES }, (_, k) => `gk-u-${k}`);
  return [
    [scaleKey(hues, true), "one color per thread, warp or block"],
    [symbol(["gk-u-0", "M0 7h14", 11], ["gk-u-mark", "M0 11h14", 3]), "the same color, another number"],
    [symbol(["gk-s-cut", "M7 1v12"]), "an item begins"],
    [squareKey("gk-f-faint"), "sector not moved yet"],
    [
      symbol(["gk-u-load", "M3.5 14v-6", 5], ["gk-u-rest", "M3.5 8v-7", 5], ["gk-u-load", "M10.5 14v-10", 5]),
      "units that it has visited, and has still to visit",
    ],
    ...(load.steps > 1
      ? [
          [squareKey("gk-f-done"), "techniques at work"],
          [symbol(["gk-s-end", "M7 1v12"]), "a technique ends"],
        ]
      : []),
  ];
}

// The workload for the current sizes of its items; a trace holds those of all sizes, one by one.
function withSizes(trace, sizes) {
  const at = sizes.at(),
    offsets = [0];
  for (const size of sizes.now()) offsets.push(offsets[offsets.length - 1] + size);
  const first = trace.variantSteps.slice(0, at).reduce((sum, steps) => sum + steps, 0),
    steps = trace.variantSteps[at],
    sentence = unpackTexts(trace.sentences);
  const rows = trace.variantSteps.reduce((sum, many) => sum + many, 0);
  const allSentences = Array.from(new Array(rows), (_, k) => sentence(k));
  const methods = trace.methods.map((m) => {
    const share = unpackTexts(m.shares),
      columns = {};
    for (const name of COLUMNS) columns[name] = unpackRows(m[name])(at);
    return {
      ...m,
      ...columns,
      facts: unpackTexts(m.facts)(at),
      rounds: unpack(m.rounds)[at],
      launched: Array.from(unpack(m.launched).subarray(3 * at, 3 * at + 3)),
      shares: LEVELS.map((_, i) => share(3 * at + i)),
    };
  });
  return { ...trace, offsets, steps, methods, allSentences, sentences: allSentences.slice(first, first + steps) };
}

function columnOf(packed) {
  return typeof packed === "string" ? unpack(packed) : packed;
}

function readWorkload(trace) {
  const offsets = columnOf(trace.offsets);
  const units = offsets[offsets.length - 1];
  const methods = trace.methods.map((m) => {
    const columns = {};
    for (const name of COLUMNS) columns[name] = columnOf(m[name]);
    return { ...m, ...columns, moved: (step) => movedSectors(columns, m.sector, units, step) };
  });
  const items = Array.from({ length: units }, (_, u) => offsets.findIndex((_first, i) => offsets[i + 1] > u));
  const ties = methods.flatMap((m, k) =>
    items.map((item, unit) => ({ unit, item, thread: THREADS_APART * k + m.thread[unit] })),
  );
  return { ...trace, offsets, units, methods, items, ties, grid: unitGrid(units, methods, trace) };
}

function movedSectors(columns, sector, units, step) {
  const moved = new Array(Math.ceil(units / sector)).fill(0),
    seen = new Set();
  for (let u = 0; u < units; u++) {
    const s = Math.floor(u / sector),
      pair = columns.request[u] * moved.length + s;
    if (columns.round[u] > step || seen.has(pair)) continue;
    seen.add(pair);
    moved[s]++;
  }
  return moved;
}

function workTrack(load) {
  const of = load.methods.length;
  let bars = "",
    ends = "";
  // A row each, in the order of the panels, and its finish line.
  load.methods.forEach((m, k) => {
    bars += `M0 ${k}.2h${m.rounds}v.6h-${m.rounds}z`;
    ends += `M${m.rounds} ${k}v1`;
  });
  const marks = [pathOf("gk-f-done", bars), pathOf("gk-s-end", ends)];
  return track("at work", `of ${of}`, load.steps, Math.max(26, 5 * of), of, marks, true);
}

// The places of units, in rows. Numbers of three digits need wider cells than those of two: a row holds fewer of them.
function unitGrid(units, methods, { mostNumber = 0 }) {
  const most = Math.max(
    mostNumber,
    ...methods.flatMap((m) => LEVELS.map((level) => m[level].reduce((a, b) => Math.max(a, b), 0))),
  );
  const columns = most > 99 ? 16 : 24,
    wide = STRIP_WIDE / columns;
  const place = (u) => [wide * (u % columns), HEAD + ROW_PITCH * Math.floor(u / columns)];
  return {
    columns,
    wide,
    rows: Math.ceil(units / columns),
    place,
    box(u, many = 1) {
      const [x, y] = place(u);
      return boxPath(x + 0.5, y, wide * many - 1, TALL);
    },
    dash(u, middle) {
      const [x, y] = place(u);
      return `M${number(x + 0.5)} ${number(y + middle)}h${number(wide - 1)}`;
    },
    // The parts of a stretch of units that lie in one row each.
    runs(first, last) {
      const cuts = [first];
      for (let u = (Math.floor(first / columns) + 1) * columns; u < last; u += columns) cuts.push(u);
      cuts.push(last);
      return cuts.slice(1).map((end, i) => [cuts[i], end]);
    },
  };
}

// The stretches of neighboring units that a request of round `step` visits, as boxes.
function requestBoxes(method, step, { units, grid }) {
  let d = "";
  for (let a = 0, b; a < units; a = b) {
    for (b = a + 1; b < units && method.request[b] === method.request[a]; b++);
    if (method.round[a] === step) for (const [from, to] of grid.runs(a, b)) d += grid.box(from, to - from);
  }
  return d;
}

function unitWords(name) {
  const text = h("text", { class: name });
  let shown = "";
  return {
    text,
    show(words) {
      const key = words.join(";");
      if (key === shown) return;
      shown = key;
      text.replaceChildren(
        ...words.map(([x, y, word], i) =>
          h(
            "tspan",
            {
              x,
              y: i && words[i - 1][1] === y ? null : y,
            },
            word,
          ),
        ),
      );
    },
  };
}

function itemHeads(load) {
  const { grid } = load;
  let cuts = "";
  const letters = [],
    empty = new Map();
  load.names.forEach((name, i) => {
    const begin = load.offsets[i],
      end = load.offsets[i + 1];
    if (begin === end) {
      const [x, y] = grid.place(Math.min(begin, load.units - 1));
      empty.set(begin, [x + (begin === load.units ? grid.wide : 0), y - 3.5, "∅"]);
      return;
    }
    for (const [a, b] of grid.runs(begin, end)) {
      const [x, y] = grid.place(a);
      letters.push([x + (grid.wide * (b - a)) / 2, y - 3.5, name]);
    }
    const [x, y] = grid.place(begin);
    cuts += `M${number(x)} ${number(y - 12)}v${number(TALL + 12)}`;
  });
  const items = unitWords("gk-u-item"),
    holes = unitWords("gk-u-empty");
  items.show(letters);
  holes.show([...empty.values()]);
  return [pathOf("gk-s-cut", cuts), items.text, holes.text];
}

function mappingPanel(load, method, technique, cursor) {
  const { grid } = load;
  const todo = pathOf("gk-u-todo"),
    marks = pathOf("gk-u-mark", "", 3),
    now = pathOf("gk-s-now"),
    halo = pathOf("gk-wire-picked"),
    lit = litMark();
  const fills = Array.from({ length: HUES }, (_, k) => pathOf(`gk-u-${k}`, "", TALL));
  const sectors = ["gk-f-faint", "gk-u-one", "gk-u-many"].map((name) => pathOf(name));
  const [times, often] = ["gk-u-once", "gk-u-often"].map(unitWords);
  const numbers = Array.from({ length: load.units }, (_, u) =>
    h("tspan", { class: "", x: grid.place(u)[0] + grid.wide / 2 }),
  );
  // The height is the row's: an empty tspan, as of a unit not yet visited, would lose its own.
  const numberRows = grid
    .runs(0, load.units)
    .map(([from, to]) => h("text", { class: "gk-u-dark", y: grid.place(from)[1] + 13.6 }, ...numbers.slice(from, to)));
  const written = [];
  let shown = {};
  const svg = h(
    "svg",
    {
      class: "gk-map-strip",
      viewBox: `-1 0 ${number(STRIP_WIDE + 2)} ${number(ROW_PITCH * grid.rows)}`,
      role: "img",
    },
    todo,
    ...fills,
    marks,
    ...sectors,
    ...itemHeads(load),
    ...numberRows,
    times.text,
    often.text,
    now,
    halo,
    lit.node,
  );
  const facts = h("span", null, method.facts);
  // Whichever unit is told, nothing moves.
  const room = roomsFor(load.items.map((_, u) => describe(u, requestOf(u))));
  const bars = LEVELS.map((level, i) => loadChart(load, method, level, i));
  const node = h(
    "div",
    { class: "gk-map-panel" },
    h("p", { class: "gk-map-head" }, h("b", null, method.label), h("small", null, facts, ...room)),
    svg,
    h("div", { class: "gk-map-loads" }, ...bars.map((chart) => chart.node)),
  );

  function locate({ x, y }) {
    const row = Math.floor(y / ROW_PITCH),
      column = Math.floor(x / grid.wide),
      u = row * grid.columns + column;
    if (column < 0 || column >= grid.columns || row < 0 || u >= load.units) return null;
    return y - row * ROW_PITCH < HEAD ? ["item", load.items[u]] : ["unit", u];
  }

  function requestOf(u) {
    return load.items.map((_, v) => v).filter((v) => method.request[v] === method.request[u]);
  }

  function describe(u, together) {
    const touched = new Set(together.map((v) => Math.floor(v / method.sector))).size;
    return (
      `unit ${u} of ${load.names[load.items[u]]}: thread ${method.thread[u]}, ${mappingView.counted.name(method.round[u])}; ` +
      `one request: ${count(together.length, "unit")}, ${count(touched, "sector")}`
    );
  }

  function pick(u) {
    const together = u < 0 ? [] : requestOf(u);
    put(halo, "d", together.map((v) => grid.box(v)).join(""));
    say(facts, u < 0 ? method.facts : describe(u, together));
  }

  cursor.over(svg, (event) => locate(placeIn(svg, event)));
  cursor.keys(svg, () => load.items.map((_, u) => ["unit", u]));
  bars[0].over(cursor, technique);

  return {
    node,
    // One unit with those of its request; of several, themselves.
    light(ids) {
      pick(ids.size === 1 ? [...ids][0] : -1);
      lit.show([...ids].map((u) => grid.box(u)).join(""));
    },
    lightThreads: bars[0].light,
    show(color, at) {
      // A technique that is done stays as it is.
      const step = Math.min(at, method.rounds);
      if (step === shown.step && color === shown.color) return;
      put(node, "class", step >= method.rounds - 1 ? "gk-map-panel gk-map-finished" : "gk-map-panel");
      shown = { step, color };
      put(svg, "aria-label", `Units under ${method.label}, colored by ${color}`);
      const fill = new Array(HUES).fill("");
      let waiting = "",
        marked = "";
      for (let u = 0; u < load.units; u++) {
        const k = method[color][u],
          hue = k % HUES,
          more = Math.floor(k / HUES);
        const sign = method.round[u] > step ? -1 - k : k;
        if (written[u] !== sign) {
          written[u] = sign;
          put(numbers[u], "class", hue === 4 ? "gk-u-light" : "");
          numbers[u].textContent = sign < 0 ? "" : String(k);
        }
        if (method.round[u] > step) {
          waiting += grid.box(u);
          continue;
        }
        const [x, y] = grid.place(u);
        fill[hue] += grid.dash(u, TALL / 2);
        if (more & 1) marked += grid.dash(u, TALL - 1.5);
        if (more & 2) marked += `M${number(x + 2)} ${number(y)}v${number(TALL)}`;
      }
      put(todo, "d", waiting);
      fills.forEach((path, k) => put(path, "d", fill[k]));
      put(marks, "d", marked);
      put(now, "d", requestBoxes(method, step, load));
      const drawn = ["", "", ""],
        factors = [[], [], []];
      method.moved(step).forEach((n, s) => {
        const kind = Math.min(n, 2);
        for (const [a, b] of grid.runs(s * method.sector, Math.min((s + 1) * method.sector, load.units))) {
          const [x, y] = grid.place(a);
          drawn[kind] += boxPath(x + 0.5, y + TALL + 3, grid.wide * (b - a) - 1, BAR);
          factors[kind].push([x + (grid.wide * (b - a)) / 2, y + TALL + 3 + 10, `×${n}`]);
        }
      });
      sectors.forEach((path, kind) => put(path, "d", drawn[kind]));
      times.show(factors[1]);
      often.show(factors[2]);
      for (const chart of bars) chart.show(step);
    },
  };
}

function loadChart(load, method, level, i) {
  const launched = method.launched[i],
    who = method[level];
  const total = new Array(launched).fill(0);
  for (const k of who) total[k]++;
  const [rest, done] = ["gk-u-rest", "gk-u-load"].map((name) => pathOf(name, "", 0.8));
  const lit = litMark();
  const svg = stretched("gk-map-bars", Math.max(launched, LEAST_BARS), 30, 26, rest, done, lit.node);
  const node = h(
    "div",
    { class: "gk-map-load" },
    svg,
    h("span", null, count(launched, level)),
    h("small", null, method.shares[i]),
  );
  return {
    node,
    light: (bars) => lit.show(bars.map((k) => `M${k}.1 0h.8v30h-.8z`).join("")),
    over(cursor, technique) {
      cursor.over(svg, (event) => {
        const k = Math.floor(placeIn(svg, event).x);
        return k >= 0 && k < launched ? ["thread", THREADS_APART * technique + k] : null;
      });
    },
    show(step) {
      const far = new Array(launched).fill(0);
      for (let u = 0; u < load.units; u++) if (method.round[u] <= step) far[who[u]]++;
      const high = far.map((n) => (30 * n) / load.most[i]);
      let left = "",
        bars = "";
      total.forEach((n, k) => {
        if (far[k]) bars += `M${k}.5 30v-${number(high[k])}`;
        if (n > far[k]) left += `M${k}.5 ${number(30 - high[k])}v-${number((30 * (n - far[k])) / load.most[i])}`;
      });
      put(rest, "d", left);
      put(done, "d", bars);
    },
  };
}

function mappingCounters(load, step) {
  let now = 0,
    before = 0,
    once = 0,
    all = 0;
  for (const m of load.methods) {
    for (const round of m.round) {
      now += round === step;
      before += round < step;
    }
    for (const n of m.moved(step)) {
      once += n > 0;
      all += n;
    }
  }
  return [
    [symbol(["gk-u-0", "M1.5 7h11", 11], ["gk-s-now", SQUARE]), "visited now", thousands(now)],
    [symbol(["gk-u-0", "M1.5 7h11", 11]), "visited before", thousands(before)],
    [squareKey("gk-u-todo"), "not yet", thousands(load.units * load.methods.length - now - before)],
    [symbol(["gk-u-one", "M0 4h14v7h-14z"]), "sectors moved", thousands(once)],
    [symbol(["gk-u-many", "M0 4h14v7h-14z"]), "moved again", thousands(all - once)],
  ];
}
