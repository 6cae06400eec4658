// The entry of a menu that makes an animated GIF of a run, each step a frame.
import { count, h, put, say } from "./element.js";
import { gifWriter } from "./gif.js";
import { pictureOf } from "./picture.js";
import { canvasOf, download, drawPicture, textOf } from "./raster.js";

// So many pixels of a GIF for one of the page: fewer than of a PNG, since there are many pictures.
const COARSE = 2;
// So long the last step is shown, in milliseconds, or for twice as long as the others.
const HELD = 3000;

async function gifOf(figure, run, about, signal, report) {
  const steps = run.steps(),
    gif = gifWriter(await run.gifenc());
  let context = null;
  const isWhole = await run.film(async (step) => {
    const svg = pictureOf(figure, about()),
      box = svg.viewBox.baseVal;
    // All frames have the size of the first, even if a reader changes that of the figure.
    context ||= canvasOf(box, COARSE).getContext("2d", { willReadFrequently: true });
    const { width, height } = context.canvas;
    context.fillStyle = getComputedStyle(figure).backgroundColor;
    context.fillRect(0, 0, width, height);
    await drawPicture(context, textOf(svg), box, COARSE);
    const delay = step < steps - 1 ? run.pace() : Math.max(HELD, 2 * run.pace());
    gif.add(context.getImageData(0, 0, width, height), delay);
    report(step + 1);
    return !signal.aborted;
  });
  return isWhole ? gif.end() : null;
}

// `run` is { steps(), name(), pace(), film(take), gifenc() } of a figure. `done()` is called when the file is made. The result
// holds the `nodes` of the entry, and functions that the menu calls.
export function gifEntry(figure, run, about, done) {
  const button = h("button", { type: "button" }),
    progress = h("progress", { "aria-label": "Frames of the GIF", hidden: true });
  let filming = null;

  function offer() {
    if (filming) return;
    const steps = run.steps();
    say(button, `run as GIF (${count(steps, "frame")})`);
    button.hidden = steps < 2;
    progress.hidden = true;
  }

  function cancel() {
    filming?.abort();
    filming = null;
    offer();
  }

  async function make() {
    const { signal } = (filming = new AbortController()),
      name = run.name();
    say(button, "Cancel the GIF");
    put(progress, "max", String(run.steps()));
    progress.value = 0;
    progress.hidden = false;
    const file = await gifOf(figure, run, about, signal, (frames) => (progress.value = frames));
    if (signal.aborted) return;
    cancel();
    if (!file) return;
    const url = URL.createObjectURL(file);
    download(`${name}.gif`, url);
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    done();
  }

  button.addEventListener("click", () => {
    if (filming) return cancel();
    make().catch((error) => {
      cancel();
      say(button, `no GIF: ${error.message}`);
    });
  });
  return { nodes: [button, progress], filming: () => filming !== null, offer, cancel };
}
