// Saves what a figure shows, for slides and papers, as SVG or as PNG, and its run as a GIF; says how to cite it.
import { h } from "./element.js";
import { gifEntry } from "./film.js";
import { pictureOf } from "./picture.js";
import { canvasOf, download, drawPicture, textOf, urlOf } from "./raster.js";

// So many pixels of a PNG for one of the page: slides are larger than a page's column.
const FINE = 3;

// A button "Save" with its entries. `nameNow()` is the file's name without its ending, and `about()` a line on the figure's
// source, which is shown if the figure `isCited`. film.js describes `run`.
export function saveMenu(figure, nameNow, about, isCited, run) {
  const entry = (words, save) => {
    const button = h("button", { type: "button" }, words);
    button.addEventListener("click", () => {
      close();
      const svg = pictureOf(figure, about());
      save(textOf(svg), svg.viewBox.baseVal);
    });
    return button;
  };
  const line = isCited ? h("div", { class: "gk-cite" }) : null;
  const gif = gifEntry(figure, run, about, close);
  const menu = h(
    "details",
    { class: "gk-save" },
    h("summary", { class: "gk-wider" }, "Save"),
    h(
      "div",
      null,
      entry("as SVG", (text) => download(`${nameNow()}.svg`, urlOf(text))),
      entry("as PNG", async (text, box) => {
        const canvas = canvasOf(box, FINE);
        await drawPicture(canvas.getContext("2d"), text, box, FINE);
        download(`${nameNow()}.png`, canvas.toDataURL("image/png"));
      }),
      gif.nodes,
      line,
    ),
  );
  function close() {
    const held = menu.contains(document.activeElement);
    // If a reader opens the menu again at once, no event tells that it was closed.
    gif.cancel();
    menu.open = false;
    if (held) menu.firstElementChild.focus();
  }
  menu.addEventListener("toggle", () => {
    if (!menu.open) return gif.cancel();
    gif.offer();
    if (line) line.textContent = about();
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    close();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget) && !gif.filming()) menu.open = false;
  });
  return menu;
}
