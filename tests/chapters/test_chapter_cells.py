"""A test of a chapter reads a value, and the cells on which it depends are run for it."""

from __future__ import annotations

import pytest
from chapter_cells import Cells, Page

CELLS = {
    "imports": "import math\n\nran = []",
    "first": "ran.append('first')\nrows = [1]\nfor k in range(3):\n    rows.append(k)",
    "function": "def total(scale):\n    return scale * sum(rows)",
    "costly": "ran.append('costly')\nmany = [k for k in range(9)]",
    "branch": "if not rows:\n    missing = 1\nk = 7",
    "again": "rows += [10]\nshown = display(rows)",
    "last": "rows = [math.pi]",
}


@pytest.fixture
def cells():
    page = Page.__new__(Page)
    page.name, page.cells = (
        "drawn",
        [
            {"cell_type": "code", "id": label, "metadata": {}, "source": [source]}
            for label, source in CELLS.items()
        ],
    )
    return Cells(page)


def test_a_value_is_that_at_the_end_or_after_a_cell(cells):
    assert cells.rows == [3.141592653589793]
    assert cells.after("first").rows is cells.after("function").rows
    assert cells.after("again").rows == [1, 0, 1, 2, 10]
    assert (cells.after("first").k, cells.k) == (2, 7)


def test_a_function_has_the_values_of_its_place(cells):
    assert cells.total(2) == 8


def test_only_the_cells_that_a_value_depends_on_are_run(cells):
    assert cells.total(1) == 4
    assert cells.after("imports").ran == ["first"]


def test_names_without_a_value_are_missing(cells):
    with pytest.raises(AttributeError, match="no cell gives unknown a value"):
        _ = cells.unknown
    with pytest.raises(KeyError):
        _ = cells.missing


def test_a_sentence_is_found_over_the_ends_of_lines():
    page = Page("hbf")
    page.says("H-BF looks at every arc before the search starts. It skips some")
    with pytest.raises(AssertionError, match="hbf does not say 'twelve elephants'"):
        page.says("twelve elephants")
