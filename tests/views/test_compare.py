"""CompareView's record: numbers, the best ones, reasons for missing ones; and its refusals."""

import csv
import io

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.errors import InvalidArgument

NO = "takes no negative weights"
ROWS = [
    ("heap", "roads", {"steps": 10, "ms": 2.0, "share": 50.0}),
    ("heap", "hills", {"steps": NO, "ms": None, "share": 1}),
    ("sweep", "roads", {"steps": 4000, "ms": 1.0}),
]


def trace_of(view, counter):
    (trace,) = (t for t in view.payload["traces"] if t["label"] == counter)
    return trace


def test_a_cell_holds_its_number_a_reason_or_that_there_is_none():
    view = gk.CompareView(ROWS, units={"share": "%"})
    assert view.payload["methods"] == ["heap", "sweep"]
    assert view.payload["graphs"] == ["roads", "hills"]
    assert trace_of(view, "steps")["texts"] == [["10", NO], ["4,000", "no run"]]
    assert trace_of(view, "ms")["texts"] == [["2", "not counted"], ["1", "no run"]]
    assert trace_of(view, "steps")["values"] == [[10, None], [4000, None]]


def test_the_best_of_a_graph_is_the_least_unless_more_is_better():
    for better, notes in (("lower", ["×2", "best"]), ("higher", ["best", "×0.5"]), ("", ["", ""])):
        view = gk.CompareView(ROWS, better={"ms": better})
        assert [row[0] for row in trace_of(view, "ms")["notes"]] == notes


def test_equals_are_both_best_and_zero_has_no_multiples():
    rows = [(m, "g", {"steps": s}) for m, s in (("a", 0), ("b", 0), ("c", 3))]
    assert trace_of(gk.CompareView(rows), "steps")["notes"] == [["best"], ["best"], [""]]


def test_a_wide_range_asks_for_a_log_scale_but_shares_and_signs_do_not():
    view = gk.CompareView(ROWS, units={"share": "%"})
    assert trace_of(view, "steps")["log"]
    assert trace_of(view, "steps")["scale"] == "10 to 10,000"
    assert trace_of(view, "steps")["ticks"] == [0, 333, 667, 1000]
    assert [row[0] for row in trace_of(view, "steps")["places"]] == [
        0,
        round(1000 * np.log10(400) / 3),
    ]
    assert not trace_of(view, "ms")["log"]
    assert not trace_of(view, "share")["log"]
    signed = gk.CompareView([("a", "g", {"gain": -5}), ("b", "g", {"gain": 500})])
    gain = trace_of(signed, "gain")
    assert not gain["log"]
    assert gain["places"] == [[0], [1000]]
    assert gain["ticks"] == [round(5000 / 505)]


@pytest.mark.parametrize("value", [0, -3, 7, 1e-9, 1e300, np.int64(12), np.float32(0.5), 10**20])
def test_a_single_number_of_any_size_is_drawn(value):
    view = gk.CompareView([("a", "g", {"x": value})])
    (place,) = trace_of(view, "x")["places"][0]
    assert len(trace_of(view, "x")["texts"][0][0]) < 20
    assert 0 <= place <= 1000
    assert list(csv.reader(io.StringIO(view.csv)))[1][2] == str(view._traces[0]["values"][0][0])


def test_the_csv_has_every_run_as_it_was_given():
    view = gk.CompareView([*ROWS, ('a, "b"', "x\ny", {"ms": 0.1})], units={"ms": "ms"})
    head, *rows = csv.reader(io.StringIO(view.csv, newline=""))
    assert head == ["method", "graph", "steps", "ms (ms)", "share"]
    assert rows[1] == ["heap", "hills", NO, "", "1"]
    assert rows[3] == ['a, "b"', "x\ny", "", "0.1", ""]


def test_the_description_tells_the_range_of_each_graph_and_who_has_no_number():
    text = gk.CompareView(ROWS, better={"share": "higher"}).payload["description"]
    assert "steps: Lower is better. roads: from 10 (heap) to 4,000 (sweep)." in text
    assert "hills: no number; none: heap, sweep." in text
    assert "share: Higher is better. roads: from 50 (heap) to 50" not in text


REFUSED = {
    "rows = 3": {"rows": 3},
    "rows = 'abc'": {"rows": "abc"},
    r"rows = \[\]": {"rows": []},
    r"rows\[0\] = 'abc'": {"rows": ["abc"]},
    r"rows\[1\] = \('heap', 'roads'\): must be a run that did not": {"rows": ROWS[:1] * 2},
    r"rows\[0\]\[2\]\['x'\] = nan": {"rows": [("a", "g", {"x": float("nan")})]},
    r"rows\[0\]\[2\]\['x'\] = inf": {"rows": [("a", "g", {"x": float("inf")})]},
    r"rows\[0\]\[2\]\['x'\] = True": {"rows": [("a", "g", {"x": True})]},
    r"rows\[0\]\[2\]\['x'\] = ''": {"rows": [("a", "g", {"x": ""})]},
    r"rows\[0\]\[2\]\['x'\] = 1000.*a finite number": {"rows": [("a", "g", {"x": 10**400})]},
    r"rows\[0\] = \('', 'g'.*no text is empty": {"rows": [("", "g", {"x": 1})]},
    "rows = '25 methods': must be of at most 24": {
        "rows": [(str(k), "g", {"x": 1}) for k in range(25)]
    },
    "rows = '7 graphs'": {"rows": [("m", str(k), {"x": 1}) for k in range(7)]},
    "better = 'miles'": {"rows": ROWS, "better": {"miles": "lower"}},
    r"better\['ms'\] = 'most': must be 'lower', 'higher' or ''": {
        "rows": ROWS,
        "better": {"ms": "most"},
    },
    "units = 3": {"rows": ROWS, "units": 3},
    "counter = 'miles': must be one of": {"rows": ROWS, "counter": "miles"},
    "file = 3": {"rows": ROWS, "file": 3},
    "heads = 'graph': must be two texts": {"rows": ROWS, "heads": "graph"},
    r"heads = \('graph', ''\)": {"rows": ROWS, "heads": ("graph", "")},
    r"heads\[1\] = 3": {"rows": ROWS, "heads": ("graph", 3)},
    "title = 3": {"rows": ROWS, "title": 3},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_comparison_is_refused_by_name(message):
    with pytest.raises(InvalidArgument, match=message):
        gk.CompareView(**REFUSED[message])


@pytest.mark.parametrize(
    ("tied", "named"), [(1, "a"), (2, "a, b"), (3, "a and 2 others"), (7, "a and 6 others")]
)
def test_a_tie_of_many_names_the_first_and_counts_the_others(tied, named):
    rows = [(m, "g", {"waits": 0}) for m in "abcdefg"[:tied]] + [("z", "g", {"waits": 5})]
    sentence = gk.CompareView(rows).payload["traces"][0]["sentence"]
    assert sentence == f"Lower is better. g: from 0 ({named}) to 5 (z)."
    without = [(m, "g", {"waits": "too large"}) for m in "abcdefg"[:tied]]
    sentence = gk.CompareView([*without, ("z", "g", {"waits": 5})]).payload["traces"][0]["sentence"]
    assert sentence.endswith(f"; none: {named}.")


def test_rows_and_columns_are_called_what_they_are():
    rows = [(graph, "a thread a vertex", {"steps": k}) for k, graph in enumerate(("star", "path"))]
    view = gk.CompareView(rows, heads=("graph", "mapping"))
    assert view.csv.startswith("graph,mapping,steps\r\n")
    assert repr(view) == "CompareView(By graph and mapping, 2 × 1; steps)"
    assert view.payload["description"].startswith("By graph and mapping, 2 × 1. steps: ")
    html, _, _ = view.html.partition("<script")
    for markup in ('scope="col">graph</th>', 'aria-label="steps, by graph and mapping"'):
        assert markup in html
    assert "best of its mapping" in html
    assert "method" not in html
    assert "heads" not in gk.CompareView(ROWS).payload
