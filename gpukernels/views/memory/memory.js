// MemoryView: the lanes of one request and the sectors, lines or banks that answer.
import { countEach } from "../js/counted.js";
import { cursorOf, lightNode, litMark, namesOf } from "../js/cursor.js";
import { unpack, unpackLists } from "../js/decode.js";
import { h, number, put, say, thousands } from "../js/element.js";
import { placeIn } from "../js/inspect.js";
import {
  SQUARE,
  boxPath,
  codeLine,
  pathOf,
  lineKey,
  squareKey,
  symbol,
  track,
  picture,
  stackedBars,
} from "../js/marks.js";

const LEFT = 78,
  WORD = 14.5,
  GAP = 6,
  LANE_TALL = 15,
  WIRES = 46,
  WIDTH = 560;
const SECTOR = 32,
  LINE = 128;
// Rows of 128 bytes that are drawn; a request touches at most 32, or 64 with 8-byte elements.
const DRAWN_ROWS = 32;

const MEMORY_MEANINGS = {
  lanes: "Lanes of the warp that take part in the request.",
  "4-byte words": "Different words of shared memory that the lanes request.",
  passes: "Passes, one after the other. In each, every one of the 32 banks serves one word.",
  "avoidable passes": "Passes beyond one.",
  "bytes wanted": "Bytes that the lanes request; each element counts once.",
  "bytes moved": "32 bytes for each sector with a wanted byte.",
  sectors: "Pieces of 32 bytes, the smallest unit that global memory moves.",
  "avoidable sectors": "Sectors beyond those that the wanted bytes would fill side by side.",
};

export const memoryView = {
  counted: countEach("request"),
  meanings: MEMORY_MEANINGS,
  pace: 1100,
  open(payload) {
    const drawn = addressPicture();
    const code = codeLine();
    let data = null;
    const at = (step) => data.request(step);
    const cursor = cursorOf(
      {
        lane: {
          say: (ids) => namesOf(ids, "lane", "lanes"),
          light: (ids) => drawn.lightLanes(ids),
          longest: () => "lanes 30, 31",
        },
        element: {
          say: (ids) => namesOf(ids, "element", "elements"),
          light: (ids) => drawn.lightElements(ids),
          longest: () => "elements 9999, 9999",
        },
        sector: {
          say: (ids) => namesOf(ids, "sector", "sectors"),
          light: (ids) => drawn.lightSectors(ids),
          longest: () => "sectors 9999, 9999",
        },
        line: {
          say: (ids) => namesOf(ids, "source line", "source lines"),
          light: (ids) => lightNode(code.node, ids.size > 0),
          longest: () => "source line 999",
        },
      },
      (step) => tiesOfRequest(at(step)),
      "Point at a lane, its word, a sector or the source line; a click or tap keeps it.",
      memoryView.counted,
    );
    cursor.over(drawn.svg, (event) => drawn.locate(placeIn(drawn.svg, event)));
    cursor.keys(drawn.svg, drawn.lanes);
    cursor.over(code.node, () => ["line", drawn.line()]);
    return {
      stage: [code.node, drawn.svg],
      cursor,
      choose(k) {
        data = readRequests(payload.traces[k]);
        code.hold(payload.traces[k].texts.map(([, text]) => text));
        return {
          steps: data.steps,
          tracks: data.steps > 1 ? [costTrack(payload, data)] : [],
          keys: memoryKeys(data),
          sentence: (step) => data.sentences[step],
          counters: (step) => requestCounters(at(step)),
          show(step) {
            const request = at(step);
            code.show(request.line, request.text);
            drawn.show(data, request);
          },
        };
      },
    };
  },
};

// The line, element and sector of each lane of a request.
function tiesOfRequest({ lanes, index, size, shared, line }) {
  return Array.from(lanes, (lane, k) => {
    const tie = { lane, line, element: index[k] };
    return shared ? tie : { ...tie, sector: Math.floor((index[k] * size) / SECTOR) };
  });
}

function readRequests(trace) {
  const column = {};
  for (const name of ["array", "text", "kind", "block", "warp", "value", "crowded", "costs"])
    column[name] = unpack(trace[name]);
  const lanes = unpackLists(trace.lanes),
    index = unpackLists(trace.index);
  const first = unpack(trace.lanes.at);
  const data = {
    steps: trace.steps,
    unit: trace.unit,
    sentences: trace.sentences,
    request(step) {
      const [name, size, shared] = trace.arrays[column.array[step]];
      const [line, text] = trace.texts[column.text[step]];
      const [sectors, lines, ideal, useful, passes, same] = column.costs.subarray(6 * step, 6 * step + 6);
      return {
        name,
        size,
        shared,
        line,
        text,
        kind: column.kind[step],
        block: column.block[step],
        warp: column.warp[step],
        lanes: lanes(step),
        index: index(step),
        value: column.value.subarray(first[step], first[step + 1]),
        crowded: column.crowded.subarray(first[step], first[step + 1]),
        sectors,
        lines,
        ideal,
        useful,
        passes,
        same,
        turns: shared ? passes : sectors,
        least: shared ? 1 : ideal,
      };
    },
  };
  // All requests of a trace are drawn alike: rows are the closer the more there are.
  let most = 1;
  for (let k = 0; k < data.steps; k++) most = Math.max(most, rowsOf(data.request(k)).length);
  data.pitch = Math.min(Math.max(Math.round(300 / most), 10), 24);
  data.height = LANE_TALL + WIRES + 16 + most * data.pitch;
  return data;
}

// The rows of 128 bytes that a request touches, as far as they are drawn.
function rowsOf(request) {
  const rows = new Set(Array.from(request.index, (i) => Math.floor((i * request.size) / LINE)));
  return [...rows].sort((a, b) => a - b).slice(0, DRAWN_ROWS);
}

function costTrack(payload, data) {
  const parts = (k) => {
    const { least, turns } = data.request(k);
    return [least, turns - least].map((part) => (34 * part) / payload.most);
  };
  const bars = stackedBars(["gk-f-done", "gk-f-clash"], data.steps, parts, 34);
  return track(data.unit, `most ${payload.most}`, data.steps, 34, 34, bars);
}

function byteX(byte) {
  return LEFT + (byte / 4) * WORD + GAP * Math.floor(byte / SECTOR);
}

function laneCell(k) {
  return [byteX(4 * k) + 0.75, 0, WORD - 1.5];
}

function cellPath(places, tall) {
  return places.map(([x, y, wide]) => boxPath(x, y, wide, tall)).join("");
}

function addressPicture() {
  const top = LANE_TALL + WIRES;
  let pitch = 24,
    tall = 20;
  const names = [
    "gk-f-faint",
    "gk-f-work",
    "gk-f-faint",
    "gk-f-fetched",
    "gk-f-work",
    "gk-f-clash",
    "gk-wire",
    "gk-wire-clash",
  ];
  const [idle, busy, words, sectors, wanted, clashing, wires, clashWires] = names.map((name) => pathOf(name));
  const ticks = Array.from({ length: 32 }, (_, k) =>
    h("text", { class: "gk-tick", x: byteX(4 * k) + WORD / 2, y: 11 }, String(k)),
  );
  const heads = h("g", { class: "gk-heads" });
  const name = h("text", { class: "gk-array-name", x: 0, y: top + 10 });
  const labels = h("g", { class: "gk-row-labels" });
  const halo = pathOf("gk-wire-picked");
  const lit = { lanes: litMark(), elements: litMark(), sectors: litMark() };
  const note = h("text", { class: "gk-note", x: LEFT, y: top - 3 });
  const svg = picture(
    "gk-addresses",
    WIDTH,
    100,
    "Lanes and the memory that they reach",
    h("text", { class: "gk-row-label", x: LEFT - 8, y: 11 }, "lanes"),
    idle,
    busy,
    h("g", { class: "gk-ticks" }, ...ticks),
    words,
    sectors,
    wanted,
    clashing,
    wires,
    clashWires,
    heads,
    name,
    labels,
    lit.sectors.node,
    lit.elements.node,
    lit.lanes.node,
    halo,
    note,
  );

  let shown = null,
    paths = [],
    sectorBoxes = [];

  function locate({ x, y }) {
    if (y <= LANE_TALL + 4) {
      const lane = shown.lanes.find((own) => x >= byteX(4 * own) && x < byteX(4 * own) + WORD);
      return lane === undefined ? null : ["lane", lane];
    }
    const k = paths.findIndex((p) => p && x >= p.x && x < p.x + p.wide && y >= p.y && y < p.y + pitch);
    if (k >= 0) return ["element", shown.index[k]];
    const inside =
      !shown.shared && sectorBoxes.find((s) => x >= s.x && x < s.x + 8 * WORD && y >= s.y && y < s.y + tall);
    return inside ? ["sector", inside.sector] : null;
  }

  function lightLanes(ids) {
    let reach = "",
      cells = "";
    const chosen = [];
    shown.lanes.forEach((lane, k) => {
      if (!ids.has(lane)) return;
      chosen.push(k);
      const [x, y, wide] = laneCell(lane);
      cells += boxPath(x, y, wide, LANE_TALL);
      if (paths[k]) reach += paths[k].d;
    });
    lit.lanes.show(cells);
    put(halo, "d", reach);
    say(note, chosen.length === 1 ? describe(chosen[0]) : "");
  }

  function lightElements(ids) {
    const boxes = new Map();
    paths.forEach((p, k) => {
      if (p && ids.has(shown.index[k])) boxes.set(shown.index[k], boxPath(p.x + 0.5, p.y, p.wide - 1, tall));
    });
    lit.elements.show([...boxes.values()].join(""));
  }

  function lightSectors(ids) {
    const boxes = sectorBoxes.filter((s) => ids.has(s.sector));
    lit.sectors.show(boxes.map(({ x, y }) => boxPath(x - 1.5, y - 1.5, 8 * WORD + 3, tall + 3)).join(""));
  }

  function describe(k) {
    const verb = ["loads", "stores", "operand"][shown.kind];
    return `lane ${shown.lanes[k]}: ${shown.name}[${shown.index[k]}] ${verb} ${+shown.value[k].toPrecision(6)}`;
  }

  function show(data, request) {
    shown = request;
    pitch = data.pitch;
    tall = pitch - 4;
    put(svg, "viewBox", `0 0 ${number(WIDTH)} ${number(data.height)}`);
    put(svg, "style", `--gk-units:${number(data.height)}`);
    say(name, request.name);
    const { lanes, index, size } = request;
    const active = new Set(lanes);
    put(
      idle,
      "d",
      cellPath(
        Array.from({ length: 32 }, (_, k) => k)
          .filter((k) => !active.has(k))
          .map(laneCell),
        LANE_TALL,
      ),
    );
    put(busy, "d", cellPath(Array.from(lanes, laneCell), LANE_TALL));
    ticks.forEach((tick, k) =>
      put(
        tick,
        "class",
        `gk-tick${[0, 8, 16, 24, 31].includes(k) ? "" : " gk-tick-fine"}${active.has(k) ? " gk-on-dark" : " gk-text-quiet"}`,
      ),
    );

    const rows = rowsOf(request);
    const level = new Map(rows.map((row, k) => [row, k]));
    const touched = new Set(Array.from(index, (i) => Math.floor((i * size) / SECTOR)));
    const empty = [],
      fetched = [];
    sectorBoxes = [];
    for (const row of rows) {
      const y = top + 16 + level.get(row) * pitch;
      for (let s = 0; s < 4; s++) {
        const moved = !request.shared && touched.has(row * 4 + s);
        (moved ? fetched : empty).push([byteX(SECTOR * s), y, 8 * WORD]);
        if (moved) sectorBoxes.push({ x: byteX(SECTOR * s), y, sector: row * 4 + s });
      }
    }
    put(words, "d", cellPath(empty, tall));
    put(sectors, "d", cellPath(fetched, tall));

    const good = new Map(),
      bad = new Map();
    let line = "",
      clashLine = "";
    paths = Array.from(lanes, (lane, k) => {
      const byte = index[k] * size,
        row = Math.floor(byte / LINE);
      if (!level.has(row)) return null;
      const y = top + 16 + level.get(row) * pitch,
        x = byteX(byte % LINE),
        wide = Math.max((size / 4) * WORD, 2);
      const clash = request.crowded[k];
      (clash ? bad : good).set(index[k], [x + 0.5, y, wide - 1]);
      const a = byteX(4 * lane) + WORD / 2,
        b = x + wide / 2;
      const d = `M${number(a)} ${number(LANE_TALL)}C${number(a)} ${number(LANE_TALL + 26)} ${number(b)} ${number(y - 26)} ${number(b)} ${number(y)}`;
      if (clash) clashLine += d;
      else line += d;
      return { x, y, wide, d };
    });
    put(wanted, "d", cellPath([...good.values()], tall));
    put(clashing, "d", cellPath([...bad.values()], tall));
    put(wires, "d", line);
    put(clashWires, "d", clashLine);
    heads.replaceChildren(
      ...[0, 1, 2, 3]
        .map((s) => [byteX(SECTOR * s) + 4 * WORD, request.shared ? `banks ${8 * s}–${8 * s + 7}` : `sector ${s}`])
        .map(([x, text]) => h("text", { class: "gk-text-quiet", x, y: top + 10 }, text)),
    );
    labels.replaceChildren(
      ...rows
        .filter((_, k) => pitch >= 13 || k % 2 === 0)
        .map((row) =>
          h(
            "text",
            { class: "gk-row-label", x: LEFT - 8, y: top + 16 + level.get(row) * pitch + tall / 2 + 3.5 },
            `[${Math.floor((row * LINE) / size)}]`,
          ),
        ),
    );
  }

  return {
    svg,
    show,
    locate,
    lightLanes,
    lightElements,
    lightSectors,
    lanes: () => Array.from(shown.lanes, (lane) => ["lane", lane]),
    line: () => shown.line,
  };
}

function memoryKeys(data) {
  const keys = [
    [squareKey("gk-f-faint"), "idle lane, bytes not touched"],
    [lineKey("gk-wire"), "a lane reaches for its word"],
  ];
  const every = Array.from({ length: data.steps }, (_, k) => data.request(k));
  if (every.some((r) => r.crowded.some(Boolean))) {
    keys.push([
      symbol(["gk-wire-clash", "M0 3.5h14"], ["gk-f-clash", "M1.5 7h11v5.5h-11z"]),
      "has to wait for another word",
    ]);
  }
  return keys;
}

function requestCounters(r) {
  const used = squareKey("gk-f-work");
  if (r.shared) {
    return [
      [used, "lanes", String(r.lanes.length)],
      [null, "4-byte words", String(Math.ceil(r.useful / 4))],
      [squareKey("gk-f-done"), "passes", String(r.passes)],
      [squareKey("gk-f-clash"), "avoidable passes", String(r.passes - 1)],
    ];
  }
  return [
    [used, "bytes wanted", thousands(r.useful)],
    [symbol(["gk-f-fetched", SQUARE], ["gk-s-work", SQUARE]), "bytes moved", thousands(SECTOR * r.sectors)],
    [squareKey("gk-f-done"), "sectors", String(r.sectors)],
    [squareKey("gk-f-clash"), "avoidable sectors", String(r.sectors - r.ideal)],
  ];
}
