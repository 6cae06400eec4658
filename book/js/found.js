// A reader who comes from the search (page.html?found=words#section) sees the words marked, and the first one in view.
//
// The marks do not change the page: figures and listings stay as they are. Escape removes the marks.
import { anyOf, wordsOf } from "./words.js";

function startFound() {
  const asked = new URLSearchParams(location.search).get("found");
  const words = wordsOf(asked || "");
  if (!words.length || !CSS.highlights) return;
  const article = document.querySelector("article.bd-article"),
    from = document.getElementById(decodeURIComponent(location.hash.slice(1))) || article;
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("script, style, svg, template, details:not([open])")
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  const ranges = [];
  let first = null;
  while (texts.nextNode()) {
    const node = texts.currentNode;
    for (const match of node.nodeValue.matchAll(anyOf(words))) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      ranges.push(range);
      const after = from.contains(node) || from.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (!first && after) first = node.parentElement;
    }
  }
  if (!ranges.length) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") CSS.highlights.delete("found");
  });
  // After the browser itself has gone to the section.
  const come = () =>
    requestAnimationFrame(() => {
      const low = first && first.getBoundingClientRect().bottom > innerHeight - 40;
      if (low) first.scrollIntoView({ block: "center", behavior: "instant" });
    });
  if (document.readyState === "complete") come();
  else addEventListener("load", come);
}

startFound();
