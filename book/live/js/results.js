// What a run gives: the figure, redrawn, the counters that changed, and an error with its warp.
import { h } from "../../../gpukernels/views/js/element.js";

// A part of a page from the program's own HTML. The page's policy lets no script in it run.
function partOf(html) {
  const holder = h("div");
  holder.innerHTML = html;
  return holder;
}

export function recordIn(html) {
  const data = partOf(html).querySelector('figure.gk-view script[type="application/json"]');
  return data ? JSON.parse(data.textContent) : null;
}

const MOST_ROWS = 12;
const rowOf = (tag, cells) => h("tr", null, ...cells.map((cell) => h(tag, null, cell)));

// A table of the counters that differ, old beside new; for runs that both records have.
export function changedCounters(old, now) {
  const { counters } = globalThis.gpukernelsFigures;
  if (old.view !== now.view) return null;
  const before = new Map(counters(old).map(([run, name, value]) => [`${run}\n${name}`, value]));
  const rows = counters(now)
    .map(([run, name, value]) => [run, name, before.get(`${run}\n${name}`), value])
    .filter(([, , was, value]) => was !== undefined && was !== value);
  if (rows.length === 0) return null;
  const hasRuns = rows.some(([run]) => run);
  const head = [...(hasRuns ? ["run"] : []), "counter, at the end", "on the page", "yours"];
  return h(
    "table",
    { class: "gk-changed" },
    h("thead", null, rowOf("th", head)),
    h("tbody", null, ...rows.slice(0, MOST_ROWS).map((row) => rowOf("td", hasRuns ? row : row.slice(1)))),
  );
}

// Everything that a program shows besides the figure of the page.
export function otherParts(result, isRedrawn) {
  const shown = isRedrawn ? result.shown.filter((html) => !recordIn(html)).concat(extraFigures(result)) : result.shown;
  const printed = result.printed ? [h("pre", { class: "gk-printed" }, result.printed)] : [];
  return [...printed, ...shown.map((html) => h("div", { class: "gk-shown" }, ...partOf(html).childNodes))];
}

const extraFigures = (result) => result.shown.filter(recordIn).slice(1);
