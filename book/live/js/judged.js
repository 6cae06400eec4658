// Kernels of exercises, written and judged on the page. exercises.js hears of the verdict by an event.
import { panelOf } from "./panel.js";

export function offerAnswers(engine, offer) {
  for (const box of document.querySelectorAll(".gk-write")) {
    const { id, skeleton } = JSON.parse(box.querySelector("script").textContent);
    const act = (text) => ({ action: "judge", name: id, text });
    const after = ({ solved }, text) => box.dispatchEvent(new CustomEvent("gk-judged", { detail: { solved, text } }));
    offer(box, box, id, () => panelOf(engine, { id, program: skeleton, act, after }), "Write it here");
  }
}
