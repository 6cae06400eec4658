// The panel under a figure: fields, editor, buttons, and what a run gives.
import { h, say } from "../../../gpukernels/views/js/element.js";
import { editorIn } from "./editor.js";
import { arcsOf, hasGraph, withGraph } from "./own_graph.js";
import { parameterFields } from "./parameters.js";
import { changedCounters, otherParts, recordIn } from "./results.js";
import { addressOf } from "./share.js";

const placeOf = (id) => `gk-program:${location.pathname}#${id}`;

// A browser may refuse to store anything.
function stored(id) {
  try {
    return localStorage.getItem(placeOf(id));
  } catch {
    return null;
  }
}

function store(id, text) {
  try {
    if (text === null) localStorage.removeItem(placeOf(id));
    else localStorage.setItem(placeOf(id), text);
  } catch {
    // The text lasts as long as the page.
  }
}

const buttonOf = (words, attributes, act) => {
  const button = h("button", { type: "button", ...attributes }, words);
  button.addEventListener("click", act);
  return button;
};

// The field for a reader's arcs. `take(graph)` gets them.
function graphForm(take) {
  const field = h("textarea", { rows: 6, "aria-label": "Arcs, one per line", placeholder: "0 1\n0 2\n1 3" });
  const words = h("p", { class: "gk-live-words", role: "status" });
  const use = buttonOf("Use this graph", {}, () => {
    const graph = arcsOf(field.value);
    say(words, typeof graph === "string" ? graph : "");
    if (typeof graph !== "string") take(graph);
  });
  const ask = "Write or paste one arc per line: two vertices, and a weight where the program needs weights.";
  return h("div", { class: "gk-own-graph", hidden: true }, h("p", null, ask), field, use, words);
}

// Scrolls to a figure that is mostly out of sight.
function bringIntoView(figure) {
  const box = figure.getBoundingClientRect();
  const seen = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
  if (3 * seen < Math.min(box.height, innerHeight)) figure.scrollIntoView({ block: "center", behavior: "instant" });
}

// A program's panel. `act(text)` starts the run and returns a promise of its result; by default the text is run as it is.
export function panelOf(engine, { id, program, figure = null, button = null, act = null, after = null }) {
  const place = h("div", { class: "gk-editor" });
  const status = h("p", { class: "gk-live-words", role: "status" });
  const bar = h("progress", { max: 1, hidden: true, "aria-label": "Loading" });
  const wrong = h("div", { class: "gk-live-error", role: "alert" });
  const output = h("div", { class: "gk-live-output" });
  const original = figure ? globalThis.gpukernelsFigures.recordOf(id) : null;
  let editor = null,
    fields = null,
    usual = null,
    shownFigure = figure;
  const runButton = buttonOf("Run", { class: "gk-live-run", title: "Ctrl or ⌘ and Enter" }, run);
  const stopButton = buttonOf("Stop", { hidden: true }, () => engine.stop());
  const resetButton = buttonOf("Reset", {}, reset);
  const shareButton = buttonOf("Copy link", {}, copyLink);
  const form = graphForm((graph) => {
    editor.write(withGraph(editor.text(), graph));
    form.hidden = true;
    run();
  });
  const graphButton = buttonOf("Own graph", { "aria-expanded": "false" }, () => {
    form.hidden = !form.hidden;
    graphButton.setAttribute("aria-expanded", String(!form.hidden));
    if (!form.hidden) form.querySelector("textarea").focus();
  });
  graphButton.hidden = !hasGraph(program);
  shareButton.hidden = Boolean(act);
  const buttons = h("div", { class: "gk-buttons" }, runButton, stopButton, resetButton, graphButton, shareButton);
  const node = h("div", { class: "gk-live-panel" }, place, buttons, form, bar, status, wrong, output);

  function tell(words, part) {
    say(status, words);
    bar.hidden = part === null;
    if (part !== null) bar.value = part;
  }

  // A figure that is drawn again has new tools.
  function redraw(record) {
    shownFigure = globalThis.gpukernelsFigures.redraw(shownFigure, record);
    shownFigure.querySelector(".gk-tools").prepend(button);
  }

  function show(record) {
    if (!figure || !record) return false;
    redraw(record);
    bringIntoView(shownFigure);
    return true;
  }

  async function run() {
    if (engine.isBusy()) return say(status, "A program of this page is still running. Stop it first.");
    wrong.replaceChildren();
    output.replaceChildren();
    editor.mark(0);
    runButton.disabled = true;
    stopButton.hidden = false;
    const begun = performance.now();
    try {
      const text = editor.text();
      const result = await engine.call(act ? act(text) : { action: "run", text }, tell);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      tell(result.error ? `Ended by an error after ${seconds} s.` : `Done in ${seconds} s.`, null);
      display(result, text);
      if (!act && !result.error && text !== program) await compare(result.counters);
    } catch (error) {
      tell(error.message === "stopped" ? "Stopped. The next run starts a new interpreter." : error.message, null);
    }
    runButton.disabled = false;
    if (document.activeElement === stopButton) runButton.focus();
    stopButton.hidden = true;
    return undefined;
  }

  // The page's own program runs once, after the reader's.
  async function compare(counters) {
    const words = status.textContent;
    tell(`${words} Now the page's program runs, to compare the counters.`, null);
    usual ||= (await engine.call({ action: "run", text: program }, () => {})).counters;
    tell(words, null);
    const changed = changedCounters(usual, counters);
    if (changed) output.prepend(changed);
  }

  function display(result, text) {
    if (result.error) {
      editor.mark(result.error.line);
      wrong.append(h("pre", null, result.error.message));
      if (result.error.html)
        output.append(...otherParts({ shown: [result.error.html], printed: result.printed }, false));
    } else {
      const isRedrawn = show(result.shown.map(recordIn).find(Boolean));
      output.append(...otherParts(result, isRedrawn));
    }
    after?.(result, text);
    globalThis.gpukernelsFigures.hydrate();
  }

  function reset() {
    editor.write(program);
    store(id, null);
    editor.mark(0);
    wrong.replaceChildren();
    output.replaceChildren();
    if (figure) redraw(original);
    say(status, "The program and the figure are as the page has them. Ctrl or ⌘ and Z brings your text back.");
  }

  async function copyLink() {
    const address = await addressOf(id, editor.text());
    try {
      await navigator.clipboard.writeText(address);
      say(status, "The link is copied. It shows your program; it does not run it.");
    } catch {
      history.replaceState(null, "", address);
      say(status, "The address bar has the link. It shows your program; it does not run it.");
    }
  }

  function edited() {
    fields?.follow();
    store(id, editor.text() === program ? null : editor.text());
  }

  async function open(text) {
    if (!editor) {
      const first = text ?? stored(id) ?? program;
      try {
        const answers = {
          onChange: edited,
          onRun: run,
          onLeave: () => (runButton.disabled ? stopButton : runButton).focus(),
        };
        editor = await editorIn(place, first, `The program of ${id}`, answers);
      } catch (error) {
        return tell(error.message, null);
      }
      fields = parameterFields(editor);
      place.before(fields.row);
    } else if (text !== undefined) editor.write(text);
    if (text !== undefined) say(status, "This program came with the address of the page. Read it before you run it.");
    return editor.focus();
  }

  return { node, open };
}
