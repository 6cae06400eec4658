// HashView: the table of the hash64 filter, request by request.
import { countEach } from "../js/counted.js";
import { unpack, unpackLists } from "../js/decode.js";
import { h, number, put, say } from "../js/element.js";
import { selectOf } from "../js/figure.js";
import { inspectable } from "../js/inspect.js";
import {
  SQUARE,
  barPath,
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
} from "../js/marks.js";

const STORED = 0,
  READ_BACK = 1;
const KEPT_AGAIN = 1,
  KEPT_ELSEWHERE = 2;
const HASH_HINT = "Point at or tap a lane or a slot, or press an arrow key.";
const HASH_SIGNS = [
  "m-3.2 .2l2.3 2.5l4 -5.2",
  "m-2.6 -2.6l5.2 5.2m0 -5.2l-5.2 5.2",
  "m-2.2 -1.6c0 -2.8 4.6 -2.8 4.6 0c0 1.5 -2.3 1.5 -2.3 3.2m0 2.1h0",
];
const MISSED_SIGN = "m0 -3.6v4.2m0 3.1h0";
const VERDICT_LOOKS = ["gk-f-new", "gk-f-done", "gk-f-barrier"];
const VERDICTS = ["valid, kept", "duplicate, dropped", "conflict, kept"];

const HASH_MEANINGS = {
  "calls so far": "Times that a warp has stored to the table.",
  "words stored": "A word is a vertex and the thread that has found it, one for each lane that stores.",
  "words read back": "Words that lanes have compared with the word that they had stored.",
  "valid, kept": "The lane reads its own word: it keeps its vertex.",
  "duplicates detected": "The lane reads its vertex with another thread: it drops it.",
  "conflicts, kept": "The lane reads another vertex in its slot. It cannot decide, and keeps its own.",
  "duplicates missed": "Times that a vertex was kept although it had been kept before.",
  "kept in two blocks": "Vertices kept by another block, whose table this one does not see.",
};

export const hashView = {
  counted: countEach("step"),
  meanings: HASH_MEANINGS,
  pace: 1600,
  open(payload) {
    const code = codeLine();
    const place = h("div", { class: "gk-hash" });
    const head = h("p");
    const lines = h("ol", { tabindex: 0, "aria-label": "What became of the vertex" });
    let vertex = payload.vertex;
    return {
      stage: [code.node, place],
      parts: () => [["Table", [code.node, place]]],
      side: [h("div", { class: "gk-hash-story" }, head, lines)],
      choose(k, again, go) {
        const data = readHash(payload.traces[k]);
        const pictures = [hashPicture(data, false), hashPicture(data, true)];
        place.replaceChildren(...pictures.map(({ svg }) => svg));
        code.hold(data.texts.map(([, text]) => text));
        if (!data.followed.includes(vertex)) vertex = payload.vertex;
        const controls = [];
        if (data.followed.length > 1) {
          const entries = data.followed.map((v) => `vertex ${v}`);
          controls.push(
            selectOf("Follow", entries, data.followed.indexOf(vertex), (at) => {
              vertex = data.followed[at];
              again();
            }),
          );
        }
        const first = data.blocks.map((b) => data.block.indexOf(b));
        const blocks =
          data.blocks.length > 1 ? selectOf("Block", data.blocks.map(String), 0, (at) => go(first[at])) : null;
        if (blocks) controls.push(blocks);
        return {
          steps: data.steps,
          tracks: hashTracks(data),
          controls,
          keys: hashKeys(data),
          sentence: (step) => data.sentences[step],
          counters: (step) => hashCounters(data, step),
          show(step) {
            code.show(...data.texts[data.text[step]]);
            if (blocks) blocks.lastElementChild.selectedIndex = data.blocks.indexOf(data.block[step]);
            for (const { show } of pictures) show(step, vertex);
            const at = data.followed.indexOf(vertex);
            say(head, data.heads[at]);
            lines.replaceChildren(
              ...data.stories[at].map(([when, what]) =>
                h(
                  "li",
                  { class: when === step ? "gk-hash-now" : when > step ? "gk-hash-later" : null },
                  when < data.steps ? `${hashView.counted.number(when)}: ${what}` : what,
                ),
              ),
            );
          },
        };
      },
    };
  },
};

function readHash(trace) {
  const data = { ...trace };
  for (const name of ["kind", "block", "warp", "lane", "slot", "vertex", "thread", "verdict", "seen", "kept", "text"]) {
    data[name] = unpack(trace[name]);
  }
  data.words = unpackLists(trace.words);
  data.cleared = unpackLists(trace.cleared);
  data.blocks = [...new Set(data.block)].sort((a, b) => a - b);
  data.stored = [];
  for (let k = 0; k < data.steps; k++) if (data.kind[k] === STORED) for (const i of data.words(k)) data.stored[i] = k;
  // The word in each slot of the block's table after a step.
  data.table = (step) => {
    const held = new Map();
    for (let k = 0; k <= step; k++) {
      if (data.kind[k] === READ_BACK || data.block[k] !== data.block[step]) continue;
      for (const i of data.words(k)) held.set(data.slot[i], i);
      for (const slot of data.cleared(k)) held.delete(slot);
    }
    return held;
  };
  return data;
}

function hashName(vertex) {
  return vertex < 0 ? "·" : String(vertex);
}

function hashLayout(data, narrow) {
  const { slots } = data;
  const longest = Math.max(...Array.from(data.vertex, (v) => hashName(v).length));
  const columns = narrow ? 16 : 32,
    column = narrow ? 19.6 : 18.4,
    left = narrow ? 40 : 68;
  const lanes = 32 / columns,
    rows = Math.ceil(slots / columns);
  const tall = slots <= 128 ? 24 : slots <= 256 ? 13 : 7;
  const lanePitch = 39,
    readPitch = 54;
  const table = 4 + lanes * lanePitch + 42;
  const reads = table + rows * (tall + 1) + 44;
  const x = (place) => left + (place % columns) * column;
  const row = (place) => Math.floor(place / columns);
  const mark = ([a, b], down) => [a + column / 2, b + down];
  return {
    narrow,
    columns,
    column,
    left,
    tall,
    table,
    mark,
    width: left + columns * column + 2,
    height: reads + lanes * readPitch + 9,
    font: Math.max(Math.min(9, (column - 1) / (0.68 * longest)), narrow ? 9.4 : 8.3),
    small: narrow ? 9.4 : 8.3,
    lane: (lane) => [x(lane), 15 + row(lane) * lanePitch],
    slot: (slot) => [x(slot), table + row(slot) * (tall + 1)],
    read: (lane) => [x(lane), reads + row(lane) * readPitch],
    plates() {
      if (!narrow) return "";
      const [a, b] = this.lane(16),
        [c, d] = this.read(0),
        wide = columns * column;
      return boxPath(a, b - 12, wide, 36) + boxPath(c, d, wide, 49);
    },
    cell: ([a, b], high = 24) => boxPath(a + 0.5, b, column - 1, high),
    wire(above, below, high) {
      const [a, b] = mark(above, high),
        [c, d] = mark(below, 0),
        bow = 0.5 * (d - b);
      const [p, q, ...rest] = [a, b, a, b + bow, c, d - bow, c, d].map(number);
      return `M${p} ${q}C${rest.join(" ")}`;
    },
    labels() {
      const labels = [],
        at = left - 6;
      for (let first = 0; first < 32; first += columns) {
        const y = this.lane(first)[1];
        labels.push([at, y - 4, narrow ? "stores" : "lane stores"], [at, y + 10.5, "vertex"], [at, y + 21, "thread"]);
      }
      const every = tall >= 13 ? 1 : 4;
      for (let first = 0; first < slots; first += every * columns) {
        labels.push([at, this.slot(first)[1] + tall / 2 + 3, `[${first}]`]);
      }
      for (let first = 0; first < 32; first += columns) {
        const y = this.read(first)[1];
        labels.push(
          [at, y - 4, first ? "" : narrow ? "reads" : "lane reads"],
          [at, y + 10.5, "vertex"],
          [at, y + 21, "thread"],
          [at, y + 34, "verdict"],
          [at, y + 46, "lane"],
        );
      }
      return labels;
    },
    // Lanes are marks 0 to 31, slots follow.
    locate(px, py) {
      const c = Math.floor((px - left) / column);
      if (c < 0 || c >= columns) return -1;
      for (let r = 0; r < lanes; r++) {
        for (const [top, foot] of [
          [4 + r * lanePitch, 35],
          [reads + r * readPitch, 50],
        ]) {
          if (py >= top && py < top + foot) return r * columns + c;
        }
      }
      const r = Math.floor((py - table) / (tall + 1)),
        slot = r * columns + c;
      return r >= 0 && r < rows && slot < slots ? 32 + slot : -1;
    },
  };
}

function hashPicture(data, narrow) {
  const place = hashLayout(data, narrow);
  const names = {
    empty: "gk-f-faint",
    held: "gk-scan-was",
    written: "gk-f-work",
    wire: "gk-wire",
    lost: "gk-wire-clash",
    wire0: "gk-s-valid",
    wire1: "gk-s-duplicate",
    wire2: "gk-s-conflict",
    plates: "gk-f-paper",
    idle: "gk-f-faint",
    stored: "gk-scan-was",
    storing: "gk-f-work",
    verdict0: VERDICT_LOOKS[0],
    verdict1: VERDICT_LOOKS[1],
    verdict2: VERDICT_LOOKS[2],
    clash: "gk-f-clash",
    signs: "gk-s-sign",
    missed: "gk-s-missed",
    follow: "gk-s-now",
  };
  const layers = emptyPaths(names);
  const ticks = wordsText("gk-tick gk-text-quiet"),
    labels = wordsText("gk-hash-label"),
    title = wordsText("gk-array-name");
  const texts = {};
  for (const [key, name] of [
    ["plain", "gk-text"],
    ["dark", "gk-on-dark"],
    ["fresh", "gk-on-new"],
  ]) {
    texts[key] = wordsText(`gk-scan-word ${name}`, place.font);
    texts[`${key} t`] = wordsText(`gk-scan-word ${name}`, place.small);
  }
  const every = Array.from({ length: 32 }, (_, lane) => lane);
  ticks.show(
    [
      [place.lane, -4],
      [place.read, 46],
    ].flatMap(([corner, down]) => every.map((lane) => [...place.mark(corner(lane), down), String(lane)])),
  );
  labels.show(place.labels());
  title.show([[0, place.table - 7, data.array]]);
  const halo = pathOf("gk-wire-picked");
  const note = h("text", { class: "gk-note", x: 2, y: place.height - 3 }, HASH_HINT);
  const svg = picture(
    `gk-hash-${narrow ? "narrow" : "wide"}`,
    place.width,
    place.height,
    `Lanes of a warp and ${data.slots} slots of ${data.array}`,
    ...Object.values(layers),
    ...[ticks, labels, title, ...Object.values(texts)].map((t) => t.text),
    halo,
    note,
  );

  const plates = place.plates();
  let shown = 0,
    held = new Map();
  const ask = inspectable(svg, place.locate, pick, () => 32 + data.slots);
  const word = (i) => (data.vertex[i] < 0 ? "no vertex" : `(${data.vertex[i]}, thread ${data.thread[i]})`);

  function pick(mark) {
    put(halo, "d", "");
    if (mark < 0) return say(note, HASH_HINT);
    if (mark >= 32) return pickSlot(mark - 32);
    const i = data.words(shown).find((j) => data.lane[j] === mark);
    if (i === undefined) return say(note, `lane ${mark} does not take part in this step`);
    const top = place.lane(mark),
      slot = place.slot(data.slot[i]),
      foot = place.read(mark);
    if (data.kind[shown] !== READ_BACK) {
      put(halo, "d", place.cell(top) + place.wire(top, slot, 24) + place.cell(slot, place.tall));
      const stays =
        held.get(data.slot[i]) === i ? "" : `; lane ${data.lane[held.get(data.slot[i])]} overwrites it at once`;
      return say(note, `lane ${mark} stores ${word(i)} in slot ${data.slot[i]}${stays}`);
    }
    put(halo, "d", place.cell(slot, place.tall) + place.wire(slot, foot, place.tall) + place.cell(foot));
    const kept = ["", "; kept before: missed", "; kept in another block too"][data.kept[i]];
    say(note, `lane ${mark} stored ${word(i)} and reads ${word(data.seen[i])}: ${VERDICTS[data.verdict[i]]}${kept}`);
  }

  function pickSlot(slot) {
    put(halo, "d", place.cell(place.slot(slot), place.tall));
    const i = held.get(slot);
    if (i === undefined) return say(note, `slot ${slot}: nothing stored`);
    const k = data.stored[i];
    say(
      note,
      `slot ${slot}: ${word(i)}, stored at ${hashView.counted.name(k)} by warp ${data.warp[k]}, lane ${data.lane[i]}`,
    );
  }

  return {
    svg,
    show(step, vertex) {
      shown = step;
      held = data.table(step);
      const d = Object.fromEntries(Object.keys(layers).map((key) => [key, ""]));
      const marks = Object.fromEntries(Object.keys(texts).map((key) => [key, []]));
      const write = (look, corner, i, thread = true) => {
        marks[look].push([...place.mark(corner, thread ? 10.5 : 9.7), hashName(data.vertex[i])]);
        if (thread)
          marks[`${look} t`].push([...place.mark(corner, 21), data.vertex[i] < 0 ? "" : String(data.thread[i])]);
      };
      const reading = data.kind[step] === READ_BACK,
        words = new Map(),
        crowd = new Map();
      for (const i of data.words(step)) {
        words.set(data.lane[i], i);
        crowd.set(data.slot[i], (crowd.get(data.slot[i]) || 0) + 1);
      }
      for (let slot = 0; slot < data.slots; slot++) {
        const corner = place.slot(slot),
          written = !reading && crowd.has(slot),
          i = held.get(slot);
        d[written ? "written" : i === undefined ? "empty" : "held"] += place.cell(corner, place.tall);
        if (i !== undefined) {
          if (place.tall >= 13) write(written ? "dark" : "plain", corner, i, place.tall === 24);
          if (data.vertex[i] === vertex) d.follow += place.cell(corner, place.tall);
        }
        if (written && crowd.get(slot) > 1)
          d.clash += boxPath(corner[0] + 0.5, corner[1] + place.tall - 2, place.column - 1, 2);
      }
      let elsewhere = "";
      for (const lane of every) {
        const top = place.lane(lane),
          foot = place.read(lane),
          i = words.get(lane);
        if (i === undefined) {
          d.idle += place.cell(top) + place.cell(foot);
          continue;
        }
        const slot = place.slot(data.slot[i]),
          mine = data.vertex[i] === vertex;
        d[reading ? "stored" : "storing"] += place.cell(top);
        write(reading ? "plain" : "dark", top, i);
        if (mine) d.follow += place.cell(top);
        if (!reading) {
          d.idle += place.cell(foot);
          d[held.get(data.slot[i]) === i ? "wire" : "lost"] += place.wire(top, slot, 24);
          continue;
        }
        const verdict = data.verdict[i],
          kept = data.kept[i];
        d[`verdict${verdict}`] += place.cell(foot);
        write(verdict === 1 ? "dark" : "fresh", foot, data.seen[i]);
        d[`wire${verdict}`] += place.wire(slot, foot, place.tall);
        if (mine) d.follow += place.cell(foot);
        const [x, y] = place.mark(foot, 31);
        d.signs += `M${number(x - (kept ? 3.5 : 0))} ${number(y)}${HASH_SIGNS[verdict]}`;
        const mark = `M${number(x + 4.5)} ${number(y)}${MISSED_SIGN}`;
        if (kept === KEPT_AGAIN) {
          d.missed += mark;
          d.clash += boxPath(foot[0] + 0.5, foot[1] + 22, place.column - 1, 2);
        }
        if (kept === KEPT_ELSEWHERE) elsewhere += mark;
      }
      d.signs += elsewhere;
      d.plates = plates;
      for (const key of Object.keys(layers)) put(layers[key], "d", d[key]);
      for (const key of Object.keys(marks)) texts[key].show(marks[key]);
      ask.again();
    },
  };
}

function hashTracks(data) {
  const unit = 10 * data.warps,
    bars = ["", "", "", ""];
  let odd = "",
    filled = "",
    stored = "",
    read = "",
    most = 0;
  for (let k = 0; k < data.steps; k++) most = Math.max(most, data.words(k).length);
  for (let k = 0; k < data.steps; k++) {
    if (data.blocks.indexOf(data.block[k]) % 2) odd += `M${k} 0h1v${unit}h-1z`;
    const mark = `M${k}.1 ${10 * data.warp[k] + 1}h.8v8h-.8z`;
    if (data.kind[k] > READ_BACK) {
      filled += `M${k}.1 1h.8v${unit - 2}h-.8z`;
      continue;
    }
    if (data.kind[k] === STORED) {
      stored += mark;
      continue;
    }
    read += mark;
    const words = Array.from(data.words(k));
    let base = 30;
    for (const verdict of [0, 2, 1]) {
      const tall = (30 * words.filter((i) => data.verdict[i] === verdict).length) / most;
      bars[verdict] += barPath(k, base, tall);
      base -= tall;
    }
    const missed = (30 * words.filter((i) => data.kept[i] === KEPT_AGAIN).length) / most;
    bars[3] += barPath(k, 30, missed, ".6", ".3");
  }
  return [
    track(
      "warps",
      data.warps === 1 ? "0" : `0 to ${data.warps - 1}`,
      data.steps,
      Math.min(Math.max(unit, 20), 120),
      unit,
      [pathOf("gk-f-faint", odd), pathOf("gk-f-line", filled), pathOf("gk-f-work", stored), pathOf("gk-f-wait", read)],
      true,
    ),
    track(
      "verdicts",
      `most ${most}`,
      data.steps,
      30,
      30,
      [...VERDICT_LOOKS, "gk-f-clash"].map((name, i) => pathOf(name, bars[i])),
      true,
    ),
  ];
}

function hashKeys(data) {
  const keys = [
    [
      squareKey("gk-f-faint"),
      data.blocks.length > 1 ? "idle lane, empty slot; every other block" : "idle lane, empty slot",
    ],
    [squareKey("gk-scan-was"), "stored before"],
    [lineKey("gk-wire"), "stores, and it stays"],
    [lineKey("gk-wire-clash"), "is overwritten at once"],
    [
      symbol(["gk-s-valid", "M0 2.5h14"], ["gk-s-duplicate", "M0 7h14"], ["gk-s-conflict", "M0 11.5h14"]),
      "reads back: valid, duplicate, conflict",
    ],
    [symbol(["gk-s-now", SQUARE]), "the vertex that is followed"],
  ];
  if (data.kind.some((kind) => kind > READ_BACK)) keys.push([squareKey("gk-f-line"), "the table is filled"]);
  return keys;
}

function verdictKey(k) {
  return symbol([VERDICT_LOOKS[k], SQUARE], [`gk-s-sign gk-s-on-${k}`, `M7 7${HASH_SIGNS[k]}`]);
}

function hashCounters(data, step) {
  const verdicts = [0, 0, 0],
    kept = [0, 0, 0];
  let calls = 0,
    stored = 0;
  for (let k = 0; k <= step; k++) {
    const words = data.words(k);
    if (data.kind[k] === STORED) {
      calls++;
      stored += words.length;
    }
    if (data.kind[k] !== READ_BACK) continue;
    for (const i of words) {
      verdicts[data.verdict[i]]++;
      kept[data.kept[i]]++;
    }
  }
  const counters = [
    [null, "calls so far", String(calls)],
    [squareKey("gk-f-work"), "words stored", String(stored)],
    [squareKey("gk-f-wait"), "words read back", String(verdicts[0] + verdicts[1] + verdicts[2])],
    [verdictKey(0), "valid, kept", String(verdicts[0])],
    [verdictKey(1), "duplicates detected", String(verdicts[1])],
    [verdictKey(2), "conflicts, kept", String(verdicts[2])],
    [
      symbol(["gk-f-clash", "M1.5 11h11v2.5h-11z"], ["gk-s-missed", `M7 5${MISSED_SIGN}`]),
      "duplicates missed",
      String(kept[KEPT_AGAIN]),
    ],
  ];
  if (data.blocks.length > 1) {
    counters.push([symbol(["gk-s-sign", `M7 7${MISSED_SIGN}`]), "kept in two blocks", String(kept[KEPT_ELSEWHERE])]);
  }
  return counters;
}
