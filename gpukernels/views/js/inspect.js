// Lets a reader inspect one mark of a picture, by pointer or keyboard.

// Place of an event in a picture, in the picture's units, or null if it is not drawn.
export function placeIn(svg, event) {
  const matrix = svg.getScreenCTM();
  return matrix && new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
}

// `locate(x, y)` maps SVG units to a mark or -1, `pick(mark)` shows it (-1: none), `count()` is how many there are.
export function inspectable(svg, locate, pick, count) {
  let at = -1;
  const choose = (mark) => {
    if (mark !== at) {
      at = mark;
      pick(mark);
    }
  };
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("pointermove", (event) => {
    const point = placeIn(svg, event);
    if (point) choose(locate(point.x, point.y));
  });
  svg.addEventListener("pointerleave", () => choose(-1));
  svg.addEventListener("blur", () => choose(-1));
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      // With nothing to leave here, it is the figure's.
      if (at >= 0) event.preventDefault();
      return choose(-1);
    }
    if (!move || !count()) return;
    event.preventDefault();
    choose((at + move + count()) % count());
  });
  return {
    again() {
      if (at >= 0) pick(at);
    },
  };
}
