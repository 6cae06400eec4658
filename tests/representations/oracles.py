"""The oracle of all forms: row sums, neighbor sums and edge queries by a plain loop over arcs."""

from __future__ import annotations

import numpy as np

import gpukernels as gk


def simple(g: gk.Graph) -> gk.Graph:
    """Return `g` with the least of parallel arcs alone, as a matrix keeps it."""
    source, target = g.coo
    return gk.Graph.from_arcs(g.n, source, target, g.weights, parallel="min")


def row_sum(g: gk.Graph) -> np.ndarray:
    sums = [0] * g.n
    for i, u in enumerate(g.coo[0].tolist()):
        sums[u] += 1 if g.weights is None else g.weights[i].item()
    return np.array(sums)


def neighbor_sum(g: gk.Graph, values, *, weighted: bool = False) -> np.ndarray:
    sums = [0] * g.n
    for i, (u, v) in enumerate(zip(*(ends.tolist() for ends in g.coo), strict=True)):
        weight = g.weights[i].item() if weighted and g.weights is not None else 1
        sums[u] += weight * np.asarray(values)[v].item()
    return np.array(sums)


def has_edge(g: gk.Graph, source, target) -> np.ndarray:
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True))
    return np.array([(u, v) in arcs for u, v in zip(source, target, strict=True)], dtype=bool)


def with_weights(g: gk.Graph, kind: str) -> gk.Graph:
    """Return `g` without weights, with int32 ones, or with float32 ones that add up exactly."""
    if kind == "unweighted":
        return gk.Graph(g.offsets, g.targets, None, g.directed)
    whole = gk.random_weights(g, low=-50, high=50, seed=1)
    if kind == "int32":
        return whole
    return gk.Graph(whole.offsets, whole.targets, whole.weights / np.float32(4), whole.directed)


def all_pairs(n: int, at_most: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return every ordered pair of vertices, or an even choice of them."""
    pair = np.arange(n * n)[:: max(1, n * n // at_most)]
    return np.divmod(pair, n) if n else (pair, pair)
