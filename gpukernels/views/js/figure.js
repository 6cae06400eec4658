// The frame that all views share: title, controls, timeline, stage, counters, sentence, caption, description.
//
// A view is { counted, meanings, open(payload, leads) }. `counted` counts its frames (counted.js). `meanings` maps names of
// counters to sentences (meaning.js). leads(address) returns whether the page can go there.
// open returns { choose(k), stage, side, cursor, parts }, with cursor.js and turns.js for the last two, and its own
// `counted` if it depends on the record.
// choose(k) returns the scene of trace k: { steps, tracks: [element], show(step), counters(step), sentence(step),
// controls: [element], keys: [[symbol, words]] }. The keys are for looks without a counter. choose also gets three
// functions: show the scene again, go to a step, choose again and go to a step. The model has `payload`, `step` and `trace`.
//
// If a reader can change a run into others (variants.js), a scene may have more `fields` than its controls, each
// { name, entries, at(), choose(k) }. Its `room`, { steps, sentences: [text], most }, has the most steps of any run, all
// sentences, and a counter's largest number. `runs()` of open's result returns the { label, steps } of the current traces.
import { h, number, put, say, thousands } from "./element.js";
import { followRow } from "./follow.js";
import { playByKeys } from "./keys.js";
import { SQUARE, roomsFor, squareKey, symbol } from "./marks.js";
import { fitPictures } from "./shrink.js";
import { fitted } from "./turns.js";
import { explainCounters } from "./meaning.js";
import { raceOf } from "./race.js";
import { saveMenu } from "./save.js";
import { SHOWS, theater } from "./wide.js";
import { fieldsOf, figureId, slugOf, wordAt, wordFor } from "./words.js";

const SPEEDS = [0.5, 1, 2, 4, 8];
const PLAY = "M3 1.5v11l9-5.5z";
const PAUSE = "M2.5 1.5h3.2v11h-3.2zM8.3 1.5h3.2v11h-3.2z";

// `meanings` maps names of counters to sentences, which a reader can open (meaning.js).
export function counterList(meanings = {}) {
  const list = h("dl", { class: "gk-counters" });
  let shown = "",
    held = [];
  return {
    list,
    // Characters of each counter's longest text, so that its name does not wrap when it grows.
    hold(signs) {
      held = signs;
      shown = "";
    },
    // Each counter is [symbol or null, name, text].
    show(counters) {
      const names = counters.map((c) => c[1]).join("\n");
      if (names !== shown) {
        shown = names;
        const first = counters.findIndex(([, name]) => Object.hasOwn(meanings, name));
        list.replaceChildren(
          ...counters.map(([key, name], i) => {
            const value = h("dd", { style: held[i] ? `min-width:${held[i]}ch` : null });
            const stop = !Object.hasOwn(meanings, name) ? null : i === first ? 0 : -1;
            return h("div", { class: "gk-counter" }, h("dt", { tabindex: stop }, key, name), value);
          }),
        );
      }
      counters.forEach((c, i) => say(list.children[i].lastElementChild, c[2]));
    },
  };
}

function moveHead(svg, step, steps) {
  const head = svg.querySelector(".gk-f-playhead");
  put(head, "x", number(step + 0.5 - Math.max(1, steps / 160) / 2));
  for (const future of svg.querySelectorAll(".gk-f-future")) {
    put(future, "x", String(step + 1));
    put(future, "width", String(Math.max(steps - step - 1, 0)));
  }
}

// A list of `entries` with entry `at` chosen; `onChange(k)` is called with another.
export function selectOf(label, entries, at, onChange) {
  const select = h("select", null, ...entries.map((text) => h("option", null, text)));
  select.selectedIndex = at;
  select.addEventListener("change", () => onChange(select.selectedIndex));
  const field = h("label", { class: "gk-field" }, h("span", null, label), select);
  field.field = {
    name: slugOf(label),
    entries,
    at: () => select.selectedIndex,
    choose(k) {
      select.selectedIndex = k;
      onChange(k);
    },
  };
  return field;
}

// Trace k of a view as a scene. If all traces are whole runs (`races` of the view), the scene has them all
// on one clock.
export function sceneOf(view, record, opened, k, again, go, anew) {
  // Marks lit in another run are not in this one.
  opened.cursor?.clear();
  const scene = opened.choose(k, again, go, anew);
  const whole = view.races && record.traces.every((trace) => view.races(record, trace));
  const runs = opened.runs ? opened.runs() : record.traces;
  const race = whole ? raceOf(runs, k, opened.counted || view.counted) : null;
  if (!race) return scene;
  const show = (step) => {
    race.show(step);
    scene.show(step);
  };
  return { ...scene, tracks: [race.node, ...scene.tracks], keys: [...(scene.keys || []), ...race.keys], show };
}

// The parts of a figure, in the order in which they stand; a still has these alone, a reader's figure controls besides.
// `show(scene, step)` fills them.
export function layOut(record, opened, view) {
  const timeline = h("div", { class: "gk-timeline" });
  const counters = counterList(view.meanings);
  const now = h("p", { class: "gk-now" });
  const speech = h("div", { class: "gk-said" }, now);
  return {
    title: h("p", { class: "gk-title" }, record.title),
    // Parts that stay in view while the rest scrolls.
    head: h("div", { class: "gk-head" }, timeline, speech, ...(opened.cursor ? [opened.cursor.node] : [])),
    timeline,
    counters,
    cursor: opened.cursor,
    speech,
    body: h(
      "div",
      { class: "gk-body" },
      h("div", { class: "gk-stage" }, ...opened.stage),
      h("div", { class: "gk-side" }, counters.list, ...(opened.side || [])),
    ),
    now,
    key: h("ul", { class: "gk-key" }),
    caption: record.caption ? h("figcaption", null, record.caption) : null,
    description: h(
      "details",
      { class: "gk-description" },
      h("summary", null, "Description in words"),
      h("p", null, record.description),
    ),
    show(scene, step) {
      scene.show(step);
      counters.show(scene.counters(step));
      say(now, scene.sentence(step));
      for (const svg of timeline.querySelectorAll(".gk-strip")) moveHead(svg, step, scene.steps);
      opened.cursor?.again(step);
    },
  };
}

// Keys for looks without a counter: the scene's own, and those of every timeline.
export function frameKeys(scene, { noun }, timeline) {
  const keys = [...(scene.keys || [])];
  if (timeline.querySelector(".gk-f-playhead")) keys.push([squareKey("gk-f-playhead"), `this ${noun}`]);
  if (timeline.querySelector(".gk-f-future")) {
    keys.push([symbol(["gk-f-work", SQUARE], ["gk-f-gray", SQUARE], ["gk-f-pale", SQUARE]), "gray: not yet run"]);
  }
  return keys.map(([mark, words]) => h("li", null, mark, words));
}

// Room for any sentence and any number of a scene, so that nothing moves when a shorter one takes the place of a longer.
export function keepRoom(parts, scene) {
  const { room } = scene,
    sentences = new Set(room ? room.sentences : []);
  const signs = room ? scene.counters(0).map(() => thousands(room.most).length) : [];
  for (let k = 0; k < scene.steps; k++) {
    sentences.add(scene.sentence(k));
    scene.counters(k).forEach(([, , text], i) => (signs[i] = Math.max(signs[i] || 0, text.length)));
  }
  parts.speech.replaceChildren(parts.now, ...roomsFor([...sentences]));
  parts.counters.hold(signs);
  parts.cursor?.hold();
}

// Fills `figure` and returns a function that lets go of the model. `gifenc` returns the library of this name, or a promise of
// it; `page` is what moments.js makes of a page whose figures have addresses, or null.
export function fillFigure(figure, view, model, gifenc, page = null) {
  const payload = model.get("payload");
  const opened = view.open(payload, page ? page.leads : () => false);
  const labels = payload.traces.map((t) => t.label);
  const counted = opened.counted || view.counted,
    { noun } = counted;
  let scene = null,
    current = -1,
    timer = 0,
    speed = 1,
    rest = null;
  const pace = () => (view.pace || 900) / speed;

  const icon = h("path", { d: PLAY });
  const play = h(
    "button",
    { type: "button", class: "gk-play", "aria-label": "Play" },
    h("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, icon),
  );
  const back = h("button", { type: "button", class: "gk-step", "aria-label": `Previous ${noun}` }, "‹");
  const forth = h("button", { type: "button", class: "gk-step", "aria-label": `Next ${noun}` }, "›");
  const range = h("input", {
    type: "range",
    min: 0,
    step: 1,
    value: 0,
    "aria-label": noun[0].toUpperCase() + noun.slice(1),
  });
  const whole = h("small"),
    where = h("output", { class: "gk-track-label" }, " ", whole);
  const scrub = h("div", { class: "gk-track gk-scrub" }, where, range);
  const parts = layOut(payload, opened, view),
    { timeline, now, key } = parts;
  const lines = [now, opened.cursor?.words].filter(Boolean);
  put(now, "aria-live", "polite");
  put(now, "aria-atomic", "true");
  const extra = h("div", { class: "gk-extra" });
  const words = SPEEDS.map((times) => `${times === 0.5 ? "½" : times}×`);
  const speeds = selectOf("Speed", words, SPEEDS.indexOf(1), (k) => {
    speed = SPEEDS[k];
    if (timer) start();
  });
  speeds.classList.add("gk-speeds");
  const player = h("div", { class: "gk-player" }, play, back, forth);
  const controls = h(
    "div",
    { class: "gk-controls", role: "group", "aria-label": `Controls: ${payload.title}` },
    player,
    labels.length > 1 ? selectOf(payload.choice || "Trace", labels, 0, (k) => set("trace", labels[k])) : null,
    extra,
    speeds,
    page ? page.linkButton(figure.id) : null,
  );

  function set(name, value) {
    model.set(name, value);
    model.save_changes();
    refresh();
  }

  function show(step) {
    parts.show(scene, step);
    if ((scene.room || scene).steps > 1) {
      range.value = step;
      const [name, of] = [counted.name(step), counted.of(scene.steps)];
      range.setAttribute("aria-valuetext", `${name} ${of}`);
      where.firstChild.data = name;
      say(whole, of);
    }
    back.disabled = step === 0;
    forth.disabled = step === scene.steps - 1;
    if (!timer) rest?.();
    // A step may have a picture of another height, and words of its own.
    if (hall.shown()) fitPictures(figure);
    followRow(figure, parts.head);
  }

  function refresh() {
    const chosen = Math.max(0, labels.indexOf(model.get("trace")));
    if (chosen !== current) {
      current = chosen;
      scene = sceneOf(view, payload, opened, chosen, refreshScene, go, anew);
      timeline.replaceChildren(...scene.tracks, ...((scene.room || scene).steps > 1 ? [scrub] : []));
      figure.style.setProperty("--gk-steps", scene.steps);
      range.max = scene.steps - 1;
      const most = (scene.room || scene).steps,
        beside = scene.controls || [];
      player.hidden = speeds.hidden = most < 2;
      play.disabled = scene.steps < 2;
      controls.hidden = most < 2 && labels.length < 2 && !beside.length;
      // A control that stays keeps its focus.
      if (beside.length !== extra.children.length || beside.some((one, i) => one !== extra.children[i]))
        extra.replaceChildren(...beside);
      const select = controls.querySelector(":scope > .gk-field select");
      if (labels.length > 1) select.selectedIndex = chosen;
      keepRoom(parts, scene);
      key.replaceChildren(...frameKeys(scene, counted, timeline));
      showAndFit();
    } else show(Math.min(model.get("step"), scene.steps - 1));
  }

  function showAndFit() {
    show(Math.min(model.get("step"), scene.steps - 1));
    turns.fit();
  }

  function refreshScene() {
    keepRoom(parts, scene);
    showAndFit();
  }

  function anew(step) {
    stop();
    current = -1;
    set("step", step);
  }

  function go(step) {
    set("step", Math.max(0, Math.min(step, scene.steps - 1)));
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    put(icon, "d", PLAY);
    play.setAttribute("aria-label", "Play");
    tell("polite");
    rest?.();
  }

  // A screen reader could not keep up with a figure that plays, so it is told only where it stops.
  function tell(how) {
    for (const line of lines) line.setAttribute("aria-live", how);
  }

  function start() {
    clearInterval(timer);
    put(icon, "d", PAUSE);
    play.setAttribute("aria-label", "Pause");
    tell("off");
    timer = setInterval(() => {
      if (!figure.isConnected) return stop();
      if (model.get("step") >= scene.steps - 1) return stop();
      go(model.get("step") + 1);
      if (model.get("step") >= scene.steps - 1) stop();
    }, pace());
  }

  function playOn() {
    if (model.get("step") >= scene.steps - 1) go(0);
    start();
  }

  // Shows every step to `take`, which returns a promise, and then the step that was shown. It ends early, and returns false,
  // where `take` says false or a reader chooses another run.
  async function film(take) {
    const name = runName();
    let step = 0;
    stop();
    tell("off");
    try {
      for (; step < scene.steps; step++) {
        show(step);
        // A figure shows one step at a time.
        // oxlint-disable-next-line no-await-in-loop
        if (!(await take(step)) || !figure.isConnected || runName() !== name) break;
      }
    } finally {
      tell("polite");
      refresh();
    }
    return step === scene.steps;
  }

  // Fields not given stay unchanged.
  function move(state) {
    stop();
    const wanted = new Map(state);
    const run = wordAt(labels, wanted.get("run") || "");
    if (run >= 0) set("trace", labels[run]);
    for (const field of fieldsOf(scene)) {
      const at = wordAt(field.entries, wanted.get(field.name) || "");
      if (at >= 0) field.choose(at);
    }
    if (/^\d+$/.test(wanted.get("step") || "")) go(Number(wanted.get("step")));
    if (SHOWS.includes(wanted.get("show"))) hall.show(wanted.get("show"));
    turns.first();
  }

  function stateNow() {
    const fields = fieldsOf(scene).map((field) => [field.name, wordFor(field.entries, field.at())]);
    const step = Math.min(model.get("step"), scene.steps - 1);
    return [
      ...(labels.length > 1 ? [["run", wordFor(labels, current)]] : []),
      ...fields,
      ...(scene.steps > 1 ? [["step", String(step)]] : []),
      ...(hall.shown() ? [["show", hall.shown()]] : []),
    ];
  }

  play.addEventListener("click", () => {
    if (timer) return stop();
    playOn();
  });
  back.addEventListener("click", () => {
    stop();
    go(model.get("step") - 1);
  });
  forth.addEventListener("click", () => {
    stop();
    go(model.get("step") + 1);
  });
  range.addEventListener("input", () => {
    stop();
    go(Number(range.value));
  });
  timeline.addEventListener("pointerdown", (event) => {
    const strip = event.target.closest(".gk-strip");
    if (!strip || scene.steps < 2) return;
    stop();
    const box = strip.getBoundingClientRect();
    go(Math.floor(((event.clientX - box.left) / box.width) * scene.steps));
  });

  figure.setAttribute("aria-label", payload.title);
  // Before a picture or the full width takes Escape for itself.
  const letGo = (event) => event.key === "Escape" && opened.cursor?.release() && event.preventDefault();
  figure.addEventListener("keydown", letGo, true);
  parts.head.prepend(controls);
  const hall = theater(figure, () => {
    if (hall.shown()) parts.title.after(turns.bar);
    else parts.head.append(turns.bar);
    turns.fit();
    if (!timer) rest?.();
  });
  const nameNow = () => [figure.id, ...stateNow().flat()].map(slugOf).join("-");
  // Names the chapter, the figure, the run and the other choices.
  const runName = () => {
    const chosen = stateNow().filter(([name]) => name !== "step");
    return [page ? page.name : "", figure.id, ...chosen.flat()].map(slugOf).filter(Boolean).join("-");
  };
  const about = () => (page ? page.cite(figure.id, payload.title) : payload.title);
  const run = { steps: () => scene.steps, name: runName, pace, film, gifenc };
  const save = saveMenu(figure, nameNow, about, page !== null, run);
  const top = h("div", { class: "gk-top" }, parts.title, h("div", { class: "gk-tools" }, save, ...hall.buttons));
  const stage = parts.body.firstElementChild,
    side = parts.body.lastElementChild;
  const more = figure.classList.contains("gk-few") ? moreNumbers(figure) : null;
  const turns = fitted(figure, stage, (column) => {
    const full = hall.shown() !== "";
    const pictures = opened.parts ? opened.parts(column, full) : [["Picture", [stage]]];
    // Where numbers and key stand beside, they stay; over the whole window a picture needs their room.
    if (full) return [...pictures, ["Numbers", [side]], ["Key", [key, parts.caption].filter(Boolean)]];
    if (!column) return pictures;
    const caption = [null, [parts.caption].filter(Boolean)];
    const last = [key.childElementCount ? "Key" : "Description", [key, parts.description]];
    return [...pictures, caption, ["Numbers", [side]], last];
  });
  parts.head.append(turns.bar);
  figure.replaceChildren(...[top, parts.head, parts.body, more, key, parts.caption, parts.description].filter(Boolean));
  playByKeys(figure, play, back, forth);
  if (view.meanings) explainCounters(figure, view.meanings);
  // A window of its own that is as tall as its content, as Colab gives to an output, is no measure for it.
  if (window.parent !== window) figure.style.setProperty("--gk-tall", `${Math.min(900, screen.availHeight - 200)}px`);
  refresh();
  if (more) more.hidden = !hidesNumbers(figure);
  model.on("change:step", refresh);
  model.on("change:trace", refresh);
  const place = { state: stateNow, move, show: hall.show, play: playOn, playing: () => timer > 0 };
  if (page) rest = page.stand(figure.id, place);
  return () => {
    stop();
    turns.end();
    model.off("change:step", refresh);
    model.off("change:trace", refresh);
  };
}

// The button of a figure that shows its first numbers alone, until a reader asks for all.
function moreNumbers(figure) {
  const label = () => (figure.classList.contains("gk-few") ? "More numbers" : "Fewer numbers");
  const button = h("button", { type: "button", class: "gk-more", "aria-expanded": "false" }, label());
  button.addEventListener("click", () => {
    put(button, "aria-expanded", String(!figure.classList.toggle("gk-few")));
    say(button, label());
    fitPictures(figure);
  });
  return button;
}

// Whether a style takes a number, or its whole row, out of sight.
function hidesNumbers(figure) {
  const numbers = [...figure.querySelectorAll("dd, .gk-tile-count")];
  return numbers.some((e) => [e, e.parentElement].some((part) => getComputedStyle(part).display === "none"));
}

// The widget's entry: ipywidgets holds the model.
export function liveRender(view, gifenc) {
  return ({ model, el }) => {
    const figure = h("figure", { class: `gk-view gk-view-${model.get("payload").view}`, "data-ready": "" });
    figure.id = figureId(model.get("payload"));
    el.append(figure);
    return fillFigure(figure, view, model, gifenc);
  };
}

function pageModel(payload) {
  const values = { payload, step: payload.step, trace: payload.traces[0].label };
  return {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
    },
    save_changes() {},
    on() {},
    off() {},
  };
}

// The page's entry: every figure carries its own data. In a page of the book they have addresses, by `momentsOf` of
// moments.js; the document of an output has none that a reader could share.
export function hydratePage(views, gifenc, moments = null) {
  const records = new Map();
  let page = null;
  const hydrate = () => {
    const fresh = [];
    for (const figure of document.querySelectorAll("figure.gk-view:not([data-ready])")) {
      const data = figure.querySelector('script[type="application/json"]');
      if (!data || !views[figure.dataset.view]) continue;
      figure.dataset.ready = "";
      const record = JSON.parse(data.textContent);
      figure.id = figureId(record);
      // A reader's program may show a figure of the page once more.
      if (page && records.has(figure.id)) figure.id = `${figure.id}-again`;
      records.set(figure.id, record);
      fresh.push([figure, record]);
    }
    const isFirst = moments && !page;
    if (isFirst) page = moments(records);
    for (const [figure, record] of fresh) fillFigure(figure, views[record.view], pageModel(record), gifenc, page);
    if (isFirst) page.listen();
  };
  // Draws another record in place of a figure, which keeps its id. Returns the new figure.
  const redraw = (figure, record) => {
    const { id } = figure;
    const other = h("figure", {
      class: `gk-view gk-view-${record.view}`,
      "data-view": record.view,
      "data-ready": "",
      id,
    });
    records.set(id, record);
    figure.replaceWith(other);
    fillFigure(other, views[record.view], pageModel(record), gifenc, page);
    return other;
  };
  if (moments) globalThis.gpukernelsFigures = { hydrate, redraw, recordOf: (id) => records.get(id) };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", hydrate);
  else hydrate();
}
