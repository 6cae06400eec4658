// A page whose figures have addresses: it goes to the one it is opened by, follows links, and notes where a reader stops.
import { movedTo, problemOf, readAddress, writeAddress } from "./address.js";
import { h } from "./element.js";

// A slider that is dragged, or a key held down, is noted once, when it rests; browsers allow about 3 notes a second.
const REST = 400;
// So long a page may still be growing around the figure that it was opened by.
const SETTLES = 4000;
const CHAIN =
  "M5.8 8.2l2.4-2.4M6.3 4.4l1.5-1.5a2.3 2.3 0 0 1 3.3 3.3l-1.5 1.5M7.7 9.6l-1.5 1.5a2.3 2.3 0 0 1-3.3-3.3l1.5-1.5";

// `records` maps the id of each figure of the page to its record.
export function momentsOf(records) {
  const places = new Map(),
    moves = document.querySelector("script.gk-moves");
  let waiting = 0;

  function leads(text) {
    const address = readAddress(text);
    return Boolean(address && records.has(address.id) && !problemOf(records.get(address.id), address.state));
  }

  function addressAt(id) {
    return writeAddress(id, places.get(id).state());
  }

  // An entry of the reader's history that is ours says so: where it is come back to, the browser knows how far the page
  // was scrolled, and nothing but the figure has to follow.
  function note(id, anew) {
    clearTimeout(waiting);
    if (anew) history.pushState({ figure: id }, "", addressAt(id));
    else history.replaceState({ figure: id }, "", addressAt(id));
  }

  function rested(id) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!places.get(id).playing()) note(id, false);
    }, REST);
  }

  function open() {
    const address = readAddress(moves ? movedTo(location.hash, JSON.parse(moves.textContent)) : location.hash);
    if (!address) return;
    if (!places.has(address.id)) {
      // The figure is gone, and a text may stand in its place. The state behind the name hides it from the browser.
      const text = document.getElementById(address.id);
      if (text) comeTo(text);
      return;
    }
    // A figure that fills the window hides the requested one.
    for (const [id, place] of places) if (id !== address.id) place.show("");
    // First, since a figure over the whole window has no place in the page to come to.
    if (!history.state || history.state.figure !== address.id) comeTo(document.getElementById(address.id));
    places.get(address.id).move(address.state);
    note(address.id, false);
  }

  function follow(link, event) {
    const address = readAddress(link.getAttribute("href")),
      plays = link.classList.contains("gk-compare-play");
    // A link that sets nothing is any browser's to follow.
    if (!address || !places.has(address.id) || !(address.state.length || plays)) return;
    event.preventDefault();
    // A figure over the whole window would hide the one that it plays.
    const wide = link.closest(".gk-wide");
    if (wide) places.get(wide.id).show("");
    const figure = document.getElementById(address.id),
      far = !isSeen(figure);
    places.get(address.id).move(plays ? [["step", "0"], ...address.state] : address.state);
    note(address.id, far);
    if (far) bring(figure);
    if (plays) places.get(address.id).play();
  }

  return {
    leads,
    // The name of the page's file.
    name: location.pathname
      .split("/")
      .at(-1)
      .replace(/\.html$/, ""),
    // A line on where a figure is from and who may use it, with the address of its state.
    cite: (id, title) =>
      `“${title}”, in: ${document.title}. The gpukernels authors, CC BY 4.0. ${location.href.split("#")[0]}${addressAt(id)}`,
    // Takes a figure's `place`, { state(), move(state), show(how), play(), playing() }; returns what to call when it rests.
    stand(id, place) {
      places.set(id, place);
      return () => rested(id);
    },
    linkButton: (id) =>
      linkButton(() => {
        note(id, false);
        return location.href;
      }),
    listen() {
      // Without scripts a link leads to the figure; an attribute has the rest of the address.
      for (const link of document.querySelectorAll("a[data-gk-state]")) {
        link.setAttribute("href", `${link.getAttribute("href")}?${link.dataset.gkState}`);
        link.removeAttribute("data-gk-state");
      }
      document.addEventListener("click", (event) => {
        const link = event.target.closest('a[href^="#fig-"]');
        const plain = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
        if (link && plain && !event.defaultPrevented) follow(link, event);
      });
      addEventListener("hashchange", open);
      open();
    },
  };
}

function unfold(figure) {
  for (let fold = figure.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// The part of the window below a header.
function windowBox() {
  const covered = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  return [covered, innerHeight];
}

// Whether two thirds of a figure's part that fits are visible.
function isSeen(figure) {
  const [top, bottom] = windowBox(),
    box = figure.getBoundingClientRect();
  const seen = Math.min(box.bottom, bottom) - Math.max(box.top, top);
  return box.height > 0 && 3 * seen >= 2 * Math.min(box.height, bottom - top);
}

// By as little as can be, so that the sentence which the reader comes from stays near.
function bring(figure) {
  unfold(figure);
  const [top, bottom] = windowBox();
  const tall = figure.getBoundingClientRect().height > bottom - top;
  figure.scrollIntoView({ block: tall ? "start" : "nearest", behavior: "instant" });
}

// Scrolls to a figure, again when parts of the page above it grow, until the reader acts.
function comeTo(figure) {
  unfold(figure);
  const go = () => figure.scrollIntoView({ block: "start", behavior: "instant" });
  const grown = new ResizeObserver(go);
  const done = () => grown.disconnect();
  for (const sign of ["wheel", "pointerdown", "keydown", "touchstart"])
    addEventListener(sign, done, { once: true, passive: true });
  setTimeout(done, SETTLES);
  grown.observe(document.body);
  go();
}

// `address()` returns the text to copy.
function linkButton(address) {
  const status = h("span", { class: "gk-copied", role: "status" });
  const button = h(
    "button",
    { type: "button", class: "gk-link", "aria-label": "Link to this moment", title: "Link to this moment" },
    h(
      "svg",
      { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
      h("path", { d: CHAIN, fill: "none", stroke: "currentColor", "stroke-width": 1.4, "stroke-linecap": "round" }),
    ),
  );
  let timer = 0;
  const tell = (words) => {
    status.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => (status.textContent = ""), SETTLES);
  };
  button.addEventListener("click", () => {
    const text = address();
    // Pages that come without encryption have no clipboard.
    const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error());
    copied.then(
      () => tell("Link copied"),
      () => tell("See the address bar"),
    );
  });
  return h("span", { class: "gk-moment" }, button, status);
}
