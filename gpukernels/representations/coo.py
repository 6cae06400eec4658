"""Coordinate list (COO): every arc as a pair (source, target), sorted.

Section 1.3 of [busato2017chapter]. O(2 E) space. With one thread per arc, the work is perfectly
balanced and reads are side by side, whatever the degrees. The price is an atomic add to the sum of
each arc's vertex. Sorted by source, neighboring threads meet the same source; in lexicographic
order an edge query is a binary search, O(log E) instead of O(E). An undirected edge needs no second
arc: reading the pair backwards gives it.

The ends of an arc can be in two arrays (structure of arrays) or next to each other (array of
structures), which section 1.3 recommends "to improve the memory coalescing, similarly to CSR". But
a list in CSR starts anywhere, while a warp here reads 32 arcs side by side in either layout: two
arrays are coalesced as they are. If the halves of pairs are read one after the other, they touch
every sector twice. If they are read as one 64-bit word, they touch as many sectors as two arrays
do, with half the requests. All three are here to be counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import cuda, int32
from numpy.typing import ArrayLike, NDArray

from gpukernels.checks import check_choice, check_flag
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument
from gpukernels.graphs.graph import Graph, arc_weights
from gpukernels.graphs.summary import record_summary
from gpukernels.primitives import THREADS

from .arguments import computed, queries, sum_dtype, summed_graph, vertex_values

LAYOUTS = ("soa", "aos", "packed")


@cuda.jit
def coo_row_sum(source, weights, sums):
    """Add the weight of each arc to its source, one thread per arc."""
    i = cuda.grid(1)
    if i < source.size:
        cuda.atomic.add(sums, source[i], weights[i])


@cuda.jit
def coo_neighbor_sum(source, target, values, sums):
    """Add the value of each arc's target to its source, one thread per arc."""
    i = cuda.grid(1)
    if i < source.size:
        cuda.atomic.add(sums, source[i], values[target[i]])


@cuda.jit
def coo_row_sum_both_ways(source, target, weights, sums):
    """Add the weight of each undirected edge to both of its ends (once for a self-loop)."""
    i = cuda.grid(1)
    if i < source.size:
        u, v = source[i], target[i]
        cuda.atomic.add(sums, u, weights[i])
        if u != v:
            cuda.atomic.add(sums, v, weights[i])


@cuda.jit
def coo_neighbor_sum_both_ways(source, target, values, sums):
    """Add the value of each end of an undirected edge to the other (once for a self-loop)."""
    i = cuda.grid(1)
    if i < source.size:
        u, v = source[i], target[i]
        cuda.atomic.add(sums, u, values[v])
        if u != v:
            cuda.atomic.add(sums, v, values[u])


@cuda.jit(device=True)
def add_along(values, sums, u, v, both_ways):
    """Add the value of `v` to the sum of `u`; with `both_ways` and u != v, also u's to v's sum."""
    cuda.atomic.add(sums, u, values[v])
    if both_ways and u != v:
        cuda.atomic.add(sums, v, values[u])


@cuda.jit
def coo_neighbor_sum_aos(arcs, values, sums, both_ways):
    """Add over the neighbors, one thread per arc: both halves of a pair, two requests."""
    i = cuda.grid(1)
    if i < arcs.shape[0]:
        add_along(values, sums, arcs[i, 0], arcs[i, 1], both_ways)


@cuda.jit
def coo_neighbor_sum_packed(arcs, values, sums, both_ways):
    """Add over the neighbors, one thread per arc: the pair as one 64-bit word, one request."""
    i = cuda.grid(1)
    if i < arcs.shape[0]:
        word = arcs[i]
        add_along(values, sums, int32(word & 0xFFFFFFFF), int32(word >> 32), both_ways)


@cuda.jit
def coo_has_edge(source, target, query_source, query_target, found):
    """Test if (u, v) is an arc: find the first arc that is not before it, one thread per query."""
    i = cuda.grid(1)
    if i < found.size:
        u, v = query_source[i], query_target[i]
        first, last = 0, source.size
        while first < last:
            middle = (first + last) // 2
            if source[middle] < u or (source[middle] == u and target[middle] < v):
                first = middle + 1
            else:
                last = middle
        found[i] = first < source.size and source[first] == u and target[first] == v


@dataclass(frozen=True, eq=False)
class EdgeList:
    """A graph as a list of arcs.

    Attributes
    ----------
    source, target : ndarray of int32, shape (k,)
        The ends of each arc.
    weights : ndarray of int32, float32 or float64, shape (k,)
        The weight of each arc; 1 if the graph is unweighted.
    order : {"source", "lexicographic"}
        ``"source"``: sorted by source, with the arcs of one source as the graph has
        them.
    both_ways : bool
        Whether an entry stands for both arcs of an undirected edge (``source <= target``
        everywhere).
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    weights: NDArray
    order: str
    both_ways: bool

    __repr__ = record_summary

    @classmethod
    def from_graph(
        cls,
        g: Graph,
        *,
        order: Literal["source", "lexicographic"] = "source",
        both_ways: bool = False,
    ) -> EdgeList:
        """List the arcs of `g`; `both_ways` lists each edge of an undirected graph once.

        Raises
        ------
        InvalidArgument
            If there is no such order, or `both_ways` is True for a directed graph, or int32 does
            not hold a whole weight.
        """
        both_ways = check_flag("both_ways", both_ways)
        if order not in ("source", "lexicographic"):
            raise InvalidArgument("order", order, "'source' or 'lexicographic'")
        if both_ways and g.directed:
            raise InvalidArgument("both_ways", True, "False, as the graph is directed")
        (source, target), weights = g.coo, arc_weights(summed_graph(g))
        if order == "lexicographic" and not g.sorted_rows:
            by_target = np.lexsort((target, source))
            source, target, weights = source[by_target], target[by_target], weights[by_target]
        if both_ways:
            once = source <= target
            source, target, weights = source[once], target[once], weights[once]
        return cls(source, target, weights, order, both_ways)

    @property
    def pairs(self) -> NDArray[np.int32]:
        """The arcs as an array of structures: records (source, target), shape (k, 2)."""
        return np.stack([self.source, self.target], axis=1)

    @property
    def packed(self) -> NDArray[np.int64]:
        """The same records as 64-bit words, source in the low half, target in the high: (k,)."""
        return self.pairs.view("<i8").reshape(-1)

    @property
    def nbytes(self) -> int:
        """Bytes of the two arrays of ends."""
        return self.source.nbytes + self.target.nbytes


def row_sum(
    g: Graph,
    *,
    order: Literal["source", "lexicographic"] = "source",
    both_ways: bool = False,
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Sum the weights of the arcs that leave each vertex.

    Parameters
    ----------
    g : Graph
        The graph; an unweighted arc counts 1, so the sum is the degree.
    order : {"source", "lexicographic"}
        How the arcs are sorted.
    both_ways : bool
        Whether each edge of an undirected graph is listed once and read in both directions.
    threads : int
        Threads per block.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex. The order of the additions, and so the last digits of a float, can
        differ from run to run.
    """
    edges = EdgeList.from_graph(g, order=order, both_ways=both_ways)
    dtype = sum_dtype(edges.weights.dtype)
    if both_ways:
        arrays = [edges.source, edges.target, edges.weights]
        return _sum_arcs(coo_row_sum_both_ways, g.n, arrays, dtype, threads, device)
    return _sum_arcs(coo_row_sum, g.n, [edges.source, edges.weights], dtype, threads, device)


def neighbor_sum(
    g: Graph,
    values: ArrayLike,
    *,
    order: Literal["source", "lexicographic"] = "source",
    both_ways: bool = False,
    layout: Literal["soa", "aos", "packed"] = "soa",
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Sum `values` over the neighbors of each vertex, once per arc.

    Parameters
    ----------
    g : Graph
        The graph.
    values : array_like of int or float, shape (n,)
        One value per vertex.
    order, both_ways, threads, device
        As in `row_sum`.
    layout : {"soa", "aos", "packed"}
        The layout of an arc's ends: in two arrays; next to each other in pairs; the same pairs,
        each read as one 64-bit word.

    Returns
    -------
    ndarray of int64 or float64, shape (n,)
        One sum per vertex.

    Raises
    ------
    InvalidArgument
        If there is no such order or layout, or `values` is not one number per vertex.
    """
    check_choice("layout", layout, LAYOUTS)
    values = vertex_values(values, g.n)
    edges = EdgeList.from_graph(g, order=order, both_ways=both_ways)
    dtype = sum_dtype(values.dtype)
    if layout != "soa":
        aos = layout == "aos"
        kernel = coo_neighbor_sum_aos if aos else coo_neighbor_sum_packed
        arcs = edges.pairs if aos else edges.packed
        return _sum_arcs(kernel, g.n, [arcs, values], dtype, threads, device, (both_ways,))
    kernel = coo_neighbor_sum_both_ways if both_ways else coo_neighbor_sum
    arrays = [edges.source, edges.target, values]
    return _sum_arcs(kernel, g.n, arrays, dtype, threads, device)


def has_edge(
    g: Graph,
    source: ArrayLike,
    target: ArrayLike,
    *,
    both_ways: bool = False,
    threads: int = THREADS,
    device: Device | None = None,
) -> np.ndarray:
    """Search for the arc from ``source[i]`` to ``target[i]``, for each i.

    Parameters
    ----------
    g : Graph
        The graph.
    source, target : array_like of int, shape (k,)
        The ends of the arcs to look for.
    both_ways : bool
        Whether each edge of an undirected graph is listed once; a query then searches for its
        lesser end first.
    threads, device
        As in `row_sum`.

    Returns
    -------
    ndarray of bool, shape (k,)
        One answer per query.
    """
    ends = queries(source, target, g.n)
    edges = EdgeList.from_graph(g, order="lexicographic", both_ways=both_ways)
    if both_ways:
        ends = np.minimum(*ends), np.maximum(*ends)
    operands, k = (edges.source, edges.target, *ends), ends[0].size
    return computed(coo_has_edge, k, operands, k, np.bool_, threads, device)


def _sum_arcs(kernel, n, arrays, dtype, threads, device, options=()):
    arcs = len(arrays[0])
    return computed(kernel, arcs, arrays, n, dtype, threads, device, *options, start=0)
