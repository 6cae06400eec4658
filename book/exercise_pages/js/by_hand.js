// A kernel to write: where the page can run Python, it is written and judged on it (live.js); elsewhere in a notebook, and the
// reader says when it is solved.
import { h } from "../../../gpukernels/views/js/element.js";
import { forget, note, stateOf, whenever } from "./memory_of_tries.js";

export function byHand(sheet) {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => (box.checked ? note(sheet.id, "solved", null, "declared") : forget(sheet.id)));
  whenever(() => {
    box.checked = stateOf(sheet.id) === "solved";
  });
  const label = h(
    "label",
    null,
    box,
    " I have solved it in a notebook, where ",
    h("code", null, "ex.check"),
    " judges",
  );
  const data = h("script", { type: "application/json" }, JSON.stringify(sheet));
  const write = h("div", { class: "gk-write" }, data);
  // Judged on a page is practice: a reader's browser could say anything.
  write.addEventListener("gk-judged", ({ detail }) =>
    note(sheet.id, detail.solved ? "solved" : "tried", detail.text, detail.solved ? "solved on the page" : "not yet"),
  );
  return h("div", { class: "gk-exercise gk-by-hand" }, label, write);
}
