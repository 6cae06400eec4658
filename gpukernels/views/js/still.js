// A view's first frame as text: complete without a script, and colored without a style sheet.
import { toText } from "./dom.js";
import { h } from "./element.js";
import { frameKeys, keepRoom, layOut, sceneOf } from "./figure.js";
import { PAINT } from "./paint.js";

// Classes of nodes that only answer a reader's pointer or keys, or keep room.
const ANSWERS = new Set([
  "gk-room",
  "gk-note",
  "gk-halo",
  "gk-offer",
  "gk-arc-picked",
  "gk-wire-picked",
  "gk-lit",
  "gk-pointed",
]);

function painted(node, looks) {
  const names = (node.getAttribute("class") || "").split(" ");
  if (names.some((name) => ANSWERS.has(name))) return null;
  const kept = new Map(node.attributes);
  kept.delete("tabindex");
  if (names[0] === "") kept.delete("class");
  if (node.drawn) {
    for (const name of names) {
      for (const [key, value] of Object.entries(PAINT[name] || looks[name] || {}))
        if (!kept.has(key)) kept.set(key, value);
    }
  }
  return [...kept];
}

// `data` is the record's own text, which the page's script reads again; `looks` holds attributes by class.
export function firstFrame(views, looks, data) {
  const record = JSON.parse(data);
  const view = views[record.view];
  const opened = view.open(record, () => false);
  const parts = layOut(record, opened, view);
  const scene = sceneOf(
    view,
    record,
    opened,
    0,
    () => {},
    () => {},
  );
  parts.timeline.replaceChildren(...scene.tracks);
  keepRoom(parts, scene);
  parts.key.replaceChildren(...frameKeys(scene, opened.counted || view.counted, parts.timeline));
  parts.show(scene, record.step);
  const figure = h(
    "figure",
    { class: `gk-view gk-view-${record.view}`, "data-view": record.view, "aria-label": record.title },
    parts.title,
    parts.head,
    parts.body,
    parts.key.childElementCount ? parts.key : null,
    parts.caption,
    parts.description,
  );
  const text = toText(figure, (node) => painted(node, looks));
  return `${text.slice(0, -"</figure>".length)}<script type="application/json">${data}</script></figure>`;
}
