"""Every page in a real browser, from a folder, offline, at both widths and in both themes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml
from accessibility import violations
from built_book import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
PAGES = [f"{name}.html" for name in PAGES]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
#: The width at which a page is opened in each theme. Then its window is made the other width.
OPENED = {"light": 1280, "dark": 390}
#: The rules that axe runs in a look. Structure does not depend on colors, nor these on the width.
RULES = {
    (1280, "light"): {},
    (1280, "dark"): {"structure": False},
    (390, "dark"): {"color": False},
}


@dataclass
class Visit:
    """What one page did in one theme: the problems, and by its width the rest."""

    problems: list[str]
    theme: dict[int, str]
    overflow: dict[int, int]
    violations: dict[int, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def visit(open_session_page):
    """Open each page once in each theme, and keep what the tests ask about."""
    seen = {}

    def visited(name: str, theme: str) -> Visit:
        if (name, theme) in seen:
            return seen[name, theme]
        first = OPENED[theme]
        page, problems = open_session_page(name, width=first, theme=theme)
        found = seen[name, theme] = Visit(problems, {}, {}, {})
        for width in (first, *({1280, 390} - {first})):
            page.set_viewport_size({"width": width, "height": 800 if width > 600 else 844})
            page.evaluate("() => new Promise((f) => requestAnimationFrame(() => setTimeout(f)))")
            found.theme[width] = page.evaluate("document.documentElement.dataset.theme")
            found.overflow[width] = page.evaluate(
                "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
            )
        for width in found.overflow:  # last, since axe's tokens are fewer than the page's
            if (width, theme) in RULES:
                page.set_viewport_size({"width": width, "height": 800 if width > 600 else 844})
                found.violations[width] = violations(page, **RULES[width, theme])
        page.context.close()
        return found

    return visited


@pytest.fixture(params=PAGES)
def name(request) -> str:
    """A page of the contents."""
    return request.param


def by_look(looks):
    """Run a test once for each of `looks`."""
    return pytest.mark.parametrize(("width", "theme"), looks)


@pytest.mark.parametrize("theme", OPENED)
def test_a_page_loads_offline_without_an_error(visit, name, theme):
    assert visit(name, theme).problems == []


@by_look(LOOKS)
def test_a_page_takes_the_reader_s_theme(visit, name, width, theme):
    assert visit(name, theme).theme[width] == theme


@by_look(LOOKS)
def test_a_page_is_never_wider_than_the_window(visit, name, width, theme):
    assert visit(name, theme).overflow[width] <= 0


@by_look(RULES)
def test_a_page_passes_axe(visit, name, width, theme):
    assert visit(name, theme).violations[width] == []


def test_search_finds_a_page_without_a_server(open_page):
    page, problems = open_page("search.html", query="?q=frontier")
    page.wait_for_selector("#search-results li a")
    found = [a.get_attribute("href") for a in page.query_selector_all("#search-results li a")]
    assert any("glossary" in href for href in found)
    assert problems == []


def test_formulas_are_drawn_from_the_book_s_own_mathjax(open_page):
    page, problems = open_page("book/notation.html")
    assert page.locator("mjx-container svg").count() > 10
    assert problems == []


def test_the_front_page_redirects_to_the_book(open_page):
    page, problems = open_page("index.html")
    page.wait_for_url("**/book/index.html")
    assert problems == []


def test_the_theme_button_changes_the_theme(open_page):
    page, _ = open_page("book/preface.html", theme="light")
    themes = set()
    for _ in range(3):  # light, dark, and what the system says
        page.locator(".theme-switch-button").first.click()
        themes.add(page.evaluate("document.documentElement.dataset.theme"))
    assert themes == {"light", "dark"}


def test_on_a_phone_the_contents_open_and_lead_on(open_page):
    page, _ = open_page("book/preface.html", width=390)
    link = page.locator(".bd-links a", has_text="Notation")
    assert not link.first.is_visible()
    page.locator("button.primary-toggle:visible").first.click()
    page.locator("dialog[open] .bd-links a", has_text="Notation").click()
    page.wait_for_url("**/book/notation.html")


def test_a_page_reads_without_scripts(open_page):
    page, problems = open_page("book/preface.html", scripts=False)
    assert page.locator("article h1").inner_text().startswith("Preface")
    assert page.locator("article").bounding_box()["width"] > 300
    assert [problem for problem in problems if not problem.startswith("failed: file:")] == []
