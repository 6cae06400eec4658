// A run that a reader may change into others that are recorded as well: the root of a search, the sizes of items.
//
// `record.variants` is { fields: [{ label, entries }], first: [the place in each] }. There is a recording of every
// combination, in the order in which the last field changes fastest; `variantSteps` of a trace says how long each is.
import { slugOf, wordAt } from "./words.js";

export function variantAt(fields, places) {
  return places.reduce((k, place, i) => k * fields[i].entries.length + place, 0);
}

function placesOf(fields, variant) {
  const places = [];
  for (let i = fields.length - 1, rest = variant; i >= 0; i--) {
    const many = fields[i].entries.length;
    places[i] = rest % many;
    rest = (rest - places[i]) / many;
  }
  return places;
}

// The fewest steps of the recordings of a trace that match a state; fields not in it match any.
export function leastSteps(record, trace, wanted) {
  if (!trace.variantSteps) return trace.steps;
  const { fields } = record.variants;
  const wantedPlaces = fields.map(({ label, entries }) => wordAt(entries, wanted.get(slugOf(label)) || ""));
  const meant = (_, variant) =>
    placesOf(fields, variant).every((place, i) => wantedPlaces[i] < 0 || wantedPlaces[i] === place);
  return Math.min(...trace.variantSteps.filter(meant));
}
