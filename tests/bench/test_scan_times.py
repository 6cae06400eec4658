"""The benchmark of scans and searches measures all of them, and only right ones."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import scans as bench
from gpukernels.workloads import TARGETS


def test_every_scan_is_measured():
    measured = bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)
    assert [row["scan"] for row in measured["scans"]] == [
        "block, shuffles",
        "block, sweep, plain",
        "block, sweep, padded",
        "device",
        "device, add tiles",
        "device, scan tiles",
    ]
    assert all(row["ms"] > 0 for row in measured["scans"])


def test_every_search_is_measured_on_every_workload():
    measured = bench.measure_searches(gk.SimtDevice(), 300, items=100, repeat=1)
    assert [row["workload"] for row in measured["times"]] == list(TARGETS)
    searches = {"two_sided", "lower_bound", "interpolation", "guarded", "NumPy, one core"}
    assert all(set(row["ms"]) == searches for row in measured["times"])


def test_a_wrong_search_is_not_timed(monkeypatch):
    monkeypatch.setitem(bench.SEARCHES, "interpolation", bench.SEARCHES["register"])
    with pytest.raises(AssertionError, match="interpolation"):
        bench.measure_searches(gk.SimtDevice(), 300, items=100, repeat=1)


def test_a_wrong_scan_is_not_timed(monkeypatch):
    monkeypatch.setattr(np, "cumsum", lambda sizes, dtype: np.zeros(sizes.size, dtype))
    with pytest.raises(AssertionError, match="block, shuffles"):
        bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)
