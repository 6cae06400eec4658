// The search: places of words in the book, with the text around them and a link to the section.
//
// The texts come as a script, because a page opened as a file may not fetch another one.
import { anyOf, wordsOf } from "./words.js";

const AROUND = 110,
  MOST = 60;

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

// The text around the place with most of the words, with the words marked.
function snippet(text, words) {
  const matches = [...text.matchAll(anyOf(words))];
  const shown = document.createElement("p");
  let best = 0,
    many = 0;
  for (const match of matches) {
    const near = matches.filter((m) => m.index >= match.index && m.index < match.index + AROUND);
    const different = new Set(near.map((m) => words.find((word) => m[0].toLowerCase().startsWith(word)))).size;
    if (different > many) [best, many] = [match.index, different];
  }
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

function result(place, words) {
  const item = document.createElement("li"),
    link = document.createElement("a"),
    where = document.createElement("span");
  link.href = `${place.url}?found=${encodeURIComponent(words.join(" "))}${place.anchor && `#${place.anchor}`}`;
  link.textContent = place.title;
  item.append(link);
  if (place.title !== place.page) {
    where.textContent = place.page;
    item.append(where);
  }
  if (place.text) item.append(snippet(place.text, words));
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
