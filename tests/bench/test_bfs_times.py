"""The benchmark of breadth-first searches measures all of them, and only right ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import bfs as bench
from gpukernels.bench import record
from gpukernels.bench.graphs import random_arcs
from gpukernels.bench.limits import Limits
from gpukernels.bench.search_time import timer_for
from gpukernels.bench.searches import judge
from gpukernels.traversal import METHODS, BFSResult

ON_CPU = {"sequential", "all cores", "SciPy", "NetworkX"}


@pytest.fixture(scope="module")
def row():
    timer = timer_for(gk.SimtDevice())
    timer.busy_rounds = 2
    return bench.measure(timer, gk.rmat(6, 4, seed=1), 0, 1, 1000.0, roots=2, patience=1e9)


def test_every_method_is_measured_and_so_are_one_core_and_all(row):
    assert {label.split()[0] for label in row["searches"] if label not in ON_CPU} == {*METHODS}
    assert set(row["searches"]) >= ON_CPU
    assert row["levels"] == gk.reference.bfs(gk.rmat(6, 4, seed=1), 0).levels


def test_a_search_has_its_kernels_time_and_the_call_s_from_one_root_and_from_others(row):
    times = "kernel_ms", "call_ms", "roots_kernel_ms", "roots_call_ms", "gteps", "call_gteps"
    for label, search in row["searches"].items():
        kinds = [name for name in times if label not in ON_CPU or "call" in name]
        assert all(search[name] >= 0 for name in kinds), label
        assert search["roots"] == 2
        assert search["runs"] == 1
        assert ("kernel_ms" in search) == ("share_of_bandwidth" in search) == (label not in ON_CPU)
    luo = row["searches"]["luo"]
    assert (luo["launches"], luo["read_backs"], luo["late"]) == (1, 0, 0)


def test_a_figure_of_all_searches_is_none_where_there_is_none(row):
    kernels = record.by_search({"searches": {**row["searches"], "slow": {}}}, "kernel_ms")
    assert list(kernels) == [*row["searches"], "slow"]
    assert {label for label, ms in kernels.items() if ms is None} == {*ON_CPU, "slow"}
    assert kernels["luo"] == row["searches"]["luo"]["kernel_ms"]


def test_a_wrong_search_is_not_timed(monkeypatch):
    def lost(g, root, device, *, parents=True):
        return BFSResult(np.full(g.n, -1, np.int32), None, 0, {"launches": 1, "read_backs": 0})

    monkeypatch.setitem(METHODS, "harish", lost)
    with pytest.raises(AssertionError, match="harish from 0"):
        bench.measure(timer_for(gk.SimtDevice()), gk.path(3), 0, 1, 1.0)


def test_random_arcs_are_a_graph_of_that_mean_degree():
    g = random_arcs(2_000, 64, seed=1)
    assert g.n == 2_000
    assert abs(g.m / g.n - 64) < 1
    assert g is random_arcs(2_000, 64, seed=1)
    assert np.array_equal(g.targets, random_arcs.__wrapped__(2_000, 64, seed=1).targets)
    assert 0 <= g.targets.min() < g.targets.max() == g.n - 1


@pytest.mark.parametrize("family", bench.FAMILIES, ids=lambda f: f[0])
def test_every_family_shrinks(family):
    small, smaller = family[2](10), family[2](11)
    assert 1.5 < small.n / smaller.n < 2.5


def test_some_families_and_methods_can_be_chosen(tmp_path):
    few = {"shrink": 17, "repeat": 1, "families": ["road"], "methods": ["luo", "frontier"]}
    kept = json.loads(bench.write(gk.SimtDevice(), {}, tmp_path, **few).read_text())
    assert [row["graph"] for row in kept["times"]] == ["road"]
    assert kept["times"][0]["root"] == 0
    labels = set(kept["times"][0]["searches"])
    assert {label.split()[0] for label in labels - ON_CPU} == {"luo", "frontier"}


def test_the_issue_rate_is_that_of_an_operation_for_each_arc():
    limits = Limits(1000.0, 2.0)
    row = {"roots_kernel_ms": 0.5, "least_operations": 10**8, "share_of_bandwidth": 0.3}
    given_up = {"stopped_after_ms": 10_000.0}
    judge(limits, [row, given_up])
    # 0.2 of 2 million million operations a second.
    assert (row["share_of_issue_rate"], row["share_of_bandwidth"]) == (0.1, 0.3)
    assert given_up == {"stopped_after_ms": 10_000.0}
