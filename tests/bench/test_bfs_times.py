"""The benchmark of breadth-first searches measures all of them, and only right ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import bfs as bench
from gpukernels.bench import record, sssp
from gpukernels.bench.graphs import random_arcs
from gpukernels.bench.search_time import timer_for
from gpukernels.traversal import METHODS, BFSResult

ON_CPU = {"sequential", "all cores"}


@pytest.fixture(scope="module")
def row():
    timer = timer_for(gk.SimtDevice())
    timer.busy_rounds = 2
    return bench.measure(timer, gk.rmat(6, 4, seed=1), 0, 1, 1000.0, roots=2, patience=1e9)


def test_every_method_is_measured_and_so_are_one_core_and_all(row):
    assert {label.split()[0] for label in row["searches"] if label not in ON_CPU} == {*METHODS}
    assert set(row["searches"]) >= ON_CPU
    assert row["levels"] == gk.sequential.bfs(gk.rmat(6, 4, seed=1), 0).levels


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


@pytest.mark.parametrize("main", [bench.main, sssp.main])
def test_a_family_that_is_not_measured_is_refused_with_those_that_are(main, capsys):
    with pytest.raises(SystemExit):
        main(["--commit", "x", "--families", "rmat", "star"])
    told = capsys.readouterr().err
    assert "'star'" in told
    assert "small world" in told


def test_the_file_says_how_fast_a_copy_was(tmp_path):
    file = bench.write(gk.SimtDevice(), {}, tmp_path, shrink=17, repeat=1, families=["road"])
    kept = json.loads(file.read_text())
    assert kept["copy_gigabytes_per_second"] > 0
    assert [row["graph"] for row in kept["times"]] == ["road"]
    assert kept["times"][0]["root"] == 0
