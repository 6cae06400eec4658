// A card near a word with a term's definition or a citation's reference. It opens under the pointer, at the keyboard's
// focus, or at a first tap (a second tap follows the link). Escape closes it.
//
// The page contains the texts. Without scripts, a browser shows the plain text of the link's title.
const nameOf = (link) => decodeURIComponent(link.hash.slice(1));

function startCards() {
  const texts = document.querySelector("template#cards"),
    article = document.querySelector("article.bd-article");
  if (!texts || !article) return;
  const byName = new Map([...texts.content.children].map((text) => [text.dataset.card, text]));
  const card = document.createElement("div");
  card.id = "word-card";
  card.setAttribute("role", "tooltip");
  card.hidden = true;
  article.append(card);

  let shown = null,
    waiting = 0,
    tapped = null;
  const linkAt = (event) => {
    const link = event.target.closest?.("a[href*='#']");
    return link && article.contains(link) && byName.has(nameOf(link)) ? link : null;
  };

  function hide() {
    clearTimeout(waiting);
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    shown.title = shown.dataset.title;
    shown = null;
    card.hidden = true;
  }

  function show(link) {
    clearTimeout(waiting);
    if (link === shown) return;
    hide();
    shown = link;
    // Otherwise the browser would show it a second time.
    link.dataset.title = link.title;
    link.removeAttribute("title");
    link.setAttribute("aria-describedby", card.id);
    card.replaceChildren(...byName.get(nameOf(link)).cloneNode(true).childNodes);
    card.hidden = false;
    place(link);
  }

  // Below the word, or above it if there is more room; never over it.
  function place(link) {
    card.style.cssText = "left: 0; top: 0";
    const word = link.getBoundingClientRect(),
      lines = link.getClientRects(),
      origin = card.getBoundingClientRect(),
      edge = document.documentElement.clientWidth - origin.width - 8;
    const below = innerHeight - word.bottom >= Math.min(origin.height + 12, word.top - 60);
    const line = lines[below ? lines.length - 1 : 0];
    const x = Math.max(8, Math.min(line.left, edge)),
      y = below ? word.bottom + 6 : word.top - 6 - origin.height;
    card.style.cssText = `left: ${x - origin.left}px; top: ${y - origin.top}px`;
  }

  const soon = (act, delay) => {
    clearTimeout(waiting);
    waiting = setTimeout(act, delay);
  };
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkAt(event);
    // A pointer that only passes over a word opens no card. On its way to an open card, it does not close the card.
    if (link) soon(() => show(link), 120);
    else if (card.contains(event.target)) clearTimeout(waiting);
    else if (shown !== document.activeElement) soon(hide, 250);
  });
  article.addEventListener("focusin", (event) => {
    const link = linkAt(event);
    if (link && link.matches(":focus-visible")) show(link);
  });
  article.addEventListener("focusout", (event) => {
    if (event.target === shown) hide();
  });
  document.addEventListener("pointerdown", (event) => {
    const link = linkAt(event);
    tapped = event.pointerType === "touch" && link !== shown ? link : null;
    if (link !== shown && !card.contains(event.target)) hide();
  });
  article.addEventListener("click", (event) => {
    const link = linkAt(event);
    if (link && link === tapped) {
      event.preventDefault();
      show(link);
    }
    tapped = null;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("resize", hide);
}

startCards();
