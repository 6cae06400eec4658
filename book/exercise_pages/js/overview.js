// The reader's progress: at each exercise, in the list of its chapter, and for the whole book on the front page.
import { h, put, say } from "../../../gpukernels/views/js/element.js";
import { forgetAll, recordsOf, stateOf, whenever } from "./memory_of_tries.js";

const SIGNS = { solved: "✓ solved", tried: "… tried" };
const WHERE = "Kernels are judged in a notebook, the rest here. Kept in this browser, sent nowhere.";
const KEPT = "Kept in this browser alone; nothing is sent anywhere.";

function badge(id) {
  const node = h("span", { class: "gk-state" });
  whenever(() => {
    put(node, "data-state", stateOf(id) || "none");
    say(node, SIGNS[stateOf(id)] || "");
  });
  return node;
}

function solvedOf(ids) {
  return ids.filter((id) => stateOf(id) === "solved").length;
}

// The first exercise that is not solved, if there is one.
function nextOf(exercises) {
  return exercises.find((exercise) => stateOf(exercise.id) !== "solved");
}

// A button that saves the records of some exercises, if there are any.
function saveButton(ids) {
  const button = h("button", { type: "button" }, "Download as JSON");
  button.addEventListener("click", () => {
    const text = `${JSON.stringify(recordsOf(ids), null, 1)}\n`;
    const href = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
    h("a", { href, download: "exercises-on-pages.json" }).click();
  });
  whenever(() => {
    button.hidden = recordsOf(ids).length === 0;
  });
  return button;
}

export function markHeading(id, heading) {
  heading.insertBefore(badge(id), heading.querySelector(".headerlink"));
}

// `exercises` are [{ id, title, href }].
export function chapterList(exercises) {
  const count = h("b");
  const items = exercises.map(({ id, title, href }) => {
    const next = h("span", { class: "gk-next" });
    whenever(() => say(next, nextOf(exercises)?.id === id ? "next" : ""));
    return h("li", null, h("a", { href }, title), badge(id), next);
  });
  whenever(() => say(count, `${solvedOf(exercises.map(({ id }) => id))} of ${exercises.length} solved.`));
  const list = h("ol", null, ...items);
  return h(
    "nav",
    { class: "gk-progress", "aria-label": "Exercises of this chapter" },
    list,
    h("p", null, count, ` ${WHERE}`),
  );
}

// `chapters` are [{ title, page, exercises: [{ id, title }] }].
export function bookList(chapters) {
  const all = chapters.flatMap(({ page, exercises }) =>
    exercises.map(({ id, title }) => ({ id, title, href: `${page}#try-${id}` })),
  );
  const count = h("p", { class: "gk-ask", role: "status" });
  const next = h("p", { class: "gk-next-up" });
  const reset = h("button", { type: "button" }, "Forget all of it");
  reset.addEventListener("click", forgetAll);
  const rows = chapters.map(({ title, page, exercises }) => {
    const ids = exercises.map(({ id }) => id);
    const solved = h("span", { class: "gk-state" });
    whenever(() => {
      put(solved, "data-state", solvedOf(ids) === ids.length ? "solved" : "none");
      say(solved, `${solvedOf(ids)} of ${ids.length}`);
    });
    return h("li", null, h("a", { href: `${page}#exercises` }, title), solved);
  });
  whenever(() => {
    const tried = all.filter(({ id }) => stateOf(id) === "tried").length;
    say(count, `${solvedOf(all.map(({ id }) => id))} of ${all.length} exercises solved, ${tried} tried`);
    reset.hidden = !all.some(({ id }) => stateOf(id));
    const first = nextOf(all);
    next.replaceChildren(...(first ? ["Next: ", h("a", { href: first.href }, `${first.id}, ${first.title}`)] : []));
  });
  return h(
    "section",
    { class: "gk-progress", id: "your-progress", "aria-labelledby": "your-progress-title" },
    h("h2", { id: "your-progress-title" }, "Your progress"),
    count,
    next,
    h("details", null, h("summary", null, "Chapter by chapter"), h("ol", null, ...rows)),
    h("p", null, KEPT, " ", saveButton(all.map(({ id }) => id)), " ", reset),
  );
}
