// The sizes of a workload's items as bars, some of which a reader changes: by dragging, by arrow keys, by - and +.
import { count, h, put, say } from "../js/element.js";
import { variantAt } from "../js/variants.js";
import { slugOf } from "../js/words.js";

// The result's `changed` is called after each change. `now()` returns the sizes of all items, `at()` the number of the
// recording with these sizes.
export function sizeBars({ fields, first, items, offer }, { base, names }) {
  const places = [...first],
    sizes = [...base];
  const choices = fields.map((field) => field.entries.map(Number));
  const most = Math.max(1, ...base, ...choices.flat());
  const bars = {
    node: null,
    changed: null,
    at: () => variantAt(fields, places),
    now: () => sizes,
    fields: fields.map((field, i) => ({
      name: slugOf(field.label),
      entries: field.entries,
      at: () => places[i],
      choose: (k) => set(i, k),
    })),
  };

  function set(i, k) {
    const place = Math.max(0, Math.min(k, choices[i].length - 1));
    if (place === places[i]) return;
    places[i] = place;
    sizes[items[i]] = choices[i][place];
    columns[items[i]].show();
    bars.changed();
  }

  const columns = base.map((_, item) => {
    const i = items.indexOf(item);
    return i < 0 ? fixedBar(names[item], base[item], most) : draggedBar(i);
  });

  function draggedBar(i) {
    const item = items[i],
      of = choices[i];
    const [less, more] = [
      ["−", -1, "less"],
      ["+", 1, "more"],
    ].map(([sign, by, word]) => {
      const label = `Item ${names[item]}: ${word}`;
      const button = h("button", { type: "button", class: "gk-step", "aria-label": label }, sign);
      button.addEventListener("click", () => set(i, places[i] + by));
      return button;
    });
    const bar = h("div", { class: "gk-size-bar" }),
      chosen = h("span", { class: "gk-size-said" });
    const slot = h(
      "div",
      {
        class: "gk-size-slot",
        role: "slider",
        tabindex: 0,
        "aria-label": `Units of item ${names[item]}`,
        "aria-orientation": "vertical",
        "aria-valuemin": of[0],
        "aria-valuemax": of[of.length - 1],
      },
      bar,
    );
    const drag = (event) => {
      const box = slot.getBoundingClientRect();
      const wanted = ((box.bottom - event.clientY) / box.height) * most;
      let best = 0;
      of.forEach((size, k) => {
        if (Math.abs(size - wanted) < Math.abs(of[best] - wanted)) best = k;
      });
      set(i, best);
    };
    slot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      slot.setPointerCapture(event.pointerId);
      drag(event);
    });
    slot.addEventListener("pointermove", (event) => {
      if (slot.hasPointerCapture(event.pointerId)) drag(event);
    });
    slot.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 4, PageDown: -4 }[event.key];
      const to = { Home: 0, End: of.length - 1 }[event.key];
      if ((by === undefined && to === undefined) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      set(i, to === undefined ? places[i] + by : to);
    });
    const show = () => {
      const size = sizes[item];
      put(bar, "style", tall(size, most));
      put(slot, "aria-valuenow", String(size));
      put(slot, "aria-valuetext", count(size, "unit"));
      say(chosen, String(size));
      less.disabled = places[i] === 0;
      more.disabled = places[i] === of.length - 1;
    };
    show();
    const buttons = h("div", { class: "gk-size-buttons" }, less, h("b", null, names[item]), more);
    return { node: h("div", { class: "gk-size gk-size-own" }, chosen, slot, buttons), show };
  }

  const row = h("div", { class: "gk-sizes" }, ...columns.map((column) => column.node));
  bars.node = h("div", { class: "gk-offer" }, h("p", null, offer), row);
  return bars;
}

function tall(size, most) {
  return `height:${((100 * size) / most).toFixed(1)}%`;
}

function fixedBar(name, size, most) {
  const bar = h("div", { class: "gk-size-bar", style: tall(size, most) });
  const node = h(
    "div",
    { class: "gk-size" },
    h("span", { class: "gk-size-said" }, String(size)),
    h("div", { class: "gk-size-slot" }, bar),
    h("div", { class: "gk-size-buttons" }, h("b", null, name)),
  );
  return { node, show: () => {} };
}
