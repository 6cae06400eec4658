// The search: places of words in the book, with the text around them and a link to the section.
//
// The texts come as a script, because a page opened as a file may not fetch another one.
const AROUND = 110,
  MOST = 60;

// Words that are on every page, so they find no place. "all" and "one" are no such
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
function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  return [...new Set(words.filter((word) => !EVERYWHERE.has(word)).map(stem))];
}

// A pattern for words that begin with one of `words`; a single letter is a whole word.
function anyOf(words) {
  const starts = words.map((word) => (word.length > 1 ? `${word}[\\p{L}\\p{N}]*` : `${word}(?![\\p{L}\\p{N}])`));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${starts.join("|")})`, "giu");
}

// Every section that has most of `words`, the best first.
function find(words) {
  const patterns = words.map((word) => anyOf([word]));
  const phrase = words.join(" ");
  const places = [];
  for (const [url, page, sections] of globalThis.BOOK_TEXTS) {
    for (const [anchor, title, text] of sections) {
      let had = 0,
        points = 0;
      for (const pattern of patterns) {
        const inTitle = (title.match(pattern) || []).length,
          inText = (text.match(pattern) || []).length;
        if (inTitle + inText) had += 1;
        points += Math.min(inTitle, 1) * 10 + Math.min(inText, 5);
      }
      if (!had) continue;
      if (wordsOf(title).join(" ") === phrase) points += 40;
      if (text.toLowerCase().includes(phrase)) points += 8;
      places.push({ url, page, anchor, title, text, had, points });
    }
  }
  const most = Math.max(0, ...places.map((place) => place.had));
  return places.filter((place) => place.had === most).sort((a, b) => b.points - a.points);
}

// Where the text has most of the words together.
function bestOf(matches, words) {
  let best = 0,
    many = 0;
  for (const match of matches) {
    const near = matches.filter((m) => m.index >= match.index && m.index < match.index + AROUND);
    const different = new Set(near.map((m) => words.find((word) => m[0].toLowerCase().startsWith(word)))).size;
    if (different > many) [best, many] = [match.index, different];
  }
  return best;
}

// The text around a place, with the words marked.
function snippet(text, matches, best) {
  const shown = document.createElement("p");
  const from = best < AROUND ? 0 : text.indexOf(" ", best - AROUND) + 1,
    cut = text.indexOf(" ", best + AROUND * 1.5),
    to = cut < 0 ? text.length : cut;
  let at = from;
  if (from) shown.append("… ");
  for (const match of matches.filter((m) => m.index >= from && m.index < to)) {
    const mark = document.createElement("mark");
    mark.textContent = match[0];
    shown.append(text.slice(at, match.index), mark);
    at = match.index + match[0].length;
  }
  shown.append(text.slice(at, to), to < text.length ? " …" : "");
  return shown;
}

// The end of an address that lets the browser go to some words of the text, and mark them. Fewer than four words in a
// row could stand earlier on the page, so they are left to the address of the section.
function directive(text, matches, best) {
  if (matches.length === 0) return "";
  const [before] = text.slice(0, best).match(/(?:[\p{L}\p{N}]+ ){0,3}$/u),
    [after] = text.slice(best).match(/^[\p{L}\p{N}]+(?: [\p{L}\p{N}]+){0,4}/u),
    phrase = before + after;
  return phrase.split(" ").length < 4 ? "" : `:~:text=${encodeURIComponent(phrase)}`;
}

function result(place, words) {
  const item = document.createElement("li"),
    link = document.createElement("a"),
    where = document.createElement("span"),
    matches = [...place.text.matchAll(anyOf(words))],
    best = bestOf(matches, words);
  link.href = `${place.url}#${place.anchor}${directive(place.text, matches, best)}`;
  link.textContent = place.title;
  item.append(link);
  if (place.title !== place.page) {
    where.textContent = place.page;
    item.append(where);
  }
  if (place.text) item.append(snippet(place.text, matches, best));
  return item;
}

function startSearch() {
  const field = document.querySelector("article form.bd-search input, main form.bd-search input"),
    results = document.getElementById("search-results"),
    status = document.createElement("p"),
    list = document.createElement("ol");
  status.setAttribute("role", "status");
  results.append(status, list);

  function search() {
    const words = wordsOf(field.value);
    const places = words.length ? find(words) : [];
    list.replaceChildren(...places.slice(0, MOST).map((place) => result(place, words)));
    status.textContent = "";
    if (words.length && !places.length) status.textContent = "The book has none of these words.";
    if (!words.length && /\p{L}/u.test(field.value))
      status.textContent = "Every page has these words. Please add another.";
    if (places.length) {
      const all = places[0].had === words.length ? "" : ` have ${places[0].had} of the ${words.length} words`;
      const first = places.length > MOST ? `; these are the first ${MOST}` : "";
      status.textContent = `${places.length} ${places.length === 1 ? "place" : "places"}${all}${first}.`;
    }
  }

  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", search);
  search();
}

startSearch();
