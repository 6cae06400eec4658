"""Copies, neighbor sums and the bandwidth are measured of right results alone."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD
from numba import cuda

import gpukernels as gk
from gpukernels.bench import bandwidth, foundations
from gpukernels.representations import coo, csr


@cuda.jit
def idle(values, out):
    """Write nothing."""


@cuda.jit
def idle_copy(values, out, stride):
    """Write nothing."""


@cuda.jit
def idle_sum(first, second, values, sums):
    """Write nothing."""


def test_every_stride_is_copied_and_timed_on_both_sides():
    measured = foundations.measure_copy(gk.SimtDevice(), 500, repeat=2)
    assert [row["stride"] for row in measured["times"]] == list(foundations.STRIDES)
    assert all(row["ms"] > 0 and row["cpu_ms"] >= 0 for row in measured["times"])


@pytest.mark.parametrize("name", ["rmat", "parallel_arcs", "road_grid", "only_self_loops"])
def test_sums_do_not_add_up_over_runs(name):
    """COO adds to what is there, so runs without clearing would give so many times the sum."""
    found = foundations.neighbor_sums(gk.SimtDevice(), AWKWARD[name], repeat=3)
    assert set(found) == {"CSR", "COO", "matrix", "SciPy, one core", "numba, all cores"}
    assert all(microseconds > 0 for microseconds in found.values())


@pytest.mark.parametrize(
    ("module", "kernel", "form"),
    [(csr, "csr_neighbor_sum", "CSR"), (coo, "coo_neighbor_sum", "COO")],
)
def test_a_wrong_sum_is_not_timed(monkeypatch, module, kernel, form):
    monkeypatch.setattr(module, kernel, idle_sum)
    with pytest.raises(AssertionError, match=form):
        foundations.neighbor_sums(gk.SimtDevice(), AWKWARD["rmat"], repeat=1)


def test_every_representation_is_measured_on_both_graphs_at_both_sizes():
    measured = foundations.measure_neighbor_sum(gk.SimtDevice(), shrink=14, repeat=1)
    assert [row["graph"] for row in measured["times"]] == ["R-MAT", "road grid"] * 2
    for row in measured["times"]:
        g = eval(row["call"], {"gk": gk})
        assert (g.n, g.m) == (row["n"], row["m"])
    assert measured["nothing_microseconds"] > 0


def in_half_a_millisecond(device, run, repeat, *, prepare, check):
    prepare()
    run(device)
    check()
    return 0.5


def test_the_bandwidth_is_that_of_a_copy_of_every_word(monkeypatch):
    monkeypatch.setattr(bandwidth, "kernel_ms", in_half_a_millisecond)
    assert (
        bandwidth.measured_bandwidth(gk.SimtDevice(), 4096, repeat=1) == 0.13107
    )  # 2 x 32,768 bytes
    monkeypatch.undo()
    with pytest.raises(gk.InvalidArgument, match="words = 1000: must be a positive multiple of"):
        bandwidth.measured_bandwidth(gk.SimtDevice(), 1000)
    monkeypatch.setattr(bandwidth, "copy_words", idle)
    with pytest.raises(AssertionError, match="left 4,096 words out, the first is 0"):
        bandwidth.measured_bandwidth(gk.SimtDevice(), 4096, repeat=1)


def test_a_wrong_copy_is_not_timed(monkeypatch):
    monkeypatch.setattr(foundations, "copy_strided", idle_copy)
    with pytest.raises(AssertionError, match="stride 1"):
        foundations.measure_copy(gk.SimtDevice(), 64, repeat=1)


def test_the_clock_of_the_cpu_sees_the_same_sums():
    g = gk.star(40)
    assert np.array_equal(
        gk.multicore.neighbor_sum(g, np.ones(40, np.int32)), g.out_degree.astype(np.int64)
    )
