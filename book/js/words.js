// What is looked for, as the search and the pages that it leads to read it.

// The words of a question, in small letters; a plural's "s" is not asked for.
export function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  return [...new Set(words.map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word)))];
}

// A pattern for words that begin with one of `words`.
export function anyOf(words) {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*`, "giu");
}
