// Lets a reader press a mark of a picture that can be asked about: by a click or a tap, or by Enter on the one asked.
import { placeIn } from "./inspect.js";

// `locate(x, y)` maps SVG units to a mark or -1, `asked()` is the mark asked last, `press(mark)` does what is to be done.
export function pressable(svg, locate, asked, press) {
  svg.addEventListener("click", (event) => {
    const place = placeIn(svg, event);
    const mark = place ? locate(place.x, place.y) : -1;
    if (mark >= 0) press(mark);
  });
  svg.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || asked() < 0) return;
    event.preventDefault();
    press(asked());
  });
}
