"""A reader's own data in a page: a press starts a search at a vertex, and items get sizes."""

from __future__ import annotations

import re

import pytest
from figure_pages import RECORDS, folder, html_of, id_of, open_figures, place  # noqa: F401
from test_addresses import address_of, open_parts  # noqa: F401

from gpukernels.views.encoding import unpack

ROOTS, SIZES = "frontier roots", "mapping sizes"
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def spot(page, figure, vertex):
    """Return the place of a vertex in the window."""
    drawing = RECORDS[ROOTS]["drawing"]
    x, y = (unpack(drawing[axis])[vertex] / 10 for axis in "xy")
    return place(page, figure.locator("svg.gk-graph"), x, y)


@WIDTHS
def test_a_press_on_a_vertex_its_key_or_the_list_starts_the_search_there(open_parts, width):  # noqa: F811
    page = open_parts(html_of(ROOTS), width=width, has_touch=True)
    figure = page.locator("figure")
    choice, slider = figure.get_by_label("Root"), figure.locator(".gk-scrub input")
    offer = "Click or tap one of the vertices 0, 5, 15 to start the search there."
    assert figure.locator(".gk-offer").text_content() == offer
    tall = figure.bounding_box()["height"]
    for press, root in ((page.mouse.click, 5), (page.touchscreen.tap, 15), (page.mouse.click, 0)):
        press(*spot(page, figure, root))
        assert (choice.input_value(), slider.input_value()) == (str(root), "0")
        sentence = figure.locator(".gk-now").text_content()
        assert sentence.startswith(f"Level 0 from vertex {root}: 1 vertex")
        assert figure.bounding_box()["height"] == pytest.approx(tall, abs=1)
    page.mouse.click(*spot(page, figure, 3))  # no run from this vertex was recorded
    assert choice.input_value() == "0"
    figure.locator("svg.gk-graph").focus()
    for _ in range(2):  # the picture keeps the focus and its place
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    while figure.locator(".gk-note").text_content() != "vertex 5: the root":
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    assert choice.input_value() == "5"
    # Another method starts at the same root; an address restores all of it.
    figure.get_by_label("Trace").select_option("frontier")
    figure.get_by_role("button", name="Next level").click()
    address = f"#{id_of(ROOTS)}?run=frontier&root=5&step=1"
    page.wait_for_function(f"location.hash === '{address}'")
    sentence = figure.locator(".gk-now").text_content()
    again = open_parts(html_of(ROOTS), width=width, hash_=address).locator("figure")
    assert again.locator(".gk-now").text_content() == sentence
    assert again.get_by_label("Root").input_value() == "5"


def check_sizes(figure, size):
    """Assert that bars, strips and slider show this size of B (0, 2 or 40)."""
    assert figure.locator(".gk-size-said").all_text_contents() == ["3", str(size), "1"]
    (trace,) = RECORDS[SIZES]["traces"]
    last = trace["variantSteps"][[0, 2, 40].index(size)] - 1
    slider = figure.locator(".gk-scrub input")
    assert slider.get_attribute("max") == str(last)
    slider.fill(str(last))
    shown = figure.locator(".gk-u-dark tspan").all_text_contents()
    assert len([word for word in shown if word]) == 4 + size


@WIDTHS
def test_an_item_is_dragged_stepped_and_pressed_to_a_size(open_parts, width):  # noqa: F811
    page = open_parts(html_of(SIZES), width=width, has_touch=True)
    figure = page.locator("figure")
    assert figure.locator(".gk-offer p").text_content() == "Drag B: 0, 2 or 40 units."
    bar = figure.get_by_role("slider", name="Units of item B")
    check_sizes(figure, 0)
    for high, size in ((38, 40), (-99, 0)):
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        x, floor = box["x"] + box["width"] / 2, box["y"] + box["height"]
        page.mouse.move(x, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(x, floor - box["height"] * high / 40, steps=5)
        page.mouse.up()
        check_sizes(figure, size)
    page.mouse.move(x, box["y"] - 40)
    check_sizes(figure, 0)
    for key, size in (("ArrowUp", 2), ("End", 40), ("ArrowLeft", 2), ("Home", 0), ("PageUp", 40)):
        bar.press(key)
        assert bar.get_attribute("aria-valuenow") == str(size)
        assert bar.get_attribute("aria-valuetext") == f"{size} units"
        check_sizes(figure, size)
    less, more = (figure.get_by_role("button", name=f"Item B: {word}") for word in ("less", "more"))
    assert more.is_disabled()
    less.tap()
    check_sizes(figure, 2)
    # A reader at a round or at the end stays there.
    slider = figure.locator(".gk-scrub input")
    more.tap()
    assert slider.input_value() == slider.get_attribute("max")
    slider.fill("1")
    less.tap()
    assert slider.input_value() == "1"
    page.wait_for_function("location.hash.endsWith('item-b=2&step=1')")
    again = open_parts(html_of(SIZES), width=width, hash_=address_of(page)).locator("figure")
    assert again.locator(".gk-size-said").all_text_contents() == ["3", "2", "1"]


def test_nothing_is_offered_that_a_page_without_scripts_lacks(open_figures):  # noqa: F811
    page = open_figures(ROOTS, SIZES, scripts=False)
    for figure in page.locator("figure").all():
        text = re.sub(r"\s+", " ", figure.inner_text())
        assert "Click" not in text
        assert "Drag" not in text
    assert page.locator("[role=slider], button, select").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_a_number_says_what_it_counts_to_a_pointer_a_tap_and_a_key(open_figures, width):  # noqa: F811
    page = open_figures("warp block", width=width, has_touch=True)
    note, names = page.locator(".gk-meaning"), page.locator(".gk-counter dt")
    if width == 1280:
        name = page.get_by_text("SIMD efficiency", exact=True)
        name.hover()
        assert note.text_content().startswith("Active lanes of all steps so far")
        assert name.get_attribute("aria-describedby") == note.get_attribute("id")
        page.locator(".gk-title").hover()
        assert not note.is_visible()
        name.click()
        page.locator(".gk-title").hover()
        assert note.is_visible()
        page.keyboard.press("Escape")
        assert not note.is_visible()
        page.locator(".gk-program").focus()
        page.keyboard.press("Tab")
        assert note.text_content().startswith("Lanes of this warp")
        sentence = page.locator(".gk-now").text_content()
        for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
        assert note.text_content().startswith("Lanes that go into the branch")
        assert page.locator(".gk-now").text_content() == sentence
        page.get_by_role("button", name="Full width").click()
    if not names.first.is_visible():
        page.get_by_role("button", name=re.compile("Numbers")).tap()
    stops = names.evaluate_all("all => all.map((name) => name.tabIndex)")
    assert stops == [0, *[-1] * (names.count() - 1)]
    for name in names.all():
        name.tap()
        box = note.bounding_box()
        assert 0 <= box["x"] <= width - box["width"]
        assert 0 <= box["y"] <= 844 - box["height"]
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        on_top = "([x, y]) => document.elementFromPoint(x, y).className"
        assert page.evaluate(on_top, middle) == "gk-meaning"
    names.last.tap()
    assert not note.is_visible()
