"""Blocked Floyd and Warshall on all cores against SciPy, the plain loops and their limits."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD
from scipy.sparse.csgraph import floyd_warshall

import gpukernels as gk
from gpukernels import reference
from gpukernels.all_pairs import all_cores

UNREACHED = 2**31 - 1


def with_weights(g, kind):
    if kind == "none":
        return g
    weights = np.random.default_rng(g.m).integers(0, 100, g.m).astype(kind)
    return gk.Graph(g.offsets, g.targets, weights)


@pytest.mark.parametrize("kind", ["none", "int32", "float32"])
@pytest.mark.parametrize("name", AWKWARD)
def test_distances_are_those_of_the_plain_loops(name, kind):
    g = with_weights(AWKWARD[name], kind)
    result, right = all_cores.apsp(g), reference.floyd_warshall(g)
    floats = kind == "float32"
    assert result.distance.dtype == (np.float32 if floats else np.int32)
    assert result.next_hop is None
    joined = right.next_hop >= 0
    assert (result.distance[~joined] == (np.inf if floats else UNREACHED)).all()
    np.testing.assert_array_equal(result.distance[joined], right.distance[joined])


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_matrices_with_few_and_with_many_arcs_agree_with_scipy(n, dtype):
    rng = np.random.default_rng(n)
    for share in (0.02, 0.5, 1.0):
        has_arc = rng.random((n, n)) < share
        lengths = np.where(has_arc, rng.integers(1, 1000, (n, n)).astype(float), np.inf)
        np.fill_diagonal(lengths, 0)
        right = floyd_warshall(lengths)
        given = np.where(np.isinf(lengths), UNREACHED, lengths) if dtype == "int32" else lengths
        given = given.astype(dtype)
        before = given.copy()
        distance = all_cores.apsp(given).distance
        none = UNREACHED if dtype == "int32" else np.inf
        np.testing.assert_array_equal(distance, np.where(np.isinf(right), none, right))
        np.testing.assert_array_equal(given, before)


def test_negative_arcs_count_and_do_not_join_what_is_apart():
    """In int32, absent arcs with negative ones behind them weigh less than absent ones."""
    rng, n = np.random.default_rng(5), 150
    rank = rng.permutation(n)
    source, target = rng.integers(0, n, (2, 300))
    kept = source != target
    source, target = source[kept], target[kept]
    # With a height for each vertex no cycle is negative.
    weights = rng.integers(0, 50, source.size) + 1000 * (rank[target] - rank[source])
    assert (weights < 0).any()
    for dtype in (np.int32, np.float32):
        g = gk.Graph.from_arcs(n, source, target, weights.astype(dtype))
        distance, right = all_cores.apsp(g).distance, reference.floyd_warshall(g)
        joined = right.next_hop >= 0
        assert not joined.all()
        np.testing.assert_array_equal(distance[joined], right.distance[joined])
        assert (distance[~joined] == (UNREACHED if dtype == np.int32 else np.inf)).all()


@pytest.mark.parametrize("at", [0, 70, 139])
def test_a_negative_cycle_is_named(at):
    """Sums do not wrap around on the way to it, however many tiles come behind."""
    n = 140
    lengths = np.full((n, n), 1000, np.int32)
    np.fill_diagonal(lengths, 0)
    other = (at + 5) % n
    lengths[at, other], lengths[other, at] = -700, 600
    with pytest.raises(gk.NegativeCycleError) as caught:
        all_cores.apsp(lengths)
    cycle = caught.value.cycle
    assert sum(int(lengths[u, v]) for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)) < 0


def test_a_path_that_int32_does_not_hold_is_an_error_and_not_infinite():
    n, w = 5, 2**29
    g = gk.Graph.from_arcs(n, range(n - 1), range(1, n), [w] * (n - 1))
    with pytest.raises(OverflowError, match="longer than int32 holds"):
        all_cores.apsp(g)


def test_what_is_no_matrix_of_lengths_is_refused():
    for wrong in (np.zeros((2, 3)), [["a"]], [[1, 0], [0, 0]]):
        with pytest.raises(gk.InvalidArgument):
            all_cores.apsp(wrong)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_tile_s_product_is_numpy_s(dtype):
    rng, size = np.random.default_rng(2), all_cores.TILE
    result, left, right = rng.integers(0, 1000, (3, size, size)).astype(dtype)
    expected = np.minimum(result, (left[:, :, None] + right[None]).min(axis=1))
    all_cores._lower(result, left, right)
    np.testing.assert_array_equal(result, expected)
