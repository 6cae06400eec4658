// A figure over the whole window, for a lecture, and back.
//
// It stays where it is in the document and lies above it in the browser's top layer, which nothing around it clips:
// neither a notebook's panels nor the book's columns. Moving it would lose the focus.
import { h } from "./element.js";

const FOCUSABLE = "a[href], button:enabled, input, select, summary, [tabindex='0']";
// The window is enlarged until it is so tall in a figure's own pixels: words of 12 pixels then have 1/40 of its height,
// which the last row of a lecture hall can read. A window that is too narrow for this is enlarged less.
const WINDOW_TALL = 480,
  WINDOW_WIDE = 640;
// Words after `show=` in an address: the whole figure, or without controls, key and caption.
export const SHOWS = ["full", "picture"];

function scaleOf() {
  return Math.max(1, Math.min(window.innerHeight / WINDOW_TALL, window.innerWidth / WINDOW_WIDE));
}

// Returns the buttons of a figure's top and `show(how)`, where `how` is one of SHOWS or "" for its place in the page;
// `shown()` tells which it is, and `changed()` is called after each change.
export function theater(figure, changed) {
  const wider = h("button", { type: "button", class: "gk-wider" }, "Full width");
  const less = h("button", { type: "button", class: "gk-wider gk-less", "aria-pressed": "false" }, "Picture only");
  less.title = "Without controls, key and caption (H)";
  wider.title = "Over the whole window (F: the whole screen)";
  let room = null,
    places = [];

  function enlarge() {
    const scale = scaleOf();
    figure.style.zoom = scale;
    figure.style.setProperty("--gk-window", `${window.innerHeight / scale}px`);
  }

  function widen() {
    room = h("div", { "aria-hidden": "true" });
    room.style.height = `${figure.offsetHeight}px`;
    room.style.margin = getComputedStyle(figure).margin;
    places = [];
    for (let e = figure.parentElement; e; e = e.parentElement) places.push([e, e.scrollTop, e.scrollLeft]);
    figure.before(room);
    figure.classList.add("gk-wide");
    enlarge();
    window.addEventListener("resize", enlarge);
    // Without a top layer, the style sheet's fixed place has to do.
    if (figure.showPopover) {
      figure.setAttribute("popover", "manual");
      figure.showPopover();
    }
  }

  function narrow() {
    window.removeEventListener("resize", enlarge);
    if (figure.showPopover) {
      figure.hidePopover();
      figure.removeAttribute("popover");
    }
    figure.style.zoom = "";
    figure.classList.remove("gk-wide");
    room.remove();
    room = null;
  }

  const shown = () => (room ? SHOWS[Number(figure.hasAttribute("data-bare"))] : "");

  function show(how) {
    if (how === shown()) return;
    const held = document.activeElement,
      closing = !how;
    figure.toggleAttribute("data-bare", how === "picture");
    less.setAttribute("aria-pressed", String(how === "picture"));
    if (closing) narrow();
    else if (!room) widen();
    wider.textContent = closing ? "Full width" : "Back";
    changed();
    // A button that opened or closed it keeps the focus; otherwise keys are the figure's, Space too.
    const stays = figure.contains(held) && held.getClientRects().length;
    if (!closing || stays) (stays ? held : figure).focus({ preventScroll: true });
    // The reader's place is where it was, also where something has scrolled the page behind.
    for (const [e, top, left] of places) if (closing) e.scrollTo(left, top);
  }

  // The page asks for the screen, since a figure in the top layer may not, and the figure then goes above the page again.
  // Where the screen is refused, as in an output of a notebook, the figure fills the window.
  function fillScreen() {
    if (document.fullscreenElement) return document.exitFullscreen();
    show(shown() || "full");
    document.documentElement.requestFullscreen?.().then(lift, () => {});
  }

  function lift() {
    if (!room || !figure.showPopover) return;
    const held = document.activeElement;
    figure.hidePopover();
    figure.showPopover();
    held.focus({ preventScroll: true });
  }

  // Nothing of the page behind can be seen, and so it is not reached by Tab either.
  function stayInside(event) {
    const stops = [...figure.querySelectorAll(FOCUSABLE)].filter((e) => e.getClientRects().length);
    const last = event.shiftKey ? stops[0] : stops[stops.length - 1];
    if (document.activeElement !== last && stops.includes(document.activeElement)) return;
    event.preventDefault();
    stops[event.shiftKey ? stops.length - 1 : 0].focus();
  }

  wider.addEventListener("click", () => show(room ? "" : "full"));
  less.addEventListener("click", () => show(shown() === "full" ? "picture" : "full"));
  figure.addEventListener("keydown", (event) => {
    const plain = !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey);
    // In a list, a letter chooses an entry.
    const letter = plain && !event.target.closest("select, textarea") ? event.key.toLowerCase() : "";
    if (letter === "f") fillScreen();
    if (letter === "h" && room) less.click();
    if (!room) return;
    if (event.key === "Tab") stayInside(event);
    // A mark that is asked about, or an open list, takes the first Escape for itself.
    if (event.key === "Escape" && !event.defaultPrevented) show("");
  });
  return { buttons: [less, wider], show, shown };
}
