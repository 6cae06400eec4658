// The exercises that the reader has tried and solved. The browser stores them and sends them nowhere. If it refuses to
// store anything, they last as long as the page.
const PLACE = "gk-exercises";
// The last try of each exercise, in the form of `ex.record()` in a notebook.
const RECORDS = "gk-exercise-records";
const STATES = new Set(["tried", "solved"]);
const listeners = [];
let held = null;
let records = null;
let version = null;

function stored(place, isKnown) {
  try {
    const states = JSON.parse(localStorage.getItem(place));
    return Object.fromEntries(Object.entries(states || {}).filter(([, value]) => isKnown(value)));
  } catch {
    return {};
  }
}

const storedStates = () => stored(PLACE, (state) => STATES.has(state));
const storedRecords = () => stored(RECORDS, (record) => Number.isInteger(record?.tries));

function kept() {
  held ||= storedStates();
  return held;
}

function keptRecords() {
  records ||= storedRecords();
  return records;
}

// Takes over what another tab has stored.
function meet() {
  held = { ...kept(), ...storedStates() };
  records = { ...keptRecords(), ...storedRecords() };
}

function changed() {
  for (const listener of listeners) listener();
}

function storeAt(place, value) {
  if (Object.keys(value).length > 0) localStorage.setItem(place, JSON.stringify(value));
  else localStorage.removeItem(place);
}

function store() {
  try {
    // Other tabs look at both when the second one changes.
    storeAt(RECORDS, records);
    storeAt(PLACE, held);
  } catch {
    // The browser stores nothing, or its storage is full.
  }
  changed();
}

// "tried", "solved" or nothing.
export function stateOf(id) {
  return Object.hasOwn(kept(), id) ? kept()[id] : "";
}

// A solved exercise stays solved. `answer` is the text of a judged try. A kernel that the reader marks as solved has no
// answer, and its verdict is "declared".
export function note(id, state, answer, verdict = state === "solved" ? "solved" : "not yet") {
  meet();
  if (held[id] !== "solved") held[id] = state;
  if (answer !== undefined) {
    records[id] = {
      task: id,
      variant: null,
      verdict,
      seed: null,
      tries: (records[id]?.tries || 0) + (answer === null ? 0 : 1),
      answer,
      version,
      time: `${new Date().toISOString().slice(0, 19)}+00:00`,
    };
  }
  store();
}

// The records of those exercises that have one.
export function recordsOf(ids) {
  return ids.filter((id) => Object.hasOwn(keptRecords(), id)).map((id) => keptRecords()[id]);
}

export function forget(id) {
  meet();
  delete held[id];
  delete records[id];
  store();
}

export function forgetAll() {
  held = {};
  records = {};
  store();
}

// Sets the version of the book for later records.
export function recordVersion(number) {
  version = number;
}

// Calls `listener` now and after each change, in another tab as well.
export function whenever(listener) {
  listeners.push(listener);
  listener();
}

export function followOtherTabs() {
  addEventListener("storage", (event) => {
    if (event.key !== PLACE && event.key !== null) return;
    held = records = null;
    changed();
  });
}
