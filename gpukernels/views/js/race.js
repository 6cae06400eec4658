// Runs that are drawn one at a time, on one clock: as long as each takes, its finish line, and how far they all are now.
import { h, number, put, say } from "./element.js";
import { pathOf, symbol, stretched } from "./marks.js";

const RACE_TALL = 10;

// Draws `chosen` among the runs `traces`. Returns null if all take the same time, with nothing to compare.
export function raceOf(traces, chosen, counted) {
  const most = Math.max(...traces.map((trace) => trace.steps));
  if (traces.every((trace) => trace.steps === most)) return null;
  const wide = Math.max(1, most / 160);
  const lanes = traces.map(({ label, steps }, k) => {
    const head = h("rect", { class: "gk-f-playhead", x: 0, y: 0, width: wide, height: RACE_TALL });
    const words = h("span", { class: "gk-race-steps" });
    const strip = stretched(
      "gk-race-strip",
      most,
      RACE_TALL,
      RACE_TALL,
      pathOf(k === chosen ? "gk-f-work" : "gk-f-line", `M0 2.5h${steps}v5h-${steps}z`),
      pathOf("gk-s-end", `M${steps} 0v${RACE_TALL}`),
      head,
    );
    const name = h("span", { class: k === chosen ? "gk-race-chosen" : null }, label);
    return {
      parts: [name, strip, words],
      show(step) {
        put(head, "x", number(step + 0.5 - wide / 2));
        say(words, `${step >= steps - 1 ? "✓ " : ""}${counted.many(steps)}`);
      },
    };
  });
  return {
    node: h("div", { class: "gk-race" }, ...lanes.map((lane) => lane.parts)),
    keys: [
      [symbol(["gk-f-work", "M0 4.5h14v5h-14z"]), "the run drawn"],
      [symbol(["gk-f-line", "M0 4.5h14v5h-14z"]), "another run"],
      [symbol(["gk-s-end", "M7 1v12"]), "the run ends"],
    ],
    show(step) {
      for (const lane of lanes) lane.show(step);
    },
  };
}
