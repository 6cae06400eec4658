// A figure that is taller than the window stands closer together, and, where it is one column and still too tall, shows its
// parts in turns: nobody has to scroll inside of it.
//
// A part is [name or null, nodes].
import { h } from "./element.js";

const REACHED = "a[href], button, input, select, [tabindex='0']";

function nameOf(some) {
  const names = some.map(([name]) => name);
  return names.filter(Boolean).join(" · ");
}

// `partsNow(column)` tells the parts in their order, of a figure that is one column or whose numbers stand beside or above
// and stay; `stage` is the box of the picture.
export function fitted(figure, stage, partsNow) {
  const bar = h("div", { class: "gk-turns", role: "group", "aria-label": "Parts of this figure" });
  let turns = [],
    shown = 0,
    seen = "",
    parts = [];

  function only(some) {
    for (const [, nodes] of parts) for (const node of nodes) node.toggleAttribute("data-off", true);
    for (const [, nodes] of some) for (const node of nodes) node.toggleAttribute("data-off", false);
    // A box goes when all that is told apart in it does.
    for (const box of [stage, stage.parentElement]) {
      const holds = (list) => list.some(([, nodes]) => nodes.some((node) => box.contains(node)));
      box.toggleAttribute("data-off", holds(parts) && !holds(some));
    }
  }

  const isOver = () => [figure, stage].some((box) => box.scrollHeight > box.clientHeight + 1);
  const isColumn = () => stage.getClientRects().length > 0 && getComputedStyle(stage).overflowY === "visible";

  function turn(k) {
    shown = k;
    only(turns[k]);
    [...bar.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === k)));
    figure.scrollTop = 0;
    reach();
  }

  const fits = (some) => {
    only(some);
    return !isOver();
  };

  // As many parts from each on as fit together; one without a name goes where it first fits, or with the last alone. All
  // turns have the height of the tallest.
  function share() {
    const named = parts.filter(([name]) => name);
    for (let from = 0, to; from < named.length; from = to) {
      to = from + 1;
      while (to < named.length && fits(named.slice(from, to + 1))) to++;
      turns.push(named.slice(from, to));
    }
    for (const part of parts.filter(([name]) => !name)) {
      const place = turns.find((some) => fits([...some, part]));
      if (place) place.push(part);
      else if (turns.at(-1).length === 1) turns.at(-1).push(part);
      else turns.push([turns.at(-1).pop(), part]);
    }
    const heights = turns.map((some) => (only(some), figure.getBoundingClientRect().height));
    figure.style.minHeight = `${Math.max(...heights)}px`;
  }

  // What scrolls can be reached by keys.
  function reach() {
    const scrolls = stage.scrollHeight > stage.clientHeight + 1 && getComputedStyle(stage).overflowY !== "visible";
    const reached = [...stage.querySelectorAll(REACHED)].some((node) => node.getClientRects().length);
    if (scrolls && !reached) stage.tabIndex = 0;
    else stage.removeAttribute("tabindex");
  }

  function fit() {
    arrange();
    reach();
  }

  function arrange() {
    const before = turns[shown]?.[0][0];
    figure.removeAttribute("data-tight");
    figure.style.minHeight = "";
    bar.hidden = true;
    for (const node of figure.querySelectorAll("[data-off]")) node.removeAttribute("data-off");
    parts = partsNow(isColumn()).filter(([, nodes]) => nodes.some((node) => node.getClientRects().length));
    turns = [];
    seen = measure();
    if (!isOver()) return;
    figure.setAttribute("data-tight", "");
    if (parts.length < 2 || !isOver()) return;
    bar.hidden = false;
    bar.replaceChildren(h("button", { type: "button" }, "…"));
    share();
    bar.replaceChildren(
      ...turns.map((some, k) => {
        const button = h("button", { type: "button" }, nameOf(some));
        button.addEventListener("click", () => turn(k));
        return button;
      }),
    );
    const same = turns.findIndex(([[name]]) => name === before);
    turn(Math.max(0, same));
  }

  // A height that is a share of the window's, and so changes with it.
  const measure = () => `${figure.clientWidth} ${getComputedStyle(figure).maxHeight}`;
  const again = () => measure() !== seen && fit();
  const watch = new ResizeObserver(again);
  watch.observe(figure);
  window.addEventListener("resize", again);

  return {
    bar,
    fit,
    // What is set from elsewhere is seen in the picture.
    first: () => turns.length && turn(0),
    end() {
      watch.disconnect();
      window.removeEventListener("resize", again);
    },
  };
}
