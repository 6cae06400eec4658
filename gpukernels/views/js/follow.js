// Keeps the row that a step is about in view, where a figure scrolls inside: never the page itself.

// `head` is what stays in view at the top of `figure`, above what scrolls.
export function followRow(figure, head) {
  for (const row of figure.querySelectorAll(".gk-row-now, .gk-follow, .gk-hash-now")) followOne(figure, head, row);
}

function followOne(figure, head, row) {
  for (let e = row.parentElement; e && figure.contains(e); e = e.parentElement) {
    if (e.scrollHeight <= e.clientHeight + 1 || getComputedStyle(e).overflowY === "visible") continue;
    const box = e.getBoundingClientRect(),
      place = row.getBoundingClientRect();
    const top = e === figure ? Math.max(head.getBoundingClientRect().bottom, box.top) : box.top;
    // A line above and one below are seen, too.
    const margin = 1.2 * place.height;
    if (place.top >= top + margin && place.bottom <= box.bottom - margin) continue;
    // Boxes are told in pixels of the window, which may enlarge a figure.
    e.scrollTop += (place.top - (2 * top + box.bottom) / 3) * (e.offsetHeight / box.height);
  }
}
