// Shows the meaning of a counter next to it: on a pointer, a click or a tap, and by keys.
//
// The names of a list are one stop of the Tab key; up and down go from one to the next. A click or a tap keeps the words
// until the next one, or until Escape.
import { h, put, say } from "./element.js";

const EXPLAINED = ".gk-counter dt[tabindex], .gk-tile-count > [tabindex]";
let meaningNotes = 0;

const nameAt = (event) => event.target.closest?.(EXPLAINED) || null;

// `meanings` holds the words by the names of counters. They lie in the browser's top layer, where nothing cuts them off;
// where there is none, the figure's description has to do.
export function explainCounters(figure, meanings) {
  const note = h("div", {
    class: "gk-meaning",
    role: "tooltip",
    id: `gk-meaning-${++meaningNotes}`,
    popover: "manual",
  });
  if (!note.showPopover) return;
  let asked = null,
    kept = false;
  const letGo = () => ask(null);

  function place() {
    const name = asked.getBoundingClientRect(),
      own = note.getBoundingClientRect();
    const below = name.bottom + 4 + own.height <= window.innerHeight;
    const left = Math.max(8, Math.min(name.left, document.documentElement.clientWidth - own.width - 8)),
      top = below ? name.bottom + 4 : Math.max(8, name.top - 4 - own.height);
    // A figure over the whole window is enlarged, and its own pixels with it.
    const scale = note.currentCSSZoom || 1;
    note.style.left = `${left / scale}px`;
    note.style.top = `${top / scale}px`;
  }

  function ask(name) {
    kept = false;
    if (name === asked) return;
    if (asked) {
      asked.removeAttribute("aria-describedby");
      note.hidePopover();
      document.removeEventListener("scroll", letGo, true);
    }
    asked = name;
    if (!asked) return;
    say(note, meanings[asked.textContent]);
    put(asked, "aria-describedby", note.id);
    note.showPopover();
    place();
    // It stays where it is, and its counter would not.
    document.addEventListener("scroll", letGo, true);
  }

  figure.append(note);
  figure.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch" && !kept) ask(nameAt(event));
  });
  figure.addEventListener("pointerleave", () => kept || letGo());
  figure.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && ask(nameAt(event)));
  figure.addEventListener("focusout", letGo);
  figure.addEventListener("click", (event) => {
    const name = nameAt(event),
      again = kept && name === asked;
    ask(again ? null : name);
    kept = asked !== null;
  });
  figure.addEventListener("keydown", (event) => {
    const name = nameAt(event),
      turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && asked) {
      letGo();
      event.preventDefault();
    } else if (name && turn) {
      const names = [...name.closest("dl, [role=table]").querySelectorAll(EXPLAINED)];
      const next = names[names.indexOf(name) + turn];
      if (!next) return;
      event.preventDefault();
      next.focus({ focusVisible: true });
    }
  });
}
