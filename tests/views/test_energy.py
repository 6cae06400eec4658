"""EnergyView's record: places on both axes, lines of equal energy, words, and its refusals."""

from __future__ import annotations

import math

import pytest

import gpukernels as gk
from gpukernels.errors import InvalidArgument
from gpukernels.views.energy.view import ends, lines, place

ROWS = [
    ("slow", "roads", 40.0, 150.0),
    ("fast", "roads", 2.0, 600.0),
    ("slow", "web", 10.0, 160.0),
]


def test_a_mark_stands_at_the_logarithms_of_its_numbers():
    record = gk.EnergyView(ROWS).payload
    (trace,) = record["traces"]
    assert (record["methods"], record["workloads"]) == (["slow", "fast"], ["roads", "web"])
    # From 2 to 50 ms and from 150 to 700 W.
    across = [1000 * math.log(ms / 2) / math.log(25) for ms in (40, 2, 10)]
    up = [1000 * math.log(w / 150) / math.log(700 / 150) for w in (150, 600, 160)]
    assert [*trace["x"][0], trace["x"][1][0]] == pytest.approx(across, abs=0.5)
    assert [*trace["y"][0], trace["y"][1][0]] == pytest.approx(up, abs=0.5)
    assert trace["energy"] == [["6 J", "1.2 J"], ["1.6 J", None]]
    assert trace["said"][0][1] == "2 ms at 600 W: 1.2 J a run"
    assert (trace["x"][1][1], trace["said"][1][1]) == (None, None)


def test_runs_of_equal_energy_lie_on_its_line():
    across, up = (0.1, 100.0), (100.0, 700.0)
    rows = lines(across, up)
    assert [line[4] for line in rows] == ["100 mJ", "1 J", "10 J"]
    for (x1, y1, x2, y2, _), energy in zip(rows, (1e2, 1e3, 1e4), strict=True):
        assert {x1, y1} & {0, 1000}, "it begins at an edge"
        assert {x2, y2} & {0, 1000}, "it ends at an edge"
        for watts in (150, 300, 500):
            ms = energy / watts
            if across[0] <= ms <= across[1]:
                x, y = place(ms, across), place(watts, up)
                on = y1 + (y2 - y1) * (x - x1) / (x2 - x1)
                assert y == pytest.approx(on, abs=3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [((3.2, 40), (3, 50)), ((100, 650), (100, 700)), ((7, 7), (7, 10)), ((0.012,), (0.01, 0.015))],
)
def test_axes_end_at_round_numbers_around_what_they_show(values, expected):
    assert ends(values) == pytest.approx(expected)


def test_a_sentence_names_who_needs_least_and_most():
    sentences = gk.EnergyView(ROWS).payload["traces"][0]["sentences"]
    assert sentences == [
        "roads: fast needs the least energy, 1.2 J, and slow 5 times as much. "
        "fast is the fastest, slow draws the fewest watts.",
        "web: slow takes 1.6 J a run.",
    ]
    assert sentences[0] in gk.EnergyView(ROWS).payload["description"]


ROW = ("a", "w", 1.0, 100.0)
REFUSED = {
    "rows = \\[\\]": {"rows": []},
    "rows = 'text'": {"rows": "text"},
    "rows = 5": {"rows": 5},
    r"rows\[0\] = \('a', 'w', 1.0\)": {"rows": [("a", "w", 1.0)]},
    r"rows\[1\] = .*two positive numbers": {"rows": [ROW, ("b", "w", 0.0, 100.0)]},
    r"rows\[0\] = .*from a millionth": {"rows": [("a", "w", float("nan"), 100.0)]},
    r"rows\[0\] = .*inf": {"rows": [("a", "w", 1.0, float("inf"))]},
    r"rows\[0\] = .*True": {"rows": [("a", "w", True, 100.0)]},
    r"rows\[0\] = .*no text is empty": {"rows": [("", "w", 1.0, 100.0)]},
    r"rows\[1\] = \('a', 'w'\)": {"rows": [ROW, ROW]},
    "9 methods": {"rows": [(f"m{k}", "w", 1.0, 100.0) for k in range(9)]},
    "25 workloads": {"rows": [("a", f"w{k}", 1.0, 100.0) for k in range(25)]},
    "step = 1: must be from 0 to 0": {"rows": [ROW], "step": 1},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_measurement_is_refused(message):
    with pytest.raises(InvalidArgument, match=message):
        gk.EnergyView(**REFUSED[message])
