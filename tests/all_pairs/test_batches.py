"""Searches from many roots at once: as good as one by one, in fewer launches, within a bound."""

from __future__ import annotations

import numpy as np
import pytest
from effort import every_pair
from fake_gpu import FakeGpus
from scipy_paths import random_graph
from test_out_of_core import CountingDevice

import gpukernels as gk
from gpukernels.all_pairs import UNREACHED, apsp
from gpukernels.shortest_paths.hbf import many_roots
from gpukernels.shortest_paths.many_roots import AT_ONCE, bytes_for, roots_within
from gpukernels.simt.errors import RaceError

ROOTED = ("per_root", "johnson")
SEARCHES = tuple(AT_ONCE)
every_search = pytest.mark.parametrize("search", SEARCHES)


@pytest.mark.parametrize(
    ("kind", "method", "search"), every_pair(["none", "int32", "float32"], ROOTED, SEARCHES)
)
def test_batches_of_any_size_give_equal_results_in_fewer_launches(device, method, search, kind):
    g = random_graph(20, kind)
    alone = apsp(g, method, device, search=search, next_hops=True)
    launches = []
    for batch in (1, 3, g.n, 10 * g.n):
        result = apsp(g, method, device, search=search, batch=batch)
        np.testing.assert_array_equal(result.distance, alone.distance)
        assert result.distance.dtype == alone.distance.dtype
        assert result.stats["batch"] == min(batch, g.n)
        launches.append(result.stats["launches"])
    assert launches[0] > 2 * launches[1] > 4 * launches[2]
    assert launches[2] == launches[3]
    with_hops = apsp(g, method, device, search=search, batch=3, next_hops=True)
    np.testing.assert_array_equal(with_hops.distance, alone.distance)
    np.testing.assert_array_equal(with_hops.next_hop >= 0, alone.next_hop >= 0)


@every_search
@pytest.mark.parametrize("method", ROOTED)
def test_launches_are_those_that_ran_and_rows_that_are_done_relax_nothing(method, search):
    g = gk.path(20)  # from its ends a search takes longer than from its middle
    device = gk.SimtDevice(trace=True)
    stats = apsp(g, method, device, search=search, batch=7).stats
    assert stats["launches"] == len(device.trace.launches)
    together = apsp(g, "per_root", gk.SimtDevice(), search=search, batch=20).stats
    alone = apsp(g, "per_root", gk.SimtDevice(), search=search).stats
    # Row by row, the rounds are those of the searches alone, in which lanes go together, too.
    assert together["operations"] == alone["operations"]
    assert together["iterations"] < alone["iterations"] / 10


@pytest.mark.parametrize("method", ROOTED)
@pytest.mark.parametrize("options", [{}, {"batch": 3}, {"search": "hbf"}])
def test_parents_are_looked_for_only_where_next_hops_are_asked_for(method, options):
    g = random_graph(7, "int32")
    for next_hops in (False, True):
        with gk.trace() as t:
            apsp(g, method, next_hops=next_hops, **options)
        kernels = {launch.kernel for launch in t.trace.launches}
        assert ("adopt_forward" in kernels) == next_hops


@pytest.mark.parametrize(
    ("next_hops", "roots", "search"), every_pair([False, True], [1, 4, 64], SEARCHES)
)
def test_no_more_of_the_device_is_in_use_than_the_batch_was_allowed(roots, next_hops, search):
    g = random_graph(64, "int32")  # a row of it is a GPU's least allocation
    memory = bytes_for(g, roots, next_hops, search)
    assert roots_within(g, memory, next_hops, search) == roots
    assert roots_within(g, memory - 1, next_hops, search) == roots - 1
    device = CountingDevice()
    result = apsp(g, "per_root", device, search=search, memory=memory, next_hops=next_hops)
    assert result.stats["batch"] == roots
    assert memory / 2 < device.most <= memory
    np.testing.assert_array_equal(result.distance, apsp(g, "blocked").distance)


def test_a_batch_that_does_not_fit_is_refused_with_what_does(monkeypatch):
    g = random_graph(64, "int32")
    memory = bytes_for(g, 4, False)
    with pytest.raises(
        gk.InvalidArgument, match=rf"^batch = 5: must be at most 4 with memory={memory}"
    ):
        apsp(g, "per_root", memory=memory, batch=5)
    with pytest.raises(gk.InvalidArgument, match=r"^memory = 100: must be at least \d+ for one"):
        apsp(g, "per_root", memory=100)
    gpus = FakeGpus(monkeypatch, memory=1 << 16)
    try:
        large = random_graph(200, "int32")
        with pytest.raises(gk.InvalidArgument, match=r"^batch = 200: .* with the .* bytes free"):
            apsp(large, "per_root", gk.CudaDevice(), batch=200)
        small = apsp(g, "per_root", gk.CudaDevice(), batch=7, next_hops=True)
        np.testing.assert_array_equal(small.distance, apsp(g, "blocked", gk.SimtDevice()).distance)
    finally:
        gpus.close()


@every_search
@pytest.mark.parametrize("next_hops", [False, True])
def test_what_a_search_refuses_a_batch_refuses_too(device, next_hops, search):
    options = {"search": search, "batch": 2, "next_hops": next_hops}
    far = gk.Graph.from_arcs(3, [0, 1], [1, 2], [UNREACHED - 1, 2])
    with pytest.raises(
        OverflowError, match=r"vertex [02] is longer than int32 holds; take float32"
    ):
        apsp(far, "per_root", device, **options)
    ring = gk.Graph.from_arcs(4, [0, 1, 2, 2], [1, 2, 0, 3], [-1, 3, -3, 1])
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(ring, "per_root", device, **options)
    assert sorted(caught.value.cycle) == [0, 1, 2]
    assert apsp(gk.Graph([0], []), "per_root", device, **options).distance.shape == (0, 0)


def test_a_batch_of_hbf_launches_as_often_as_its_longest_search():
    g = gk.random_weights(gk.erdos_renyi(48, 5, seed=3, directed=True), low=1, high=40, seed=1)
    alone = [gk.sssp(g, root, "hbf", gk.SimtDevice(), parents=False).stats for root in range(g.n)]
    one_by_one = sum(stats["launches"] for stats in alone)
    for batch in (8, 16, 48):
        stats = apsp(g, "per_root", gk.SimtDevice(), search="hbf", batch=batch).stats
        longest = [max(s["iterations"] for s in alone[k : k + batch]) for k in range(0, g.n, batch)]
        assert stats["iterations"] == sum(longest)
        # A batch has a few launches in addition to its rounds: for roots, for distances, and for
        # paths that are too long. The classes of the arcs take one for all batches.
        assert 0 < stats["launches"] - sum(longest) <= 3 * len(longest) + 1
        assert one_by_one > 0.6 * batch * stats["launches"]
        assert stats["operations"] == sum(s["relaxations"] for s in alone)


def test_hbf_finds_the_arcs_of_a_root_that_need_an_atomic_for_each_row():
    # Parallel arcs from vertex 0, the shortest last; from vertex 1 none are parallel.
    source, target = [0] * 40 + [1] * 3, [2] * 40 + [0, 2, 3]
    g = gk.Graph.from_arcs(4, source, target, [*range(40, 0, -1), 7, 30, 5])
    result = apsp(g, "per_root", gk.SimtDevice(check=True), search="hbf", batch=4)
    assert result.distance[:2, 2].tolist() == [1, 8]
    np.testing.assert_array_equal(result.distance, apsp(g, "blocked").distance)


def test_hbf_shares_the_arcs_of_very_large_vertices_in_each_row():
    g = gk.random_weights(gk.star(4200), low=1, high=9, seed=1)
    roots = [0, 7, 4199]
    device = gk.SimtDevice(trace=True)
    result = gk.sssp_many(g, roots, "hbf", device, threads=64)
    for root, distance in zip(roots, result.distance, strict=True):
        np.testing.assert_array_equal(distance, gk.reference.dijkstra(g, root).distance)
    assert "relax_all_pieces" in {launch.kernel for launch in device.trace.launches}


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_batches_of_hbf_under_every_schedule(scheduled_device, kind):
    g = random_graph(40, kind)
    result = gk.sssp_many(g, range(0, 40, 3), "hbf", scheduled_device, batch=5, threads=32)
    expected = apsp(g, "blocked", gk.SimtDevice()).distance[::3]
    np.testing.assert_array_equal(result.distance, expected)


def test_a_negative_cycle_that_a_few_rows_reach_is_named():
    ring = [-(2**24)] * 8
    g = gk.Graph.from_arcs(20, [*range(8), *range(8, 19)], [*range(1, 8), 0, *range(9, 20)],
                           [*ring, *[1] * 11])  # fmt: skip
    assert gk.sssp_many(g, [9, 12, 8], "hbf").distance[0, 19] == 10
    with pytest.raises(gk.NegativeCycleError) as caught:
        gk.sssp_many(g, [9, 12, 3, 8], "hbf")
    assert sorted(caught.value.cycle) == [*range(8)]


def test_the_race_on_the_words_of_a_batch_is_declared(monkeypatch):
    g = random_graph(40, "int32")
    monkeypatch.setattr(many_roots.relax_frontiers.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="words"):
        gk.sssp_many(g, range(9), "hbf", gk.SimtDevice(check=True))
