"""The benchmark of duplicates measures every way in every search that can exchange them."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import duplicates as bench
from gpukernels.bench.search_time import timer_for
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.traversal import BFSResult


def test_every_way_is_measured_in_every_search():
    timer = timer_for(gk.SimtDevice())
    timer.busy_rounds = 2
    rows = bench.measure(timer, gk.road_grid(3, 3, seed=1), 0, 1, 1000.0, roots=1)
    ways = [(row["method"], row["duplicates"]) for row in rows]
    assert ways == [(method, way) for method in bench.SEARCHES for way in DUPLICATES]
    missed = {way: row["missed"] for way, row in zip(ways, rows, strict=True)}
    assert all(row["kernel_ms"] > 0 and row["call_ms"] > 0 for row in rows)
    for method in bench.SEARCHES:
        assert missed[method, "none"] > 0 == missed[method, "compare_and_swap"]


def test_a_wrong_search_is_not_timed(monkeypatch):
    def lost(g, *_, **__):
        return BFSResult(np.full(g.n, -1, np.int32), None, 0, {"launches": 1, "read_backs": 0})

    monkeypatch.setattr(bench, "bfs", lost)
    with pytest.raises(AssertionError, match="expand_contract none"):
        bench.measure(timer_for(gk.SimtDevice()), gk.path(3), 0, 1, 1000.0)
