// A kernel to write cannot be judged on a page: the reader says when it is solved.
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
  return h("div", { class: "gk-exercise gk-by-hand" }, label);
}
