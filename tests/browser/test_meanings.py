"""The number of a counter says what it counts: to a pointer, a tap and a key, in full width too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_addresses import open_parts  # noqa: F401
from test_views import BLOCKED, EXAMPLE, TRACES, WEIGHED, all_pairs, folder, relaxed  # noqa: F401

from gpukernels.trace import metrics
from gpukernels.views import RelaxView, TileView, WarpView

SHARE = (
    "Active lanes of all steps so far, divided by 32 times the steps: 100% if no lane has waited."
)


def warp():
    return WarpView(TRACES["harish"], launch=5, warp=0, step=6)


def note(page):
    return page.locator(".gk-meaning")


def test_a_pointer_asks_and_lets_go(open_parts):  # noqa: F811
    page = open_parts(warp().html)
    name = page.get_by_text("SIMD efficiency", exact=True)
    assert not note(page).is_visible()
    name.hover()
    assert note(page).text_content() == SHARE
    assert note(page).is_visible()
    assert name.get_attribute("aria-describedby") == note(page).get_attribute("id")
    page.locator(".gk-title").hover()
    assert not note(page).is_visible()
    name.click()
    page.locator(".gk-title").hover()
    assert note(page).is_visible()
    page.get_by_text("divergent branches", exact=True).click()
    assert "disagreed" in note(page).text_content()
    page.keyboard.press("Escape")
    assert not note(page).is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_tap_keeps_the_words_in_the_window_until_the_next(open_parts, width):  # noqa: F811
    page = open_parts(warp().html, width=width, has_touch=True)
    if width > 390:
        page.get_by_role("button", name="Full width").tap()
    elif not page.locator(".gk-counter dt").first.is_visible():
        page.get_by_role("button", name=re.compile("Numbers")).tap()
    names = page.locator(".gk-counter dt")
    for k in range(names.count()):
        names.nth(k).tap()
        box = note(page).bounding_box()
        assert 0 <= box["x"] <= width - box["width"]
        assert 0 <= box["y"] <= 800 - box["height"]
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        on_top = "([x, y]) => document.elementFromPoint(x, y).className"
        assert page.evaluate(on_top, middle) == "gk-meaning"
        assert note(page).text_content().endswith(".")
    names.last.tap()
    assert not note(page).is_visible()


def test_keys_go_from_name_to_name_and_leave_the_steps_alone(open_parts):  # noqa: F811
    page = open_parts(warp().html)
    names = page.locator(".gk-counter dt")
    stops = names.evaluate_all("all => all.map((name) => name.tabIndex)")
    assert stops == [0, *[-1] * (names.count() - 1)]
    page.locator(".gk-program").focus()
    page.keyboard.press("Tab")
    assert note(page).text_content().startswith("Lanes of this warp")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert note(page).text_content() == SHARE
    said = page.locator(".gk-now").text_content()
    page.keyboard.press("ArrowUp")
    assert note(page).text_content().startswith("Each statement")
    assert page.locator(".gk-now").text_content() == said
    page.keyboard.press("ArrowRight")
    assert page.locator(".gk-now").text_content() != said
    page.keyboard.press("Escape")
    assert not note(page).is_visible()


def test_numbers_of_several_runs_are_explained_in_each(open_parts):  # noqa: F811
    runs = RelaxView(WEIGHED, relaxed(WEIGHED), step=2).html
    tiles = TileView(all_pairs(EXAMPLE, naive={}, blocked=BLOCKED), step=6).html
    page = open_parts(runs, tiles)
    for name in page.get_by_text("needed", exact=True).all()[:2]:
        name.hover()
        assert note(page).first.text_content().startswith("Relaxations so far from a distance")
    page.get_by_role("rowheader", name="operations").hover()
    assert note(page).last.text_content().startswith("Additions so far")


def test_a_figure_arrives_at_the_step_that_its_warp_takes(open_parts):  # noqa: F811
    trace = TRACES["harish"]
    steps = int(metrics.per_warp(trace.steps, trace.launches[5])[0, 0])
    page = open_parts(WarpView(trace, launch=5, warp=0).html)
    label, slider = page.locator("output.gk-track-label"), page.locator(".gk-scrub input")
    assert label.text_content() == f"step 1of {steps}"
    assert slider.get_attribute("aria-valuetext") == f"step 1 of {steps}"
    assert page.locator(".gk-now").text_content().startswith("Step 1, line")
    for _ in range(steps - 1):
        page.get_by_role("button", name="Next step").click()
    assert not page.get_by_role("button", name="Next step").is_enabled()
    assert label.text_content() == f"step {steps}of {steps}"
    assert slider.get_attribute("aria-valuetext") == f"step {steps} of {steps}"
    assert page.locator(".gk-now").text_content().startswith(f"Step {steps}, line")
    assert np.int64(slider.input_value()) == steps - 1
