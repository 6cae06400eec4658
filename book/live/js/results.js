// The results of a run: the figure, drawn again, the counters that changed, and an error with its warp.
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

const rowOf = (tag, cells) => h("tr", null, ...cells.map((cell) => h(tag, null, cell)));

// A table of the counters that differ, with the old and the new value, over all recorded launches of two programs.
export function changedCounters(old, now) {
  const names = Object.keys(now).filter((name) => name in old && old[name] !== now[name]);
  if (names.length === 0) return null;
  return h(
    "table",
    { class: "gk-changed" },
    h("thead", null, rowOf("th", ["over all launches", "the page's program", "yours"])),
    h("tbody", null, ...names.map((name) => rowOf("td", [name, old[name], now[name]]))),
  );
}

// Everything that a program shows besides the figure of the page.
export function otherParts(result, isRedrawn) {
  const shown = isRedrawn ? result.shown.filter((html) => !recordIn(html)).concat(extraFigures(result)) : result.shown;
  const printed = result.printed ? [h("pre", { class: "gk-printed" }, result.printed)] : [];
  return [...printed, ...shown.map((html) => h("div", { class: "gk-shown" }, ...partOf(html).childNodes))];
}

const extraFigures = (result) => result.shown.filter(recordIn).slice(1);
