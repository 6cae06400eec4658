// The reads of arcs in a level, below the picture: the threads at work, the array of targets, the source line.
import { cursorOf, lightNode, litMark, namesOf } from "../js/cursor.js";
import { unpack, unpackLists } from "../js/decode.js";
import { h, number, put } from "../js/element.js";
import { placeIn } from "../js/inspect.js";
import { lineAt } from "../js/drawing.js";
import { boxPath, codeLine, pathOf, symbol, picture } from "../js/marks.js";

const WARP = 32,
  ACROSS = 32,
  LEFT_EDGE = 54,
  STRIP_UNITS = 440,
  ARC_WIDE = 11.8,
  ARC_TALL = 9,
  ARC_PITCH = 13,
  APART = 2.6,
  // Entries of targets in a sector of 32 bytes.
  IN_SECTOR = 8;
const KINDS = ["gk-f-done", "gk-f-new", "gk-f-clash"];

// The loads of level k: { arc, thread, kind, place, up }, where kind is the look of its cell.
export function readWalks({ arc, thread, kind, place, threads, places, up }) {
  const at = unpack(arc.at),
    arcs = unpackLists(arc),
    columns = { thread: unpack(thread), kind: unpack(kind), place: place ? unpack(place) : null };
  const each = unpack(threads),
    upwards = up ? unpack(up) : [];
  return {
    levels: each.length,
    places,
    at: (k) =>
      Array.from(arcs(k), (own, i) => ({
        arc: own,
        thread: columns.thread[at[k] + i],
        kind: columns.kind[at[k] + i],
        place: columns.place ? columns.place[at[k] + i] : 0,
        threads: each[k],
        // Read from the vertex that it enters, it is not loaded from targets.
        up: Boolean(upwards[k]),
      })),
  };
}

// Its warp and lane; no block has more than 32 warps.
function placeOfThread({ thread, threads }) {
  const block = Math.floor(thread / threads),
    place = thread % threads;
  const warp = Math.floor(place / WARP);
  return { block, warp, lane: place % WARP, row: WARP * block + warp };
}

function warpsAt(walks) {
  return [...new Set(walks.map((walk) => placeOfThread(walk).row))].sort((a, b) => a - b);
}

// `arcs` is the record's part on the graph's arrays, `recorded` its part on their loads. `graph` is the
// picture of the graph, with a mark for lit lines. Levels are `counted` as the figure counts them.
export function walksOf(arcs, recorded, drawing, graph, counted) {
  const offsets = unpack(arcs.offsets),
    lineOfArc = unpack(arcs.line);
  const tails = [];
  for (let v = 0; v + 1 < offsets.length; v++) for (let k = offsets[v]; k < offsets[v + 1]; k++) tails.push(v);
  const heads = Array.from(lineOfArc, (k, arc) => (drawing.head[k] === tails[arc] ? drawing.tail[k] : drawing.head[k]));
  if (drawing.directed) lineOfArc.forEach((k, arc) => (heads[arc] = drawing.head[k]));

  let most = 1;
  for (const walks of recorded)
    for (let k = 0; k < walks.levels; k++) most = Math.max(most, warpsAt(walks.at(k)).length);
  const beside = most <= 8 ? 1 : most <= 16 ? 2 : 4;
  const wide = (STRIP_UNITS - LEFT_EDGE) / (WARP * beside);
  const top = 11 * Math.ceil(most / beside) + 12;
  const code = codeLine();
  code.hold(recorded.flatMap((walks) => walks.places.map(([, text]) => text)));

  const names = ["gk-f-faint", "gk-f-work", "gk-f-faint", ...KINDS, "gk-s-cut"];
  const [idle, busy, unread, ...rest] = names.map((name) => pathOf(name));
  const cuts = rest.pop();
  const lit = { thread: litMark(), arc: litMark(), sector: litMark() };
  const svg = picture(
    "gk-csr gk-walks",
    STRIP_UNITS,
    top + ARC_PITCH * Math.ceil(tails.length / ACROSS) + 2,
    "Threads that read arcs, and the array targets. Left and right go through arcs, up and down through threads.",
    h("text", { class: "gk-array-name", x: 0, y: 10 }, "threads"),
    h("text", { class: "gk-array-name", x: 0, y: top + 8.5 }, "targets"),
    idle,
    busy,
    unread,
    ...rest,
    cuts,
    lit.sector.node,
    lit.thread.node,
    lit.arc.node,
  );

  const arcPlace = (arc) => {
    const column = arc % ACROSS;
    return [
      LEFT_EDGE + ARC_WIDE * column + APART * Math.floor(column / IN_SECTOR),
      top + ARC_PITCH * Math.floor(arc / ACROSS),
    ];
  };
  const arcBox = (arc, more = 0) => {
    const [x, y] = arcPlace(arc);
    return boxPath(x + 0.4 - more, y - more, ARC_WIDE - 0.8 + 2 * more, ARC_TALL + 2 * more);
  };
  let begins = "";
  offsets.forEach((first, v) => {
    if (v + 1 === offsets.length || offsets[v + 1] === first) return;
    const [x, y] = arcPlace(first);
    begins += `M${number(x)} ${number(y - 1.5)}v${number(ARC_TALL + 3)}`;
  });
  put(cuts, "d", begins);

  let data = null,
    shown = [],
    warps = [];
  const lanePlace = (walk) => {
    const { row, lane } = placeOfThread(walk);
    const k = warps.indexOf(row);
    return [LEFT_EDGE + wide * (WARP * (k % beside) + lane), 2 + 11 * Math.floor(k / beside)];
  };
  const laneBox = (walk) => {
    const [x, y] = lanePlace(walk);
    return boxPath(x + 0.3, y, wide - 0.6, 8);
  };

  const threadWords = (ids) => {
    if (ids.size > 1) return `${ids.size} threads`;
    const { block, warp, lane } = placeOfThread(
      shown.find((walk) => ids.has(walk.thread)) || { thread: 0, threads: 1 },
    );
    return `thread (block ${block} warp ${warp} lane ${lane})`;
  };
  const cursor = cursorOf(
    {
      arc: {
        say: (ids) => namesOf(ids, "arc", "arcs", (arc) => `${tails[arc]}→${heads[arc]} (targets[${arc}])`),
        light: (ids) => lit.arc.show([...ids].map((arc) => arcBox(arc, 0.4)).join("")),
        longest: () => "arcs 99→99 (targets[999]), 99→99 (targets[999])",
      },
      thread: {
        say: threadWords,
        light(ids) {
          const walks = new Map(shown.map((walk) => [walk.thread, walk]));
          lit.thread.show([...ids].map((id) => (walks.has(id) ? laneBox(walks.get(id)) : "")).join(""));
        },
        longest: () => "thread (block 99 warp 31 lane 31)",
      },
      place: {
        say: (ids) => namesOf(ids, "line", "lines", (k) => data.places[k][0]),
        light(ids) {
          const [first] = ids.size ? ids : shown.map((walk) => walk.place);
          code.show(...(first === undefined ? ["", ""] : data.places[first]));
          lightNode(code.node, ids.size > 0);
        },
        longest: () => "lines 999, 999",
      },
      sector: {
        say: (ids) => namesOf(ids, "sector", "sectors"),
        light: (ids) => lit.sector.show([...ids].map(sectorBox).join("")),
        longest: () => "sectors 99, 99",
      },
      line: { light: (ids) => graph.lit.show(drawing.lines(ids)) },
    },
    () => [
      ...shown.map(({ arc, thread, place, up }) => {
        const tie = { arc, thread, place, line: lineOfArc[arc] };
        return up ? tie : { ...tie, sector: Math.floor(arc / IN_SECTOR) };
      }),
      ...tails.map((_, arc) => ({ arc, line: lineOfArc[arc] })),
    ],
    "Point at an arc, a thread or a cell: what goes with it lights up; a click or tap keeps it.",
    counted,
  );

  function sectorBox(sector) {
    const [x, y] = arcPlace(sector * IN_SECTOR);
    return boxPath(x - 1.2, y - 1.8, ARC_WIDE * IN_SECTOR + 1.8, ARC_TALL + 3.6);
  }

  function locate(event) {
    const { x, y } = placeIn(svg, event);
    if (y < top - 4) {
      const walk = shown.find((own) => {
        const [left, high] = lanePlace(own);
        return x >= left && x < left + wide && y >= high && y < high + 10;
      });
      return walk ? ["thread", walk.thread] : null;
    }
    const row = Math.floor((y - top) / ARC_PITCH);
    for (let arc = ACROSS * row; arc < Math.min(ACROSS * (row + 1), tails.length); arc++) {
      const [left] = arcPlace(arc);
      if (x >= left && x < left + ARC_WIDE) return ["arc", arc];
    }
    return null;
  }

  cursor.over(svg, locate);
  cursor.keys(svg, () => tails.map((_, arc) => ["arc", arc]), ["ArrowLeft", "ArrowRight"]);
  cursor.keys(
    svg,
    () => [...new Set(shown.map((walk) => walk.thread))].sort((a, b) => a - b).map((thread) => ["thread", thread]),
    ["ArrowUp", "ArrowDown"],
  );
  cursor.over(code.node, () => (shown.length ? ["place", shown[0].place] : null));
  cursor.over(graph.svg, (event) => lineAt(drawing, placeIn(graph.svg, event)));

  return {
    cursor,
    stage: [code.node, svg],
    keys: [
      [
        symbol(["gk-f-work", "M1 4h5v6h-5z"], ["gk-f-faint", "M8 4h5v6h-5z"]),
        "thread that reads arcs, and one that does not",
      ],
      [symbol(["gk-s-cut", "M2 1v12"], ["gk-f-faint", "M3 4h10v6h-10z"]), "the arcs of a vertex begin"],
    ],
    show(walks, step) {
      data = walks;
      shown = walks ? walks.at(step) : [];
      warps = warpsAt(shown);
      let all = "";
      warps.forEach((_, k) => {
        all += boxPath(LEFT_EDGE + wide * WARP * (k % beside), 2 + 11 * Math.floor(k / beside), wide * WARP - 1, 8);
      });
      put(idle, "d", all);
      const busyOnes = new Map(shown.map((walk) => [walk.thread, laneBox(walk)]));
      put(busy, "d", [...busyOnes.values()].join(""));
      const looks = new Map();
      for (const { arc, kind } of shown) looks.set(arc, Math.max(kind, looks.get(arc) || 0));
      const cells = ["", "", ""];
      let others = "";
      tails.forEach((_, arc) => {
        if (looks.has(arc)) cells[looks.get(arc)] += arcBox(arc);
        else others += arcBox(arc);
      });
      put(unread, "d", others);
      rest.forEach((path, kind) => put(path, "d", cells[kind]));
      const [first] = shown.map((walk) => walk.place);
      code.show(...(first === undefined ? ["", ""] : data.places[first]));
    },
  };
}
