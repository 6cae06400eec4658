"""Stored measurements are read as tables and figures take them."""

from __future__ import annotations

import gpukernels as gk
from gpukernels.notebook import record

HEAD = {"device": "G", "driver": "1", "numba_cuda": "2", "date": "2026-01-02", "commit": "abc"}
LINE = "G, driver 1, numba-cuda 2; 2026-01-02, commit abc"


def row(graph, **searches):
    return {"graph": graph, "searches": searches}


def test_measurements_name_device_versions_date_and_commit():
    assert record.provenance(HEAD) == LINE
    assert record.provenance({**HEAD, "times": [row("road", heap={"call_ms": 1.0})]}) == LINE
    # Of other files the rows are no searches.
    assert record.provenance({**HEAD, "times": [{"technique": "merge path"}]}) == LINE


APART, LATER = ({"date": f"2026-01-{day}", "commit": f"c{day}"} for day in ("05", "06"))


def test_searches_that_were_measured_apart_are_named_once_a_commit():
    times = [row("road", a=APART, b=APART, c={}), row("grid", a=APART, d=LATER), row("kron", a={})]
    assert record.provenance({**HEAD, "times": times}) == (
        f"{LINE}; a and b on 2026-01-05, commit c05; d on 2026-01-06, commit c06"
    )


def test_works_that_were_measured_apart_name_a_device_of_their_own():
    works = [{"work": "blocked", "graph": "g", **APART, "device": "H"}, {"work": "copy", **LATER}]
    times = [{"work": "sssp_many", "graph": "g"}, works[0], works[0]]
    line = f"{LINE}; blocked on 2026-01-05, commit c05, H"
    assert record.provenance({**HEAD, "times": times, "copies": works[1:]}) == line
    to_host = [{"work": "to_host", "memory": "fresh", **LATER}] * 2
    line += "; to_host on 2026-01-06, commit c06"
    assert record.provenance({**HEAD, "times": times, "to_host": to_host}) == line


def test_what_a_table_does_not_show_is_not_named_under_it():
    measured = {**HEAD, "times": [row("road", a=APART, b=LATER, c={})]}
    assert record.provenance(measured, "c") == LINE
    assert record.provenance(measured, "b", "c") == f"{LINE}; b on 2026-01-06, commit c06"


def test_the_times_of_searches_are_runs_to_compare():
    times = {"kernel_ms": 1.5, "call_ms": 3.0, "roots_kernel_ms": 2.0}
    searches = {
        "it": times, "it k=1": times, "one core": {"call_ms": 9.0}, "slow": {"stopped_after_ms": 5}
    }  # fmt: skip
    kept = {"times": [{"graph": "road", "searches": searches}]}
    full = {"kernels": 1.5, "whole call": 3.0, "kernels, other roots": 2.0}
    assert record.runs(kept) == [
        ("it", "road", full),
        ("one core", "road", {**dict.fromkeys(full, "no GPU"), "whole call": 9.0}),
        ("slow", "road", dict.fromkeys(full, "given up")),
    ]
    assert record.runs(kept, "it k=1") == [("it k=1", "road", full)]
    times["share_of_bandwidth"] = 0.5
    share = record.runs(kept, "it", "slow", figures={"share_of_bandwidth": "of a copy"})
    assert [of for *_, of in share] == [{"of a copy": 50}, {"of a copy": "given up"}]
    assert gk.CompareView(record.runs(kept)).csv
