// How the frames of a figure are counted, so that it says the numbers that its text says.
//
// A frame is one of so many: of 26 steps the first is step 1 and the last step 26. Or it is how things are after so many:
// 0 before the first, and all of them in the end. Or it is one of things that have numbers of their own from 0 up, as the
// levels of a search have: then the last of six is level 5. Only what a reader sees is counted so: addresses, records and
// Python tell frames by their places, from 0.
import { count } from "./element.js";

function counting(noun, first, of, many) {
  const number = (frame) => first + frame;
  return { noun, number, name: (frame) => `${noun} ${number(frame)}`, of, many };
}

// Each frame is one step, the first of them by number `first`. `of(n)` goes with the name of one of n frames, and
// `many(n)` says what they are together.
export function countEach(noun, first = 1) {
  const last = (frames) => first + frames - 1;
  return counting(
    noun,
    first,
    (frames) => (first === 1 ? `of ${last(frames)}` : `of ${first} to ${last(frames)}`),
    (frames) => count(frames, noun),
  );
}

export function countAfter(noun) {
  return counting(
    noun,
    0,
    (frames) => `of ${frames - 1}`,
    (frames) => count(frames - 1, noun),
  );
}

export function countNames(noun, nouns) {
  return counting(
    noun,
    0,
    (frames) => `of 0 to ${frames - 1}`,
    (frames) => count(frames, noun, nouns),
  );
}
