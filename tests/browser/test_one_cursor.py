"""Marks that stand for one thing light up together: by pointer, by tap, by key, and in words."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from made_once import MadeOnce
from test_views import (  # noqa: F401
    EIGHT,
    EXAMPLE,
    TRACES,
    VIEWS,
    expanded,
    faults,
    folder,
    open_figures,
)

import gpukernels as gk
from gpukernels.trace import LOAD
from gpukernels.views import FrontierView, MappingView, WarpView

LEVEL = 4
FIGURES = MadeOnce(
    {
        "levels": lambda: FrontierView(gk.road_grid(6, 7, seed=1), TRACES["harish"], step=LEVEL),
        **{name: partial(VIEWS.__getitem__, name) for name in ("warp", "memory", "rows")},
        "mapping": lambda: MappingView(
            expanded(EIGHT, ("work_item_to_thread", "virtual_warp")), EIGHT
        ),
    }
)
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def words(page):
    return page.locator(".gk-pointed-words").text_content()


def lit(page, part):
    """Return how many boxes or lines of a part are lit."""
    paths = page.locator(f"{part} .gk-lit-line").all()
    return sum((path.get_attribute("d") or "").count("M") for path in paths)


def lit_lanes(page):
    """Return how many lanes of timelines are lit; neighbors share a box."""
    paths = page.locator(".gk-strip .gk-lit-line").all()
    return sum(int(v) for p in paths for v in re.findall(r"v(\d+)", p.get_attribute("d") or ""))


def place(page, selector, x, y):
    """Return where the point (x, y) of a picture lies on the page."""
    picture = page.locator(selector).first
    picture.scroll_into_view_if_needed()
    return picture.evaluate(
        """(svg, [x, y]) => {
            const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
            return [place.x, place.y];
        }""",
        [x, y],
    )


def an_arc():
    """Return an arc over which the level found a vertex, its line, and the middle of that."""
    view = FIGURES["levels"]
    drawing, level = view._drawing, view._levels[""][LEVEL]
    arc = int(level.found_arcs[0])
    line = int(drawing.line_of_arc[arc])
    a, b = drawing.tail[line], drawing.head[line]
    middle = [(drawing.x[a] + drawing.x[b]) / 20, (drawing.y[a] + drawing.y[b]) / 20]
    return arc, line, middle


def loads_of(line):
    """Return who loads the arcs of a drawn line in the level, from the trace itself."""
    view, trace = FIGURES["levels"], TRACES["harish"]
    level, r = view._levels[""][LEVEL], trace.requests
    arcs = np.flatnonzero(view._drawing.line_of_arc == line)
    targets = np.isin(r.array, trace.array_named("targets")) & (r.kind == LOAD)
    rows = np.flatnonzero(targets & np.isin(r.launch, level.launches))
    found = []
    for row in rows.tolist():
        for k, lane in enumerate(r.lanes(row).tolist()):
            arc = int(r.index[r.start[row] + k])
            if arc in arcs:
                who = int(r.block[row]), int(r.warp[row]), lane
                found.append((arc, who, int(r.line[row])))
    return arcs.tolist(), found


@WIDTHS
def test_an_arc_its_thread_its_line_its_cell_and_its_sector_light_up_together(open_figures, width):  # noqa: F811
    page = open_figures(["levels"], views=FIGURES, width=width)
    figure = page.locator("figure")
    before = figure.bounding_box()
    _, line, middle = an_arc()
    arcs, loads = loads_of(line)
    assert loads
    page.mouse.move(*place(page, ".gk-graph", *middle))
    said = words(page)
    for arc in arcs:
        assert f"(targets[{arc}])" in said
    assert {number for *_, number in loads} == {int(re.search(r"line (\d+)", said)[1])}
    sectors = {arc // 8 for arc, *_ in loads}
    assert all(str(s) in re.search(r"sectors? ([\d, ]+)", said)[1] for s in sectors)
    who = {who for _, who, _ in loads}
    if len(who) == 1:
        assert "thread (block {} warp {} lane {})".format(*who.copy().pop()) in said
    assert lit(page, ".gk-graph") == 1
    assert lit(page, ".gk-walks") == len(arcs) + len(who) + len(sectors)
    assert figure.locator(".gk-code-line").get_attribute("data-lit") == "yes"
    assert figure.bounding_box() == before
    page.mouse.move(0, 0)
    assert (words(page), lit(page, "figure")) == ("", 0)
    assert figure.locator(".gk-code-line").get_attribute("data-lit") == ""
    assert figure.bounding_box() == before


@WIDTHS
def test_a_click_or_tap_pins_and_a_second_one_or_escape_lets_go(open_figures, width):  # noqa: F811
    page = open_figures(["levels"], views=FIGURES, width=width, has_touch=True)
    point = page.touchscreen.tap if width == 390 else page.mouse.click
    _, _, middle = an_arc()
    point(*place(page, ".gk-graph", *middle))
    pinned = words(page)
    assert pinned.startswith("Pinned: arc")
    page.mouse.move(*place(page, ".gk-walks", 60, 6))
    assert words(page) == pinned
    # What it is about at another level is said there.
    slider = page.get_by_role("slider")
    slider.fill("11")
    assert words(page).endswith(": nothing in this level.")
    slider.fill(str(LEVEL))
    assert words(page) == pinned
    point(*place(page, ".gk-graph", *middle))
    assert not words(page).startswith("Pinned")
    point(*place(page, ".gk-graph", *middle))
    assert words(page) == pinned
    page.keyboard.press("Escape")
    assert (words(page), lit(page, "figure")) == ("", 0)


def test_keys_go_through_arcs_and_threads_and_enter_pins(open_figures):  # noqa: F811
    page = open_figures(["levels"], views=FIGURES)
    page.locator(".gk-walks").focus()
    page.keyboard.press("ArrowRight")
    assert words(page).startswith("arc 0→")
    page.keyboard.press("ArrowDown")
    first = words(page)
    assert first.startswith("thread (block 0 warp 0 lane ")
    assert lit(page, ".gk-graph") > 0
    page.keyboard.press("Enter")
    assert words(page) == f"Pinned: {first}"
    page.locator(".gk-scrub input").focus()
    assert words(page) == f"Pinned: {first}"
    page.keyboard.press("Escape")
    assert words(page) == ""
    assert page.get_by_role("slider").input_value() == str(LEVEL)


def test_a_vertex_is_left_to_the_picture(open_figures):  # noqa: F811
    page = open_figures(["levels"], views=FIGURES)
    drawing = FIGURES["levels"]._drawing
    page.mouse.click(*place(page, ".gk-graph", drawing.x[8] / 10, drawing.y[8] / 10))
    assert words(page) == ""
    assert page.locator(".gk-graph .gk-note").text_content().startswith("vertex 8")


@WIDTHS
def test_a_lane_its_line_and_its_sector_light_up_together(open_figures, width):  # noqa: F811
    page = open_figures(["warp"], views=FIGURES, width=width)
    view = FIGURES["warp"]
    rows, (record,) = view._read[""]
    access = next(a for a in record.accesses if not a.shared and a.cost > 1)
    lanes = [k for k in range(32) if access.mask >> k & 1]
    lane, index = lanes[-1], int(access.index[-1])
    number = rows[record.row[access.step]].number
    page.get_by_role("slider").fill(str(access.step))
    before = page.locator("figure").bounding_box()
    at = place(page, ".gk-strip", access.step + 0.5, lane + 0.5)
    page.mouse.move(*at)
    own = f"{access.array}[{index}], sector {index * access.itemsize // 32} of {access.array}."
    assert words(page) == f"lane {lane}: line {number}, {own}"
    assert lit_lanes(page) == 1
    assert lit(page, ".gk-memory") == 1
    assert page.locator(".gk-row[data-lit=yes]").text_content().startswith(str(number))
    # And back: a sector lights its lanes, a line all of them.
    sectors = index_of = sorted({int(i) * access.itemsize // 32 for i in access.index})
    page.mouse.move(*place(page, ".gk-memory", 32 * index_of.index(sectors[0]) + 16, 8))
    mine = [i for i in access.index.tolist() if i * access.itemsize // 32 == sectors[0]]
    assert words(page).startswith(f"sector {sectors[0]} of {access.array}: ")
    assert lit_lanes(page) == len(mine)
    row = page.locator(".gk-row-now code")
    row.scroll_into_view_if_needed()
    row.hover()
    assert words(page).startswith(f"line {number}: ")
    assert lit_lanes(page) == int(record.mask[access.step]).bit_count()
    assert lit(page, ".gk-memory") == len(sectors)
    assert page.locator("figure").bounding_box() == before


def test_a_click_into_the_timeline_brings_its_step_and_pins_the_lane(open_figures):  # noqa: F811
    page = open_figures(["warp"], views=FIGURES)
    (record,) = FIGURES["warp"]._read[""][1]
    for step in (1, 3):
        page.mouse.click(*place(page, ".gk-strip", step + 0.5, 4.5))
        assert page.get_by_role("slider").input_value() == str(step)
        assert words(page).startswith("Pinned: lane 4: ")
        active = int(record.mask[step]) >> 4 & 1
        assert words(page).endswith("nothing in this step.") == (not active)
    page.locator(".gk-program").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert words(page).startswith("line ")
    page.locator(".gk-strip").first.focus()
    page.keyboard.press("ArrowDown")
    assert words(page).startswith("lane 0")


def test_a_record_without_addresses_still_draws_and_ties_lanes_to_lines(open_figures):  # noqa: F811
    old = WarpView(TRACES["harish"], launch=5, warp=0, step=6)
    payload = old.payload
    for trace in payload["traces"]:
        trace.pop("sizes")
        for warp in trace["warps"]:
            warp.pop("who"), warp.pop("index")
    old.html = gk.views.figure.figure_html(payload)
    levels = FrontierView(gk.road_grid(6, 7, seed=1), TRACES["harish"])
    levels.payload.pop("arcs")
    for trace in levels.payload["traces"]:
        trace.pop("walks")
    levels.html = gk.views.figure.figure_html(levels.payload)
    page = open_figures(["old", "levels"], views={"old": old, "levels": levels})
    assert page.locator("figure[data-ready]").count() == 2
    assert page.locator(".gk-memory, .gk-walks").count() == 0
    page.mouse.move(*place(page, ".gk-strip", 0.5, 2.5))
    assert re.match(r"lane 2, step 1: line \d+\.$", words(page))


@WIDTHS
def test_the_other_figures_light_both_ways(open_figures, width):  # noqa: F811
    page = open_figures(["memory"], views=FIGURES, width=width)
    request = FIGURES["memory"]._requests[""][5]
    page.locator(".gk-addresses").focus()
    page.keyboard.press("ArrowRight")
    sector = int(request.index[0]) * request.array.itemsize // 32
    assert words(page) == (
        f"lane {request.lanes[0]}: element {request.index[0]}, sector {sector}, "
        f"source line {request.line}."
    )
    page.locator(".gk-code-line").hover()
    assert lit(page, ".gk-addresses") == (
        len(request.lanes) + len({*request.index.tolist()}) + request.turns
    )
    page = open_figures(["rows"], views=FIGURES, width=width)
    page.locator(".gk-csr").focus()
    page.keyboard.press("ArrowRight")
    assert words(page) == f"arc 0→{EXAMPLE.targets[0]} (targets[0]): row 0 is targets[0:7]."
    assert (lit(page, ".gk-csr"), lit(page, ".gk-graph")) == (3, 1)
    page = open_figures(["mapping"], views=FIGURES, width=width)
    before = page.locator("figure").bounding_box()
    page.locator(".gk-map-strip").first.focus()
    page.keyboard.press("ArrowRight")
    techniques = page.locator(".gk-map-panel").count()
    assert words(page) == f"unit 0: item A, its thread in each of {techniques} techniques."
    assert lit(page, ".gk-map-strip") == lit(page, ".gk-map-bars") == techniques
    page.mouse.move(*place(page, ".gk-map-strip", 9, 5))
    assert words(page).startswith("item A: 3 units, ")
    assert lit(page, ".gk-map-strip") == 3 * techniques
    page.mouse.move(*place(page, ".gk-map-bars", 0.5, 25))
    assert words(page).startswith("thread 0 of “work_item_to_thread”: ")
    assert page.locator("figure").bounding_box() == before


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_pinned_mark_is_readable_by_all(open_figures, theme):  # noqa: F811
    page = open_figures(
        ["levels", "warp"], views=FIGURES, theme=theme, width=390, reduced_motion="reduce"
    )
    for name in ("levels", "warp"):
        figure = page.locator(f"figure.gk-view-{'frontier' if name == 'levels' else name}")
        figure.locator(".gk-walks, .gk-program").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        live = figure.locator(".gk-pointed-words")
        assert live.get_attribute("aria-live") == "polite"
        assert live.text_content().startswith("Pinned: ")
        figure.locator(".gk-play").click()
        assert live.get_attribute("aria-live") == "off"
        figure.locator(".gk-play").click()
    assert faults(page) == []
