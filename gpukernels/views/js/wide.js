// A figure over the whole window, on request, and back.
//
// It stays where it is in the document and lies above it in the browser's top layer, which nothing around it clips:
// neither a notebook's panels nor the book's columns. What is moved elsewhere would lose its focus.
import { h } from "./element.js";

const FOCUSABLE = "a[href], button:enabled, input, select, summary, [tabindex='0']";

export function widthButton(figure) {
  const button = h("button", { type: "button", class: "gk-wider" }, "Full width");
  let room = null,
    places = [];

  function widen() {
    room = h("div", { "aria-hidden": "true" });
    room.style.height = `${figure.offsetHeight}px`;
    room.style.margin = getComputedStyle(figure).margin;
    places = [];
    for (let e = figure.parentElement; e; e = e.parentElement) places.push([e, e.scrollTop, e.scrollLeft]);
    figure.before(room);
    figure.classList.add("gk-wide");
    // Without a top layer, the style sheet's fixed place has to do.
    if (figure.showPopover) {
      figure.setAttribute("popover", "manual");
      figure.showPopover();
    }
  }

  function narrow() {
    if (figure.showPopover) {
      figure.hidePopover();
      figure.removeAttribute("popover");
    }
    figure.classList.remove("gk-wide");
    room.remove();
    room = null;
  }

  function toggle() {
    const held = document.activeElement;
    const closing = room !== null;
    if (closing) narrow();
    else widen();
    button.textContent = closing ? "Full width" : "Back";
    (figure.contains(held) ? held : button).focus({ preventScroll: true });
    // The reader's place is where it was, also where something has scrolled the page behind.
    for (const [e, top, left] of places) if (closing) e.scrollTo(left, top);
  }

  // Nothing of the page behind can be seen, and so it is not reached by Tab either.
  function stayInside(event) {
    const stops = [...figure.querySelectorAll(FOCUSABLE)].filter((e) => e.getClientRects().length);
    const last = event.shiftKey ? stops[0] : stops[stops.length - 1];
    if (document.activeElement !== last && stops.includes(document.activeElement)) return;
    event.preventDefault();
    stops[event.shiftKey ? stops.length - 1 : 0].focus();
  }

  button.addEventListener("click", toggle);
  figure.addEventListener("keydown", (event) => {
    if (!room) return;
    if (event.key === "Tab") stayInside(event);
    // A mark that is asked about, or an open list, takes the first Escape for itself.
    if (event.key === "Escape" && !event.defaultPrevented) toggle();
  });
  return button;
}
