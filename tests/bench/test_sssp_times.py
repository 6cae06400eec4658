"""The benchmark of shortest paths measures all searches, and only right ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gpukernels as gk
from gpukernels import reference
from gpukernels.bench import searches
from gpukernels.bench import sssp as bench
from gpukernels.bench.graphs import weighted, weighted_grid, weighted_random, weighted_rmat
from gpukernels.bench.limits import Limits
from gpukernels.bench.search_time import timer_for
from gpukernels.shortest_paths import METHODS, UNREACHED, SSSPResult

ONCE_ON_CPU = {"sequential", "SciPy", "NetworkX"}
ON_CPU = {*ONCE_ON_CPU, "all cores"}


@pytest.fixture(scope="module")
def row():
    timer = timer_for(gk.SimtDevice())
    timer.busy_rounds = 2
    g = weighted(gk.kron(6, 4, seed=1))
    return bench.measure(timer, g, int(g.out_degree.argmax()), 1, 1000.0, roots=2, patience=1e9)


def test_every_method_is_measured_and_so_is_the_heap(row):
    measured = {label.split()[0] for label in row["searches"]}
    assert measured == {*METHODS, *ONCE_ON_CPU, "all"}
    times = (
        "kernel_ms",
        "call_ms",
        "roots_kernel_ms",
        "roots_call_ms",
        "gteps",
        "call_gteps",
    )
    for label, found in row["searches"].items():
        if label not in ON_CPU:
            assert all(found[name] >= 0 for name in times), label
            assert found["roots"] == 2
            assert ("with_parents_kernel_ms" in found) == (label == bench.TRUSTED)
    for heap in (row["searches"][label] for label in ONCE_ON_CPU):
        assert (heap["runs"], heap["roots"]) == (1, 0)
        assert heap["call_ms"] > 0
    cores = row["searches"]["all cores"]
    assert (cores["runs"], cores["roots"]) == (1, 2)
    assert min(cores[name] for name in ("call_ms", "roots_call_ms")) > 0


def test_a_persistent_search_is_one_launch_and_asks_nothing_back(row):
    for label, found in row["searches"].items():
        if label.startswith("near_far_persistent"):
            assert (found["launches"], found["read_backs"]) == (1, 0)


def test_a_wrong_search_is_not_timed(monkeypatch):
    def lost(g, root, device, *, parents=True):
        return SSSPResult(np.full(g.n, UNREACHED, np.int32), None, {})

    g = weighted(gk.path(3))
    monkeypatch.setitem(METHODS, "harish", lost)
    with pytest.raises(AssertionError, match="harish from 0"):
        bench.measure(timer_for(gk.SimtDevice()), g, 0, 1, 1.0)
    monkeypatch.setitem(METHODS, bench.TRUSTED, lost)
    with pytest.raises(AssertionError, match="these are not shortest paths"):
        bench.cases(gk.SimtDevice(), g, 0, 1)


def test_shortest_paths_are_told_from_others():
    g = weighted(gk.kron(5, 3, seed=1))
    found = reference.dijkstra(g, 0)
    right = np.where(found.parent >= 0, found.distance, UNREACHED).astype(np.int32)
    assert (right == UNREACHED).any()
    assert bench.is_shortest(g, 0, right)
    for v in range(g.n):
        for wrong in (right[v] - 1, min(right[v], UNREACHED - 1) + 1, 0, UNREACHED):
            if wrong != right[v]:
                changed = right.copy()
                changed[v] = wrong
                assert not bench.is_shortest(g, 0, changed), (v, wrong)
    # A ring that is reached from nowhere, with lengths that its own arcs would allow.
    ring = gk.Graph.from_arcs(3, [1, 2], [2, 1], [1, 1])
    assert not bench.is_shortest(ring, 0, np.array([0, 5, 5], np.int32))
    assert bench.is_shortest(ring, 0, np.array([0, UNREACHED, UNREACHED], np.int32))


def test_parents_are_of_shortest_paths():
    g = weighted(gk.kron(5, 3, seed=1))
    found = reference.dijkstra(g, 0)
    right = np.where(found.parent >= 0, found.distance, UNREACHED).astype(np.int32)
    parent = found.parent.astype(np.int32)
    assert bench.is_shortest(g, 0, right, parent)
    source, target = g.coo
    tight = {
        (int(u), int(v))
        for u, v, w in zip(source, target, g.weights, strict=True)
        if right[u] != UNREACHED and right[u] + w == right[v]
    }
    for v in range(1, g.n):
        for u in (*range(-1, g.n),):
            changed = parent.copy()
            changed[v] = u
            allowed = (u, v) in tight if right[v] != UNREACHED else u == -1
            assert bench.is_shortest(g, 0, right, changed) == allowed, (u, v)


def test_wrong_parents_have_no_time():
    def run(g, root, device, *, parents=True, **options):
        found = gk.sssp(g, root, "harish", device)
        if parents:
            found.parent[-1] = found.parent.size - 1
        return found

    g = weighted(gk.path(4))
    timer, case = timer_for(gk.SimtDevice()), bench.cases(gk.SimtDevice(), g, 0, 1)[0][0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "near_far", run)
        with pytest.raises(AssertionError, match="near_far from 0: these parents"):
            bench.with_parents(timer, g, case, ("near_far", "near_far", {}), 1)


def test_graphs_have_the_size_and_the_weights_that_they_are_asked_for():
    for g, n, m in (
        (weighted_rmat(3_000, 20_000, seed=1), 3_000, 20_000),
        (weighted_random(2_000, 64, seed=1), 2_000, 128_000),
        (weighted_grid(20, 30, seed=1), 600, 2 * (19 * 30 + 20 * 29)),
    ):
        assert not g.directed
        assert g.n == n
        assert m * 0.99 <= g.m <= m  # a self-loop is one arc
        assert (g.weights.min(), g.weights.max()) == (1, 100)
    assert weighted_rmat(3_000, 20_000, seed=1).out_degree.max() > 200


@pytest.mark.parametrize("family", bench.FAMILIES, ids=lambda f: f[0])
def test_every_family_shrinks(family):
    small, smaller = family[2](10), family[2](11)
    assert 1.5 < small.n / smaller.n < 2.5


def test_some_families_and_methods_can_be_chosen(tmp_path):
    few = {"shrink": 16, "repeat": 1, "patience": 0, "families": ["grid"], "methods": ["harish"]}
    kept = json.loads(bench.write(gk.SimtDevice(), {}, tmp_path, **few).read_text())
    assert kept["copy_gigabytes_per_second"] > 0
    (only,) = kept["times"]
    assert (only["graph"], only["root"]) == ("grid", 0)
    assert set(only["searches"]) == {*ON_CPU, "harish"}
    assert only["searches"]["harish"]["roots"] <= 2


def test_what_was_measured_is_kept_when_a_later_graph_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(searches, "measured_limits", lambda device, shrink: Limits(1.0, 1.0))
    monkeypatch.setattr(searches, "timer_for", lambda device: None)

    def measure(timer, g, root, bandwidth):
        if g.n == 2:
            raise MemoryError
        return {"reached": g.n, "searches": {}}

    graphs = [({"graph": str(n), "root": 0}, gk.path(n)) for n in (3, 2)]
    with pytest.raises(MemoryError):
        searches.write("it", "times", graphs, measure, None, {}, tmp_path, 0)
    (row,) = json.loads((tmp_path / "it.json").read_text())["times"]
    assert row == {"graph": "3", "root": 0, "reached": 3, "searches": {}}
