// Searches by their roots: a list, and a picture whose vertices a reader presses to start there.
import { h } from "./element.js";
import { selectOf } from "./figure.js";
import { symbol } from "./marks.js";

const ROOT_DOT = "M7 7h0";

// The roots that a search can have, and the current one: `list` and a click change it. `anew` draws all again.
export function startsOf(payload, n) {
  const [field] = payload.variants.fields,
    roots = field.entries.map(Number);
  const whom = roots.length === n ? "a vertex" : `one of the vertices ${roots.join(", ")}`;
  let place = payload.variants.first[0];
  const starts = {
    anew: null,
    roots,
    at: () => place,
    root: () => roots[place],
    list: selectOf(field.label, field.entries, place, (k) => {
      place = k;
      starts.anew(0);
    }),
    // Does nothing if no search from v was recorded.
    start(v) {
      if (roots.includes(v)) starts.list.field.choose(roots.indexOf(v));
    },
    offer: h("p", { class: "gk-offer" }, `Click or tap ${whom} to start the search there.`),
  };
  return starts;
}

export function rootKey() {
  return symbol(["gk-dot-ink", ROOT_DOT, 13.5], ["gk-dot-paper", ROOT_DOT, 11], ["gk-dot-done", ROOT_DOT, 8]);
}
