// The address of a figure's state: #fig-frontier?run=fine&step=8.
//
// A state is a list of [name, word]: `run` is the trace, `step` the step, `show` is set if the figure fills the window.
// Every other list has its label as name.
import { leastSteps } from "./variants.js";
import { SHOWS } from "./wide.js";
import { wordAt } from "./words.js";

function asWritten(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Of "#fig-frontier?run=fine", { id, state }; of anything else, null.
export function readAddress(text) {
  const match = /^#(fig-[a-z0-9-]+)(?:\?(.*))?$/.exec(text);
  if (!match) return null;
  const parts = (match[2] || "").split("&").filter(Boolean);
  return {
    id: match[1],
    state: parts.map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [asWritten(part), ""] : [asWritten(part.slice(0, at)), asWritten(part.slice(at + 1))];
    }),
  };
}

export function writeAddress(id, state) {
  const parts = state.map(([name, word]) => `${name}=${encodeURIComponent(word)}`);
  return `#${id}${parts.length ? "?" : ""}${parts.join("&")}`;
}

// The address that has taken the place of `text`. Each of `moves` is an old address and a new one. If `text` has the
// figure and the state of the old one, it gets those of the new one; the rest of its state stays.
export function movedTo(text, moves) {
  for (const [old, now] of moves) {
    const address = readAddress(text),
      from = readAddress(old),
      to = readAddress(now);
    if (!address || address.id !== from.id) continue;
    const state = new Map(address.state);
    if (!from.state.every(([name, word]) => state.get(name) === word)) continue;
    for (const [name] of from.state) state.delete(name);
    for (const [name, word] of to.state) state.set(name, word);
    text = writeAddress(to.id, [...state]);
  }
  return text;
}

// Why a figure cannot show a state, or "". `fieldsIn(k)` returns the lists that stand beside trace k; without it, they
// are not looked at.
export function problemOf(record, state, fieldsIn) {
  const wanted = new Map(state),
    labels = record.traces.map((trace) => trace.label);
  if (wanted.size < state.length) return "something is said twice";
  let runs = labels.map((_, k) => k);
  if (wanted.has("run")) {
    const at = labels.length > 1 ? wordAt(labels, wanted.get("run")) : -1;
    if (labels.length < 2) return "it has one run alone, which is not named";
    if (at < 0) return `it has no run "${wanted.get("run")}", but ${labels.join("; ")}`;
    runs = [at];
  }
  for (const [name, word] of state) {
    if (name === "step") {
      const steps = Math.min(...runs.map((k) => leastSteps(record, record.traces[k], wanted)));
      if (!/^\d+$/.test(word) || Number(word) >= steps) return `it has no step "${word}", but 0 to ${steps - 1}`;
    } else if (name === "show") {
      if (!SHOWS.includes(word)) return `"show" is never "${word}", but ${SHOWS.join("; ")}`;
    } else if (name !== "run" && fieldsIn) {
      for (const k of runs) {
        const fields = fieldsIn(k),
          field = fields.find((one) => one.name === name);
        const names = ["run", ...fields.map((one) => one.name), "step"];
        if (!field) return `it has no "${name}", but ${names.join(", ")}`;
        if (wordAt(field.entries, word) < 0) return `"${name}" is never "${word}", but ${field.entries.join("; ")}`;
      }
    }
  }
  return "";
}
