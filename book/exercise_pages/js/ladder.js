// The common part of numbers and lines: hints, one more after each wrong try or on demand, the verdict and the reason.
import { h, say } from "../../../gpukernels/views/js/element.js";

// A text of the exercise, which the build has converted from Markdown to HTML.
export function written(tag, attributes, html) {
  const node = h(tag, attributes);
  node.innerHTML = html;
  return node;
}

// The text after the code in the solution's drawer, with its formulas.
function whyOf(cell) {
  for (let next = cell.nextElementSibling; next; next = next.nextElementSibling) {
    if (!next.matches(".tag_solution")) continue;
    const [, ...outputs] = next.querySelector(".cell_output").children;
    return outputs.filter((part) => !part.matches(".output")).map((part) => part.cloneNode(true));
  }
  return [];
}

export function ladderOf(sheet, cell, onAnswer) {
  const hints = h("ol", { class: "gk-hints" });
  const status = h("p", { class: "gk-verdict", role: "status" });
  const why = h("div", { class: "gk-why", hidden: true });
  const hint = h("button", { type: "button", class: "gk-hint-button" });
  const answer = h("button", { type: "button" }, "Show the answer");
  let shown = 0;

  function name() {
    const left = sheet.hints.length - shown;
    hint.disabled = left === 0;
    say(hint, left === 0 ? "No more hints" : `${shown ? "One more hint" : "A hint"} (${left} left)`);
  }

  // Returns whether there was another hint.
  function climb() {
    if (shown === sheet.hints.length) return false;
    hints.append(written("li", null, sheet.hints[shown]));
    shown += 1;
    name();
    return true;
  }

  function explain() {
    if (why.hidden) why.append(h("p", { class: "gk-why-head" }, "Why"), ...whyOf(cell));
    why.hidden = false;
    hint.hidden = answer.hidden = true;
  }

  hint.addEventListener("click", climb);
  answer.addEventListener("click", () => {
    explain();
    onAnswer();
  });
  name();
  return {
    buttons: [hint, answer],
    parts: [status, h("div", { "aria-live": "polite" }, hints), why],
    climb,
    explain,
    announce: (text) => say(status, text),
  };
}
