"""Shortest paths from one root: Dijkstra's heap, Bellman and Ford's rounds, and a queue between.

Distances are added up in int64 or float64, so that sums of int32 weights cannot overflow. Weights
of 64 bits are used as they are. If their sums might wrap around, each sum is checked: one that is
too large gives no path to the vertex, and at the end all vertices without a path for this reason
are found. Sums of float32 weights are rounded in float64 only if the weights differ by some nine
orders of magnitude. If some floats are negative, an exact check follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.errors import LengthOverflow, NegativeCycleError, RoundingError
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import Graph, arc_weights, check_root, no_arc
from gpukernels.graphs.paths import NO_PARENT, negative_cycle, path_to, vertex_on_cycle
from gpukernels.graphs.summary import shape_of
from gpukernels.graphs.weight_facts import check_non_negative, is_held, may_be_too_long

from .checked_sums import TOO_SHORT, too_far, too_short
from .negative_cycles import find_negative_cycle, lower


class ShortestPaths(NamedTuple):
    """The result of a sequential search for shortest paths.

    Attributes
    ----------
    distance : array of int64 or float64, shape (n,)
        Length of a shortest path from the root. If there is none: infinity, or for whole weights
        the largest int64.
    parent : array of int32, shape (n,)
        The vertex before on a shortest path; the root is its own parent, -1 if there is none.
    relaxations : int
        Number of times that an arc was read.
    improvements : int
        Relaxations that have lowered a distance.
    enqueues : int
        How often a vertex entered the heap or the queue; 0 without one.
    iterations : int
        How often a vertex left the heap or the queue; without one, rounds over all arcs.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.reference.dijkstra(gk.path(4))
    ShortestPaths: 4 of 4 vertices, 6 relaxations; distance int64 (4,), parent int32 (4,)
    """

    distance: NDArray[np.int64] | NDArray[np.float64]
    parent: NDArray[np.int32]
    relaxations: int
    improvements: int
    enqueues: int
    iterations: int

    def __repr__(self) -> str:
        reached = int((self.parent >= 0).sum())
        return (
            f"ShortestPaths: {reached:,} of {self.parent.size:,} vertices, "
            f"{self.relaxations:,} relaxations; distance {shape_of(self.distance)}, "
            f"parent {shape_of(self.parent)}"
        )

    def path_to(self, v: int) -> list[int]:
        """Return the vertices of a shortest path from the root to `v`; an empty list if none."""
        return path_to(self.parent, v)


@takes_labels("root")
def dijkstra(g: GraphLike, root: Any = 0) -> ShortestPaths:
    """Dijkstra's algorithm with a binary heap: O((n + m) log n), each reached arc relaxed once.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.
    root : vertex
        The vertex where the paths begin, a label or a position.

    Returns
    -------
    ShortestPaths
        Distances, parents and counts.

    Raises
    ------
    NegativeWeightError
        If an arc weighs less than 0.
    LengthOverflow
        If a path is longer than int64 or float64 holds.
    InvalidArgument, VertexOutOfRange
        If `root` is not a vertex of `g`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 3], [4, 1, 1, 7])
    >>> found = gk.reference.dijkstra(g)
    >>> found.distance, found.path_to(3)
    (array([0, 4, 1, 5]), [0, 1, 3])
    """
    root = check_root(g, root)
    check_non_negative(g, "dijkstra", ("bellman_ford_queue", "bellman_ford"))
    return _search(_dijkstra, g, root)


@takes_labels("root")
def bellman_ford_queue(g: GraphLike, root: Any = 0) -> ShortestPaths:
    """Bellman and Ford's algorithm with a queue: O(n m), far less on most graphs.

    A vertex enters the queue when its distance falls, unless it is in the queue already. Busato &
    Bombieri 2016 compare their search with this algorithm.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.
    root : vertex
        The vertex where the paths begin, a label or a position.

    Returns
    -------
    ShortestPaths
        Distances, parents and counts.

    Raises
    ------
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    LengthOverflow
        If a path is longer than int64 or float64 holds.
    RoundingError
        If sums of floats are rounded so far in float64 that shortest paths are not known.
    InvalidArgument, VertexOutOfRange
        If `root` is not a vertex of `g`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 0, 1], [1, 2, 2], [5, 4, -2])
    >>> gk.reference.bellman_ford_queue(g).distance
    array([0, 5, 3])
    """
    return _search(_bellman_ford_queue, g, root)


@takes_labels("root")
def bellman_ford(g: GraphLike, root: Any = 0) -> ShortestPaths:
    """Bellman and Ford's algorithm in rounds over all arcs: O(n m), until a round changes nothing.

    Algorithm 1 of Busato & Bombieri 2016 and Algorithm 4 of their survey of 2017 print one round
    only, which is a slip.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.
    root : vertex
        The vertex where the paths begin, a label or a position.

    Returns
    -------
    ShortestPaths
        Distances, parents and counts.

    Raises
    ------
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    LengthOverflow
        If a path is longer than int64 or float64 holds.
    RoundingError
        If sums of floats are rounded so far in float64 that shortest paths are not known.
    InvalidArgument, VertexOutOfRange
        If `root` is not a vertex of `g`.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [2, 2, -5])
    >>> gk.reference.bellman_ford(g)
    Traceback (most recent call last):
      ...
    gpukernels.errors.NegativeCycleError: negative cycle: 0 -> 1 -> 2 -> 0
    """
    return _search(_bellman_ford, g, root)


def _search(loop: Callable, g: Graph, root: int) -> ShortestPaths:
    root = check_root(g, root)
    weights = arc_weights(g)
    wide = np.dtype(f"{weights.dtype.kind}8")
    distance = np.full(g.n, no_arc(wide), wide)
    # A cycle is found after n lowered distances, and the arcs of one vertex. With None in place of
    # the largest sum, the checks are not compiled.
    checked = distance.dtype.type(no_arc(wide)) if may_be_too_long(g, 3 * g.n + g.m) else None
    parent = np.full(g.n, NO_PARENT, np.int32)
    counts = np.zeros(4, np.int64)
    on_cycle = int(loop(g.offsets, g.targets, weights, root, distance, parent, counts, checked))
    error: Exception | None = None
    if on_cycle >= 0:
        error = negative_cycle(g, parent, on_cycle) or RoundingError(on_cycle, "float64")
    elif on_cycle == TOO_SHORT:
        error = LengthOverflow("shorter", wide, root)
    elif checked is not None and not is_held(g, distance):
        error = LengthOverflow("longer", wide, root)
    doubtful = wide.kind == "f" or error is not None
    if doubtful and not isinstance(error, NegativeCycleError):
        heights = np.where(distance == no_arc(wide), np.inf, distance)
        error = find_negative_cycle(g, heights) or error
    if error is not None:
        raise error
    return ShortestPaths(distance, parent, *counts.tolist())


@compiled(nogil=True)
def _dijkstra(offsets, targets, weights, root, distance, parent, counts, checked):
    """Invariant: ``heap[:size]`` is a heap by ``key[:size]``, in which v is at ``place[v]``.

    The keys are distances. They are in the order of the heap, not of the vertices, so that a
    comparison reads one place in memory and not two. Indices are unsigned, as in
    :mod:`.breadth_first`.
    """
    n = parent.size
    heap, key = np.empty(n, np.int32), np.empty(n, distance.dtype)
    place = np.full(n, -1, np.int32)
    distance[root], parent[root], heap[0], key[0], place[root] = 0, root, root, 0, 0
    zero, one = np.uint64(0), np.uint64(1)
    size, relaxations, improvements, enqueues, iterations = one, 0, 0, 1, 0
    while size > zero:
        u, near = heap[0], key[0]
        row = np.uint64(u)
        size -= one
        if size > zero:
            _sink(heap, key, place, size)
        iterations += 1
        for i in range(np.uint64(offsets[row]), np.uint64(offsets[row + one])):
            v = np.uint64(targets[i])
            relaxations += 1
            if checked is not None and too_far(near, weights[i], checked):
                continue
            length = near + weights[i]
            if length < distance[v]:
                distance[v], parent[v] = length, u
                improvements += 1
                if place[v] < 0:
                    place[v] = size
                    size += one
                    enqueues += 1
                _rise(heap, key, place, targets[i], length)
    counts[:] = relaxations, improvements, enqueues, iterations
    return -1


@compiled()
def _sink(heap, key, place, size):
    """Put ``heap[size]`` at the top of ``heap[:size]`` and let it sink to its place."""
    one, end = np.uint64(1), np.uint64(size)
    v, own = heap[end], key[end]
    at = np.uint64(0)
    while (at << one) + one < end:
        child = (at << one) + one
        if child + one < end and key[child + one] < key[child]:
            child += one
        if own <= key[child]:
            break
        heap[at], key[at] = heap[child], key[child]
        place[np.uint64(heap[at])] = at
        at = child
    heap[at], key[at] = v, own
    place[np.uint64(v)] = at


@compiled()
def _rise(heap, key, place, v, own):
    """Let `v`, whose key has fallen to `own`, rise to its new place."""
    one = np.uint64(1)
    at = np.uint64(place[v])
    while at > np.uint64(0):
        above = (at - one) >> one
        if own >= key[above]:
            break
        heap[at], key[at] = heap[above], key[above]
        place[np.uint64(heap[at])] = at
        at = above
    heap[at], key[at] = v, own
    place[v] = at


@compiled(nogil=True)
def _bellman_ford_queue(offsets, targets, weights, root, distance, parent, counts, checked):
    """Return a vertex on a cycle of parents, or -1; see :func:`.negative_cycles.lower`."""
    distance[root], parent[root] = 0, root
    queue = np.empty(parent.size, np.int32)
    queue[0] = root
    return lower(offsets, targets, weights, queue, 1, distance, parent, counts, checked)


@compiled()
def _bellman_ford(offsets, targets, weights, root, distance, parent, counts, checked):
    """Return a vertex on a cycle of parents, or -1; see :func:`.negative_cycles.lower`."""
    n = parent.size
    seen = np.empty(n, np.int32)
    distance[root], parent[root] = 0, root
    relaxations, improvements, iterations, unsearched = 0, 0, 0, 0
    changed = True
    while changed:
        changed = False
        iterations += 1
        for u in range(n):
            if parent[u] == NO_PARENT:
                continue
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                relaxations += 1
                if checked is not None and too_far(distance[u], weights[i], checked):
                    if weights[i] < 0:
                        return too_short(parent, seen)
                    continue
                length = distance[u] + weights[i]
                if length < distance[v]:
                    distance[v], parent[v] = length, u
                    if v == u:
                        return v
                    changed = True
                    improvements += 1
                    unsearched += 1
        if unsearched >= n or (unsearched and not changed):
            unsearched = 0
            vertex = vertex_on_cycle(parent, seen)
            if vertex >= 0:
                return vertex
    counts[:] = relaxations, improvements, 0, iterations
    return -1
