"""A table that is wider than a phone has a shade at each side where more of it is hidden."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread

#: Pages with some tables that are wider than a phone and some that fit. They have no figures, so
#: they open quickly.
WIDE, FITTING = "book/profiler.html", "book/notation.html"
TABLE = "article .pst-scrollable-table-container"


@pytest.fixture
def phone(open_page):
    """Return a function that opens the page with wide tables, or another one, on a phone."""
    return lambda name=WIDE, **options: open_page(name, width=390, **options)[0]


def wide_table(page):
    """Return the first table that is wider than its box, in view."""
    tables = page.query_selector_all(TABLE)
    table = next(t for t in tables if t.evaluate("e => e.scrollWidth > e.clientWidth + 100"))
    table.scroll_into_view_if_needed()
    return table


def edges(page, table) -> dict[str, float]:
    """Return the distance of the colors at each side of the table from its background.

    Most of a column of pixels has no words, so the middle one of its colors is the background.
    """
    box = table.bounding_box()
    clip = {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}
    shown = imread(io.BytesIO(page.screenshot(clip=clip)))[..., :3]
    behind = np.median(shown.reshape(-1, 3), axis=0)
    sides = {"left": shown[:, 0], "right": shown[:, -1]}
    return {side: float(np.abs(np.median(c, axis=0) - behind).max()) for side, c in sides.items()}


SEEN, UNSEEN = 0.08, 0.02


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_shade_lies_at_the_side_beyond_which_there_is_more(phone, theme):
    page = phone(theme=theme)
    table = wide_table(page)
    begin = edges(page, table)
    assert begin["right"] > SEEN
    assert begin["left"] < UNSEEN
    table.evaluate("e => { e.scrollLeft = (e.scrollWidth - e.clientWidth) / 2; }")
    middle = edges(page, table)
    assert min(middle.values()) > SEEN
    table.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    end = edges(page, table)
    assert end["left"] > SEEN
    assert end["right"] < UNSEEN


def test_what_has_room_has_no_shade(phone):
    page = phone(FITTING)
    fits = "e => e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().height > 30"
    tables = [t for t in page.query_selector_all(TABLE) if t.evaluate(fits)]
    assert tables
    for table in tables:
        table.scroll_into_view_if_needed()
        assert max(edges(page, table).values()) < UNSEEN


def test_the_keyboard_reaches_a_wide_table_and_scrolls_it(phone):
    page = phone()
    table = wide_table(page)
    names = page.evaluate(f"[...document.querySelectorAll('{TABLE}')].map((e) => e.ariaLabel)")
    assert all(names)
    assert len(set(names)) == len(names)
    table.focus()
    assert table.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.scrollLeft > 0", arg=table)
