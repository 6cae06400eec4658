"""A reader's own data in a page: a click starts a search elsewhere, items are dragged to a size."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from made_once import MadeOnce
from test_addresses import address_of, folder, open_parts  # noqa: F401
from test_views import EXAMPLE, TAGS, VIEWS, violations

import gpukernels as gk
from gpukernels.views import RelaxView
from gpukernels.views.encoding import unpack

NINE = gk.random_weights(gk.road_grid(3, 3, seed=1), 1, 9, seed=2)
METHODS = ("harish", "near_far")


def lengths():
    runs = {m: {v: gk.traced(gk.sssp, NINE, v, m) for v in range(9)} for m in METHODS}
    return RelaxView(NINE, runs, root=4, name="relaxed")


FIGURES = MadeOnce(
    {
        **{name: partial(VIEWS.__getitem__, name) for name in ("roots", "sizes")},
        "lengths": lengths,
    }
)
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def spot(figure, vertex):
    """Return where in the window a vertex is drawn."""
    svg, drawing = figure.locator("svg.gk-graph"), FIGURES["roots"]._drawing
    svg.scroll_into_view_if_needed()
    place = """(svg, [x, y]) => {
      const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      return [at.x, at.y];
    }"""
    return svg.evaluate(place, [drawing.x[vertex] / 10, drawing.y[vertex] / 10])


def check_search(figure, root):
    """Assert that a figure shows the search from this root, to its end."""
    distance = gk.reference.bfs(EXAMPLE, root).distance
    slider = figure.locator(".gk-scrub input")
    while True:
        level = int(slider.input_value())
        said = figure.locator(".gk-now").text_content()
        found = int(np.sum(distance == level + 1))
        here = int(np.sum(distance == level))
        assert said.startswith(f"Level {level} from vertex {root}: {here} ")
        assert f", {found} vert" in said
        forth = figure.get_by_role("button", name="Next level")
        if not forth.is_enabled():
            break
        forth.click()
    assert level == distance.max()


@WIDTHS
def test_a_click_on_a_vertex_starts_the_search_there(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["roots"].html, width=width)
    figure = page.locator("figure")
    assert (
        figure.locator(".gk-offer").text_content()
        == "Click or tap a vertex to start the search there."
    )
    assert figure.get_by_label("Root").input_value() == "3"
    tall = figure.bounding_box()["height"]
    for root in (9, 14, 15, 0):
        page.mouse.click(*spot(figure, root))
        assert figure.get_by_label("Root").input_value() == str(root)
        assert figure.locator(".gk-scrub input").input_value() == "0"
        assert figure.bounding_box()["height"] == pytest.approx(tall, abs=1)
        check_search(figure, root)
    # A click beside all vertices starts nothing.
    box = figure.locator("svg.gk-graph").bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + 2)
    assert figure.get_by_label("Root").input_value() == "0"


@WIDTHS
def test_a_tap_starts_a_search_too(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["roots"].html, width=width, has_touch=True)
    figure = page.locator("figure")
    page.touchscreen.tap(*spot(figure, 12))
    check_search(figure, 12)


def test_keys_start_a_search_and_the_list_does(open_parts):  # noqa: F811
    page = open_parts(FIGURES["roots"].html)
    figure = page.locator("figure")
    figure.locator("svg.gk-graph").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert figure.locator(".gk-note").text_content().startswith("vertex 5:")
    page.keyboard.press("Enter")
    assert figure.locator(".gk-now").text_content().startswith("Level 0 from vertex 5:")
    # The picture still has the focus, and goes on.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    check_search(figure, 6)
    choice = figure.get_by_label("Root")
    choice.focus()
    page.keyboard.press("ArrowDown")
    assert choice.input_value() == "7"
    assert choice.evaluate("(list) => list === document.activeElement")
    check_search(figure, 7)
    # Another method starts at the same root.
    figure.get_by_label("Method").select_option("frontier")
    assert choice.input_value() == "7"
    figure.locator(".gk-scrub input").fill("0")
    check_search(figure, 7)


@WIDTHS
def test_an_address_brings_root_and_level_back(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["roots"].html, width=width)
    figure = page.locator("figure")
    page.mouse.click(*spot(figure, 9))
    figure.get_by_role("button", name="Next level").click()
    figure.get_by_role("button", name="Next level").click()
    page.wait_for_function("location.hash === '#fig-roots?run=harish&root=9&step=2'")
    said = figure.locator(".gk-now").text_content()
    again = open_parts(FIGURES["roots"].html, width=width, hash_=address_of(page)).locator("figure")
    assert again.locator(".gk-now").text_content() == said
    assert again.get_by_label("Root").input_value() == "9"


def check_paths(page, figure, root):
    """Assert that both pictures have the distances from this root, in the end."""
    assert figure.get_by_label("Root").input_value() == str(root)
    slider = figure.locator(".gk-scrub input")
    slider.fill(slider.get_attribute("max"))
    distance = [str(d) for d in gk.reference.dijkstra(NINE, root).distance]
    for picture in figure.locator("svg.gk-graph").all():
        assert picture.locator(".gk-labels text").all_text_contents() == distance


@WIDTHS
def test_shortest_paths_start_at_any_vertex_by_pointer_keys_and_list(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["lengths"].html, width=width)
    figure = page.locator("figure")
    assert (
        figure.locator(".gk-offer").text_content()
        == "Click or tap a vertex to start the search there."
    )
    check_paths(page, figure, 4)
    tall = figure.bounding_box()["height"]
    picture = figure.locator("svg.gk-graph").last
    if width == 390:  # where runs take turns, and a new root leaves the turn as it is
        name = figure.locator(".gk-relax-head b").last.text_content()
        figure.get_by_role("button", name=name).click()
    picture.scroll_into_view_if_needed()
    place = """(svg, [x, y]) => {
      const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
      return [at.x, at.y];
    }"""
    drawing = FIGURES["lengths"]._drawings[""]
    page.mouse.click(*picture.evaluate(place, [drawing.x[8] / 10, drawing.y[8] / 10]))
    assert figure.locator(".gk-scrub input").input_value() == "0"
    check_paths(page, figure, 8)
    assert figure.bounding_box()["height"] == pytest.approx(tall, abs=1)
    picture.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    # The picture still has the focus, and goes on where it was.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert picture.evaluate("(svg) => svg === document.activeElement")
    check_paths(page, figure, 1)
    figure.get_by_label("Root").select_option("7")
    check_paths(page, figure, 7)
    page.wait_for_function("location.hash.startsWith('#fig-relaxed?root=7')")
    again = open_parts(FIGURES["lengths"].html, width=width, hash_=address_of(page)).locator(
        "figure"
    )
    assert again.get_by_label("Root").input_value() == "7"


def shown_units(figure):
    """Return the thread of each unit, strip by strip, as far as it is visited."""
    strips = figure.locator(".gk-map-strip").all()
    return [
        [t for t in strip.locator(".gk-u-dark tspan").all_text_contents() if t] for strip in strips
    ]


def check_sizes(figure, b, d):
    """Assert that strips, bars and slider are those of these sizes of B and D."""
    (trace,) = FIGURES["sizes"].payload["traces"]
    sizes = 3, b, 2, d, 0
    bars = figure.locator(".gk-size-said").all_text_contents()
    assert bars == list(map(str, sizes))
    at = FIGURES["sizes"]._sizes.every.index(sizes)
    assert figure.locator(".gk-scrub input").get_attribute("max") == str(
        trace["variantSteps"][at] - 1
    )
    figure.locator(".gk-scrub input").fill(str(trace["variantSteps"][at] - 1))
    for method, shown in zip(trace["methods"], shown_units(figure), strict=True):
        rows, starts = unpack(method["thread"]["row"]), unpack(method["thread"]["at"])
        first, last = starts[rows[at]], starts[rows[at] + 1]
        assert shown == [str(k) for k in unpack(method["thread"]["of"])[first:last]]
        assert len(shown) == sum(sizes)
    # One thread takes an item: so many threads, each as often as its item is long.
    by_item = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    assert shown_units(figure)[0] == by_item


@WIDTHS
def test_an_item_is_dragged_to_a_size(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["sizes"].html, width=width)
    figure = page.locator("figure")
    offer = "Drag B (0 to 4 units) and D (1, 8 or 30 units)."
    assert figure.locator(".gk-offer p").text_content() == offer
    check_sizes(figure, 1, 8)
    for name, high, seen in (
        ("B", 3, (3, 8)),
        ("D", 27, (3, 30)),
        ("D", 2, (3, 1)),
        ("B", -9, (0, 1)),
    ):
        bar = figure.get_by_role("slider", name=f"Units of item {name}")
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        x, floor = box["x"] + box["width"] / 2, box["y"] + box["height"]
        page.mouse.move(x, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(x, floor - box["height"] * high / 30, steps=5)
        page.mouse.up()
        check_sizes(figure, *seen)
    page.mouse.move(x, box["y"] - 40)
    check_sizes(figure, 0, 1)


@WIDTHS
def test_keys_and_buttons_change_sizes_and_say_so(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["sizes"].html, width=width, has_touch=True)
    figure = page.locator("figure")
    bar = figure.get_by_role("slider", name="Units of item B")
    bar.focus()
    for key, b in (("ArrowUp", 2), ("ArrowRight", 3), ("ArrowDown", 2), ("End", 4), ("Home", 0)):
        page.keyboard.press(key)
        assert bar.get_attribute("aria-valuenow") == str(b)
        assert bar.get_attribute("aria-valuetext") == f"{b} unit{'' if b == 1 else 's'}"
        check_sizes(figure, b, 8)
        bar.focus()
    page.keyboard.press("PageDown")
    less, more = (figure.get_by_role("button", name=f"Item D: {word}") for word in ("less", "more"))
    more.tap()
    check_sizes(figure, 0, 30)
    assert more.is_disabled()
    less.tap()
    less.tap()
    check_sizes(figure, 0, 1)
    assert less.is_disabled()


@WIDTHS
def test_an_address_brings_sizes_back(open_parts, width):  # noqa: F811
    page = open_parts(FIGURES["sizes"].html, width=width)
    figure = page.locator("figure")
    figure.get_by_role("slider", name="Units of item B").press("End")
    figure.get_by_role("slider", name="Units of item D").press("Home")
    figure.locator(".gk-scrub input").fill("1")
    page.wait_for_function("location.hash.includes('step=1')")
    assert "item-b=4&item-d=1&step=1" in address_of(page)
    again = open_parts(FIGURES["sizes"].html, width=width, hash_=address_of(page)).locator("figure")
    assert again.locator(".gk-size-said").all_text_contents() == ["3", "4", "2", "1", "0"]
    assert again.locator(".gk-scrub input").input_value() == "1"


def test_who_looks_at_the_end_stays_there_and_who_looks_at_a_round_too(open_parts):  # noqa: F811
    page = open_parts(FIGURES["sizes"].html)
    figure = page.locator("figure")
    slider, d = figure.locator(".gk-scrub input"), figure.get_by_role("slider", name="of item D")
    slider.fill("3")
    d.press("End")
    assert slider.input_value() == "3"
    slider.fill(slider.get_attribute("max"))
    d.press("Home")
    assert slider.input_value() == slider.get_attribute("max")


@WIDTHS
def test_nothing_is_offered_that_a_page_without_scripts_lacks(open_parts, width):  # noqa: F811
    for view in (FIGURES["roots"], FIGURES["sizes"]):
        page = open_parts(view.html, width=width, scripts=False)
        text = re.sub(r"\s+", " ", page.locator("figure").inner_text())
        assert "Click" not in text
        assert "Drag" not in text
        assert page.locator("[role=slider], button, select").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_parts, theme):  # noqa: F811
    page = open_parts(FIGURES["roots"].html, FIGURES["sizes"].html, color_scheme=theme)
    assert TAGS
    assert [fault for fault in violations(page, structure=False) if "region" not in fault[0]] == []
