// EnergyView: methods on a plane of time and power, both logarithmic, with straight lines of equal energy.
import { countEach } from "../js/counted.js";
import { h, number, put, say } from "../js/element.js";
import { inspectable } from "../js/inspect.js";
import { emptyPaths, lineKey, pathOf, symbol, wordsText, picture } from "../js/marks.js";

// The paper, the plane on it, and how wide a mark is.
const PLANE = { wide: 430, tall: 276, left: 44, top: 8, across: 362, up: 216, mark: 17 };
const ENERGY_HINT = "Point at or tap a mark, or press an arrow key: what does it take?";

export const energyView = {
  counted: countEach("workload"),
  pace: 1800,
  open(payload) {
    const plane = energyPicture(payload);
    return {
      stage: [plane.svg],
      choose(k) {
        const trace = payload.traces[k];
        return {
          steps: trace.steps,
          tracks: [],
          keys: [
            [lineKey("gk-s-energy"), "equal energy"],
            [lineKey("gk-s-old"), "from the workload before"],
          ],
          sentence: (step) => trace.sentences[step],
          counters: (step) =>
            payload.methods.map((method, m) => [
              symbol([`gk-u-${m}`, "M1.5 7h11", "11"]),
              `${m + 1} ${method}`,
              trace.energy[step][m] || "not run",
            ]),
          show: (step) => plane.show(trace, step),
        };
      },
    };
  },
};

const placeAcross = (thousandths) => PLANE.left + (PLANE.across * thousandths) / 1000;
const placeUp = (thousandths) => PLANE.top + PLANE.up - (PLANE.up * thousandths) / 1000;

function energyPicture(payload) {
  const frame = `M${PLANE.left} ${PLANE.top}v${PLANE.up}h${PLANE.across}`;
  const equal = payload.lines.map(
    ([a, b, c, d]) =>
      `M${number(placeAcross(a))} ${number(placeUp(b))}L${number(placeAcross(c))} ${number(placeUp(d))}`,
  );
  const grid = payload.times.map(([x]) => `M${number(placeAcross(x))} ${PLANE.top + PLANE.up}v4`);
  for (const [y] of payload.powers) grid.push(`M${PLANE.left} ${number(placeUp(y))}h-4`);
  const texts = {
    times: wordsText("gk-tick gk-text-quiet gk-energy-tick"),
    powers: wordsText("gk-tick gk-text-quiet gk-energy-tick gk-energy-power"),
    energies: wordsText("gk-tick gk-text-quiet gk-energy-tick gk-energy-line"),
    dark: wordsText("gk-u-dark"),
    light: wordsText("gk-u-dark gk-u-light"),
  };
  texts.times.show(payload.times.map(([x, word]) => [number(placeAcross(x)), PLANE.top + PLANE.up + 16, word]));
  texts.powers.show(payload.powers.map(([y, word]) => [PLANE.left - 7, number(placeUp(y) + 4), word]));
  texts.energies.show(payload.lines.map(lineName));
  const names = { trail: "gk-s-old" };
  payload.methods.forEach((_, m) => (names[m] = `gk-u-${m}`));
  const layers = emptyPaths(names);
  payload.methods.forEach((_, m) => {
    put(layers[m], "stroke-width", String(PLANE.mark));
    put(layers[m], "stroke-linecap", "round");
  });
  const halo = pathOf("gk-wire-picked");
  const note = h("text", { class: "gk-note", x: 2, y: PLANE.tall - 4 }, ENERGY_HINT);
  const svg = picture(
    "gk-energy",
    PLANE.wide,
    PLANE.tall,
    `${payload.methods.length} methods by milliseconds and watts`,
    pathOf("gk-s-energy", equal.join("")),
    pathOf("gk-s-rule", frame + grid.join("")),
    texts.times.text,
    texts.powers.text,
    texts.energies.text,
    ...Object.values(layers),
    texts.dark.text,
    texts.light.text,
    halo,
    note,
  );
  put(svg, "style", `--gk-units:${PLANE.tall}`);
  let now = null,
    step = 0;
  const ask = inspectable(svg, locate, pick, () => payload.methods.length);

  // The nearest mark under a place; if marks overlap, the visible one.
  function locate(x, y) {
    let best = -1,
      least = PLANE.mark * PLANE.mark;
    payload.methods.forEach((_, m) => {
      if (now.x[step][m] === null) return;
      const dx = placeAcross(now.x[step][m]) - x,
        dy = placeUp(now.y[step][m]) - y;
      if (dx * dx + dy * dy <= least) {
        least = dx * dx + dy * dy;
        best = m;
      }
    });
    return best;
  }

  function pick(m) {
    const isRun = m >= 0 && now.x[step][m] !== null;
    const half = PLANE.mark / 2 + 2;
    const at = isRun ? `M${number(placeAcross(now.x[step][m]) - half)} ${number(placeUp(now.y[step][m]))}` : "";
    const round = `a${half} ${half} 0 1 0 ${2 * half} 0a${half} ${half} 0 1 0 -${2 * half} 0`;
    put(halo, "d", isRun ? at + round : "");
    say(note, m < 0 ? ENERGY_HINT : `${payload.methods[m]}: ${isRun ? now.said[step][m] : "not run"}`);
  }

  return {
    svg,
    show(trace, at) {
      now = trace;
      step = at;
      let trail = "";
      const dark = [],
        light = [];
      payload.methods.forEach((_, m) => {
        const [x, y] = [trace.x[step][m], trace.y[step][m]];
        put(layers[m], "d", x === null ? "" : `M${number(placeAcross(x))} ${number(placeUp(y))}h0`);
        if (x === null) return;
        (m === 4 ? light : dark).push([number(placeAcross(x)), number(placeUp(y) + 4), String(m + 1)]);
        if (step > 0 && trace.x[step - 1][m] !== null) {
          const [u, v] = [trace.x[step - 1][m], trace.y[step - 1][m]];
          trail += `M${number(placeAcross(u))} ${number(placeUp(v))}L${number(placeAcross(x))} ${number(placeUp(y))}`;
        }
      });
      put(layers.trail, "d", trail);
      texts.dark.show(dark);
      texts.light.show(light);
      ask.again();
    },
  };
}

// The words of a line stand next to its upper end.
function lineName([x, y, , , word]) {
  return [
    number(Math.min(placeAcross(x) + 4, PLANE.wide - 34)),
    number(Math.max(placeUp(y) + 11, PLANE.top + 10)),
    word,
  ];
}
