// The words of a search, for the search page and for the pages to which it leads.

// The words of a query in lower case, without the "s" of a plural.
export function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  return [...new Set(words.map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word)))];
}

// A pattern for words that begin with one of `words`.
export function anyOf(words) {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*`, "giu");
}
