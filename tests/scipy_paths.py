"""Graphs with weights, and what SciPy says of the paths between all pairs of their vertices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import csgraph_from_dense, floyd_warshall

import gpukernels as gk

UNREACHED = 2**31 - 1


def weighted(g: gk.Graph, kind: str, low: int = 0, high: int = 100, fall: int = 0) -> gk.Graph:
    """Weigh arcs by whole numbers of a type; those that may `fall` below 0 close no cycle."""
    if kind == "none":
        return g
    rng = np.random.default_rng(g.m)
    weights = rng.integers(low, high, g.m)
    if fall:
        height = rng.integers(0, fall, g.n)
        weights = weights + height[g.coo[1]] - height[g.coo[0]]
    return gk.Graph(g.offsets, g.targets, weights.astype(kind))


def random_graph(n: int, kind: str = "int32", degree: int = 4, **options) -> gk.Graph:
    """Return such a graph of n vertices, each with at most so many arcs."""
    if n < 2:
        return gk.Graph([0] * (n + 1), [], None if kind == "none" else np.empty(0, kind))
    g = gk.erdos_renyi(n, min(degree, n - 1), seed=n, directed=True)
    return weighted(g, kind, **options)


def matrix_of(g: gk.Graph) -> np.ndarray:
    """The shortest arc of each pair in float64; infinite where there is none."""
    matrix = np.full((g.n, g.n), np.inf)
    np.minimum.at(matrix, g.coo, 1.0 if g.weights is None else g.weights.astype(float))
    np.fill_diagonal(matrix, np.minimum(matrix.diagonal(), 0))
    return matrix


def closed(arcs: np.ndarray) -> np.ndarray:
    """What SciPy makes of it; told what no arc is, as it takes zeros for that."""
    return floyd_warshall(csgraph_from_dense(arcs, null_value=np.inf)) if arcs.size else arcs


def distances(g: gk.Graph, expected: np.ndarray | None = None) -> np.ndarray:
    """SciPy's distances, or those that are expected, in the type in which kernels give them."""
    expected = closed(matrix_of(g)) if expected is None else expected
    whole = g.weights is None or g.weights.dtype.kind != "f"
    none, dtype = (UNREACHED, np.int32) if whole else (np.inf, np.float32)
    return np.where(np.isinf(expected), none, expected).astype(dtype)


def same(matrix, expected: np.ndarray) -> None:
    """Both have the same type and the same bits."""
    matrix = np.asarray(matrix)
    assert matrix.dtype == expected.dtype
    assert matrix.tobytes() == expected.tobytes()


def check(g: gk.Graph, answer, expected: np.ndarray | None = None) -> None:
    """Distances are SciPy's, and hops lead along arcs of just that length."""
    arcs = matrix_of(g)
    if expected is None:
        expected = closed(arcs)
    assert answer.distance.dtype == distances(g, expected).dtype
    np.testing.assert_array_equal(answer.distance, distances(g, expected))
    assert answer.joined == np.isfinite(expected).sum()
    if answer.next_hop is None:
        return
    np.testing.assert_array_equal(answer.next_hop >= 0, np.isfinite(expected))
    for i in range(g.n):
        for j in range(g.n):
            path = answer.path(i, j)
            assert bool(path) == np.isfinite(expected[i, j])
            if path:
                assert (path[0], path[-1]) == (i, j)
                assert len(set(path)) == len(path)
                assert sum(arcs[arc] for arc in pairwise(path)) == expected[i, j]
