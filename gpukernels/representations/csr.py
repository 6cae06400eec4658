"""Compressed sparse row (CSR): all adjacency lists in one array, and the begin of each.

Section 1.2 of [busato2017chapter]. O(V + E) space (O(V + 2 E) for an undirected graph, which holds
each edge twice). The neighbors of u are ``targets[offsets[u]:offsets[u + 1]]``, O(degree) to go
through. With one thread per vertex, the offsets are read side by side, but the lists are not: lanes
read from 32 places and wait for the longest list.

Weights can be in a separate array (structure of arrays) or next to their targets (array of
structures, ``int2`` in CUDA), so that one scattered access loads both. It does so only if both are
requested at once: read one after the other they are two requests, read as one 64-bit word they are
one. All three are here to be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numba import cuda, int32
from numpy.typing import ArrayLike, NDArray

from gpukernels.device import Device
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph, arc_weights, check_graph, weight_type
from gpukernels.primitives import THREADS

from .arguments import computed, queries, sum_dtype, summed_graph, vertex_values


@cuda.jit
def csr_row_sum(offsets, weights, sums):
    """Sum the weights of each row, one thread per row."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += weights[i]
        sums[u] = total


@cuda.jit
def csr_neighbor_sum(offsets, targets, values, sums):
    """Sum `values` over the neighbors of each vertex, one thread per row."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += values[targets[i]]
        sums[u] = total


@cuda.jit
def csr_has_edge(offsets, targets, source, target, found):
    """Go through one row per query until the target is found."""
    i = cuda.grid(1)
    if i < found.size:
        u, v = source[i], target[i]
        k, end = offsets[u], offsets[u + 1]
        while k < end and targets[k] != v:
            k += 1
        found[i] = k < end


@cuda.jit
def csr_weighted_sum_soa(offsets, targets, weights, values, sums):
    """Sum weight times value over each row: target and weight from two arrays, two requests."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += weights[i] * values[targets[i]]
        sums[u] = total


@cuda.jit
def csr_weighted_sum_aos(offsets, arcs, values, sums):
    """Sum weight times value over each row: both halves of one pair, still two requests."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += arcs[i, 1] * values[arcs[i, 0]]
        sums[u] = total


@cuda.jit
def csr_weighted_sum_packed(offsets, arcs, values, sums):
    """Sum weight times value over each row: one request reads both from a 64-bit word."""
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            word = arcs[i]
            target, weight = int32(word & 0xFFFFFFFF), int32(word >> 32)
            total += weight * values[target]
        sums[u] = total


def arc_pairs(g: Graph) -> NDArray[np.int32]:
    """Return the arcs as an array of structures: pairs (target, weight), int32, shape (m, 2).

    Raises
    ------
    InvalidArgument
        If the weights are floats, or int32 does not hold one of them.
    """
    weights = arc_weights(summed_graph(g))
    if weights.dtype != np.int32:
        raise InvalidArgument("weights.dtype", str(weights.dtype), "int32, as targets have")
    return np.stack([g.targets, weights], axis=1)


def packed_arcs(g: Graph) -> NDArray[np.int64]:
    """Return the same pairs as 64-bit words, target in the low half, weight in the high: (m,).

    Raises
    ------
    InvalidArgument
        If the weights are floats, or int32 does not hold one of them.
    """
    return arc_pairs(g).view("<i8").reshape(-1)


def row_sum(g: Graph, *, threads: int = THREADS, device: Device | None = None) -> np.ndarray:
    """Sum the weights of the arcs that leave each vertex.

    Parameters
    ----------
    g : Graph
        The graph; an unweighted arc counts 1, so the sum is the degree.
    threads : int
        Threads per block.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.
    """
    weights = arc_weights(summed_graph(g))
    return _sum_rows(csr_row_sum, g, [weights], sum_dtype(weights.dtype), threads, device)


def neighbor_sum(
    g: Graph, values: ArrayLike, *, threads: int = THREADS, device: Device | None = None
) -> np.ndarray:
    """Sum `values` over the neighbors of each vertex, once per arc.

    Parameters
    ----------
    g : Graph
        The graph.
    values : array_like of int or float, shape (n,)
        One value for each vertex; whole numbers are taken as int32.
    threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.
    """
    check_graph(g)
    values = vertex_values(values, g.n)
    arrays = [g.targets, values]
    return _sum_rows(csr_neighbor_sum, g, arrays, sum_dtype(values.dtype), threads, device)


def weighted_neighbor_sum(
    g: Graph,
    values: ArrayLike,
    *,
    layout: Literal["soa", "aos", "packed"] = "soa",
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Sum weight times value over the arcs of each vertex: a sparse matrix times a vector.

    Parameters
    ----------
    g : Graph
        The graph; an unweighted arc counts 1.
    values : array_like of int or float, shape (n,)
        One value for each vertex; whole numbers are taken as int32.
    layout : {"soa", "aos", "packed"}
        The layout of the weights: in a separate array; next to their targets in pairs (whole only);
        the same pairs, each read as one 64-bit word.
    threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.
    """
    layouts: dict[str, tuple[Any, Callable[[], list[NDArray]]]] = {
        "soa": (csr_weighted_sum_soa, lambda: [g.targets, arc_weights(summed_graph(g))]),
        "aos": (csr_weighted_sum_aos, lambda: [arc_pairs(g)]),
        "packed": (csr_weighted_sum_packed, lambda: [packed_arcs(g)]),
    }
    if not isinstance(layout, str) or layout not in layouts:
        raise InvalidArgument("layout", layout, f"one of {tuple(layouts)}")
    check_graph(g)
    values = vertex_values(values, g.n)
    kernel, lay_out = layouts[layout]
    dtype = sum_dtype(np.result_type(weight_type(summed_graph(g)), values.dtype))
    return _sum_rows(kernel, g, [*lay_out(), values], dtype, threads, device)


def has_edge(
    g: Graph,
    source: ArrayLike,
    target: ArrayLike,
    *,
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Tell for each i whether there is an arc from ``source[i]`` to ``target[i]``.

    Parameters
    ----------
    g : Graph
        The graph; its rows need not be sorted.
    source, target : array_like of int, shape (k,)
        The ends of the arcs to look for.
    threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of bool, shape (k,)
        One answer per query.
    """
    check_graph(g)
    source, target = queries(source, target, g.n)
    operands, k = (g.offsets, g.targets, source, target), source.size
    return computed(csr_has_edge, k, operands, k, np.bool_, threads, device)


def _sum_rows(kernel, g, arrays, dtype, threads, device):
    return computed(kernel, g.n, [g.offsets, *arrays], g.n, dtype, threads, device)
