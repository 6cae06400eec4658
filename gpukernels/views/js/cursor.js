// One cursor for a figure: the marks of its pictures that stand for one thing light up together.
//
// A tie is an object of kinds to ids: { lane: 3, row: 7, sector: 12 } says that this lane ran this row, and that doing so it
// moved this sector. A reader points at a mark [kind, id], or [kind, id, step] where it is of another step than the one
// shown; lit is whatever shares a tie with it. A tap or a click pins it: it stays until it is pinned again, or Escape.
import { h, put, say } from "./element.js";
import { pathOf, roomsFor } from "./marks.js";

// Most things of one kind that are named one by one.
const NAMED = 2;

// "lane 3", "lanes 3, 4", "12 lanes"; without `one`, a name stands alone.
export function namesOf(ids, one, many, name = String) {
  const all = [...ids];
  if (all.length > NAMED) return `${all.length} ${many}`;
  return `${all.length === 1 ? one : many} ${all.map(name).join(", ")}`.trim();
}

// The look of lit marks, on any color: ink, with paper around it.
export function litMark() {
  const edge = pathOf("gk-lit-edge"),
    line = pathOf("gk-lit-line");
  return {
    node: h("g", { class: "gk-lit" }, edge, line),
    show(d) {
      put(edge, "d", d);
      put(line, "d", d);
    },
  };
}

// Puts what a row of HTML needs to be lit.
export function lightNode(node, lit) {
  if (lit || node.getAttribute("data-lit")) put(node, "data-lit", lit ? "yes" : "");
}

function same(a, b) {
  return a !== null && b !== null && a.length === b.length && a.every((value, k) => value === b[k]);
}

// `kinds` maps names, in the order of the words, to { say(ids), light(ids, step), longest(), at(id, step) }. say returns
// words, light lights marks (no ids: none), longest returns the longest words, and at the step of a mark without one (by
// default the step shown). A kind without `say` has no words. `ties(step)` returns a step's ties. `hint` names marks
// to point at.
export function cursorOf(kinds, ties, hint, counted) {
  const words = h("span", { class: "gk-pointed-words", "aria-live": "polite", "aria-atomic": "true" });
  const idle = h("span", { class: "gk-pointed-hint" }, hint);
  const node = h("p", { class: "gk-pointed" }, idle, words);
  const every = Object.entries(kinds);
  let over = null,
    pinned = null,
    step = 0,
    text = "",
    lit = false;

  function together([kind, id], when) {
    const ids = Object.fromEntries(every.map(([name]) => [name, new Set()]));
    ids[kind].add(id);
    for (const tie of ties(when)) {
      if (tie[kind] !== id) continue;
      for (const [name] of every) if (tie[name] !== undefined) ids[name].add(tie[name]);
    }
    return ids;
  }

  function textOf([kind], ids, when) {
    const phrases = [kind, ...every.map(([name]) => name).filter((name) => name !== kind)]
      .filter((name) => kinds[name].say && ids[name].size)
      .map((name) => kinds[name].say(ids[name]));
    const at = when === step ? "" : `, ${counted.name(when)}`;
    const others = phrases.length > 1 ? phrases.slice(1).join(", ") : `nothing in this ${counted.noun}`;
    return `${pinned ? "Pinned: " : ""}${phrases[0]}${at}: ${others}.`;
  }

  function refresh() {
    const picked = pinned || over;
    if (!picked && !lit) return;
    const when = picked ? (picked[2] ?? kinds[picked[0]].at?.(picked[1], step) ?? step) : step;
    const ids = picked ? together(picked, when) : {};
    for (const [name, kind] of every) kind.light?.(ids[name] || new Set(), when);
    lit = picked !== null;
    text = picked ? textOf(picked, ids, when) : "";
    say(words, text);
    put(node, "class", `gk-pointed${picked ? " gk-pointed-now" : ""}`);
  }

  function point(mark) {
    if (same(mark, over)) return;
    over = mark;
    if (!pinned) refresh();
  }

  function pin(mark) {
    pinned = mark;
    over = null;
    refresh();
  }

  return {
    node,
    words,
    hold() {
      const longest = every.map(([, kind]) => kind.longest?.()).filter(Boolean);
      node.replaceChildren(idle, words, ...roomsFor([`Pinned: ${longest.join(", ")}, ${counted.noun} 999.`]));
    },
    clear: () => pin(null),
    // Shows the same of another step.
    again(now) {
      step = now;
      refresh();
    },
    // Whether there was something to let go of.
    release() {
      if (!pinned && !over) return false;
      pin(null);
      return true;
    },
    // Lets a pointer ask the marks of `node`; `locate(event)` returns one, or null.
    over(part, locate) {
      let before = 0;
      part.addEventListener("pointermove", (event) => point(locate(event)));
      part.addEventListener("pointerleave", () => point(null));
      part.addEventListener("pointerdown", () => {
        before = step;
      });
      part.addEventListener("click", (event) => {
        const located = locate(event);
        // A click into a timeline has brought its step: it is the one shown.
        const mark = located && located[2] === step ? located.slice(0, 2) : located;
        if (mark || pinned) pin(before === step && same(mark, pinned) ? null : mark);
      });
    },
    // Lets arrow keys go through `marks()`, the marks of a node that can have the focus; `keys` are those that go back
    // and forth. Past the ends they are the page's.
    keys(part, marks, keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      put(part, "tabindex", "0");
      part.addEventListener("blur", () => point(null));
      part.addEventListener("keydown", (event) => {
        const held = pinned || over;
        if (event.defaultPrevented) return;
        if (event.key === "Enter" && held) {
          event.preventDefault();
          return pin(pinned ? null : held);
        }
        const turn = keys.indexOf(event.key);
        if (turn < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
        const all = marks();
        const from = held ? all.findIndex((mark) => mark[0] === held[0] && mark[1] === held[1]) : -1;
        const next = all[from < 0 ? 0 : from + (turn % 2 ? 1 : -1)];
        if (!next) return;
        event.preventDefault();
        if (pinned) pin(next);
        else point(next);
      });
    },
  };
}
