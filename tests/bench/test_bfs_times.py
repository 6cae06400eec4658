"""The benchmark of breadth-first searches measures all of them, and only right ones."""

from __future__ import annotations

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.bench import bfs as bench
from gpukernels.traversal import METHODS, BFSResult


def test_every_method_is_measured():
    g = gk.rmat(6, 4, seed=1)
    row = bench.measure(gk.SimtDevice(), g, 0, repeat=1)
    assert {label.split()[0] for label in row["ms"]} == {*METHODS, "sequential"}
    assert all(ms > 0 for ms in row["ms"].values())
    assert row["counts"]["luo"] == {"launches": 1, "read_backs": 0}
    assert row["levels"] == gk.sequential.bfs(g, 0).levels


def test_a_wrong_search_is_not_timed(monkeypatch):
    def lost(g, root, device, *, parents=True):
        return BFSResult(np.full(g.n, -1, np.int32), None, 0)

    monkeypatch.setitem(METHODS, "harish", lost)
    with pytest.raises(AssertionError, match="harish"):
        bench.measure(gk.SimtDevice(), gk.path(3), 0, repeat=1)


def test_random_arcs_are_a_graph_of_that_mean_degree():
    g = bench.random_arcs(2_000, 64, seed=1)
    assert g.n == 2_000
    assert abs(g.m / g.n - 64) < 1
    assert np.array_equal(g.targets, bench.random_arcs(2_000, 64, seed=1).targets)
    assert 0 <= g.targets.min() < g.targets.max() == g.n - 1


@pytest.mark.parametrize("family", bench.FAMILIES, ids=lambda f: f[0])
def test_every_family_shrinks(family):
    small, smaller = family[2](10), family[2](11)
    assert 1.5 < small.n / smaller.n < 2.5
