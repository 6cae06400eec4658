// Judges a typed answer as the checker of a notebook does: the same numbers, the same words.
import { thousands } from "../../../gpukernels/views/js/element.js";

// Digits, also in groups of three with one separator, and then the other parts of a float.
const NUMBER = /^[+-]?(?:\d{1,3}([,'’\s])\d{3}(?:\1\d{3})*|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?$/i;

// Decodes the right answers. The code only hides them from a glance: the key is in the page, too.
export function unsealed(sealed, key) {
  const bytes = atob(sealed);
  let text = "";
  for (let i = 0; i < bytes.length; i += 1) {
    text += String.fromCharCode(bytes.charCodeAt(i) ^ key.charCodeAt(i % key.length));
  }
  return JSON.parse(text);
}

// The number in a text, or NaN.
export function numberIn(text) {
  const plain = text
    .trim()
    .replace(/^[-−–]\s*/, "-")
    .replace(/^\+\s*/, "+")
    .replace(/(\d)_(?=\d)/g, "$1");
  if (!NUMBER.test(plain) || !/\d/.test(plain.split(/e/i)[0])) return NaN;
  return Number(plain.replace(/[,'’\s]/g, ""));
}

// How many wrong guesses of one number get a *more* or *fewer*, as in a notebook.
const HINTS = 2;

// `hinted` are the wrong guesses of this number that got a *more* or *fewer*; a new one is added here.
export function verdictOn(text, answer, hinted) {
  const typed = text.trim();
  const guess = numberIn(typed);
  if (!typed) return { given: false, right: false, says: "no prediction yet" };
  if (Number.isNaN(guess)) return { given: false, right: false, says: `“${typed}” is not a number` };
  if (guess === answer) return { given: true, right: true, says: thousands(answer) };
  const number = Number.isInteger(guess) && Math.abs(guess) < 1e15 ? thousands(guess) : typed;
  if (!hinted.includes(guess)) {
    if (hinted.length === HINTS) {
      const says = `${number} is not the number that the machine counts; both hints for it have been given`;
      return { given: true, right: false, says };
    }
    hinted.push(guess);
  }
  const way = guess > answer ? "more" : "less";
  return { given: true, right: false, says: `${number} is ${way} than the machine counts` };
}

// The typed texts as a prediction that Python can read: a dict of the questions with an answer.
export function predictionText(keys, texts) {
  const items = texts.map((text, k) => {
    const guess = numberIn(text);
    return `'${keys[k]}': ${Number.isNaN(guess) ? JSON.stringify(text.trim().slice(0, 40)) : guess}`;
  });
  return `{${items.filter((_, k) => texts[k].trim()).join(", ")}}`;
}
