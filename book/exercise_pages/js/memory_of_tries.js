// Which exercises the reader has tried and solved. It is kept in this browser and sent nowhere; where a browser refuses
// to keep anything, it lasts as long as the page.
const PLACE = "gk-exercises";
const STATES = new Set(["tried", "solved"]);
const listeners = [];
let held = null;

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(PLACE));
    const known = Object.entries(found || {}).filter(([, state]) => STATES.has(state));
    return Object.fromEntries(known);
  } catch {
    return {};
  }
}

function kept() {
  held ||= stored();
  return held;
}

function changed() {
  for (const listener of listeners) listener();
}

function store() {
  try {
    if (Object.keys(held).length > 0) localStorage.setItem(PLACE, JSON.stringify(held));
    else localStorage.removeItem(PLACE);
  } catch {
    // A browser that keeps nothing, or is full.
  }
  changed();
}

// "tried", "solved" or nothing.
export function stateOf(id) {
  return Object.hasOwn(kept(), id) ? kept()[id] : "";
}

// What has been solved stays solved.
export function note(id, state) {
  held = { ...kept(), ...stored() };
  if (held[id] !== "solved") held[id] = state;
  store();
}

export function forget(id) {
  held = { ...kept(), ...stored() };
  delete held[id];
  store();
}

export function forgetAll() {
  held = {};
  store();
}

// Calls `listener` now and after each change, in another tab as well.
export function whenever(listener) {
  listeners.push(listener);
  listener();
}

export function followOtherTabs() {
  addEventListener("storage", (event) => {
    if (event.key !== PLACE && event.key !== null) return;
    held = null;
    changed();
  });
}
