// The list "On this page" follows the reader: it marks and shows the current section.
function startContents() {
  const list = document.querySelector("#pst-page-toc-nav");
  if (!list) return;
  // The theme looks for this name, and would mark the sections that a jump passes.
  list.id = "page-contents";
  const room = list.closest(".bd-sidebar-secondary");
  const entries = [...list.querySelectorAll("a[href^='#']")]
    .map((link) => ({ link, heading: document.getElementById(decodeURIComponent(link.hash.slice(1))) }))
    .filter((entry) => entry.heading);
  let current = null;

  function mark() {
    const rest = document.documentElement.scrollHeight - innerHeight - scrollY;
    // The last sections never reach the top, so on the last screen the line of reading moves down.
    const line = Math.max(Math.min(160, innerHeight / 3), innerHeight - rest);
    let link = null;
    for (const entry of entries) {
      if (entry.heading.getBoundingClientRect().top <= line) link = entry.link;
    }
    if (link === current) return;
    current?.classList.remove("active");
    current?.removeAttribute("aria-current");
    current = link;
    if (!link) return;
    link.classList.add("active");
    link.setAttribute("aria-current", "location");
    const at = link.getBoundingClientRect(),
      box = room?.getBoundingClientRect();
    if (box && (at.top < box.top + 48 || at.bottom > box.bottom - 48)) {
      room.scrollTop += (at.top + at.bottom - box.top - box.bottom) / 2;
    }
  }

  let asked = false;
  const ask = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      mark();
    });
  };
  addEventListener("scroll", ask, { passive: true });
  addEventListener("resize", ask);
  addEventListener("load", ask);
  mark();
}

startContents();
