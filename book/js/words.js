// The words of a search, for the search page and for the pages to which it leads.

// Words that are on every page, so they neither find a place nor are they marked. "all" and "one" are no such
// words here: the book has all-pairs searches.
const EVERYWHERE = new Set(
  (
    "a an and are as at be been but by can do does for from had has have how if in into is it its of on or so such " +
    "than that the their them then there these they this to was were what when where which who why will with you your"
  ).split(" "),
);

// A word without the ending of a plural or, if at least four letters are left, of another form of its verb.
function stem(word) {
  if (word.length > 3) word = word.replace(/(?<!s)s$/, "");
  return word.replace(/(?<=.{4})(?:ed|ing)$/, "");
}

// The words of a query in lower case that tell places apart, without their endings.
export function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  return [...new Set(words.filter((word) => !EVERYWHERE.has(word)).map(stem))];
}

// A pattern for words that begin with one of `words`; a single letter is a whole word.
export function anyOf(words) {
  const starts = words.map((word) => (word.length > 1 ? `${word}[\\p{L}\\p{N}]*` : `${word}(?![\\p{L}\\p{N}])`));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${starts.join("|")})`, "giu");
}
