"""Shortest paths on all cores are those of Dijkstra's heap, whatever the number of cores."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD, CASES
from effort import every_pair
from numba import njit, prange
from scipy.sparse.csgraph import dijkstra

import gpukernels as gk
from benchmarks.graphs import weighted, weighted_grid, weighted_kron
from gpukernels import cores, reference
from gpukernels.reference import multicore
from gpukernels.reference.multicore import atomics


def check(g, root):
    result, right = multicore.sssp(g, root), reference.dijkstra(g, root)
    reached = right.parent >= 0
    none = np.inf if result.distance.dtype == float else np.iinfo(result.distance.dtype).max
    assert (result.distance[~reached] == none).all()
    np.testing.assert_array_equal(result.distance[reached], right.distance[reached])
    assert result.relaxations >= right.relaxations
    return result


@pytest.mark.parametrize(
    ("case", "kind"), every_pair(CASES, ["none", "int32", "zeros", "float32", "long"])
)
def test_distances_agree_with_the_heap_and_scipy_on_awkward_graphs(case, kind):
    name, root = case
    g, rng = AWKWARD[name], np.random.default_rng(3)
    if kind != "none":
        weights = {
            "int32": rng.integers(1, 100, g.m).astype(np.int32),
            "zeros": rng.integers(0, 2, g.m).astype(np.int32),
            "float32": rng.random(g.m).astype(np.float32),
            "long": rng.integers(2**30, 2**31 - 1, g.m).astype(np.int32),
        }[kind]
        g = gk.Graph(g.offsets, g.targets, weights)
    distance = check(g, root)
    if kind != "zeros":
        weights = np.ones(g.m, np.int32) if g.weights is None else g.weights
        shortest = gk.Graph.from_arcs(g.n, *g.coo, weights, parallel="min")
        oracle = dijkstra(shortest.to_scipy().astype(np.float64), indices=root)
        reached = np.isfinite(oracle)
        np.testing.assert_array_equal(distance.distance[reached], oracle[reached])


@pytest.fixture(params=[1, 2, 5])
def some_cores(request, monkeypatch):
    """As many queues as cores, even where fewer threads share the work."""
    monkeypatch.setattr(cores, "cores", lambda: request.param)
    monkeypatch.setattr(cores.numba, "set_num_threads", lambda count: None)
    return request.param


LARGE = {
    "kron": weighted_kron(12, 16, 1),
    "grid": weighted_grid(90, 120, 1),
    "small world": weighted(gk.small_world(5_000, 10, 0.3, seed=2)),
}


@pytest.mark.parametrize("name", LARGE)
def test_graphs_of_many_rounds_are_right_on_any_number_of_cores(some_cores, name):
    g = LARGE[name]
    floats = gk.Graph(g.offsets, g.targets, g.weights.astype(np.float32) / np.float32(7))
    for one in (g, floats):
        for root in (0, int(np.argmax(g.out_degree))):
            assert check(one, root).rounds > 1


def test_sums_are_held_in_64_bits_where_32_might_not_do():
    n, w = 6, 2**31 - 1
    g = gk.Graph.from_arcs(n, range(n - 1), range(1, n), [w] * (n - 1))
    distance = multicore.sssp(g).distance
    assert (distance.dtype, distance.tolist()) == (np.int64, [w * v for v in range(n)])
    assert multicore.sssp(weighted(gk.path(5))).distance.dtype == np.int32


def test_a_step_that_rounding_swallows_does_not_stop_the_search():
    g = gk.Graph.from_arcs(4, [0, 1, 2], [1, 2, 3], np.array([3e38, 1e-30, 1e-30], np.float32))
    check(g, 0)


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(gk.VertexOutOfRange, match="root = 3"):
        multicore.sssp(gk.path(3), 3)
    with pytest.raises(gk.NegativeWeightError, match="-1"):
        multicore.sssp(gk.Graph.from_arcs(2, [0], [1], [-1]))


def test_a_result_tells_its_counts():
    text = repr(multicore.sssp(gk.path(4)))
    assert text.startswith("Distances: 6 relaxations in ")
    assert text.endswith("distance int32 (4,)")


@njit(parallel=True)
def _meet(counts, least, floats, owner, won):
    for i in prange(100_000):
        atomics.add(counts, i % 3, 1)
        atomics.lower(least, 0, 200_000 - i)
        atomics.lower(floats, 0, 0.5 * (100_000 - i))
        won[i] = atomics.replace(owner, i % 7, -1, i)


def test_atomic_words_lose_nothing_when_cores_meet():
    counts, least = np.zeros(3, np.int64), np.full(1, 10**9)
    floats, owner = np.full(1, np.inf), np.full(7, -1)
    won = np.zeros(100_000, np.bool_)
    _meet(counts, least, floats, owner, won)
    assert counts.tolist() == [33_334, 33_333, 33_333]
    assert (least[0], floats[0]) == (100_001, 0.5)
    assert np.flatnonzero(won).tolist() == sorted(owner.tolist())
    assert won.sum() == 7


@njit
def _alone(words, floats):
    before = atomics.exchange(words, 1, np.int32(5)), atomics.lower(floats, 0, np.float32(3))
    return before, atomics.read(words, 1), atomics.read(floats, 0)


def test_atomic_words_give_what_was_there_before():
    words, floats = np.array([7, 8, 9], np.int32), np.array([2.5], np.float32)
    assert _alone(words, floats) == ((8, 2.5), 5, 2.5)
    assert words.tolist() == [7, 5, 9]
