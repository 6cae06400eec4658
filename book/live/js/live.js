// "Edit and run" under each figure and listing that has a program, and for each kernel that an exercise asks for.
import { h } from "../../../gpukernels/views/js/element.js";
import { engineOf } from "./engine.js";
import { offerAnswers } from "./judged.js";
import { panelOf } from "./panel.js";
import { sharedProgram } from "./share.js";

// The answer on a page that is opened as a file, since browsers start no such worker from one.
const SERVE = [
  "Browsers do not run programs in a page that is opened as a file. Serve the book's folder, for example by ",
  h("code", null, "make read"),
  " or ",
  h("code", null, "python -m http.server"),
  ", and open this page from there.",
];

// Puts the button that opens a panel into `row`, and the panel after `place`.
function offer(row, place, id, make, words) {
  const title = "Edit the program and run it on this page";
  const button = h("button", { type: "button", class: "gk-edit", "aria-expanded": "false", title }, words);
  const bar = h("div", { class: "gk-live", id: `edit-${id}` });
  let panel = null;
  row.prepend(button);
  place.after(bar);
  async function open(text) {
    if (location.protocol === "file:") {
      if (!panel) bar.append((panel = h("p", { class: "gk-live-words", role: "status" }, ...SERVE)));
      return;
    }
    panel ||= make(button);
    if (!panel.node.isConnected) bar.append(panel.node);
    panel.node.hidden = false;
    button.setAttribute("aria-expanded", "true");
    await panel.open(text);
  }
  button.addEventListener("click", () => {
    if (panel?.node && !panel.node.hidden) {
      panel.node.hidden = true;
      button.setAttribute("aria-expanded", "false");
    } else open();
  });
  return open;
}

export function offerPrograms(files, wheel, code) {
  const engine = engineOf(files, wheel, code);
  const opens = new Map();
  for (const figure of document.querySelectorAll("figure[data-program]")) {
    const { id } = figure;
    // A listing is no figure that a run draws again.
    const redrawn = figure.matches(".gk-view") ? figure : null;
    const row = figure.querySelector(redrawn ? ".gk-tools" : "figcaption");
    const make = (button) => panelOf(engine, { id, program: figure.dataset.program, figure: redrawn, button });
    // A long title leaves little room for tools.
    opens.set(id, offer(row, figure, id, make, redrawn ? "Edit" : "Edit and run"));
  }
  offerAnswers(engine, offer);
  async function openShared() {
    const shared = await sharedProgram();
    if (!shared || !opens.has(shared.id)) return;
    document.getElementById(shared.id).scrollIntoView({ block: "start", behavior: "instant" });
    await opens.get(shared.id)(shared.text);
  }
  addEventListener("hashchange", openShared);
  openShared();
}
