// A graph as marks, at the places that gpukernels/views/drawing.py finds. A vertex is a zero-length stroke with round
// caps. All marks of one look are one path, so that a step with thousands of marks writes a few attributes.
//
// No Math.hypot and no powers: engines and machines differ in their last bit.
import { unpack } from "./decode.js";
import { count, h, number } from "./element.js";

// The sides of a vertex, y downwards, as gpukernels/views/room.py has them, which chooses among them.
const HALF_SQUARE = Math.SQRT1_2;
const SIDES = [
  [HALF_SQUARE, -HALF_SQUARE],
  [-HALF_SQUARE, -HALF_SQUARE],
  [HALF_SQUARE, HALF_SQUARE],
  [-HALF_SQUARE, HALF_SQUARE],
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
];

function distance(dx, dy) {
  return Math.sqrt(dx * dx + dy * dy);
}

// How far a place is from a line, or from one that bows: from pieces of it.
function curveDistance(px, py, x1, y1, x2, y2, bow) {
  const cx = (x1 + x2) / 2 - (y2 - y1) * bow,
    cy = (y1 + y2) / 2 + (x2 - x1) * bow;
  const pieces = bow ? 8 : 1;
  let least = Infinity,
    ax = x1,
    ay = y1;
  for (let i = 1; i <= pieces; i++) {
    const t = i / pieces,
      s = 1 - t;
    const bx = s * s * x1 + 2 * s * t * cx + t * t * x2,
      by = s * s * y1 + 2 * s * t * cy + t * t * y2;
    const dx = bx - ax,
      dy = by - ay,
      long = dx * dx + dy * dy;
    const at = long ? Math.min(Math.max(((px - ax) * dx + (py - ay) * dy) / long, 0), 1) : 0;
    least = Math.min(least, distance(ax + at * dx - px, ay + at * dy - py));
    ax = bx;
    ay = by;
  }
  return least;
}

// The line at a place, as a mark of a cursor, or null: a vertex is the picture's own.
export function lineAt(drawing, { x, y }) {
  const line = drawing.nearest(x, y, drawing.radius + 6) < 0 ? drawing.nearestLine(x, y, 5) : -1;
  return line < 0 ? null : ["line", line];
}

export function readDrawing(payload) {
  const x = unpack(payload.x),
    y = unpack(payload.y);
  const tail = unpack(payload.tail),
    head = unpack(payload.head),
    bent = unpack(payload.bent);
  const r = payload.radius;
  const dot = Array.from(x, (_, v) => `M${number(x[v] / 10)} ${number(y[v] / 10)}h0`);
  const loopSides = unpack(payload.loopSide),
    nameSides = unpack(payload.nameSide);
  const sideOfLoop = new Map();
  tail.forEach((a, k) => {
    if (a === head[k]) sideOfLoop.set(k, SIDES[loopSides[sideOfLoop.size]]);
  });
  const line = Array.from(tail, (a, k) => linePath(a, head[k], bent[k], sideOfLoop.get(k)));

  function linePath(a, b, curved, side) {
    const x1 = x[a] / 10,
      y1 = y[a] / 10,
      x2 = x[b] / 10,
      y2 = y[b] / 10;
    if (a === b) {
      const [dx, dy] = side,
        fx = x1 + (r - 1) * dx,
        fy = y1 + (r - 1) * dy;
      const size = number(loopSize());
      return (
        `M${number(fx + 3 * dy)} ${number(fy - 3 * dx)}` +
        `A${size} ${size} 0 1 1 ${number(fx - 3 * dy)} ${number(fy + 3 * dx)}`
      );
    }
    const length = Math.max(distance(x2 - x1, y2 - y1), 0.1);
    const ux = (x2 - x1) / length,
      uy = (y2 - y1) / length;
    if (!payload.directed) return `M${number(x1)} ${number(y1)}L${number(x2)} ${number(y2)}`;
    const bow = curved ? 0.14 * length : 0;
    const cx = (x1 + x2) / 2 - uy * bow,
      cy = (y1 + y2) / 2 + ux * bow;
    const reach = Math.max(distance(x2 - cx, y2 - cy), 0.1);
    const vx = (x2 - cx) / reach,
      vy = (y2 - cy) / reach;
    const ex = x2 - vx * (r + 1),
      ey = y2 - vy * (r + 1);
    const s = Math.min(Math.max(r * 0.6, 3), 5);
    return (
      `M${number(x1)} ${number(y1)}${curved ? `Q${number(cx)} ${number(cy)} ` : "L"}${number(ex)} ${number(ey)}` +
      `M${number(ex - s * (vx + 0.5 * vy))} ${number(ey - s * (vy - 0.5 * vx))}L${number(ex)} ${number(ey)}` +
      `L${number(ex - s * (vx - 0.5 * vy))} ${number(ey - s * (vy + 0.5 * vx))}`
    );
  }

  function loopSize() {
    return Math.max(r * 0.7, 3);
  }

  return {
    x,
    y,
    tail,
    head,
    width: payload.width,
    height: payload.height,
    radius: r,
    labeled: payload.labeled,
    crowded: payload.crowded,
    directed: payload.directed,
    n: x.length,
    lineCount: tail.length,
    picture: (...marks) =>
      h(
        "svg",
        {
          class: "gk-graph",
          viewBox: `0 0 ${number(payload.width)} ${number(payload.height)}`,
          role: "img",
          "aria-label": `Graph with ${count(x.length, "vertex", "vertices")}`,
          style: `--gk-units:${number(payload.height)}`,
        },
        ...marks,
      ),
    dots: (vertices) => {
      let d = "";
      for (const v of vertices) d += dot[v];
      return d;
    },
    // The name of a vertex, on the side where lines leave it room.
    name(v, look) {
      const [dx, dy] = SIDES[nameSides[v]];
      const beside = dx && dy ? r + 1.5 : r + 6;
      const low = dx && dy ? (dy < 0 ? 1 - r : r + 5) : dy ? (dy < 0 ? -r - 7 : r + 13.5) : 3;
      return h(
        "text",
        {
          class: look,
          x: x[v] / 10 + (dx ? (dx < 0 ? -beside : beside) : 0),
          y: y[v] / 10 + low,
          "text-anchor": dx ? (dx < 0 ? "end" : null) : "middle",
        },
        String(v),
      );
    },
    middle(k) {
      const a = tail[k],
        b = head[k],
        bow = bent[k] ? 0.07 : 0;
      const x1 = x[a] / 10,
        y1 = y[a] / 10,
        x2 = x[b] / 10,
        y2 = y[b] / 10;
      // A loop's far end.
      if (a === b) {
        const [dx, dy] = sideOfLoop.get(k),
          reach = r - 1 + loopSize() + Math.sqrt(Math.max(loopSize() * loopSize() - 9, 0));
        return [x1 + reach * dx, y1 + reach * dy];
      }
      return [(x1 + x2) / 2 - bow * (y2 - y1), (y1 + y2) / 2 + bow * (x2 - x1)];
    },
    lines: (chosen) => {
      let d = "";
      for (const k of chosen) d += line[k];
      return d;
    },
    // The line nearest to a place, or -1.
    nearestLine(px, py, within) {
      let best = -1,
        least = within;
      tail.forEach((a, k) => {
        const b = head[k];
        let d;
        if (a === b) {
          const [mx, my] = this.middle(k);
          d = distance(mx - px, my - py) - loopSize();
        } else {
          const bow = payload.directed && bent[k] ? 0.14 : 0;
          d = curveDistance(px, py, x[a] / 10, y[a] / 10, x[b] / 10, y[b] / 10, bow);
        }
        if (d < least) {
          least = d;
          best = k;
        }
      });
      return best;
    },
    nearest(px, py, within) {
      let best = -1,
        least = within * within;
      for (let v = 0; v < x.length; v++) {
        const dx = x[v] / 10 - px,
          dy = y[v] / 10 - py,
          d = dx * dx + dy * dy;
        if (d <= least) {
          least = d;
          best = v;
        }
      }
      return best;
    },
  };
}
