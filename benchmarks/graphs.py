"""The graphs and workloads of several benchmarks; each is made once per process."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from gpukernels.graphs import generators, workloads
from gpukernels.graphs.graph import Graph

rmat = functools.cache(generators.rmat)
kron = functools.cache(generators.kron)
road_grid = functools.cache(generators.road_grid)
small_world = functools.cache(generators.small_world)
workload = functools.cache(workloads.workload)


def items_of(shrink: int) -> int | None:
    """Return the number of items of each workload after so many halvings, or None for all."""
    least = min(target.items for target in workloads.TARGETS.values())
    return least >> shrink if shrink else None


@functools.cache
def random_arcs(n: int, mean_degree: float, seed: int) -> Graph:
    """Return a directed graph of Poisson degrees with random targets, also with parallel arcs.

    This is the random graph of GTgraph, which the papers use. `erdos_renyi` would sort all arcs to
    find parallel ones.
    """
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.poisson(mean_degree, n))])
    return Graph(offsets, rng.integers(0, n, offsets[-1], dtype=np.int32))


def weighted(g: Graph, seed: int = 1) -> Graph:
    """Return `g` with whole weights from 1 to 100, for the measurements of shortest paths."""
    return generators.random_weights(g, 1, 100, seed)


@functools.cache
def weighted_rmat(n: int, m: int, seed: int) -> Graph:
    """Return an undirected weighted R-MAT graph of m arcs; n need not be a power of 2.

    Edges are drawn for the next power of 2 vertices; edges that lead beyond n are left out.
    """
    scale = (n - 1).bit_length()
    drawn = generators.rmat(scale, -(-m * 3 // (4 << scale)), seed)
    source, target = drawn.coo
    # In the order of sources, the cut would leave out whole vertices.
    kept = np.flatnonzero((source < n) & (target < n))
    kept = np.random.default_rng(seed).permutation(kept)[: m // 2]
    return weighted(Graph.from_arcs(n, source[kept], target[kept], None, False), seed)


def uniform(n: int, edges: int, seed: int) -> Graph:
    """Return an undirected graph with this number of edges between random vertices."""
    source, target = np.random.default_rng(seed).integers(0, n, (2, edges), dtype=np.int32)
    return Graph.from_arcs(n, source, target, None, False)


@functools.cache
def weighted_random(n: int, degree: int, seed: int) -> Graph:
    """Return `uniform` of n * degree / 2 edges, with weights."""
    return weighted(uniform(n, n * degree // 2, seed), seed)


def whole_grid(rows: int, columns: int) -> Graph:
    """Return a grid of streets without a gap."""
    vertex = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    source = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    target = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return Graph.from_arcs(vertex.size, source, target, None, False)


@functools.cache
def weighted_grid(rows: int, columns: int, seed: int) -> Graph:
    """Return `whole_grid` with weights."""
    return weighted(whole_grid(rows, columns), seed)


@functools.cache
def weighted_small_world(n: int, degree: int, rewire: float, seed: int) -> Graph:
    """Return `gk.small_world` with weights."""
    return weighted(generators.small_world(n, degree, rewire, seed), seed)


@functools.cache
def weighted_kron(scale: int, edge_factor: int, seed: int) -> Graph:
    """Return `gk.kron` with weights."""
    return weighted(kron(scale, edge_factor, seed), seed)


def dense_lengths(n: int, seed: int) -> NDArray[np.int32]:
    """Return the arc lengths of a complete graph, whole numbers from 1 to 50,000, as a matrix.

    Sums are exact in float32, and paths of up to 20,000 vertices fit into int32 matrices.
    """
    lengths = np.random.default_rng(seed).integers(1, 50_001, (n, n), np.int32)
    np.fill_diagonal(lengths, 0)
    return lengths
