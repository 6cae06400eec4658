// Selects two of several runs to draw: by lists, or by a slider for the second if the runs differ in one parameter.
import { h, say } from "./element.js";
import { selectOf } from "./figure.js";

// `shown` holds the places of the two, and is changed before `refresh` is called.
export function runControls(dialName, runs, shown, refresh) {
  if (runs.length < 3) return [];
  const entries = runs.map((run) => run.label);
  const list = (i, label) =>
    selectOf(label, entries, shown[i], (k) => {
      shown[i] = k;
      refresh();
    });
  if (!dialName) return [list(0, "Left"), list(1, "Right")];
  const word = h("output", null, runs[shown[1]].label);
  const dial = h("input", {
    type: "range",
    min: 0,
    max: entries.length - 1,
    step: 1,
    value: shown[1],
    "aria-label": `Right: ${dialName}`,
    "aria-valuetext": runs[shown[1]].label,
  });
  const turn = () => {
    shown[1] = Number(dial.value);
    const { label } = runs[shown[1]];
    dial.setAttribute("aria-valuetext", label);
    say(word, label);
    refresh();
  };
  dial.addEventListener("input", turn);
  const right = h("label", { class: "gk-field gk-dial" }, h("span", null, "Right"), dial, word);
  right.field = {
    name: "right",
    entries,
    at: () => shown[1],
    choose(k) {
      dial.value = k;
      turn();
    },
  };
  return [list(0, "Left"), right];
}
