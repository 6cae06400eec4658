// WorkersView: bars of work by worker, in time, and the graph of tasks below; one task lights up in both.
import { countAfter } from "../js/counted.js";
import { cursorOf, litMark, namesOf } from "../js/cursor.js";
import { unpack, unpackLists } from "../js/decode.js";
import { count, h, number, percent, put, thousands } from "../js/element.js";
import { placeIn } from "../js/inspect.js";
import { boxPath, lineKey, pathOf, squareKey, symbol, wordsText, picture } from "../js/marks.js";

const WORK_WIDE = 560,
  WORK_LEFT = 72,
  WORK_ROW = 30,
  WORK_BAR = 22,
  WORK_TOP = 14,
  WORK_GRAPH = 176,
  WORK_LOOKS = ["gk-f-wait", "gk-f-new", "gk-f-barrier", "gk-f-work", "gk-f-done", "gk-f-line"],
  WORK_CROSS = "M2 2l10 10M12 2l-10 10";

const WORKERS_MEANINGS = {
  ms: "Milliseconds since the first task began.",
  "tasks done": "Tasks done at least once, out of all tasks.",
  "done again": "Times that a task was done again.",
  "lost with a worker": "Tasks that a worker had begun when it died.",
  "workers at work": "Time that workers have spent on tasks, over the time that has gone by for all of them.",
};

export const workersView = {
  counted: countAfter("end"),
  meanings: WORKERS_MEANINGS,
  pace: 260,
  open(payload) {
    const chart = h("div", { class: "gk-workers" }),
      state = { data: null, bars: null, boxes: null, ties: [] };
    const cursor = workersCursor(state);
    cursor.over(chart, (event) => {
      const svg = event.target.closest?.("svg");
      const part = svg && [state.bars, state.boxes].find((one) => one?.svg === svg);
      const place = part && placeIn(svg, event);
      const task = place ? part.locate(place) : -1;
      return task < 0 ? null : ["task", task];
    });
    return {
      stage: [chart],
      cursor,
      choose(k) {
        const data = (state.data = readWorkers(payload.traces[k], payload.kinds));
        state.ties = data.names.flatMap((_, task) => Array.from(data.needs(task), (need) => ({ task, need })));
        state.bars = barsPicture(data);
        state.boxes = boxesPicture(data);
        for (const part of [state.bars, state.boxes])
          cursor.keys(part.svg, () => data.names.map((_, task) => ["task", task]));
        chart.replaceChildren(state.bars.svg, state.boxes.svg);
        return {
          steps: data.steps,
          tracks: [],
          keys: workersKeys(data),
          sentence: (step) => data.sentences[step],
          counters: (step) => workersCounters(data, step),
          show(step) {
            state.bars.show(step);
            state.boxes.show(step);
          },
        };
      },
    };
  },
};

function readWorkers(trace, kinds) {
  const data = { ...trace, kinds };
  for (const name of ["task", "worker", "begin", "end", "lost", "kind", "depth"]) data[name] = unpack(trace[name]);
  data.needs = unpackLists(trace.needs);
  data.last = Math.max(1, ...data.end);
  data.runs = data.task.length;
  return data;
}

function workersCursor(state) {
  const nameOf = (task) =>
    `${state.data.kinds[state.data.kind[task]]}${state.data.names[task] ? `: ${state.data.names[task]}` : ""}`;
  return cursorOf(
    {
      task: {
        say: (ids) => namesOf(ids, "", "tasks", nameOf),
        light(ids) {
          state.bars?.light(ids);
          state.boxes?.light(ids);
        },
        longest: () => "join all: part 9, of 999 vertices from 9,999 on",
      },
      need: {
        say: (ids) => namesOf(ids, "needs", "tasks before it", nameOf),
        longest: () => "needs close a part: part 9, of 999 vertices from 9,999 on",
      },
    },
    () => state.ties,
    "Point at or tap a bar or a box: the task lights up in both, with what it needs.",
    countAfter("run"),
  );
}

function nowAt(data, step) {
  return step ? data.end[step - 1] : 0;
}

function workersCounters(data, step) {
  const now = nowAt(data, step);
  let done = 0,
    lost = 0,
    busy = 0;
  const seen = new Set();
  for (let k = 0; k < data.runs; k++) {
    if (k < step && data.lost[k]) lost++;
    if (k < step && !data.lost[k]) {
      done++;
      seen.add(data.task[k]);
    }
    busy += Math.max(0, Math.min(data.end[k], now) - Math.min(data.begin[k], now));
  }
  return [
    [null, "ms", thousands(now)],
    [null, "tasks done", `${seen.size} of ${data.names.length}`],
    [symbol(["gk-s-now", "M2 7h10"]), "done again", thousands(done - seen.size)],
    [symbol(["gk-s-lost", WORK_CROSS]), "lost with a worker", thousands(lost)],
    [null, "workers at work", percent(busy, Math.max(1, now) * data.workers)],
  ];
}

function workersKeys(data) {
  const used = new Set(data.kind);
  return [
    ...data.kinds
      .map((name, k) => [k, name])
      .filter(([k]) => used.has(k))
      .map(([k, name]) => [squareKey(WORK_LOOKS[k]), name]),
    [squareKey("gk-s-task"), "not yet done"],
    [symbol(["gk-s-lost", WORK_CROSS]), "lost"],
    [lineKey("gk-task-wire"), "is needed by"],
  ];
}

function barsPicture(data) {
  const tall = WORK_TOP + WORK_ROW * data.workers + 16,
    scale = (WORK_WIDE - WORK_LEFT - 6) / data.last;
  const x = (ms) => WORK_LEFT + ms * scale,
    y = (worker) => WORK_TOP + WORK_ROW * worker;
  const box = (k) =>
    boxPath(x(data.begin[k]), y(data.worker[k]), Math.max(0.8, (data.end[k] - data.begin[k]) * scale - 0.7), WORK_BAR);
  const waiting = pathOf("gk-s-task"),
    done = WORK_LOOKS.map((look) => pathOf(look)),
    cross = pathOf("gk-s-lost"),
    playhead = pathOf("gk-s-now"),
    rules = pathOf("gk-s-rule"),
    lit = litMark(),
    words = wordsText("gk-tick gk-text-quiet"),
    names = wordsText("gk-worker-name");
  const step = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((s) => s * scale >= 84) || 20000;
  const ticks = Array.from({ length: Math.floor(data.last / step) + 1 }, (_, k) => k * step);
  put(
    rules,
    "d",
    ticks.map((ms) => `M${number(x(ms))} ${WORK_TOP - 4}v${number(WORK_ROW * data.workers + 4)}`).join(""),
  );
  words.show(
    ticks.filter((ms) => x(ms) < WORK_WIDE - 30).map((ms) => [number(x(ms)), tall - 3, `${thousands(ms)} ms`]),
  );
  names.show(Array.from({ length: data.workers }, (_, w) => [0, number(y(w) + 15), `worker ${w}`]));
  const svg = picture(
    "gk-bars",
    WORK_WIDE,
    tall,
    "What each worker did, in time",
    rules,
    waiting,
    ...done,
    cross,
    lit.node,
    playhead,
    words.text,
    names.text,
  );
  return {
    svg,
    light: (ids) => lit.show(Array.from(data.task, (task, k) => (ids.has(task) ? box(k) : "")).join("")),
    locate(place) {
      for (let k = 0; k < data.runs; k++) {
        const inside = place.x >= x(data.begin[k]) - 1 && place.x <= x(data.end[k]) + 1;
        if (inside && place.y >= y(data.worker[k]) && place.y <= y(data.worker[k]) + WORK_BAR) return data.task[k];
      }
      return -1;
    },
    show(now) {
      const d = WORK_LOOKS.map(() => "");
      let rest = "",
        gone = "";
      for (let k = 0; k < data.runs; k++) {
        if (k >= now) rest += box(k);
        else if (data.lost[k]) {
          const [left, top, right] = [x(data.begin[k]), y(data.worker[k]), x(data.end[k])];
          gone +=
            box(k) +
            `M${number(left)} ${top}L${number(right)} ${top + WORK_BAR}M${number(left)} ${top + WORK_BAR}L${number(right)} ${top}`;
        } else d[data.kind[data.task[k]]] += box(k);
      }
      put(waiting, "d", rest);
      done.forEach((path, k) => put(path, "d", d[k]));
      put(cross, "d", gone);
      put(playhead, "d", `M${number(x(nowAt(data, now)))} ${WORK_TOP - 6}v${number(WORK_ROW * data.workers + 6)}`);
    },
  };
}

function boxesPicture(data) {
  const columns = Math.max(...data.depth) + 1,
    rows = Array.from({ length: columns }, () => []);
  data.depth.forEach((depth, task) => rows[depth].push(task));
  const most = Math.max(...rows.map((row) => row.length));
  const pitch = Math.min(34, (WORK_GRAPH - 8) / most),
    side = Math.min(12, 0.72 * pitch),
    apart = columns > 1 ? (WORK_WIDE - 2 * WORK_LEFT) / (columns - 1) : 0;
  const place = [];
  rows.forEach((row, column) =>
    row.forEach((task, at) => {
      place[task] = [WORK_LEFT + column * apart, WORK_GRAPH / 2 + (at - (row.length - 1) / 2) * pitch];
    }),
  );
  const wide = Math.min(26, 0.5 * apart || 26);
  const box = (task) => boxPath(place[task][0] - wide / 2, place[task][1] - side / 2, wide, side);
  const wire = (from, to) => {
    const [a, b] = [place[from][0] + wide / 2, place[to][0] - wide / 2],
      bow = number((a + b) / 2);
    return `M${number(a)} ${number(place[from][1])}C${bow} ${number(place[from][1])} ${bow} ${number(place[to][1])} ${number(b)} ${number(place[to][1])}`;
  };
  const wires = pathOf("gk-task-wire"),
    litWires = pathOf("gk-arc-picked"),
    todo = pathOf("gk-s-task"),
    done = WORK_LOOKS.map((look) => pathOf(look)),
    lit = litMark();
  let every = "";
  for (let task = 0; task < place.length; task++) for (const from of data.needs(task)) every += wire(from, task);
  put(wires, "d", every);
  const svg = picture(
    "gk-tasks",
    WORK_WIDE,
    WORK_GRAPH,
    `${count(place.length, "task")} and what each needs, from left to right`,
    wires,
    litWires,
    todo,
    ...done,
    lit.node,
  );
  return {
    svg,
    light(ids) {
      const tasks = [...ids].filter((task) => task < place.length);
      lit.show(tasks.map(box).join(""));
      put(
        litWires,
        "d",
        tasks.map((task) => Array.from(data.needs(task), (from) => wire(from, task)).join("")).join(""),
      );
    },
    locate: ({ x, y }) => place.findIndex(([a, b]) => Math.abs(x - a) <= wide / 2 + 1 && Math.abs(y - b) <= pitch / 2),
    show(step) {
      // Results of a dead worker are lost, so a task counts as done only if it has run again since.
      const held = new Map();
      for (let k = 0; k < step; k++) {
        if (data.lost[k]) for (const [task, worker] of held) if (worker === data.worker[k]) held.delete(task);
        if (!data.lost[k]) held.set(data.task[k], data.worker[k]);
      }
      const d = WORK_LOOKS.map(() => "");
      let rest = "";
      place.forEach((_, task) => {
        if (held.has(task)) d[data.kind[task]] += box(task);
        else rest += box(task);
      });
      put(todo, "d", rest);
      done.forEach((path, k) => put(path, "d", d[k]));
    },
  };
}
