"""Reading comfort: cards, a search that leads to the place, a list that follows, white paper."""

from __future__ import annotations

import re
import sys
from unittest import mock
from urllib.parse import quote_plus

import pytest
from accessibility import violations
from built_book import ROOT

sys.path.insert(0, str(ROOT / "book" / "paper"))
import make_pdf

CHAPTER = "chapters/frontier_bfs.html"
TERM = "article p a[href$='#term-arc'], article li a[href$='#term-arc']"
CITATION = "article p a[href*='bibliography.html#']"
CARD = "#word-card"


def opened(page, link):
    """Return the text of the card when it is visible; it must not cover its word."""
    page.wait_for_selector(CARD)
    card, word = page.locator(CARD).bounding_box(), link.bounding_box()
    assert card["y"] + card["height"] <= word["y"] or word["y"] + word["height"] <= card["y"]
    assert card["x"] >= 0
    assert card["x"] + card["width"] <= page.viewport_size["width"]
    assert link.get_attribute("aria-describedby") == "word-card"
    return page.locator(CARD).inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_term_under_the_pointer_shows_its_definition_until_escape(open_page, theme):
    page, problems = open_page(CHAPTER, theme=theme)
    link = page.locator(TERM).first
    definition = link.get_attribute("title")
    link.hover()
    assert opened(page, link) == definition
    assert "A directed edge" in definition
    assert link.get_attribute("title") is None  # otherwise the browser would show it, too
    assert violations(page, structure=theme == "light") == []
    page.locator(CARD).hover()  # keeps the card open
    page.wait_for_timeout(400)
    assert page.locator(CARD).is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(CARD).is_visible()
    assert link.get_attribute("title") == definition
    assert link.get_attribute("aria-describedby") is None
    assert problems == []


def test_a_first_tap_shows_the_card_and_a_second_one_follows_the_link(open_page):
    page, _ = open_page(CHAPTER, width=390, has_touch=True)
    link = page.locator(TERM).first
    link.tap()
    assert opened(page, link)
    assert page.url.endswith("frontier_bfs.html")
    page.locator("article h1").first.tap()
    assert not page.locator(CARD).is_visible()
    link.tap()
    link.tap()
    page.wait_for_url("**/glossary.html#term-arc")


def test_without_scripts_words_have_their_text_and_the_page_its_signs(open_page):
    page, _ = open_page(CHAPTER, scripts=False)
    assert page.locator(TERM).first.get_attribute("title").startswith("A directed edge")
    assert len(page.locator(CITATION).first.get_attribute("title")) > 40
    assert page.locator("h2").count() > 5
    assert page.locator("svg.sign path").count() >= 5


def test_search_shows_the_words_around_and_lands_on_them(open_page):
    page, problems = open_page("search.html", query="?q=virtual+warps+of+a")
    results = page.locator("#search-results li")
    first = results.first
    assert first.locator("a").get_attribute("href").endswith("glossary.html#term-virtual-warp")
    assert "neighboring lanes" in first.locator("p").inner_text()
    status = page.locator("#search-results [role=status]").inner_text()
    assert re.fullmatch(r"\d+ places(; these are the first 60)?\.", status)
    section = results.filter(
        has=page.locator("a[href*='frontier_bfs.html'][href*='#a-group']")
    ).first
    marked = [word.lower() for word in section.locator("mark").all_inner_texts()]
    assert {"virtual", "warp"} <= set(marked)
    assert violations(page) == []
    section.locator("a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/frontier_bfs.html#a-group*")
    heading = "document.querySelector('[id^=a-group]').getBoundingClientRect()"
    page.wait_for_function(f"() => scrollY > 0 && {heading}.top < innerHeight")
    assert problems == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("zyzzyva", "The book has none of these words."),
        ("warp zyzzyva", "places have 1 of the 2 words"),
        ("of the", "Every page has these words."),
        ("(.*", ""),
        ("", ""),
    ],
)
def test_search_says_what_it_has_not_found(open_page, asked, message):
    page, problems = open_page("search.html")
    page.locator("article form.bd-search input, main form.bd-search input").first.fill(asked)
    assert message in page.locator("#search-results [role=status]").inner_text()
    assert bool(page.locator("#search-results li").count()) == ("warp" in asked)
    assert problems == []


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("remove duplicates frontier", "chapters/duplicates.html"),
        ("removed duplicates of a frontier", "chapters/duplicates.html"),
        ("what is a warp", "book/glossary.html"),
    ],
)
def test_a_search_in_a_reader_s_words_finds_the_place_among_the_first_three(
    open_page, asked, wanted
):
    page, _ = open_page("search.html", query=f"?q={quote_plus(asked)}")
    page.wait_for_selector("#search-results li")
    links = page.locator("#search-results li > a")
    assert wanted in [links.nth(k).get_attribute("href").split("#")[0] for k in range(3)]


def test_the_list_on_the_right_marks_what_is_read_and_keeps_it_in_view(open_page):
    page, _ = open_page(CHAPTER)
    read = "[...document.querySelectorAll('.page-toc [aria-current]')].map(a => a.hash.slice(1))"
    links = page.locator(".page-toc a")
    for k in (1, links.count() // 2, links.count() - 1):
        anchor = links.nth(k).get_attribute("href")[1:]
        page.evaluate(
            "id => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", anchor
        )
        page.wait_for_function(f"() => ({read}).join() === '{anchor}'")
        assert page.evaluate(
            "() => { const at = document.querySelector('.page-toc [aria-current]')"
            ".getBoundingClientRect(), box = document.querySelector('.bd-sidebar-secondary')"
            ".getBoundingClientRect(); return at.top >= box.top && at.bottom <= box.bottom; }"
        )


def test_a_dark_page_is_black_on_white_on_paper_and_dark_again(open_page):
    page, _ = open_page(CHAPTER, theme="dark")
    colors = """() => ["body", "article p", "article h2", "article .highlight pre"].map((s) => {
      const style = getComputedStyle(document.querySelector(s));
      return [style.color, style.backgroundColor];
    })"""
    dark = page.evaluate(colors)
    page.emulate_media(media="print")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    body, text, title, code = page.evaluate(colors)
    assert body == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert text[0] == title[0] == "rgb(0, 0, 0)"
    assert all(int(part) > 240 for part in re.findall(r"\d+", code[1])[:3])
    page.emulate_media(media="screen")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert page.evaluate(colors) == dark


def test_on_paper_no_page_is_wider_than_the_sheet(browser, book, tmp_path):
    widest = ["book/profiler", "chapters/before_the_first_warp"]
    with mock.patch.object(make_pdf, "contents", return_value=[("Some", widest)]):
        (tmp_path / "book.html").write_text(make_pdf.document(book), encoding="utf-8")
    # A4 without its margins. A browser would print all of a wider book in smaller letters.
    sheet = {"width": int((210 - 44) / 25.4 * 96), "height": 900}
    page = browser.new_page(viewport=sheet, offline=True)
    page.emulate_media(media="print")
    page.goto((tmp_path / "book.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= sheet["width"]
    wide = "[...document.querySelectorAll('div.math')].filter(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{wide}.map(e => e.textContent)") == []
    page.close()


#: The numbers of a figure that a reader can see.
NUMBERS = """(figure) => [...figure.querySelectorAll("dd, .gk-tile-count > .gk-tile-cell")].filter(
  (e) => e.checkVisibility() && /\\d|–/.test(e.textContent)).length"""


@pytest.mark.parametrize("chapter", ["simt", "frontier_bfs", "hbf", "floyd_warshall", "scans"])
def test_the_first_figure_shows_four_numbers_until_more_are_wanted(open_page, chapter):
    page, problems = open_page(f"chapters/{chapter}.html")
    figure = page.locator("figure.gk-view").first
    before = figure.evaluate(NUMBERS)
    assert 1 <= before <= 4
    button = figure.get_by_role("button", name="More numbers")
    if chapter == "scans":  # it has no more
        assert button.count() == 0
        return
    button.click()
    assert figure.evaluate(NUMBERS) > before
    figure.get_by_role("button", name="Fewer numbers").click()
    assert figure.evaluate(NUMBERS) == before
    second = page.locator("figure.gk-view").nth(1)
    assert second.get_by_role("button", name="More numbers").count() == 0
    assert problems == []
