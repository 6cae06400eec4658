"""axe-core on an open page, for a few of the elements that look alike."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
#: The rules that depend on colors.
OF_COLOR = ("color-contrast", "link-in-text-block")
#: The number of equal-looking elements that are compared with their background.
ALIKE = 3

# Comparing colors takes most of axe's time: milliseconds for each of thousands of tokens. Contrast
# depends on the styles of an element and of its ancestors, so three elements of each kind are
# enough. Elements without words of their own are left out, and so are single letters, which axe
# never decides. The marks are set again each time, because a theme or a width changes looks.
# Two thirds of a chapter's elements are tokens of its listings. Tokens that are not compared become
# part of the text around them, because axe takes time for every element. Three tokens with the same
# classes on all their ancestors stay, because a later theme may need them.
# Pages share their styles. A caller that keeps the looks (54 bits of a hash) from page to page
# compares each look only once.
MARK = """([kept, looks]) => {
  const all = [...document.body.querySelectorAll("*")], compared = new Set();
  const digest = (text) => {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let i = 0; i < text.length; i += 1) {
      a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
      b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (a >>> 5).toString(36) + "." + (b >>> 5).toString(36);
  };
  const keyed = (name) => {
    const known = new Map();
    const key = (e) => {
      if (!e) return "";
      if (!known.has(e)) known.set(e, digest(key(e.parentElement) + name(e)));
      return known.get(e);
    };
    return key;
  };
  const few = (elements, key, count = {}) =>
    elements.filter((e) => (count[key(e)] = (count[key(e)] || 0) + 1) <= kept);
  const words = (e) => [...e.childNodes].map((n) => (n.nodeType === Node.TEXT_NODE ? n.nodeValue
    : " ")).join("").trim().length > 1;
  if (kept) {
    const written = all.filter((e) => words(e) && e.checkVisibility());
    const look = keyed((e) => {
      const s = getComputedStyle(e);
      return ["", s.color, s.backgroundColor, s.backgroundImage, s.opacity, s.fontSize,
        s.fontWeight, s.textShadow, s.mixBlendMode, s.filter].join("|");
    });
    const asked = new Set(few(written, look, looks));
    for (const e of all) {
      // What a control shows is not among its nodes.
      if (asked.has(e) || e.matches("input, select, textarea")) e.removeAttribute("data-alike");
      else e.setAttribute("data-alike", "");
    }
    const tokens = written.filter((e) => e.matches("pre span"));
    for (const e of few(tokens, keyed((e) => `|${e.localName}|${e.getAttribute("class")}`))) {
      compared.add(e);
    }
    asked.forEach((e) => compared.add(e));
  }
  for (const e of document.querySelectorAll("pre span")) {
    const said = e.getAttributeNames().some((name) => !["class", "data-alike"].includes(name));
    if (!compared.has(e) && !said && !e.children.length) e.replaceWith(e.textContent);
  }
  axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-alike])" }] });
  return looks;
}"""


def violations(
    page: Page,
    *,
    tags: tuple[str, ...] = TAGS,
    color: bool = True,
    structure: bool = True,
    looks: dict[str, int] | None = None,
) -> list[tuple[str, str]]:
    """Run axe's rules of `tags`; return the rule and the message for every faulty element.

    Parameters
    ----------
    color, structure
        Whether to run the rules about colors, and all the others.
    looks : dict of str to int, optional
        How many elements of each look were compared on earlier pages; brought up to date.
    """
    assert color or structure
    options = {
        # Preloading would fetch the style sheets again, which a page opened as a file may not
        # do.
        "preload": False,
        "resultTypes": ["violations"],
        "runOnly": {"type": "tag", "values": tags}
        if structure
        else {"type": "rule", "values": OF_COLOR},
    }
    if structure:
        options["rules"] = {rule: {"enabled": color} for rule in OF_COLOR}
    page.evaluate(AXE_SCRIPT)
    seen = page.evaluate(MARK, [ALIKE if color else 0, looks or {}])
    if looks is not None:
        looks.update(seen)
    results = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [
        (rule["id"], f"{node['html'][:200]} ({node.get('failureSummary', '')[:300]})")
        for rule in results
        for node in rule["nodes"]
    ]
