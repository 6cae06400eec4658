// Turns a picture that picture.js has made into text, pixels or a file.
import { h } from "./element.js";

export const textOf = (svg) => new XMLSerializer().serializeToString(svg);
export const urlOf = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

// A canvas for a picture of the size `box`, with `fine` pixels for one of the page.
export const canvasOf = ({ width, height }, fine) =>
  Object.assign(document.createElement("canvas"), { width: fine * width, height: fine * height });

export function drawPicture(context, text, box, fine) {
  const image = new Image();
  return new Promise((resolve, reject) => {
    image.addEventListener("error", () => reject(new Error("the picture cannot be drawn")));
    image.addEventListener("load", () => {
      context.drawImage(image, 0, 0, fine * box.width, fine * box.height);
      resolve();
    });
    image.src = urlOf(text);
  });
}

export function download(name, url) {
  h("a", { href: url, download: name }).click();
}
