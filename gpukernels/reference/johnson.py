"""Shortest paths between all pairs of a sparse graph: Johnson's heights, then Dijkstra from each.

Johnson [johnson1977efficient], as in [busato2017chapter], section 4. The height of a vertex is the
length of a shortest path to it from any vertex. It is at most 0. One search by Bellman and Ford
finds all heights, from an extra vertex with an arc to every other. An arc whose weight is raised by
the height of its source and lowered by the height of its target is never negative. So Dijkstra's
order is right: nearest first, by the distance less the height.

Only the order uses heights. Distances are sums of the weights themselves, because a float that is
raised and lowered again may be rounded, and int64 may not hold a raised weight. If rounding puts a
vertex in the wrong place, its distance falls later and it enters the heap again; with whole numbers
this never happens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.errors import LengthOverflow, RoundingError
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import Graph, arc_weights
from gpukernels.graphs.paths import NO_PARENT, negative_cycle, vertex_on_cycle
from gpukernels.graphs.weight_facts import is_held, may_be_too_long

from .all_pairs import AllPairs, _room
from .checked_sums import TOO_SHORT, too_far, too_short
from .shortest_paths import _rise, _sink, bellman_ford_queue


def with_source(g: Graph) -> Graph:
    """Return `g` with one more vertex, n, from which an arc of weight 0 leads to every other."""
    weights = arc_weights(g)
    return Graph(
        np.append(g.offsets, g.m + g.n),
        np.append(g.targets, np.arange(g.n, dtype=np.int32)),
        np.append(weights, np.zeros(g.n, weights.dtype)),
    )


@takes_labels()
def johnson(g: GraphLike) -> AllPairs:
    """Johnson's algorithm: O(n (n + m) log n), with at most O(n m) for the heights.

    On sparse graphs it does less work than :func:`floyd_warshall`. It takes negative weights, which
    Dijkstra's algorithm alone does not.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.

    Returns
    -------
    AllPairs
        Distances, next hops and the number of sums, including the sums for the heights.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative length; names one.
    RoundingError
        If float weights are rounded so far that the answer is not known.
    LengthOverflow
        If the length of a path is outside the range of int64 or float64.
    InvalidArgument
        If `g` is not a Graph, or too large for a matrix.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 0, 1], [1, 2, 2], [5, 4, -2])
    >>> found = gk.reference.johnson(g)
    >>> found.path(0, 2), int(found.distance[0, 2])
    ([0, 1, 2], 3)
    """
    distance, next_hop, infinite = _room(g)
    weights = arc_weights(g)
    height: NDArray = np.zeros(g.n, distance.dtype)
    operations = 0
    if (weights < 0).any():
        try:
            heights = bellman_ford_queue(with_source(g), g.n)
        except LengthOverflow:  # it names the extra vertex
            raise LengthOverflow("shorter", distance.dtype) from None
        height, operations = heights.distance[: g.n], heights.relaxations
    checked = infinite if may_be_too_long(g, 3 * g.n + g.m) else None
    parent = np.empty(g.n, np.int32)
    # For whole numbers, a length less a height is from 0 to 2^64 - 1.
    key = np.empty(g.n, np.uint64 if distance.dtype == np.int64 else np.float64)
    for root in range(g.n):
        parent[:] = NO_PARENT
        row = distance[root], parent, next_hop[root], key
        on_cycle, sums = _from_root(g.offsets, g.targets, weights, height, root, *row, checked)
        if on_cycle >= 0:
            on_cycle = int(on_cycle)
            raise negative_cycle(g, parent, on_cycle) or RoundingError(on_cycle, "float64")
        if on_cycle == TOO_SHORT:
            raise LengthOverflow("shorter", distance.dtype, root)
        if checked is not None and not is_held(g, distance[root]):
            raise LengthOverflow("longer", distance.dtype, root)
        operations += sums
    return AllPairs(distance, next_hop, int(operations))


@compiled()
def _from_root(offsets, targets, weights, height, root, distance, parent, hop, key, checked):
    """Fill the row of `root`; return a vertex on a cycle of `parent`, or -1, and the sums.

    Invariant: ``heap[:size]`` is a heap by ``key[:size]``, in which v is at ``place[v]``.
    """
    n = parent.size
    heap, seen = np.empty(n, np.int32), np.empty(n, np.int32)
    place, settled = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
    kind = key.dtype.type
    distance[root], parent[root], heap[0], key[0], place[root] = 0, root, root, 0, 0
    size, sums, again, any_again = 1, 0, 0, False
    while size:
        u = heap[0]
        size -= 1
        if size:
            _sink(heap, key, place, size)
        place[u], settled[u] = -1, True
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if checked is not None and too_far(distance[u], weights[i], checked):
                if weights[i] < 0:
                    return np.int64(too_short(parent, seen)), sums
                continue
            length = distance[u] + weights[i]
            if length < distance[v]:
                distance[v], parent[v] = length, u
                if v == u:
                    return np.int64(v), sums
                if place[v] < 0:
                    place[v] = size
                    size += 1
                    if settled[v]:
                        again += 1
                        any_again = True
                _rise(heap, key, place, v, kind(length) - kind(height[v]))
        sums += offsets[u + 1] - offsets[u]
        if again > n or (any_again and size == 0):
            # A distance that falls after its vertex has left the heap may close a cycle of parents.
            again = 0
            on_cycle = vertex_on_cycle(parent, seen)
            if on_cycle >= 0:
                return np.int64(on_cycle), sums
    _first_hops(parent, root, hop, heap)
    return np.int64(-1), sums


@compiled()
def _first_hops(parent, root, hop, path):
    """Store in `hop`, which is -1 before, the first vertex after `root` on the path to each.

    `path` has room for n int32.
    """
    hop[root] = root
    for end in range(parent.size):
        if parent[end] == -1:
            continue
        v, length = end, 0
        while hop[v] == -1 and parent[v] != root:
            path[length] = v
            length += 1
            v = parent[v]
        first = v if hop[v] == -1 else hop[v]
        hop[v] = first
        for i in range(length):
            hop[path[i]] = first
