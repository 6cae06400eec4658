"""Every page in a real browser, from a folder, offline, at both widths and in both themes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from built_book import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
PAGES = [f"{name}.html" for name in PAGES]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
#: Without preloading, which would fetch the style sheets again: a page opened as a file may not.
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "preload": False}


@dataclass
class Visit:
    """What one page did in one look."""

    problems: list[str]
    theme: str
    overflow: int
    violations: list[str]


@pytest.fixture(scope="module")
def visit(open_session_page):
    """Open each page once in each look, and keep what the tests ask about."""
    seen = {}

    def visited(name: str, width: int, theme: str) -> Visit:
        key = (name, width, theme)
        if key not in seen:
            page, problems = open_session_page(name, width=width, theme=theme)
            # Colors do not depend on the width, and comparing them is most of the time.
            rules = {"color-contrast": {"enabled": width > 600}}
            found = Axe().run(page, options={**WCAG, "rules": rules}).response["violations"]
            seen[key] = Visit(
                problems=list(problems),
                theme=page.evaluate("document.documentElement.dataset.theme"),
                overflow=page.evaluate(
                    "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
                ),
                violations=[
                    f"{v['id']}: {n['html'][:200]} ({n['failureSummary'][:300]})"
                    for v in found
                    for n in v["nodes"]
                ],
            )
            page.context.close()
        return seen[key]

    return visited


@pytest.fixture(params=PAGES)
def name(request) -> str:
    """A page of the contents."""
    return request.param


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def look(request) -> tuple[int, str]:
    """A width and a theme."""
    return request.param


def test_a_page_loads_offline_without_an_error(visit, name, look):
    assert visit(name, *look).problems == []


def test_a_page_takes_the_reader_s_theme(visit, name, look):
    assert visit(name, *look).theme == look[1]


def test_a_page_is_never_wider_than_the_window(visit, name, look):
    assert visit(name, *look).overflow <= 0


def test_a_page_passes_axe(visit, name, look):
    assert visit(name, *look).violations == []


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
