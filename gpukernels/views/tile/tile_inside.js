// Inside one tile: the lengths that its threads keep in registers, and the slices of two tiles in shared memory.
import { count, h, number, put, say } from "../js/element.js";
import { inspectable } from "../js/inspect.js";
import { boxPath, emptyPaths, wordsText, picture } from "../js/marks.js";
import { gridTexts, shadeLooks, shadeOf, tileLookedInto } from "./tile_matrix.js";

const IN_OUTPUTS = 320,
  IN_FACTOR = 84,
  IN_GAP = 8,
  IN_RIM = 3;
const IN_CORNER = IN_RIM + IN_FACTOR + IN_GAP;
const IN_WHOLE = IN_CORNER + IN_OUTPUTS + IN_RIM;
const IN_MOST_NUMBERED = 16;

export function insidePanel(scale) {
  const paths = emptyPaths({
    factors: "gk-s-tile-grid",
    lies: "gk-s-tile-lies",
    used: "gk-s-tile-used",
    comes: "gk-s-tile-comes",
    own: "gk-tile-own",
    ...shadeLooks("v"),
    less: "gk-f-new",
    cross: "gk-s-tile-band",
    mine: "gk-s-now",
  });
  const plain = Array.from(scale.lengths).some((length) => cellLength(length).length > 2)
    ? "gk-tile-tight"
    : "gk-tile-word";
  const words = {
    ink: wordsText(plain),
    dark: wordsText(`${plain} gk-on-dark`),
    fresh: wordsText(`${plain} gk-on-new`),
  };
  const labels = wordsText("gk-tile-label");
  const svg = picture(
    "gk-tile-inside",
    IN_WHOLE,
    IN_WHOLE,
    "",
    ...Object.values(paths),
    ...Object.values(words).map((word) => word.text),
    labels.text,
  );
  const head = h("b"),
    word = h("small"),
    fact = h("p", { class: "gk-tile-fact" });
  const node = h("div", { class: "gk-tile-in" }, h("p", { class: "gk-tile-head" }, head, word), svg, fact);
  let owners = [],
    asked = 0,
    thread = 0,
    again = null;

  inspectable(
    svg,
    (x, y) => {
      const side = Math.sqrt(owners.length),
        [i, j] = [y, x].map((v) => Math.floor(((v - IN_CORNER) * side) / IN_OUTPUTS));
      return owners.length && Math.min(i, j) >= 0 && Math.max(i, j) < side ? owners[i * side + j] : -1;
    },
    (picked) => {
      asked = Math.max(picked, 0);
      if (again) again();
    },
    () => (owners.length ? Math.max(...owners) + 1 : 0),
  );

  function show(state, picked) {
    const { run, frame } = state;
    const t = tileLookedInto(state, picked);
    const launch = frame < 0 ? -1 : run.launch[frame];
    const own = launch < 0 ? -1 : run.tilesOf(launch).indexOf(t);
    owners = own < 0 ? [] : run.ownersOf(launch);
    // Another launch may have fewer threads.
    thread = owners.includes(asked) ? asked : 0;
    const name = run.tileName(t);
    say(head, `Inside tile ${name}`);
    say(word, own < 0 ? "no block at work on it" : blockWord(run, launch, own));
    put(svg, "aria-label", `Lengths of tile ${name}${own < 0 ? "" : ", in registers and shared memory"}`);
    const cell = IN_OUTPUTS / run.tile,
      thin = IN_FACTOR / run.tile;
    const [top, left] = run.corner(t);
    showOutputs(state, top, left, cell, own < 0);
    showShared(state, own < 0 ? -1 : t, cell, thin);
  }

  function showOutputs({ run, frame, memory, registers }, top, left, cell, idle) {
    const codes = idle ? memory : registers;
    const changed = new Set(frame < 0 || idle ? [] : [...run.keptAt(frame), ...run.loweredAt(frame)]);
    const cells = {},
      marks = { ink: [], dark: [], fresh: [] };
    const numbered = run.tile <= IN_MOST_NUMBERED;
    const places = gridTexts(IN_CORNER, cell, run.tile),
      side = number(cell),
      across = gridTexts(IN_CORNER + cell / 2, cell, run.tile),
      down = gridTexts(IN_CORNER + cell / 2 + 4, cell, run.tile);
    for (let i = 0; i < run.tile; i++) {
      for (let j = 0; j < run.tile; j++) {
        const element = (top + i) * run.rows + left + j;
        const less = changed.has(element),
          shade = shadeOf(scale, codes[element]);
        const look = less ? "less" : `v${shade}`;
        cells[look] = (cells[look] || "") + `M${places[j]} ${places[i]}h${side}v${side}h-${side}z`;
        if (!numbered) continue;
        const tone = less ? "fresh" : shade === 4 || shade === 5 ? "dark" : "ink";
        marks[tone].push([across[j], down[i], lengthText(codes[element])]);
      }
    }
    for (const look of [...Object.keys(shadeLooks("v")), "less"]) put(paths[look], "d", cells[look] || "");
    for (const tone of Object.keys(words)) words[tone].show(marks[tone]);
    const mine = owners.length ? Array.from(owners.keys()).filter((k) => owners[k] === thread) : [];
    const at = (k) => [Math.floor(k / run.tile), k % run.tile];
    put(
      paths.mine,
      "d",
      mine
        .map(at)
        .map(([i, j]) => boxPath(IN_CORNER + cell * j + 1, IN_CORNER + cell * i + 1, cell - 2, cell - 2))
        .join(""),
    );
    say(fact, owners.length ? threadFact(run, thread, mine.map(at)) : "");
  }

  function lengthText(code) {
    return code < scale.lengths.length ? cellLength(scale.lengths[code]) : "∞";
  }

  // Boxes of the factors lie beside and above the outputs; a tile that is a whole in shared memory is its own.
  function showShared({ run, frame }, t, cell, thin) {
    const boxes = t < 0 ? [] : run.boxesAt(frame).filter((box) => box.of === t);
    const pieces = { factors: "", lies: "", used: "", comes: "", own: "", cross: "" },
      marks = [];
    const mine = new Set(Array.from(owners.keys()).filter((k) => owners[k] === thread));
    const rows = new Set([...mine].map((k) => Math.floor(k / run.tile))),
      columns = new Set([...mine].map((k) => k % run.tile));
    for (const box of boxes) {
      const kind = ["lies", "used", "comes"][box.state];
      const [i, j] = [box.top % run.tile, box.left % run.tile],
        tall = box.bottom - box.top,
        wide = box.right - box.left;
      if (box.array === "left") {
        pieces[kind] += boxPath(IN_RIM + thin * j + 0.8, IN_CORNER + cell * i, thin * wide - 1.6, cell * tall);
        if (box.state === 1)
          for (const row of rows)
            pieces.own += boxPath(IN_RIM + thin * j + 2, IN_CORNER + cell * row + 2, thin * wide - 4, cell - 4);
      } else if (box.array === "right") {
        pieces[kind] += boxPath(IN_CORNER + cell * j, IN_RIM + thin * i + 0.8, cell * wide, thin * tall - 1.6);
        if (box.state === 1)
          for (const column of columns)
            pieces.own += boxPath(IN_CORNER + cell * column + 2, IN_RIM + thin * i + 2, cell - 4, thin * tall - 4);
      }
    }
    const [first, last] = t < 0 ? [-1, -1] : run.pivotsAt(frame);
    const factors = ["left", "right"].map((name) => {
      const own = boxes.filter((box) => box.array === name);
      return own.find((box) => box.state === 1) || own[0];
    });
    if (factors[0]) {
      pieces.factors +=
        boxPath(IN_RIM, IN_CORNER, IN_FACTOR, IN_OUTPUTS) + boxPath(IN_CORNER, IN_RIM, IN_OUTPUTS, IN_FACTOR);
      const [one, other] = factors.map((box) => run.tileName(run.tileOf([box.top, box.left])));
      marks.push(
        [IN_RIM + IN_FACTOR / 2, IN_RIM + 14, "shared memory"],
        [IN_RIM + IN_FACTOR / 2, IN_RIM + 34, `left ↓ ${one}`],
        [IN_RIM + IN_FACTOR / 2, IN_RIM + 50, `right → ${other}`],
      );
    } else if (boxes.length) {
      marks.push(
        [IN_RIM + IN_FACTOR / 2, IN_RIM + 14, "shared memory"],
        [IN_RIM + IN_FACTOR / 2, IN_RIM + 34, "holds the tile"],
      );
      const kind = ["lies", "used", "comes"][boxes[0].state];
      pieces[kind] += boxPath(IN_CORNER - 3, IN_CORNER - 3, IN_OUTPUTS + 6, IN_OUTPUTS + 6);
      if (first >= 0) {
        const p = first % run.tile;
        pieces.cross +=
          boxPath(IN_CORNER, IN_CORNER + cell * p, IN_OUTPUTS, cell) +
          boxPath(IN_CORNER + cell * p, IN_CORNER, cell, IN_OUTPUTS);
      }
    }
    if (first >= 0)
      marks.push([
        IN_RIM + IN_FACTOR / 2,
        IN_RIM + 72,
        first === last ? `vertex ${first}` : `vertices ${first}–${last}`,
      ]);
    for (const [name, d] of Object.entries(pieces)) put(paths[name], "d", d);
    labels.show(marks);
  }

  return {
    node,
    show(state, picked) {
      put(node, "class", state ? "gk-tile-in" : "gk-tile-in gk-tile-off");
      again = state && (() => show(state, picked));
      if (again) again();
    },
  };
}

// A length as it stands in a cell, which has room for three signs.
function cellLength(length) {
  const text = Number.isInteger(length) ? String(length) : String(Number(length.toPrecision(2))).replace(/^0\./, ".");
  return text.length > 3 ? "…" : text;
}

function blockWord(run, launch, own) {
  const threads = run.threadsOf(launch);
  return `block ${run.blockIds(launch)[own]} of ${run.blocksOf(launch)}, ${count(threads, "thread")}`;
}

function threadFact(run, thread, outputs) {
  const rows = new Set(outputs.map(([i]) => i)).size,
    columns = new Set(outputs.map(([, j]) => j)).size;
  return `Thread ${thread} keeps ${count(outputs.length, "length")} in registers: ${count(rows, "row")} by ${count(columns, "column")}.`;
}
