"""What stands under a table of times: who measured, when, and what was measured apart."""

from __future__ import annotations

from gpukernels.bench import record

HEAD = {"device": "G", "driver": "1", "numba_cuda": "2", "date": "2026-01-02", "commit": "abc"}
LINE = "G, driver 1, numba-cuda 2; 2026-01-02, commit abc"


def row(graph, **searches):
    return {"graph": graph, "searches": searches}


def test_measurements_name_device_versions_date_and_commit():
    assert record.provenance(HEAD) == LINE
    assert record.provenance({**HEAD, "times": [row("road", heap={"call_ms": 1.0})]}) == LINE
    # Of other files the rows are no searches.
    assert record.provenance({**HEAD, "times": [{"technique": "merge path"}]}) == LINE


def test_searches_that_were_measured_apart_are_told_once_a_graph_and_commit():
    apart = {"date": "2026-01-05", "commit": "def"}
    times = [row("road", a=apart, b=apart, c={}), row("grid", a=apart), row("kron", a={})]
    some = "; of {} some on 2026-01-05, commit def"
    assert record.provenance({**HEAD, "times": times}) == (
        LINE + some.format("grid") + some.format("road")
    )
