// The matrix of a run as it lies in global memory, and what the current launch reads and writes of it.
import { h, number, put, say } from "../js/element.js";
import { placeIn } from "../js/inspect.js";
import { boxPath, emptyPaths, wordsText, picture } from "../js/marks.js";

const TILE_SIDE = 288,
  TILE_EDGE = 4,
  TILE_SHADES = 6;
const TILE_BOX_LOOKS = ["lies", "used", "comes"];

// The shade of a length, from its place in the list of all; the last is for no path.
export function shadeOf({ lengths, shades }, code) {
  if (code >= lengths.length) return TILE_SHADES;
  const [low, high] = shades;
  if (high <= low) return 0;
  const share = (lengths[code] - low) / (high - low);
  return Math.max(0, Math.min(TILE_SHADES - 1, Math.floor(TILE_SHADES * share)));
}

export function shadeLooks(prefix) {
  const looks = {};
  for (let k = 0; k < TILE_SHADES; k++) looks[`${prefix}${k}`] = `gk-tile-v${k}`;
  looks[`${prefix}${TILE_SHADES}`] = "gk-tile-none";
  return looks;
}

// The tile that is looked into: the picked one, or the first of the launch.
export function tileLookedInto(state, picked) {
  const { run, frame } = state;
  if (picked && run.holds(picked)) return run.tileOf(picked);
  return frame < 0 ? 0 : run.tilesOf(run.launch[frame])[0];
}

// Numbers as text, since a figure that plays draws thousands of cells at the same places: `steps` of `step` from `from` on.
export function gridTexts(from, step, steps) {
  return Array.from({ length: steps + 1 }, (_, k) => number(from + step * k));
}

export function matrixPanel(scale, pick) {
  let run = null,
    cell = 0,
    rows = [];
  const at = (k) => TILE_EDGE + cell * k;
  const paths = emptyPaths({
    ...shadeLooks("v"),
    less: "gk-f-new",
    band: "gk-s-tile-band",
    grid: "gk-s-tile-grid",
    lies: "gk-s-tile-lies",
    used: "gk-s-tile-used",
    comes: "gk-s-tile-comes",
    reads: "gk-s-tile-reads",
    writes: "gk-s-tile-writes",
    looked: "gk-s-tile-looked",
    arrows: "gk-s-tile-arrow",
  });
  const words = wordsText("gk-tile-number");
  const paper = TILE_SIDE + 2 * TILE_EDGE;
  const svg = picture("gk-tile-matrix", paper, paper, "", ...Object.values(paths), words.text);
  const head = h("b"),
    word = h("small");
  const node = h("div", { class: "gk-tile-run" }, h("p", { class: "gk-tile-head" }, head, word), svg);
  svg.addEventListener("click", (event) => {
    const point = placeIn(svg, event);
    if (!point || !run || !run.tile) return;
    const place = [point.y, point.x].map((v) => Math.floor((v - TILE_EDGE) / cell));
    if (Math.min(...place) >= 0 && run.holds(place)) pick(run.corner(run.tileOf(place)));
  });

  const tileBox = (t, inset = 0) => {
    const [i, j] = run.corner(t),
      long = cell * run.tile - 2 * inset;
    return boxPath(at(j) + inset, at(i) + inset, long, long);
  };

  // The pieces of a row for each shade: cells side by side are one piece.
  function rowPieces(codes, i, places, widths) {
    const pieces = Array.from({ length: TILE_SHADES + 1 }, () => "");
    for (let j = 0, from = 0; j < run.rows; j++) {
      const shade = shadeOf(scale, codes[j]);
      if (j + 1 < run.rows && shadeOf(scale, codes[j + 1]) === shade) continue;
      const wide = widths[j + 1 - from];
      pieces[shade] += `M${places[from]} ${places[i]}h${wide}v${widths[1]}h-${wide}z`;
      from = j + 1;
    }
    return { codes, pieces };
  }

  // Only rows with a new length are drawn again.
  function showLengths({ memory, frame }) {
    const places = gridTexts(TILE_EDGE, cell, run.rows),
      widths = gridTexts(0, cell, run.rows);
    rows = Array.from({ length: run.rows }, (_, i) => {
      const codes = memory.subarray(i * run.rows, (i + 1) * run.rows);
      const kept =
        rows[i] && rows[i].codes.length === codes.length && codes.every((code, j) => code === rows[i].codes[j]);
      return kept ? rows[i] : rowPieces(codes, i, places, widths);
    });
    for (let k = 0; k <= TILE_SHADES; k++) put(paths[`v${k}`], "d", rows.map(({ pieces }) => pieces[k]).join(""));
    const less = [...new Set(frame < 0 ? [] : run.loweredAt(frame))].sort((a, b) => a - b);
    const cellOf = (element) => boxPath(at(element % run.rows), at(Math.floor(element / run.rows)), cell, cell);
    put(paths.less, "d", less.map(cellOf).join(""));
  }

  function showTiles(state, picked) {
    const { frame, over } = state;
    const tiles = Array.from({ length: run.perRow * run.perRow }, (_, t) => t);
    put(paths.grid, "d", tiles.map((t) => tileBox(t)).join(""));
    const boxes = frame < 0 ? [] : run.boxesAt(frame);
    TILE_BOX_LOOKS.forEach((name, kind) => {
      const own = boxes
        .filter((box) => box.state === kind)
        .map(({ top, bottom, left, right }) =>
          boxPath(at(left) + 1.5, at(top) + 1.5, cell * (right - left) - 3, cell * (bottom - top) - 3),
        );
      put(paths[name], "d", [...new Set(own)].join(""));
    });
    const launch = frame < 0 ? -1 : run.launch[frame];
    const mine = launch < 0 ? [] : run.tilesOf(launch),
      reads = launch < 0 ? [] : run.readsOf(launch);
    put(paths.reads, "d", [...new Set(reads.flat())].map((t) => tileBox(t, 3)).join(""));
    put(paths.writes, "d", mine.map((t) => tileBox(t, 2)).join(""));
    const looked = tileLookedInto(state, picked);
    put(paths.looked, "d", tileBox(looked, 5.5));
    const own = mine.indexOf(looked);
    put(paths.arrows, "d", own < 0 ? "" : reads[own].map((t) => arrow(t, looked)).join(""));
    words.show(
      run.writers(over).flatMap(({ launch: by, ready }, t) => {
        if (by < 0) return [];
        const [i, j] = run.corner(t);
        return [[number(at(j) + 8), number(at(i) + 21), `${by + 1}${ready ? " ✓" : ""}`]];
      }),
    );
  }

  // From the middle of a tile most of the way to that of another.
  function arrow(from, to) {
    const [x1, y1, x2, y2] = [from, to].flatMap((t) => {
      const [i, j] = run.corner(t);
      return [at(j + run.tile / 2), at(i + run.tile / 2)];
    });
    const dx = x2 - x1,
      dy = y2 - y1,
      long = Math.sqrt(dx * dx + dy * dy);
    const [ux, uy] = [dx / long, dy / long];
    const [sx, sy, ex, ey] = [x1 + 16 * ux, y1 + 16 * uy, x2 - 18 * ux, y2 - 18 * uy];
    const wing = (side) => `${number(ex - 7 * ux + side * 4 * uy)} ${number(ey - 7 * uy - side * 4 * ux)}`;
    return `M${number(sx)} ${number(sy)}L${number(ex)} ${number(ey)}M${wing(1)}L${number(ex)} ${number(ey)}L${wing(-1)}`;
  }

  return {
    node,
    show(state, picked, stateText) {
      ({ run } = state);
      cell = TILE_SIDE / run.rows;
      const [first, last] = state.frame < 0 ? [-1, -1] : run.pivotsAt(state.frame);
      say(head, run.label || "The matrix");
      say(word, stateText);
      put(svg, "aria-label", `Matrix of ${run.rows} rows${run.label ? `, ${run.label}` : ""}, ${stateText}`);
      put(node, "class", state.done ? "gk-tile-run gk-tile-done" : "gk-tile-run");
      put(svg, "class", run.tile ? "gk-tile-matrix gk-tile-click" : "gk-tile-matrix");
      showLengths(state);
      const whole = cell * run.rows;
      const band =
        run.tile || first < 0
          ? ""
          : boxPath(at(0), at(first), whole, cell * (last + 1 - first)) +
            boxPath(at(first), at(0), cell * (last + 1 - first), whole);
      put(paths.band, "d", band);
      if (run.tile) return showTiles(state, picked);
      for (const name of ["grid", ...TILE_BOX_LOOKS, "reads", "writes", "looked", "arrows"]) put(paths[name], "d", "");
      words.show([]);
    },
  };
}
