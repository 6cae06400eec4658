"""Addresses of figures: a state can be shared, a sentence sets a figure, a cell plays a run."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from html import escape, unescape
from urllib.parse import parse_qsl

import pytest
from built_book import ROOT
from effort import EFFORT, SOAK
from figure_pages import COLORS, PAGE, RECORDS, Problems, folder, html_of  # noqa: F401

from gpukernels.views.figure import figure_html

sys.path.insert(0, str(ROOT / "book"))
sys.path.insert(0, str(ROOT / "book" / "_ext"))
from figure_links import MOVES, anchored, figures_of

#: A figure of each kind: the one with the most choices.
OF_A_KIND = ["frontier filters", "graph weights", "graph steps", "warp block", "memory", "hash"]
OF_A_KIND += ["mapping workloads", "scan shared", "relax graphs", "tile dial", "compare"]
OF_A_KIND += ["frontier roots", "mapping sizes", "parts", "workers"]
FAR = '<div style="height: 2400px">…</div>'
LINK = '<p><a href="{}">{}</a></p>'


def renamed(name, /, *labels, **changes):
    """Return a figure whose runs have other labels."""
    record = json.loads(json.dumps(RECORDS[name])) | changes
    for trace, label in zip(record["traces"], labels, strict=True):
        trace["label"] = label
    return figure_html(record)


#: Two runs of one search, and a comparison whose cells play some of them.
GRID = renamed("frontier filters", "no filter", "a, b & c", name="grid", choice="Method", step=0)
TILES = html_of("tile dial", name="tiles")
PLAYS = [
    ["#fig-grid?run=no-filter", "#fig-elsewhere?run=harish"],
    ["#fig-grid?run=none", "#fig-grid?run=a-b-c&step=2"],
]
COMPARISON = html_of("compare", plays=PLAYS)


def link(address, words="Go"):
    return LINK.format(escape(address), words)


@pytest.fixture
def open_parts(browser, folder):  # noqa: F811
    """Open a page of figures and texts, as a build makes it; the page must have no problems."""
    problems = Problems()
    with contextlib.ExitStack() as at_the_end:

        def opened(*parts, hash_="", width=1280, scripts=True, script="views.js", **options):
            context = browser.new_context(
                viewport={"width": width, "height": 800},
                offline=True,
                java_script_enabled=scripts,
                permissions=["clipboard-read", "clipboard-write"],
                **options,
            )
            at_the_end.callback(context.close)
            page = context.new_page()
            problems.watch(page)
            body = anchored(figures_of("".join(map(str, parts)))[0])
            text = PAGE.format(theme="light", figures=body, **COLORS["light"])
            file = folder / "page.html"
            file.write_text(text.replace("views.js", script))
            page.goto(file.as_uri() + hash_)
            return page

        yield opened
    assert problems == []


def state_of(figure):
    """Return the visible state of a figure: its lists, its slider and its sentence."""
    lists = ".gk-controls select, .gk-controls input"
    values = figure.locator(lists).evaluate_all("(all) => all.map((s) => s.value)")
    steps = figure.locator(".gk-scrub input").evaluate_all("(all) => all.map((s) => s.value)")
    return values, steps, figure.locator(".gk-now").text_content()


def is_in_window(page, figure):
    box, tall = figure.bounding_box(), page.viewport_size["height"]
    return box["y"] >= -1 and box["y"] < tall / 2


@pytest.mark.parametrize("name", OF_A_KIND)
def test_every_state_of_a_view_has_an_address_that_brings_it_back(open_parts, name):
    page = open_parts(html_of(name))
    figure = page.locator("figure")
    for k in range(figure.locator(".gk-controls .gk-field select").count()):
        choice = figure.locator(".gk-controls .gk-field select").nth(k)
        if choice.locator("option").first.text_content() != "½×":
            choice.select_option(index=choice.locator("option").count() - 1)
    slider = figure.locator(".gk-scrub input")
    if slider.count():
        slider.fill(str(int(slider.get_attribute("max")) * 2 // 3))
    button = figure.get_by_role("button", name="Link to this moment")
    if not button.is_visible():
        assert figure.locator(".gk-controls :visible").count() == 0
        return
    button.click()
    figure.locator(".gk-copied", has_text="Link copied").wait_for()
    address = page.evaluate("navigator.clipboard.readText()")
    assert address == page.url
    seen = state_of(figure)
    again = open_parts(FAR, html_of(name), FAR, hash_=address[address.index("#") :])
    assert state_of(again.locator("figure")) == seen
    assert is_in_window(again, again.locator("figure"))


@pytest.mark.parametrize("width", [1280, 390])
def test_an_address_opens_its_figure_at_its_run_and_step(open_parts, width):
    page = open_parts(
        TILES,
        FAR,
        GRID,
        FAR,
        hash_="#fig-grid?run=a-b-c&step=3",
        width=width,
    )
    figure = page.locator("#fig-grid")
    assert figure.get_by_label("Method").input_value() == "a, b & c"
    assert figure.get_by_role("slider").input_value() == "3"
    assert figure.locator(".gk-now").text_content().startswith("Level 3: ")
    assert is_in_window(page, figure)
    # After the page is loaded again, it keeps the reader's last state.
    came = page.evaluate("scrollY")
    page.mouse.wheel(0, -900)
    page.wait_for_function(f"scrollY === {came} - 900")
    was = page.evaluate("scrollY")
    page.reload()
    assert figure.get_by_role("slider").input_value() == "3"
    page.wait_for_function(f"Math.abs(scrollY - {was}) < 40")


def test_an_address_of_an_earlier_edition_opens_what_has_taken_its_place(open_parts):
    moves = json.dumps([["#fig-lattice?run=none", "#fig-grid?run=a-b-c"]])
    page = open_parts(FAR, GRID, FAR, MOVES.format(moves), hash_="#fig-lattice?run=none&step=3")
    figure = page.locator("#fig-grid")
    assert figure.get_by_label("Method").input_value() == "a, b & c"
    assert figure.get_by_role("slider").input_value() == "3"
    assert is_in_window(page, figure)
    page.wait_for_function("location.hash === '#fig-grid?run=a-b-c&step=3'")


def address_of(page):
    return page.evaluate("location.hash")


def test_the_address_follows_a_rest_and_leaves_the_history_alone(open_parts):
    page = open_parts(GRID)
    assert address_of(page) == ""
    entries = page.evaluate("history.length")
    page.get_by_role("button", name="Next level").click()
    page.wait_for_function("location.hash === '#fig-grid?run=no-filter&step=1'")
    page.get_by_label("Method").select_option("a, b & c")
    page.wait_for_function("location.hash === '#fig-grid?run=a-b-c&step=1'")
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    end = slider.get_attribute("max")
    page.wait_for_function(f"location.hash === '#fig-grid?run=a-b-c&step={end}'")
    assert page.evaluate("history.length") == entries


def test_a_sentence_sets_a_figure_and_stays_if_the_figure_is_seen(open_parts):
    page = open_parts(link("#fig-grid?run=a-b-c&step=2"), GRID, FAR)
    entries = page.evaluate("history.length")
    page.get_by_role("link", name="Go").click()
    assert page.get_by_label("Method").input_value() == "a, b & c"
    assert page.get_by_role("slider").input_value() == "2"
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("history.length") == entries
    assert address_of(page) == "#fig-grid?run=a-b-c&step=2"
    # The link changes only what it names, and it works every time.
    page.get_by_role("button", name="Next level").click()
    page.get_by_role("link", name="Go").click()
    assert page.get_by_role("slider").input_value() == "2"


@pytest.mark.parametrize("key", [None, "Enter"])
def test_a_sentence_comes_to_a_figure_out_of_sight_and_back_leads_to_the_sentence(open_parts, key):
    page = open_parts(GRID, FAR, link("#fig-grid?step=4"), FAR)
    going = page.get_by_role("link", name="Go")
    going.scroll_into_view_if_needed()
    read = page.evaluate("scrollY")
    assert read > 500
    if key:
        going.focus()
        page.keyboard.press(key)
    else:
        going.click()
    assert page.get_by_role("slider").input_value() == "4"
    assert is_in_window(page, page.locator("#fig-grid"))
    page.go_back()
    page.wait_for_function(f"Math.abs(scrollY - {read}) < 2")


def test_a_folded_figure_is_unfolded(open_parts):
    folded = f"<details><summary>More</summary>{GRID}</details>"
    page = open_parts(FAR, folded, FAR, hash_="#fig-grid?step=2")
    assert is_in_window(page, page.locator("#fig-grid"))


@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_leads_to_its_figure_also_without_scripts(open_parts, scripts):
    page = open_parts(link("#fig-grid?run=a-b-c&step=2"), FAR, GRID, FAR, scripts=scripts)
    page.get_by_role("link", name="Go").click()
    page.wait_for_timeout(100)
    box = page.locator("#fig-grid").bounding_box()
    assert -1 <= box["y"] < 800
    if scripts:
        # In another tab, or as a copy, the link is the whole address.
        assert page.get_by_role("link", name="Go").get_attribute("href").endswith("&step=2")


@pytest.mark.parametrize(
    "odd", ["#fig-grid?run=none&step=x", "#fig-grid?step=9999", "#fig-none?step=1", "#fig-grid?%",
            "#fig-grid?run=%ff&step=-1", "#fig-", "#fig-grid?run"],
)  # fmt: skip
def test_an_address_of_nothing_does_no_harm(open_parts, odd):
    page = open_parts(GRID, FAR, hash_=odd)
    last = page.get_by_role("slider").get_attribute("max")
    assert page.get_by_role("slider").input_value() == (last if "9999" in odd else "0")
    assert page.get_by_label("Method").input_value() == "no filter"


def test_an_output_of_its_own_has_no_address(open_parts):
    page = open_parts(GRID, script="output.js")
    page.get_by_role("button", name="Next level").click()
    page.wait_for_timeout(600)
    assert page.get_by_role("slider").input_value() == "1"
    assert page.get_by_role("button", name="Link to this moment").count() == 0
    assert address_of(page) == ""


def test_a_cell_plays_its_run_and_one_that_cannot_play_does_not_pretend_to(open_parts):
    page = open_parts(GRID, FAR, COMPARISON, FAR)
    cells = page.locator(".gk-compare-play")
    names = [cell.get_attribute("aria-label") for cell in cells.all()]
    assert [re.sub(r".*, play ", "", name) for name in names] == ["a <b> on g", "c on h & i"]
    page.clock.install()
    page.reload()
    page.get_by_role("link", name=re.compile("play c on h & i$")).click()
    figure = page.locator("#fig-grid")
    assert is_in_window(page, figure)
    assert figure.get_by_label("Method").input_value() == "a, b & c"
    assert figure.get_by_role("slider").input_value() == "2"
    page.clock.run_for(1500)
    assert figure.get_by_role("slider").input_value() == "3"
    # Without a step it begins at the first step, also by the keyboard.
    page.get_by_role("link", name=re.compile("play a <b> on g$")).focus()
    page.keyboard.press("Enter")
    assert figure.get_by_label("Method").input_value() == "no filter"
    assert figure.get_by_role("slider").input_value() == "0"
    page.clock.run_for(1500)
    assert figure.get_by_role("slider").input_value() == "1"
    # Another counter has other numbers and the same runs.
    page.get_by_label("Counter").select_option("ms")
    assert page.locator(".gk-compare-play").count() == 2


#: Clicks a link by a script, which does not wait for scrolling; returns the state of its figure.
FOLLOWED = """async ([figure, address]) => {
  [...document.querySelectorAll("a")].find((a) => a.getAttribute("href") === address).click();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const drawn = document.getElementById(figure);
  const all = (marks) => [...drawn.querySelectorAll(marks)];
  return {
    shown: all(".gk-now").some((now) => now.getClientRects().length > 0),
    step: drawn.querySelector(".gk-scrub input")?.value ?? "",
    fields: [
      ...all(".gk-controls select").map((list) => list.selectedOptions[0].textContent),
      ...all(".gk-dial input").map((dial) => dial.ariaValueText ?? ""),
      ...all(".gk-size-slot[role=slider]").map((slot) => slot.ariaValueNow),
    ],
    noted: decodeURIComponent(location.hash),
  };
}"""


def test_every_link_of_the_book_sets_what_it_says(book, open_page):
    count, linked = 0, {}
    for path in sorted(book.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        links = re.findall(r'href="#(fig-[a-z0-9-]+)" data-gk-state="([^"]*)"', text)
        if links:
            linked[path] = links
    # The build checks that figure, run and step exist, for every link of every page.
    for path in [*linked][:: 1 if EFFORT == SOAK else 3]:
        links = linked[path]
        page, problems = open_page(path.relative_to(book))
        for figure, state in links:
            address, wanted = f"#{figure}?{unescape(state)}", dict(parse_qsl(unescape(state)))
            answer = page.evaluate(FOLLOWED, [figure, address])
            assert answer["shown"], address
            assert answer["step"] == wanted.pop("step", answer["step"]), address
            slugs = [
                re.sub("[^a-z0-9]+", "-", text.lower()).strip("-") for text in answer["fields"]
            ]
            for value in wanted.values():
                assert value in slugs, address
            assert answer["noted"].startswith(f"#{figure}?")
            noted = parse_qsl(answer["noted"].partition("?")[2])
            assert {*parse_qsl(unescape(state))} <= {*noted}, address
            count += 1
        assert problems == []
    assert count
