// A prediction on the page: one field per number, each judged by itself.
import { h, put, say, thousands } from "../../../gpukernels/views/js/element.js";
import { predictionText, unsealed, verdictOn } from "./answers.js";
import { ladderOf, written } from "./ladder.js";
import { note, stateOf } from "./memory_of_tries.js";

function fieldOf(sheet, question, k) {
  const id = `${sheet.id}-number-${k + 1}`;
  const input = h("input", {
    id,
    type: "text",
    inputmode: sheet.signed ? "text" : "numeric",
    autocomplete: "off",
    "aria-describedby": `${id}-verdict`,
  });
  const verdict = h("span", { id: `${id}-verdict`, class: "gk-field-verdict" });
  const row = h("div", { class: "gk-number" }, written("label", { for: id }, question), input, verdict);
  return {
    row,
    input,
    hinted: [],
    show(looks, text) {
      put(row, "data-state", looks);
      input.setAttribute("aria-invalid", String(looks === "wrong"));
      say(verdict, text);
    },
  };
}

function summary(right, all, more) {
  if (right === all) return all === 1 ? "Right." : `All ${all} are right.`;
  const so = all === 1 ? "Not yet." : `${right} of ${all} ${right === 1 ? "is" : "are"} right.`;
  return more ? `${so} Below is a hint.` : so;
}

export function numbersOf(sheet, cell) {
  const answers = unsealed(sheet.sealed, sheet.id);
  const fields = sheet.questions.map((question, k) => fieldOf(sheet, question, k));
  let isShown = false;

  const ladder = ladderOf(sheet, cell, () => {
    isShown = true;
    if (stateOf(sheet.id) !== "solved") note(sheet.id, "tried");
    fields.forEach((field, k) => {
      field.input.value = thousands(answers[k]);
      field.show("told", "is what the machine counts");
    });
    ladder.announce("These are the machine's numbers.");
  });

  const form = h(
    "form",
    { class: "gk-exercise", novalidate: true, "aria-label": `${sheet.id}: your prediction` },
    h("p", { class: "gk-ask" }, "Your prediction"),
    ...fields.map((field) => field.row),
    h("div", { class: "gk-buttons" }, h("button", { type: "submit" }, "Check"), ...ladder.buttons),
    ...ladder.parts,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const texts = fields.map((field) => field.input.value);
    const verdicts = texts.map((text, k) => verdictOn(text, answers[k], fields[k].hinted));
    const answer = predictionText(sheet.keys, texts);
    fields.forEach((field, k) => {
      const { given, right, says } = verdicts[k];
      field.show(right ? "right" : given ? "wrong" : "open", right ? `✓ ${says}` : given ? `✗ ${says}` : says);
    });
    const right = verdicts.filter((verdict) => verdict.right).length;
    const tried = verdicts.some((verdict) => verdict.given);
    if (right === fields.length) {
      if (!isShown) note(sheet.id, "solved", answer);
      ladder.explain();
      ladder.announce(summary(right, fields.length));
    } else if (tried) {
      note(sheet.id, "tried", answer);
      ladder.announce(summary(right, fields.length, !isShown && ladder.climb()));
    } else {
      ladder.announce("Write a number first.");
    }
  });
  return form;
}
