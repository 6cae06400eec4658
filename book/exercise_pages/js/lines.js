// A bug to find on the page: each line of the source is a button.
import { h, put } from "../../../gpukernels/views/js/element.js";
import { unsealed } from "./answers.js";
import { ladderOf, written } from "./ladder.js";
import { note, stateOf } from "./memory_of_tries.js";

function lineOf(html, number) {
  const code = written("code", null, html);
  const row = h("li", null, h("span", { class: "gk-line-number", "aria-hidden": "true" }, String(number)));
  if (!code.textContent.trim()) return { row };
  const verdict = h("span", { class: "gk-line-verdict" });
  const button = h("button", { type: "button" }, h("span", { class: "gk-unseen" }, `Line ${number}: `), code, verdict);
  row.append(button);
  return { row, button, verdict };
}

// Up and down go from line to line, as in an editor.
function walk(event, buttons) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const next = by && buttons[buttons.indexOf(event.target.closest("button")) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

export function linesOf(sheet, cell) {
  const wanted = unsealed(sheet.sealed, sheet.id);
  const lines = sheet.lines.map((html, k) => lineOf(html, k + 1));
  const buttons = lines.map((line) => line.button).filter(Boolean);

  function mark(k, looks, sign) {
    put(lines[k].row, "data-state", looks);
    lines[k].verdict.textContent = sign;
  }

  const ladder = ladderOf(sheet, cell, () => {
    if (stateOf(sheet.id) !== "solved") note(sheet.id, "tried");
    for (const k of wanted) mark(k, "told", "here");
    ladder.announce(`It is ${wanted.map((k) => `line ${k + 1}`).join(" or ")}.`);
  });

  lines.forEach((line, k) => {
    line.button?.addEventListener("click", () => {
      const isShown = line.row.dataset.state === "told";
      if (wanted.includes(k)) {
        if (!isShown) {
          mark(k, "right", "✓ here");
          note(sheet.id, "solved", `line ${k + 1}`);
        }
        ladder.explain();
        const numbers = wanted.map((at) => at + 1).join(" and ");
        const also = wanted.length > 1 ? ` Lines ${numbers} count: the mistake, and where it shows.` : "";
        ladder.announce(`Line ${k + 1} is right.${also} Repair the kernel in a notebook, where the checker judges it.`);
      } else {
        mark(k, "wrong", "✗ not here");
        note(sheet.id, "tried", `line ${k + 1}`);
        ladder.announce(`Line ${k + 1} is not it.${ladder.climb() ? " Below is a hint." : ""}`);
      }
    });
  });

  const list = h("ol", { class: "gk-lines highlight" }, ...lines.map((line) => line.row));
  list.addEventListener("keydown", (event) => walk(event, buttons));
  const ask = "Click or tap the wrong line. If a line is missing, click a line next to the gap.";
  return h(
    "div",
    { class: "gk-exercise", role: "group", "aria-label": `${sheet.id}: the line with the bug` },
    h("p", { class: "gk-ask" }, ask),
    list,
    h("div", { class: "gk-buttons" }, ...ladder.buttons),
    ...ladder.parts,
  );
}
