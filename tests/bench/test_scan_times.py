"""The benchmark of scans and searches measures all of them, and only right ones."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from gpukernels.bench import libraries
from gpukernels.bench import scans as bench
from gpukernels.graphs.workloads import TARGETS


def test_every_scan_is_measured():
    measured = bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)
    assert [row["scan"] for row in measured["scans"]] == [
        "block, shuffles",
        "block, sweep, plain",
        "block, sweep, padded",
        "device",
        "device, look-back",
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


def test_a_scan_that_writes_nothing_does_not_profit_from_the_one_before(monkeypatch):
    monkeypatch.setattr(bench, "sweep_padded", idle)
    with pytest.raises(AssertionError, match="block, sweep, padded"):
        bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)


def test_one_core_and_all_stand_beside_the_kernels():
    measured = bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)
    assert measured["numpy_ms"] >= 0
    assert measured["all_cores_ms"] >= 0
    for name in ("device", "device, look-back"):
        whole = next(row for row in measured["scans"] if row["scan"] == name)
        assert whole["call_ms"] > 0


def installed(monkeypatch, **scans):
    """Let the machine pass for a GPU with these libraries."""
    monkeypatch.setattr(bench, "CudaDevice", gk.SimtDevice)
    made = {
        name: lambda values, out, scan=scan: lambda: scan(values, out=out)
        for name, scan in scans.items()
    }
    monkeypatch.setattr(libraries, "LIBRARIES", made)


def test_a_library_s_scan_stands_beside_ours_where_it_works(monkeypatch, capsys):
    def broken(values, out):
        raise ImportError("no such library")

    installed(monkeypatch, Fine=np.cumsum, Broken=broken)
    measured = bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)
    assert [row["scan"] for row in measured["scans"][7:]] == ["Fine"]
    assert measured["scans"][7]["ms"] > 0
    assert "Broken is left out: ImportError: no such library" in capsys.readouterr().out


def test_a_library_s_wrong_scan_is_not_timed(monkeypatch):
    installed(monkeypatch, Wrong=lambda values, out: np.copyto(out, values))
    with pytest.raises(AssertionError, match="Wrong"):
        bench.measure_scans(gk.SimtDevice(), 4 * bench.THREADS, repeat=1)


@cuda.jit
def idle(values, scanned, totals):
    """Write nothing."""
