// GraphView: a graph with its values, or vertex by vertex with its CSR arrays.
import { countAfter, countNames } from "../js/counted.js";
import { cursorOf, litMark, namesOf } from "../js/cursor.js";
import { unpack } from "../js/decode.js";
import { lineAt, readDrawing } from "../js/drawing.js";
import { count, h, number, put, say, thousands } from "../js/element.js";
import { inspectable, placeIn } from "../js/inspect.js";
import { boxPath, lineKey, pathOf, scaleKey, symbol } from "../js/marks.js";

const SHADES = 6,
  STRIP_COLUMNS = 18,
  STRIP_LEFT = 52,
  STRIP_CELL = 21.5,
  CELL_TALL = 16,
  STRIP_PITCH = 29;

const GRAPH_MEANINGS = {
  vertices: "Number of vertices of the graph.",
  arcs: "Directed connections. An edge without a direction is two arcs.",
  "mean degree": "Arcs divided by vertices.",
  "largest degree": "The most arcs that leave one vertex.",
  "least value": "The least value of a vertex in the whole figure.",
  "largest value": "The largest value of a vertex in the whole figure.",
};

export const graphView = {
  counted: countAfter("step"),
  meanings: GRAPH_MEANINGS,
  races: () => true,
  pace: 1200,
  open(payload) {
    const drawing = readDrawing(payload.drawing);
    const offsets = unpack(payload.offsets),
      targets = unpack(payload.targets);
    const picture = valuePicture(payload, drawing, offsets, targets);
    const strip = payload.csr ? csrStrip(offsets, targets) : null;
    const cursor = strip ? rowsCursor(payload, drawing, offsets, targets, picture, strip) : null;
    const degrees = Array.from({ length: drawing.n }, (_, v) => offsets[v + 1] - offsets[v]);
    const counters = [
      [null, "vertices", thousands(drawing.n)],
      [null, "arcs", thousands(offsets[drawing.n])],
      [null, "mean degree", drawing.n ? (offsets[drawing.n] / drawing.n).toFixed(1) : "–"],
      [null, "largest degree", thousands(degrees.reduce((a, b) => Math.max(a, b), 0))],
    ];
    return {
      counted: payload.csr ? countNames("vertex", "vertices") : null,
      stage: strip ? [picture.svg, strip.svg] : [picture.svg],
      cursor,
      choose(k) {
        const trace = payload.traces[k];
        const shade = trace.shade ? unpack(trace.shade) : null;
        return {
          steps: trace.steps,
          tracks: [],
          keys: graphKeys(payload, shade, drawing.directed),
          counters: () => [...counters, ...rangeCounters(trace.range)],
          sentence: (step) => trace.sentences[step],
          show(step) {
            picture.show(
              shade ? shade.subarray(step * drawing.n, (step + 1) * drawing.n) : null,
              trace.texts ? trace.texts[step] : null,
              payload.csr ? step : -1,
            );
            if (strip) strip.show(step);
          },
        };
      },
    };
  },
};

// An arc, its line in the picture, its entry of targets, and the entries of offsets that bound its row.
function rowsCursor(payload, drawing, offsets, targets, picture, strip) {
  const lineOfArc = unpack(payload.lineOfArc),
    arcs = Array.from(targets, (_, arc) => ({ arc, line: lineOfArc[arc] }));
  for (let v = 0; v + 1 < offsets.length; v++) for (let k = offsets[v]; k < offsets[v + 1]; k++) arcs[k].row = v;
  const rowWords = (v) => `${v} is targets[${offsets[v]}:${offsets[v + 1]}]`;
  const cursor = cursorOf(
    {
      arc: {
        say: (ids) => namesOf(ids, "arc", "arcs", (k) => `${arcs[k].row}→${targets[k]} (targets[${k}])`),
        light: (ids) => strip.lightTargets(ids),
        longest: () => "arcs 99→99 (targets[99]), 99→99 (targets[99])",
      },
      row: {
        say: (ids) => namesOf(ids, "row", "rows", rowWords),
        light: (ids) => strip.lightOffsets(ids),
        longest: () => "rows 99 is targets[99:99], 99 is targets[99:99]",
      },
      line: { light: (ids) => picture.lit.show(drawing.lines(ids)) },
    },
    () => arcs,
    "Point at an arc or at a cell of an array: the other lights up; a click or tap keeps it.",
    countNames("row", "rows"),
  );
  cursor.over(strip.svg, (event) => strip.locate(placeIn(strip.svg, event)));
  cursor.keys(strip.svg, () => arcs.map(({ arc }) => ["arc", arc]));
  cursor.over(picture.svg, (event) => lineAt(drawing, placeIn(picture.svg, event)));
  return cursor;
}

function graphKeys(payload, shade, directed) {
  const dot = "M7 7h0",
    keys = [[lineKey("gk-arc"), directed ? "arc" : "edge"]];
  if (unpack(payload.tree).length) keys.push([lineKey("gk-arc-tree"), "in the tree"]);
  if (shade && shade.some((s) => s < SHADES)) {
    const looks = Array.from({ length: SHADES }, (_, k) => `gk-dot-v${k}`);
    keys.push([scaleKey(looks, true), "values, small to large"]);
  }
  const bare = shade ? shade.some((s) => s === SHADES) : true;
  if (bare) {
    const words = payload.csr ? "another vertex" : shade ? "without a value" : "vertex";
    keys.push([symbol(["gk-dot-unseen", dot, 11], ["gk-dot-paper", dot, 8.5]), words]);
  }
  if (payload.csr) {
    keys.push(
      [
        symbol(["gk-dot-work", dot, 8], ["gk-f-work", "M0 11h14v3h-14z"]),
        "the vertex, and where its row begins and ends",
      ],
      [
        symbol(["gk-arc-found", "M0 3h14"], ["gk-dot-new", "M7 7h0", 6], ["gk-f-new", "M0 11h14v3h-14z"]),
        "its row, its neighbors",
      ],
      [symbol(["gk-f-faint", "M0 3h14v8h-14z"]), "other entries"],
    );
  }
  return keys;
}

function rangeCounters(range) {
  if (!range) return [];
  return [
    ["least value", 0],
    ["largest value", SHADES - 1],
  ].map(([name, shade], i) => [
    symbol(["gk-dot-rim", "M7 7h0", 13], [`gk-dot-v${shade}`, "M7 7h0", 11.5]),
    name,
    range[i],
  ]);
}

function valuePicture(payload, drawing, offsets, targets) {
  const r = drawing.radius,
    n = drawing.n;
  const tree = new Set(unpack(payload.tree)),
    lineOfArc = unpack(payload.lineOfArc);
  const rest = pathOf("gk-arc"),
    heavy = pathOf("gk-arc-tree"),
    pickedLines = pathOf("gk-arc-found");
  const hollow = pathOf("gk-dot-unseen", "", (drawing.crowded ? 1 : 2) * r),
    hollowIn = pathOf("gk-dot-paper", "", 2 * r - 2);
  const rim = pathOf("gk-dot-rim", "", 2 * r + 2);
  const shades = Array.from({ length: SHADES }, (_, k) => pathOf(`gk-dot-v${k}`, "", 2 * r + 0.4));
  const ring = pathOf("gk-dot-new", "", 2.5 * r),
    ringIn = pathOf("gk-dot-paper", "", 2.16 * r),
    core = pathOf("gk-dot-new", "", 1.9 * r);
  const focus = pathOf("gk-dot-work", "", 2.3 * r);
  const x = (v) => drawing.x[v] / 10,
    y = (v) => drawing.y[v] / 10;
  const vertices = Array.from({ length: n }, (_, v) => v);
  const words = drawing.labeled ? vertices.map((v) => h("text", { class: "gk-text", x: x(v), y: y(v) + 3.6 })) : [];
  const names = h("g", { class: "gk-names" });
  const lineWords = payload.lineTexts.map((text, k) => {
    const [middleX, middleY] = drawing.middle(k);
    return h("text", { class: "gk-line-text", x: middleX, y: middleY + 3 }, text);
  });
  const halo = pathOf("gk-halo", "", 2 * r + 10);
  const around = pathOf("gk-arc-picked"),
    lit = litMark();
  const note = h("text", { class: "gk-note", x: 4, y: drawing.height - 5 });
  const svg = drawing.picture(
    rest,
    heavy,
    pickedLines,
    hollow,
    hollowIn,
    rim,
    ...shades,
    ring,
    ringIn,
    core,
    focus,
    h("g", { class: "gk-line-texts" }, ...lineWords),
    h("g", { class: "gk-labels" }, ...words),
    names,
    halo,
    note,
  );
  svg.insertBefore(around, hollow);
  svg.insertBefore(lit.node, hollow);

  const rowOf = (v) => Array.from(targets.subarray(offsets[v], offsets[v + 1]));
  const linesOf = (v) =>
    [...new Set(Array.from(lineOfArc.subarray(offsets[v], offsets[v + 1])))]
      .filter((k) => k >= 0)
      .sort((a, b) => a - b);
  let texts = null;
  const ask = inspectable(
    svg,
    (px, py) => drawing.nearest(px, py, r + 6),
    (v) => {
      put(halo, "d", v < 0 ? "" : drawing.dots([v]));
      put(around, "d", v < 0 ? "" : drawing.lines(linesOf(v)));
      if (v < 0) return say(note, "");
      const row = rowOf(v),
        degree = offsets[v + 1] - offsets[v];
      const shown = row.slice(0, 12).join(", ") + (row.length > 12 ? ", …" : "");
      say(
        note,
        `vertex ${v}${texts ? `, value ${texts[v]}` : ""}: ${row.length ? `to ${shown}` : degree ? count(degree, "neighbor") : "no neighbors"}`,
      );
    },
    () => n,
  );

  function show(shade, newTexts, vertex) {
    texts = newTexts;
    const row = vertex < 0 ? [] : [...new Set(rowOf(vertex))].sort((a, b) => a - b);
    const picked = vertex < 0 ? [] : linesOf(vertex);
    const lines = Array.from({ length: drawing.lineCount }, (_, k) => k);
    const chosen = new Set(picked),
      inRow = new Set(row);
    put(rest, "d", drawing.lines(lines.filter((k) => !tree.has(k) && !chosen.has(k))));
    put(heavy, "d", drawing.lines([...tree].filter((k) => !chosen.has(k))));
    put(pickedLines, "d", drawing.lines(picked));
    const of = (k) => vertices.filter((v) => (shade ? shade[v] : SHADES) === k);
    const none = drawing.dots(of(SHADES).filter((v) => v !== vertex && !inRow.has(v)));
    put(hollow, "d", none);
    put(hollowIn, "d", drawing.crowded ? "" : none);
    put(rim, "d", drawing.crowded ? "" : drawing.dots(vertices.filter((v) => shade && shade[v] < SHADES)));
    shades.forEach((path, k) => put(path, "d", drawing.dots(of(k))));
    const others = drawing.dots(row.filter((v) => v !== vertex));
    for (const path of [ring, ringIn, core]) put(path, "d", others);
    put(focus, "d", vertex < 0 ? "" : drawing.dots([vertex]));
    words.forEach((word, v) => {
      say(word, texts ? texts[v] : String(v));
      const s = shade ? shade[v] : SHADES;
      let look = s === SHADES ? "gk-text-quiet" : s < 4 ? "gk-text" : "gk-on-dark";
      if (inRow.has(v)) look = "gk-on-new";
      if (v === vertex) look = "gk-on-dark";
      put(word, "class", look);
    });
    if (!texts || !drawing.labeled) names.replaceChildren();
    else if (!names.childElementCount) {
      names.append(...vertices.map((v) => drawing.name(v, "gk-vertex-name")));
    }
    ask.again();
  }

  return { svg, show, lit };
}

function csrStrip(offsets, targets) {
  const rows = Math.ceil(targets.length / STRIP_COLUMNS) || 1,
    top = STRIP_PITCH * Math.ceil(offsets.length / STRIP_COLUMNS) + 4;
  const svg = h("svg", {
    class: "gk-csr",
    viewBox: `0 0 440 ${number(top + rows * STRIP_PITCH + 6)}`,
    role: "img",
    "aria-label": "The arrays offsets and targets",
  });
  const place = (k, from) => [
    STRIP_LEFT + (k % STRIP_COLUMNS) * STRIP_CELL,
    from + Math.floor(k / STRIP_COLUMNS) * STRIP_PITCH,
  ];
  const lit = litMark();
  const boxOf = (from) => (k) => {
    const [x, y] = place(k, from);
    return boxPath(x, y, STRIP_CELL - 1, CELL_TALL);
  };
  const drawn = { targets: "", offsets: "" };
  const light = (name, ids, from) => {
    drawn[name] = [...ids].map(boxOf(from)).join("");
    lit.show(drawn.targets + drawn.offsets);
  };
  const cells = (values, from, looks) =>
    Array.from(values, (value, k) => {
      const [x, y] = place(k, from);
      const look = looks.get(k) || "gk-f-faint";
      const text = { "gk-f-work": "gk-on-dark", "gk-f-new": "gk-on-new" }[look] || "gk-text";
      return [
        h("rect", { class: look, x, y, width: STRIP_CELL - 1, height: CELL_TALL }),
        h("text", { class: `gk-cell ${text}`, x: x + STRIP_CELL / 2 - 0.5, y: y + 12 }, String(value)),
        k % 4 === 0 || looks.has(k)
          ? h("text", { class: "gk-cell-index", x: x + STRIP_CELL / 2 - 0.5, y: y - 2.5 }, String(k))
          : null,
      ].filter(Boolean);
    }).flat();
  return {
    svg,
    lightTargets: (ids) => light("targets", ids, top + 14),
    // A row begins at its own entry, and ends at the next.
    lightOffsets: (ids) =>
      light(
        "offsets",
        [...ids].flatMap((v) => [v, v + 1]),
        14,
      ),
    locate({ x, y }) {
      const low = y >= top + 9;
      const column = Math.floor((x - STRIP_LEFT) / STRIP_CELL);
      const k = column + STRIP_COLUMNS * Math.floor((y - (low ? top + 12 : 12)) / STRIP_PITCH);
      if (column < 0 || column >= STRIP_COLUMNS || k < 0) return null;
      if (low) return k < targets.length ? ["arc", k] : null;
      return k + 1 < offsets.length ? ["row", k] : null;
    },
    show(v) {
      const row = new Map();
      for (let k = offsets[v]; k < offsets[v + 1]; k++) row.set(k, "gk-f-new");
      svg.replaceChildren(
        h("text", { class: "gk-array-name", x: 0, y: 25.5 }, "offsets"),
        h("text", { class: "gk-array-name", x: 0, y: top + 25.5 }, "targets"),
        ...cells(
          offsets,
          14,
          new Map([
            [v, "gk-f-work"],
            [v + 1, "gk-f-work"],
          ]),
        ),
        ...cells(targets, top + 14, row),
        lit.node,
      );
    },
  };
}
