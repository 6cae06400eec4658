"""The table prints, shows and refuses as its docstring says."""

import numpy as np
import pytest

from gpukernels.notebook.table import Table


def test_prints_aligned_text_with_the_number_formats_of_the_docstring():
    table = Table(("method", "steps", "share"), [("a", 12345, 0.12345), ("bc", None, 1234.5)])
    assert repr(table).splitlines() == [
        "method   steps  share",
        "a       12,345  0.123",
        "bc           –  1,234",
    ]


def test_numpy_numbers_and_truth_values_are_formatted_like_pythons():
    table = Table(("x", "y", "z"), [("r", np.int32(4096), np.float64(2.5)), ("s", True, 0.0)])
    assert table.rows == [["r", "4,096", "2.5"], ["s", "yes", "0"]]


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.float16])
def test_infinity_and_what_is_not_a_number_are_shown(kind):
    table = Table(("", "a", "b", "c"), [("r", *map(kind, ("inf", "-inf", "nan")))])
    assert table.rows == [["r", "∞", "−∞", "NaN"]]
    assert "<td>∞</td><td>−∞</td><td>NaN</td>" in table._repr_html_()
    assert repr(table).splitlines()[1] == "r  ∞  −∞  NaN"


def test_whole_numbers_keep_every_digit():
    large = 2**62 + 1
    table = Table(("", "a", "b", "c"), [("r", large, np.int64(large), 10**400), ("s", 1, 2, 3)])
    assert table.rows[0][1:3] == ["4,611,686,018,427,387,905"] * 2
    assert table.rows[0][3] == f"{10**400:,}"
    assert Table(("t",), [(np.bool_(True),), (np.bool_(False),)]).rows == [["yes"], ["no"]]


def test_html_escapes_text_and_heads_every_row_and_column():
    shown = Table(("a<b", "n"), [("<row>", 1)], caption="x & y")._repr_html_()
    assert '<th scope="col">a&lt;b</th>' in shown
    assert '<th scope="row">&lt;row&gt;</th><td>1</td>' in shown
    assert "<caption>x &amp; y</caption>" in shown


def test_words_are_aligned_left_and_broken_into_lines():
    long = "a thread a vertex, every vertex at every level, and some words more"
    table = Table(("method", "idea", "n"), [("harish", long, "x"), ("a", "b", "c")], words=True)
    assert repr(table).splitlines() == [
        "method  idea                                      n",
        "harish  a thread a vertex, every vertex at every  x",
        "        level, and some words more",
        "a       b                                         c",
    ]
    assert '<div class="gk-table gk-words">' in table._repr_html_()


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="3 values for 2 columns"):
        Table(("a", "b"), [("r", 1, 2)])
