// Pictures in a figure that fills the window shrink to make room for the parts around them, but their words do not.

// Words of a picture are so large in the figure's own pixels, as those around it are.
const LEAST_LETTERS = 12;
const SHRUNK = ".gk-stage svg[viewBox]:not(.gk-symbol, [preserveAspectRatio], svg svg)";

// Smaller, the words of a picture would run into each other.
const LEAST_UNIT = 0.86;

// Makes the pictures of `figure` as tall as fits, and tells the style sheet how large their letters have to be in units of
// each. Says whether no letter is larger than the pictures have room for.
export function fitPictures(figure) {
  const stage = figure.querySelector(".gk-stage"),
    pictures = [...figure.querySelectorAll(SHRUNK)].filter((svg) => svg.getClientRects().length);
  // The window is enlarged, and boxes are told in its pixels.
  const scale = figure.getBoundingClientRect().height / figure.offsetHeight;
  const boxOf = (svg) => {
    const { width, height } = svg.getBoundingClientRect();
    return [width / scale, height / scale];
  };
  stage.style.removeProperty("--gk-most");
  // Where pictures stand below each other, one turn does not do.
  for (let turn = 0; turn < 4 && pictures.length; turn++) {
    const over = Math.max(...[figure, stage].map((box) => box.scrollHeight - box.clientHeight));
    if (over < 1) break;
    const tallest = Math.max(...pictures.map((svg) => boxOf(svg)[1]));
    // A picture that keeps the place of a step in view may be longer than the window, as a program may.
    const least = pictures.map((svg) =>
      svg.querySelector(".gk-follow") ? LEAST_UNIT * svg.viewBox.baseVal.height : 40,
    );
    stage.style.setProperty("--gk-most", `${Math.max(...least, tallest - over)}px`);
  }
  const units = pictures.map((svg) => {
    const [width, height] = boxOf(svg),
      { width: wide, height: tall } = svg.viewBox.baseVal;
    const unit = Math.min(width / wide, height / tall);
    svg.style.setProperty("--gk-letters", `${LEAST_LETTERS / unit}px`);
    return unit;
  });
  return units.every((unit) => unit >= LEAST_UNIT);
}
