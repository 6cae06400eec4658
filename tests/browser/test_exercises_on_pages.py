"""Exercises on the page: judged, hinted at, kept in the browser, and plain without scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from accessibility import violations
from playwright.sync_api import Page, expect

from gpukernels.exercises import CATALOG

SIMT = "chapters/simt.html"
NUMBERS, BUG = "form.gk-exercise", ".gk-exercise[role=group]"
RIGHT = (12, 4, 2, 8)
DAMAGED = "for (const k of ['gk-exercises', 'gk-exercise-records']) localStorage.setItem(k, '[{');"
#: A browser that stores nothing for the exercises; the theme may still store its settings.
REFUSING = """
  for (const name of ["getItem", "setItem", "removeItem"]) {
    const own = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
      if (key.startsWith("gk-exercise")) throw new DOMException("refused", "SecurityError");
      return own.call(this, key, ...rest);
    };
  }
"""


@pytest.fixture
def own_browser(playwright, chromium, book, tmp_path):
    """Open pages in a browser that keeps the data of pages, unlike a private window.

    In a private window, Chromium sometimes loses the data of pages opened as files.
    """
    contexts = []

    def opened(name: str, width: int = 1280, theme: str = "light") -> tuple[Page, list[str]]:
        context = playwright.chromium.launch_persistent_context(
            tmp_path,
            executable_path=chromium,
            args=["--no-sandbox"],
            viewport={"width": width, "height": 844},
            offline=True,
        )
        contexts.append(context)
        context.add_init_script(f"localStorage.setItem('mode', '{theme}');")
        page, problems = context.new_page(), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.goto((book / name).as_uri())
        return page, problems

    yield opened
    for context in contexts:
        context.close()


def predict(page: Page, *numbers) -> None:
    """Write numbers into the fields of the first prediction, and press Enter."""
    for field, number in zip(page.locator(f"{NUMBERS} input").all(), numbers, strict=False):
        field.fill(str(number))
    page.locator(f"{NUMBERS} input").first.press("Enter")


def until_kept(page: Page, act: Callable[[], None], held: str) -> None:
    """Repeat `act`, which ends on a new page, until the browser has the data of the old page.

    Chromium sometimes drops the data of a page opened as a file just after the browser's start.
    """
    for _ in range(5):
        act()
        if page.evaluate("localStorage.getItem('gk-exercises')") == held:
            return
    pytest.fail(f"the browser never kept {held}")


def is_marked(page: Page, id: str, text: str) -> None:
    """Check the mark at an exercise's heading."""
    expect(page.locator(f"section:has(> #try-{id}) > h3 .gk-state")).to_have_text(text)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_prediction_is_judged_hinted_at_explained_and_remembered(own_browser, width):
    page, problems = own_browser(SIMT, width=width, theme="dark" if width == 390 else "light")
    form = page.locator(NUMBERS)
    expect(form.locator("label").first).to_have_text("a: element 3k of an int32 array")
    expect(page.locator(".gk-progress")).to_contain_text("0 of 5 solved")

    predict(page, 12, "1,000", "many")
    assert form.locator(".gk-field-verdict").all_inner_texts() == [
        "✓ 12",
        "✗ 1,000 is more than the machine counts",
        "“many” is not a number",
        "no prediction yet",
    ]
    assert form.get_by_role("status").inner_text() == "1 of 4 is right. Below is a hint."
    assert form.locator(".gk-hints li").count() == 1
    form.get_by_role("button", name="One more hint (2 left)").click()
    form.get_by_role("button", name="One more hint (1 left)").click()
    assert form.locator(".gk-hints li").count() == 3
    assert form.get_by_role("button", name="No more hints").is_disabled()
    assert not form.locator(".gk-why").is_visible()
    is_marked(page, "simt-1", "… tried")
    assert violations(page) == []

    def solve():
        page.reload()
        predict(page, *RIGHT)
        assert form.get_by_role("status").inner_text() == "All 4 are right."
        assert "a span of 12 sectors" in form.locator(".gk-why").inner_text()
        is_marked(page, "simt-1", "✓ solved")
        page.wait_for_timeout(200)
        page.reload()

    until_kept(page, solve, '{"simt-1":"solved"}')
    is_marked(page, "simt-1", "✓ solved")
    predict(page, 1)
    is_marked(page, "simt-1", "✓ solved")
    expect(page.locator(".gk-progress")).to_contain_text("1 of 5 solved")
    sideways = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    assert problems == []


def test_a_bug_is_found_by_a_click_or_by_the_keyboard_alone(open_page):
    page, problems = open_page(SIMT, width=390)
    bug = page.locator(BUG)
    # On a phone, long lines wrap, so no line has to be scrolled to.
    lines = bug.locator("ol.gk-lines")
    assert lines.evaluate("(list) => list.scrollWidth - list.clientWidth") <= 0
    for line in lines.locator("button").all():
        assert line.evaluate("(button) => button.scrollWidth - button.clientWidth") <= 0
    bug.get_by_role("button", name="Line 1: from numba import cuda").click()
    assert bug.get_by_role("status").inner_text() == "Line 1 is not it. Below is a hint."
    assert bug.locator(".gk-hints li").count() == 1
    is_marked(page, "simt-2", "… tried")
    for _ in range(5):  # past the two empty lines
        page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == "Line 8:     last = first + 4"
    page.keyboard.press("Enter")
    assert bug.get_by_role("status").inner_text().startswith("Line 8 is right.")
    assert "The end of the run has to" in bug.locator(".gk-why").inner_text()
    is_marked(page, "simt-2", "✓ solved")
    assert violations(page) == []
    assert problems == []


def test_the_answer_is_shown_on_demand_and_counts_as_tried(open_page):
    page, _ = open_page("chapters/floyd_warshall.html")
    form = page.locator(NUMBERS)
    form.get_by_role("button", name="Show the answer").click()
    shown = [field.input_value() for field in form.locator("input").all()]
    assert shown == ["64", "2,621,440", "12", "110,592", "6", "24,576"]
    assert "Ten sectors for 32 pairs are 10 bytes" in form.locator(".gk-why").inner_text()
    form.get_by_role("button", name="Check").click()
    assert form.get_by_role("status").inner_text() == "All 6 are right."
    is_marked(page, "floyd-1", "… tried")


def test_the_front_page_tells_how_far_the_reader_is_and_forgets_it(own_browser):
    page, problems = own_browser(SIMT)
    simt = page.url

    def solve():
        page.goto(simt)
        page.get_by_label("I have solved it in a notebook").last.check()
        is_marked(page, "simt-3", "✓ solved")
        page.wait_for_timeout(200)
        page.goto(simt.replace(SIMT, "book/index.html"))

    until_kept(page, solve, '{"simt-3":"solved"}')
    mine = page.locator("#your-progress")
    expect(mine.get_by_role("status")).to_contain_text(
        f"1 of {len(CATALOG)} exercises solved, 0 tried"
    )
    assert "nothing is sent anywhere" in mine.inner_text()
    assert violations(page) == []
    mine.get_by_role("button", name="Forget all of it").click()
    expect(mine.get_by_role("status")).to_contain_text(f"0 of {len(CATALOG)} exercises solved")
    assert page.evaluate("localStorage.getItem('gk-exercises')") is None
    assert not mine.get_by_role("button").is_visible()
    first = next(iter(CATALOG))
    mine.get_by_role("link", name=first).click()
    expect(page.locator(f"#try-{first}")).to_be_in_viewport()
    assert problems == []


def test_the_tries_on_pages_download_in_the_form_of_a_record(own_browser, tmp_path):
    page, problems = own_browser(SIMT)
    simt = page.url

    def work():
        page.goto(simt)
        page.evaluate("localStorage.removeItem('gk-exercises')")
        page.evaluate("localStorage.removeItem('gk-exercise-records')")
        page.reload()
        predict(page, 12, "1,000", "many")
        predict(page, *RIGHT)
        page.locator(BUG).get_by_role("button", name="Line 1: from numba import cuda").click()
        page.get_by_label("I have solved it in a notebook").last.check()
        page.wait_for_timeout(200)
        page.goto(simt.replace(SIMT, "book/index.html"))

    until_kept(page, work, '{"simt-1":"solved","simt-2":"tried","simt-3":"solved"}')
    mine = page.locator("#your-progress")
    with page.expect_download() as saved:
        mine.get_by_role("button", name="Download as JSON").click()
    assert saved.value.suggested_filename == "exercises-on-pages.json"
    records = json.loads(Path(saved.value.path()).read_text())
    fields = [[record[key] for key in ("task", "verdict", "tries", "answer")] for record in records]
    assert fields == [
        ["simt-1", "solved", 2, "{'a': 12, 'b': 4, 'c': 2, 'd': 8}"],
        ["simt-2", "not yet", 1, "line 1"],
        ["simt-3", "declared", 0, None],
    ]
    ex = CATALOG["simt-1"]
    ex.check(dict(zip(ex.questions, RIGHT, strict=True)))
    in_a_notebook = ex.record()
    assert [list(record) for record in records] == [list(in_a_notebook)] * 3
    for key in ("task", "variant", "verdict", "answer", "version"):
        assert records[0][key] == in_a_notebook[key]
    assert datetime.fromisoformat(records[0]["time"]).utcoffset() == timedelta()
    assert violations(page) == []
    mine.get_by_role("button", name="Forget all of it").click()
    assert not mine.get_by_role("button", name="Download as JSON").is_visible()
    assert page.evaluate("localStorage.getItem('gk-exercise-records')") is None
    assert problems == []


@pytest.mark.parametrize("held", [DAMAGED, REFUSING], ids=["damaged", "refused"])
def test_a_browser_that_keeps_nothing_judges_all_the_same(open_page, held):
    page, problems = open_page(SIMT)
    page.context.add_init_script(held)
    page.reload()
    is_marked(page, "simt-1", "")
    predict(page, *RIGHT)
    is_marked(page, "simt-1", "✓ solved")
    assert problems == []


def test_without_scripts_an_exercise_stands_in_the_page_as_the_notebook_has_it(open_page):
    page, _ = open_page(SIMT, scripts=False)
    section = page.locator("section:has(> #try-simt-1)")
    assert section.locator("details > summary").all_inner_texts()[0] == "Hint"
    assert section.get_by_text("Predict, easy, about 15 minutes.").is_visible()
    section.get_by_text("Hint", exact=True).click()
    assert section.get_by_text("A sector has 32 bytes: eight int32 elements").is_visible()
    section.get_by_text("Show the solution").click()
    assert section.get_by_text("a span of 12 sectors").is_visible()
    assert page.locator(".gk-exercise, .gk-progress, .gk-state").count() == 0
    assert page.locator(".gk-try").first.bounding_box()["height"] == 0
