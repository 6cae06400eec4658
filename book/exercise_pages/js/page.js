// Makes the exercises of a page interactive. Without scripts, the page still has the whole exercise.
import { h } from "../../../gpukernels/views/js/element.js";
import { byHand } from "./by_hand.js";
import { linesOf } from "./lines.js";
import { followOtherTabs, recordVersion } from "./memory_of_tries.js";
import { numbersOf } from "./numbers.js";
import { bookList, chapterList, markHeading } from "./overview.js";

const KINDS = { numbers: numbersOf, lines: linesOf, kernel: byHand };
const AGAIN = { numbers: "The same in a notebook", lines: "Repair it in a notebook" };

// The parts that need a notebook: the line that shows the exercise, the skeleton and the check.
function fold(cell, form, label) {
  const drawer = h("details", { class: "gk-in-a-notebook" }, h("summary", null, label));
  // The ladder shows the hint.
  for (const details of cell.querySelectorAll(".cell_output > details")) details.hidden = true;
  drawer.append(h("div", { class: cell.className }, cell.querySelector(".cell_input")));
  while (form.nextElementSibling?.matches(".cell.tag_exercise")) drawer.append(form.nextElementSibling);
  form.after(drawer);
}

function bringToLife(box) {
  const data = box.querySelector("script");
  const sheet = JSON.parse(data.textContent);
  data.remove();
  const cell = box.nextElementSibling;
  const form = KINDS[sheet.kind](sheet, cell);
  cell.after(form);
  if (AGAIN[sheet.kind]) fold(cell, form, AGAIN[sheet.kind]);
  const section = box.closest("section");
  const heading = section.querySelector("h3, h2");
  const title = heading.firstChild.textContent;
  markHeading(sheet.id, heading);
  return { id: sheet.id, title, href: `#${section.id}`, section };
}

export function bringExercisesToLife(version) {
  recordVersion(version);
  const exercises = [...document.querySelectorAll(".gk-try")].map(bringToLife);
  if (exercises.length > 0) exercises[0].section.before(chapterList(exercises));
  const contents = document.querySelector("script.gk-contents");
  if (contents) contents.replaceWith(bookList(JSON.parse(contents.textContent)));
  followOtherTabs();
}
