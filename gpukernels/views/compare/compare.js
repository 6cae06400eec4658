// CompareView: methods against graphs, one counter at a time, and every number in a table below. A cell has a mark and one
// number: its own or, if a reader asks for it, how many times the best of its graph it is.
import { countEach } from "../js/counted.js";
import { h, number, put } from "../js/element.js";
import { selectOf } from "../js/figure.js";
import { pathOf, symbol, stretched } from "../js/marks.js";

const AS_GIVEN = "as given",
  HEADS = ["method", "graph"],
  CELLS = ["numbers", "times the best"],
  MANY_GRAPHS = 5,
  PLACE_TALL = 12,
  PLACE_MIDDLE = 6,
  PLACE_EDGE = 4;

export const compareView = {
  counted: countEach("picture"),
  open(payload, leads) {
    const body = h("tbody", { role: "rowgroup" });
    const [first, column] = headsOf(payload);
    const heads = [first, ...payload.graphs].map((name) =>
      h("th", { role: "columnheader", scope: "col" }, ...breakable(name)),
    );
    // Each method keeps its row, which may be out of sight.
    const rows = payload.methods.map(() => h("tr", { role: "row" }));
    const head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...heads));
    const numbers = numbersOf(payload);
    const table = h(
      "table",
      {
        class: payload.graphs.length < MANY_GRAPHS ? "gk-compare" : "gk-compare gk-compare-many",
        role: "table",
        style: `--gk-graphs:${payload.graphs.length}`,
      },
      head,
      body,
    );
    // A cell that the page cannot play does not say that it plays.
    const plays = (payload.plays || []).map((row) => row.map((address) => (leads(address) ? address : "")));
    let order = 0,
      cells = 0;
    return {
      stage: [table, numbers],
      parts: () => [
        ["Table", [table], { word: "Rows", nodes: [...body.children].map((row) => [head, row]) }],
        [null, [numbers]],
      ],
      choose(k, refresh) {
        const trace = payload.traces[k];
        const sort = selectOf("Sort by", [AS_GIVEN, first, ...payload.graphs], order, (at) => {
          order = at;
          refresh();
        });
        const written = selectOf("Cells", CELLS, cells, (at) => {
          cells = at;
          refresh();
        });
        // Where nothing is best, there is nothing to be a multiple of.
        return {
          steps: 1,
          tracks: [],
          controls: trace.better ? [written, sort] : [sort],
          counters: () => keysOf(trace, column),
          sentence: () => trace.sentence,
          show() {
            put(
              table,
              "aria-label",
              `${trace.label}, ${payload.heads ? `by ${first} and ${column}` : "methods on graphs"}`,
            );
            const texts = trace.better && cells ? timesOf(trace) : trace.texts;
            rows.forEach((row, m) => row.replaceChildren(...cellsOf(payload, trace, texts, m, plays[m] || [])));
            body.replaceChildren(...sorted(payload, trace, order).map((m) => rows[m]));
          },
        };
      },
    };
  },
};

// Names of a row and a column.
function headsOf(payload) {
  return payload.heads || HEADS;
}

// The methods as given, by name, or the best of a graph first and what has no number last.
function sorted(payload, trace, order) {
  const all = payload.methods.map((_, m) => m);
  if (order === 0) return all;
  const sign = trace.better === "higher" ? -1 : 1;
  const key = (m) => {
    if (order === 1) return payload.methods[m];
    const value = trace.values[m][order - 2];
    return value === null ? Infinity : sign * value;
  };
  return all.sort((a, b) => (key(a) === key(b) ? a - b : key(a) < key(b) ? -1 : 1));
}

// How many times the best each number is; zero has no multiples, and stays as it is.
function timesOf(trace) {
  return trace.texts.map((row, m) =>
    row.map((text, g) => (trace.notes[m][g] === "best" ? "×1" : trace.notes[m][g] || text)),
  );
}

function cellsOf(payload, trace, texts, m, plays) {
  return [
    h("th", { role: "rowheader", scope: "row" }, ...breakable(payload.methods[m])),
    ...payload.graphs.map((graph, g) => {
      const cell = cellOf(trace, texts, m, g);
      return plays[g] ? playingCell(cell, plays[g], `${payload.methods[m]} on ${graph}`) : cell;
    }),
  ];
}

// A name of several words may end a line behind an underscore; browsers alone would break it anywhere.
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
}

function cellOf(trace, texts, m, g) {
  const text = texts[m][g];
  if (trace.values[m][g] === null) return h("td", { role: "cell", class: "gk-compare-none" }, text);
  const best = trace.notes[m][g] === "best";
  return h(
    "td",
    { role: "cell", class: best ? "gk-compare-best" : null },
    h("span", { class: "gk-compare-value" }, h("b", null, text), ...(best ? [" ", h("small", null, "best")] : [])),
    placeOf(trace, trace.places[m][g], best),
  );
}

// Turns a cell's content into a link that sets the figure with the run, and plays it.
function playingCell(cell, address, run) {
  const held = cell.querySelector("span") || cell;
  const link = h(
    "a",
    { class: "gk-compare-play", href: address, "aria-label": `${held.textContent.trim()}, play ${run}` },
    symbol(["gk-f-accent", "M3 1.5v11l9-5.5z"]),
    ...held.childNodes,
  );
  held.replaceChildren(link);
  return cell;
}

function placeAt(thousandths) {
  return number(PLACE_EDGE + (thousandths * (100 - 2 * PLACE_EDGE)) / 1000);
}

// Where a value lies on the scale, in thousandths of it: a bar from zero, or a point on a log scale, which has no zero.
function placeOf(trace, place, best) {
  const ticks = trace.ticks.map((tick) => `M${placeAt(tick)} 2.5v7`).join("");
  const look = best ? "best" : "rest";
  let mark = null;
  if (trace.log) {
    if (place !== null) mark = pathOf(`gk-s-dot-${look}`, `M${placeAt(place)} ${PLACE_MIDDLE}h0`);
  } else {
    mark = pathOf(
      `gk-compare-bar-${look}`,
      `M${placeAt(trace.ticks[0])} 3.5H${placeAt(place)}v5H${placeAt(trace.ticks[0])}z`,
    );
  }
  const rule = pathOf("gk-s-rule", `M${placeAt(0)} ${PLACE_MIDDLE}H${placeAt(1000)}${ticks}`);
  return stretched("gk-compare-place", 100, PLACE_TALL, PLACE_TALL, rule, mark);
}

function keysOf(trace, column) {
  const keys = [[null, trace.log ? "log scale" : "scale", trace.scale]];
  const mark = trace.log ? ["gk-s-dot-best", "M7 7h0"] : ["gk-compare-bar-best", "M1 4.5h12v5h-12z"];
  if (trace.better)
    keys.push([symbol(mark), `best of its ${column}`, trace.better === "lower" ? "the least" : "the most"]);
  return keys;
}

// Every number of every counter, folded, and as a file that lies in the page itself.
function numbersOf(payload) {
  const heads = payload.counters.map((k) => {
    const { label, unit } = payload.traces[k];
    return unit ? `${label} (${unit})` : label;
  });
  const rows = payload.methods.flatMap((method, m) =>
    payload.graphs.map((graph, g) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, method),
        h("td", null, graph),
        ...payload.counters.map((k) => h("td", null, payload.traces[k].texts[m][g])),
      ),
    ),
  );
  const link = h(
    "a",
    { href: `data:text/csv;charset=utf-8,${encodeURIComponent(payload.csv)}`, download: `${payload.file}.csv` },
    "Download as CSV",
  );
  return h(
    "details",
    { class: "gk-compare-numbers" },
    h("summary", null, "All numbers"),
    link,
    h(
      "div",
      { class: "gk-compare-scroll", tabindex: 0, role: "region", "aria-label": `All numbers: ${payload.title}` },
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h("tr", null, ...[...headsOf(payload), ...heads].map((name) => h("th", { scope: "col" }, name))),
        ),
        h("tbody", null, ...rows),
      ),
    ),
  );
}
