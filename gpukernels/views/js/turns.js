// A figure taller than the window gets less space between its parts. If it is still too tall, it shows its parts in turns,
// and a part that is too tall alone in pieces, so that readers need not scroll in it.
//
// A part is [name or null, nodes, pieces]. Pieces, if any, are parts, or { word, nodes: [nodes of each], ends: [[first,
// last]] } in their order, counted from 1 if they have no ends. A node of several turns is among the nodes of several
// pieces.
import { h } from "./element.js";
import { fitPictures } from "./shrink.js";

const REACHED = "a[href], button, input, select, [tabindex='0']";

// How much closer a figure stands, whether its parts are in pieces then, and whether it leaves out its timeline: the first
// with which all can be seen is taken.
const TIGHTER = [
  ["", false],
  ["more", false],
  ["more", true],
];
const TIGHTER_WIDE = [
  ["", false],
  ["", true],
  ["", true, true],
];

// Pieces that stand together are named by the first and the last: "Rows 4–6".
function nameOf(some) {
  const pieces = some.flatMap(([, , , piece]) => piece || []);
  const names = some.filter(([name, , , piece]) => name && !piece).map(([name]) => name);
  if (!pieces.length) return names.join(" · ");
  const first = pieces[0].ends[0],
    last = pieces.at(-1).ends[1];
  return [`${pieces[0].word} ${first === last ? first : `${first}–${last}`}`, ...names].join(" · ");
}

function inPieces(parts) {
  return parts.flatMap((part) => {
    const [name, , pieces] = part;
    if (!pieces) return [part];
    if (Array.isArray(pieces)) return pieces;
    const endsOf = (i) => (pieces.ends ? pieces.ends[i] : [i + 1, i + 1]);
    return pieces.nodes.map((nodes, i) => [`${name} ${i}`, nodes, null, { word: pieces.word, ends: endsOf(i) }]);
  });
}

// `partsNow(column)` returns the parts in their order; `column` is false if the numbers stay next to or above the parts.
// `stage` is the box of the picture.
export function fitted(figure, stage, partsNow) {
  const bar = h("div", { class: "gk-turns", role: "group", "aria-label": "Parts of this figure" });
  const body = stage.parentElement,
    side = stage.nextElementSibling;
  let turns = [],
    shown = 0,
    seen = "",
    parts = [];

  function only(some) {
    for (const [, nodes] of parts) for (const node of nodes) node.toggleAttribute("data-off", true);
    for (const [, nodes] of some) for (const node of nodes) node.toggleAttribute("data-off", false);
    // A box goes when all that is told apart in it does.
    for (const box of [stage, body]) {
      const holds = (list) => list.some(([, nodes]) => nodes.some((node) => box.contains(node)));
      box.toggleAttribute("data-off", holds(parts) && !holds(some));
    }
  }

  function allOn() {
    for (const node of figure.querySelectorAll("[data-off]")) node.removeAttribute("data-off");
  }

  const isWide = () => figure.classList.contains("gk-wide");
  const isOver = () => [figure, stage].some((box) => box.scrollHeight > box.clientHeight + 1);
  // Over the whole window pictures give way first.
  const holdsAll = () => (!isWide() || (fitPictures(figure) && isBodyWhole())) && !isOver();
  const isBodyWhole = () => [body, side].every((box) => box.scrollHeight <= box.clientHeight + 1);
  const isColumn = () => stage.getClientRects().length > 0 && getComputedStyle(stage).overflowY === "visible";

  function turn(k) {
    shown = k;
    only(turns[k]);
    if (isWide()) fitPictures(figure);
    [...bar.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === k)));
    figure.scrollTop = 0;
    reach();
  }

  const fits = (some) => {
    only(some);
    return holdsAll();
  };

  // As many parts from each on as fit together; one without a name goes where it first fits, or with the last alone. All
  // turns have the height of the tallest. Says whether nothing of them has to be scrolled to.
  function share() {
    turns = [];
    figure.style.minHeight = "";
    const named = parts.filter(([name]) => name);
    for (let from = 0, to; from < named.length; from = to) {
      to = from + 1;
      while (to < named.length && fits(named.slice(from, to + 1))) to++;
      turns.push(named.slice(from, to));
    }
    for (const part of parts.filter(([name]) => !name)) {
      const place = turns.find((some) => fits([...some, part]));
      const last = turns.at(-1),
        namedLast = last.findLastIndex(([name]) => name);
      if (place) place.push(part);
      else if (last.findIndex(([name]) => name) === namedLast) last.push(part);
      else turns.push([...last.splice(namedLast, 1), part]);
    }
    const all = turns.map((some) => [fits(some), figure.getBoundingClientRect().height]);
    if (!isWide()) figure.style.minHeight = `${Math.max(...all.map(([, tall]) => tall))}px`;
    return all.every(([whole]) => whole);
  }

  // A scrolling stage can be reached by keys.
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

  // The word in front of a piece is not repeated for the next piece.
  function nameTurns() {
    const words = turns.map((some) => some.find(([, , , piece]) => piece)?.[3].word);
    bar.replaceChildren(
      ...turns.map((some, k) => {
        const name = nameOf(some);
        const short = words[k] && words[k] === words[k - 1] ? name.slice(words[k].length + 1) : name;
        const button = h("button", { type: "button", "aria-label": short === name ? null : name }, short);
        button.addEventListener("click", () => turn(k));
        return button;
      }),
    );
  }

  // Says whether there is room for the names of the turns, too: many are a second row.
  function nameAll() {
    nameTurns();
    const [first, last] = [bar.firstChild, bar.lastChild].map((button) => button.getBoundingClientRect().top);
    if (last > first || (isWide() && !turns.every(fits))) {
      share();
      nameTurns();
    }
    return !isWide() || turns.every(fits);
  }

  function arrange() {
    const before = turns[shown]?.[0][0];
    figure.removeAttribute("data-tight");
    figure.removeAttribute("data-short");
    figure.style.minHeight = "";
    bar.hidden = true;
    allOn();
    parts = partsNow(isColumn()).filter(([, nodes]) => nodes.some((node) => node.getClientRects().length));
    turns = [];
    seen = measure();
    if (holdsAll()) return;
    const undivided = parts;
    let whole = false;
    bar.replaceChildren(h("button", { type: "button" }, "…"));
    for (const [tight, divided, short] of isWide() ? TIGHTER_WIDE : TIGHTER) {
      figure.setAttribute("data-tight", tight);
      figure.toggleAttribute("data-short", Boolean(short));
      figure.style.minHeight = "";
      bar.hidden = true;
      turns = [];
      allOn();
      if (holdsAll()) return;
      if (divided) parts = inPieces(undivided);
      bar.hidden = parts.length < 2;
      whole = parts.length > 1 && share() && nameAll();
      if (whole) break;
    }
    if (parts.length < 2) return;
    if (!whole) nameAll();
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
    // Shows the picture, where changes made elsewhere are visible.
    first: () => turns.length && turn(0),
    end() {
      watch.disconnect();
      window.removeEventListener("resize", again);
    },
  };
}
