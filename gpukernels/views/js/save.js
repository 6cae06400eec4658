// Saves what a figure shows, for slides and papers, as SVG or as PNG, and says how to cite it.
import { h } from "./element.js";
import { pictureOf } from "./picture.js";

// So many pixels of a PNG for one of the page: slides are larger than a page's column.
const FINE = 3;

function download(name, url) {
  h("a", { href: url, download: name }).click();
}

function pngOf(text, { width, height }) {
  const image = new Image(),
    canvas = document.createElement("canvas");
  Object.assign(canvas, { width: FINE * width, height: FINE * height });
  return new Promise((resolve, reject) => {
    image.addEventListener("error", reject);
    image.addEventListener("load", () => {
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      resolve(canvas.toDataURL("image/png"));
    });
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  });
}

// A button "Save" with its entries; `nameNow()` is what the file is called, without its ending, and `about()` a line on where
// the figure is from, which is shown if the figure `isCited`.
export function saveMenu(figure, nameNow, about, isCited) {
  const entry = (words, save) => {
    const button = h("button", { type: "button" }, words);
    button.addEventListener("click", () => {
      menu.open = false;
      const svg = pictureOf(figure, about());
      save(new XMLSerializer().serializeToString(svg), svg.viewBox.baseVal);
    });
    return button;
  };
  const line = isCited ? h("div", { class: "gk-cite" }) : null;
  const menu = h(
    "details",
    { class: "gk-save" },
    h("summary", { class: "gk-wider" }, "Save"),
    h(
      "div",
      null,
      entry("as SVG", (text) =>
        download(`${nameNow()}.svg`, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`),
      ),
      entry("as PNG", async (text, box) => download(`${nameNow()}.png`, await pngOf(text, box))),
      line,
    ),
  );
  menu.addEventListener("toggle", () => {
    if (line && menu.open) line.textContent = about();
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    menu.open = false;
    menu.firstElementChild.focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}
