"""Every page in a real browser, from a folder, offline, at both widths and in both themes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import yaml
from accessibility import violations
from built_book import ROOT
from effort import EFFORT, SOAK
from playwright.sync_api import TimeoutError

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
PAGES = [f"{name}.html" for name in PAGES]
WIDTHS = (390, 1280)
THEMES = ("dark", "light")
#: The widths and themes in which a page is opened: both widths and both themes, and on a phone half
#: of the pages in each theme, because a page takes seconds. `make soak` tries all combinations.
LOOKS: dict[str, list[tuple[int, str]]] = {
    name: [(width, THEMES[(k + w) % 2]) for w, width in enumerate(WIDTHS)]
    for k, name in enumerate(PAGES)
}
if EFFORT == SOAK:
    LOOKS = {name: list(product(WIDTHS, THEMES)) for name in PAGES}
#: The rules that axe runs: all in the first look, and those about colors in the next looks.
RULES = ({}, {"structure": False}) if EFFORT != SOAK else ({},) * 4
#: The looks in which axe runs and figures are played to see what scrolls. For every change it is
#: one of a page's looks in turn, so that both widths and both themes appear; otherwise all of them.
CLOSELY = {
    name: looks if EFFORT == SOAK else [looks[k // 2 % 2]]
    for k, (name, looks) in enumerate(LOOKS.items())
}


#: The layout of a page: its height, its words of prose, its figures, pictures and listings.
LAYOUT = """() => {
  const article = document.querySelector("article");
  const place = (e) => [Math.round(e.getBoundingClientRect().top + scrollY),
    Math.round(e.getBoundingClientRect().height)];
  const seen = (selector) => [...article.querySelectorAll(selector)].filter(
    (e) => e.checkVisibility() && e.getBoundingClientRect().height > 40);
  const words = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(
      "pre, figure, details, math, table.gk-table, .cell_output, .gk-exercise, .gk-progress")
      ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  let prose = 0;
  while (words.nextNode()) prose += (words.currentNode.nodeValue.match(/\\S+/g) || []).length;
  const exercises = article.querySelector("section[id=exercises]");
  return {
    height: document.documentElement.scrollHeight,
    prose,
    plays: seen("figure.gk-view").filter((e) => e.querySelector("button")).map(place),
    pictures: seen("figure:not(.gk-listing), .cell_output img, .cell_output svg").map(place),
    code: seen("pre").map(place),
    exercises: exercises ? place(exercises)[0] : null,
  };
}"""

#: Listings with lines that end outside of their boxes, also in closed drawers.
CUT_OFF = """() => {
  const closed = [...document.querySelectorAll("article details:not([open])")];
  closed.forEach((drawer) => { drawer.open = true; });
  const found = [...document.querySelectorAll("article pre")].filter(
    (e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent.slice(0, 200));
  closed.forEach((drawer) => { drawer.open = false; });
  return found;
}"""


#: Elements that scroll in a figure with closed drawers: in each run, for each of its parts, and at
#: the first, middle and last step. A program may be longer than any window, because it scrolls by
#: itself to the line of each step. The rest of the page is hidden meanwhile, because the browser
#: would lay it out at each change.
SCROLLED_INSIDE = """() => [...document.querySelectorAll("article figure.gk-view")].flatMap(
(figure) => {
  const BOXES = "*:not(svg, svg *, option, details:not([open]) *)";
  const change = (node, value, name) => {
    node.value = value;
    node.dispatchEvent(new Event(name));
  };
  const select = figure.querySelector(".gk-controls > .gk-field:not(.gk-speeds) select");
  const range = figure.querySelector(".gk-scrub input");
  const program = figure.querySelector(".gk-program");
  const found = new Set(), rest = [];
  for (let e = figure; e.localName !== "article"; e = e.parentElement)
    rest.push(...[...e.parentElement.children].filter((other) => other !== e));
  const were = rest.map((e) => e.style.display);
  rest.forEach((e) => { e.style.display = "none"; });
  const look = (run, step, turn) => [figure, ...figure.querySelectorAll(BOXES)].forEach((box) => {
    if (program && program.getClientRects().length && box.contains(program)) return;
    if (box.scrollHeight <= box.clientHeight + 1) return;  // of most, and soon told
    if (["auto", "scroll"].includes(getComputedStyle(box).overflowY))
      found.add([figure.id, run, step, turn, box.className,
        box.scrollHeight, box.clientHeight].join(" "));
  });
  for (const run of select ? [...select.options].map((o) => o.value) : [""]) {
    if (select) change(select, run, "change");
    const last = range && range.isConnected ? Number(range.max) : 0;
    for (const step of new Set([0, Math.floor(last / 2), last])) {
      if (last) change(range, step, "input");
      const turns = [...figure.querySelectorAll(".gk-turns:not([hidden]) button")];
      if (!turns.length) look(run, step, "");
      for (const turn of turns.reverse()) {
        turn.click();
        look(run, step, turn.textContent);
      }
    }
  }
  rest.forEach((e, i) => { e.style.display = were[i]; });
  return [...found];
})"""


#: Words smaller than 9 pixels on the page, also in closed drawers. (The title of a card that is a
#: link is for screen readers.)
SMALL = """() => {
  const closed = [...document.querySelectorAll("article details:not([open])")];
  closed.forEach((drawer) => { drawer.open = true; });
  const words = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (words.nextNode()) {
    const e = words.currentNode.parentElement, text = words.currentNode.nodeValue.trim();
    if (!text || !e.checkVisibility() || e.closest("script, style, .sd-stretched-link")) continue;
    const scale = e.getScreenCTM ? Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b) : 1;
    const size = parseFloat(getComputedStyle(e).fontSize) * scale;
    if (size < 9) found.push(`${size.toFixed(1)}: ${text}`);
  }
  closed.forEach((drawer) => { drawer.open = false; });
  return found;
}"""

#: Elements that scroll sideways without a shade at the side, or without a name.
UNMARKED = """() => {
  const closed = [...document.querySelectorAll("article details:not([open])")];
  closed.forEach((drawer) => { drawer.open = true; });
  const found = [...document.querySelectorAll("article *")].filter((e) => {
    const style = getComputedStyle(e);
    if (!["auto", "scroll"].includes(style.overflowX) || e.scrollWidth <= e.clientWidth + 1)
      return false;
    const named = e.matches("pre, .math") || e.getAttribute("role") === "region" && e.ariaLabel;
    return !named || !style.backgroundAttachment.includes("local");
  }).map((e) => e.outerHTML.slice(0, 200));
  closed.forEach((drawer) => { drawer.open = false; });
  return found;
}"""


@dataclass
class Visit:
    """The findings on one page: its problems, and the rest by width and theme."""

    problems: list[str]
    theme: dict[tuple[int, str], str]
    overflow: dict[tuple[int, str], int]
    violations: dict[tuple[int, str], list[tuple[str, str]]]
    layout: dict[str, Any]
    cut_off: list[str]
    inside: list[str]
    small: list[str]
    unmarked: list[str]


#: Brings a page to rest: all transitions of a new theme end at once. (Those of hidden elements
#: would never end by themselves.)
SETTLED = """async () => {
  for (;;) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const fading = document.getAnimations().filter((a) => a instanceof CSSTransition);
    if (!fading.length) return;
    fading.forEach((a) => a.finish());
  }
}"""


#: Whether the page's script has noticed the new width, which happens a while after the last change:
#: then the keyboard can reach all elements that scroll.
SEEN = """() => [...document.querySelectorAll(["pre", ".nboutput > .output_area",
    ".cell_output > .output", ".jp-RenderedHTMLCommon", ".pst-scrollable-table-container"])].every(
        (e) => (e.tabIndex === 0) ===
            (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))"""


def look(page, width, theme):
    """Make the window of `page` so wide, and click its button until it has the theme."""
    page.set_viewport_size({"width": width, "height": 900 if width > 600 else 844})
    for _ in THEMES:  # the button also goes through the system's theme
        if page.evaluate("document.documentElement.dataset.theme") != theme:
            page.evaluate("document.querySelector('.theme-switch-button').click()")
    page.evaluate(SETTLED)


@pytest.fixture(scope="module")
def visit(open_session_page, book):
    """Open each page once, on a phone, and keep what the tests ask about.

    A window for each theme to begin with shows one page after the other: one for each page would
    start a process for each. A page begins with the theme of its window, whatever the last one did.
    """
    seen, compared, windows = {}, {}, {}

    def visited(name: str) -> Visit:
        if name in seen:
            return seen[name]
        (width, theme), *_ = looks = LOOKS[name]
        if theme in windows:
            page, problems = windows[theme]
            problems.clear()
            page.set_viewport_size({"width": width, "height": 844})
            page.goto((book / name).as_uri(), wait_until="load")
        else:
            page, problems = windows[theme] = open_session_page(name, width=width, theme=theme)
        record = seen[name] = Visit([], {}, {}, {}, {}, [], [], [], [])
        for asked in looks:
            if asked != looks[0]:
                look(page, *asked)
            record.theme[asked] = page.evaluate("document.documentElement.dataset.theme")
            record.overflow[asked] = page.evaluate(
                "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
            )
            if asked in CLOSELY[name]:
                record.inside += page.evaluate(SCROLLED_INSIDE)
            if asked[0] == 1280:
                record.layout = page.evaluate(LAYOUT)
                record.cut_off = page.evaluate(CUT_OFF)
            else:
                record.small = page.evaluate(SMALL)
                record.unmarked = page.evaluate(UNMARKED)
        # Last, because axe leaves fewer tokens on the page; the scroll position is restored.
        closely = CLOSELY[name]
        for asked, rules in zip(reversed(closely), RULES, strict=EFFORT == SOAK):
            if asked != looks[-1]:
                look(page, *asked)
            with contextlib.suppress(TimeoutError):  # axe will report it
                page.wait_for_function(SEEN, timeout=2000)
            record.violations[asked] = violations(page, looks=compared, **rules)
        record.problems += problems
        return record

    yield visited
    for page, _ in windows.values():
        page.context.close()


@pytest.fixture(params=PAGES)
def name(request) -> str:
    """A page of the contents."""
    return request.param


def test_a_page_works_offline_fits_any_window_and_passes_axe_in_either_theme(visit, name):
    record = visit(name)
    assert record.problems == []
    assert {theme for _, theme in record.theme} == set(THEMES)
    assert record.theme == {look: look[1] for look in LOOKS[name]}
    assert {look: over for look, over in record.overflow.items() if over > 0} == {}
    assert record.violations == {look: [] for look in CLOSELY[name]}
    # No listing is wider than its box; on a phone no word is smaller than nine pixels, and what
    # scrolls sideways says so.
    assert (record.cut_off, record.small, record.unmarked) == ([], [], [])


CHAPTERS = [name for name in PAGES if name.startswith("chapters/")]
SCREEN = 900


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_read_in_twenty_minutes_from_picture_to_picture(visit, name):
    layout = visit(name).layout
    assert layout["prose"] <= 4000
    assert layout["exercises"] <= 20 * SCREEN
    # Its first screen plays and shows no code, and no figure is taller than a screen.
    first, height = layout["plays"][0]
    assert first + height / 2 < SCREEN
    assert not [top for top, _ in layout["code"] if top < first]
    assert [height for _, height in layout["plays"] if height > SCREEN] == []
    below = 0
    for top, height in sorted(layout["pictures"]):
        if top < layout["exercises"]:
            assert top - below <= 2 * SCREEN, f"no picture from {below} to {top}"
            below = max(below, top + height)
    # No figure has parts to scroll.
    assert visit(name).inside == []


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_remembers_the_reader_s_theme_against_the_system_s(open_page, theme):
    other = next(t for t in THEMES if t != theme)
    page, problems = open_page("book/preface.html", theme=theme, color_scheme=other)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert problems == []


@pytest.mark.parametrize("scripts", [True, False])
def test_formulas_are_drawn_with_the_book_s_own_font_whatever_runs(open_page, scripts):
    page, problems = open_page("book/notation.html", scripts=scripts)
    assert problems == [] or not scripts
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    asked = {"nodeId": root, "selector": "math :is(mi, mn)"}
    signs = session.send("DOM.querySelectorAll", asked)["nodeIds"]
    assert len(signs) > 20
    for sign in signs:
        (font,) = session.send("CSS.getPlatformFontsForNode", {"nodeId": sign})["fonts"]
        assert (font["familyName"], font["isCustomFont"]) == ("STIX Two Math", True)


def test_the_front_page_redirects_to_the_book(open_page):
    page, problems = open_page("index.html")
    page.wait_for_url("**/book/index.html")
    assert problems == []


def test_a_page_reads_without_scripts(open_page):
    page, problems = open_page("book/preface.html", scripts=False)
    assert page.locator("article h1").inner_text().startswith("Preface")
    assert page.locator("article").bounding_box()["width"] > 300
    assert [problem for problem in problems if not problem.startswith("failed: file:")] == []
