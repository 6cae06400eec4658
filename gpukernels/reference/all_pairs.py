"""Shortest paths between all pairs: Floyd and Warshall's three loops.

Distances are added up in int64 or float64, so that sums of int32 weights cannot overflow. Sums of
int64 weights that might wrap around are checked, as in `shortest_paths`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_vertex
from gpukernels.cores.compiled import compiled
from gpukernels.errors import InvalidArgument, LengthOverflow, RoundingError
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import (
    DENSE_LIMIT,
    Graph,
    arc_weights,
    check_graph,
    no_arc,
    weight_type,
)
from gpukernels.graphs.summary import shape_of
from gpukernels.graphs.weight_facts import is_held, may_be_too_long, weight_facts

from .checked_sums import TOO_SHORT, too_far
from .negative_cycles import find_negative_cycle


class AllPairs(NamedTuple):
    """The result of a sequential search for the shortest paths of all pairs.

    Attributes
    ----------
    distance : array of int64 or float64, shape (n, n)
        ``distance[i, j]`` is the length of a shortest path from i to j. If there is none: infinity,
        or for whole weights the largest int64.
    next_hop : array of int32, shape (n, n)
        The vertex after i on such a path to j; i itself if i = j, -1 if there is no path.
    operations : int
        Additions, each followed by a comparison.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.reference.floyd_warshall(gk.path(4))
    AllPairs: 16 of 16 pairs, 52 operations; distance int64 (4, 4), next_hop int32 (4, 4)
    """

    distance: NDArray[np.int64] | NDArray[np.float64]
    next_hop: NDArray[np.int32]
    operations: int

    def __repr__(self) -> str:
        joined, n = int((self.next_hop >= 0).sum()), len(self.distance)
        return (
            f"AllPairs: {joined:,} of {n * n:,} pairs, {self.operations:,} operations; "
            f"distance {shape_of(self.distance)}, next_hop {shape_of(self.next_hop)}"
        )

    def path(self, i: int, j: int) -> list[int]:
        """Return the vertices of a shortest path from `i` to `j`; an empty list if none."""
        n = len(self.distance)
        i, j = check_vertex("i", i, n), check_vertex("j", j, n)
        if self.next_hop[i, j] < 0:
            return []
        path = [i]
        while path[-1] != j:
            path.append(int(self.next_hop[path[-1], j]))
        return path


@takes_labels()
def floyd_warshall(g: GraphLike) -> AllPairs:
    """Floyd and Warshall's algorithm: O(n^3), in the memory of the result.

    Rows that do not reach the pivot are skipped.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.

    Returns
    -------
    AllPairs
        Distances, next hops and the number of sums.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative length; names one.
    LengthOverflow
        If a path is longer than int64 or float64 holds.
    RoundingError
        If sums of floats are rounded so far in float64 that shortest paths are not known.
    InvalidArgument
        If `g` is not a Graph, or too large for a matrix.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g = gk.Graph.from_arcs(3, [0, 0, 1], [1, 2, 2], [5, 4, -2])
    >>> found = gk.reference.floyd_warshall(g)
    >>> found.path(0, 2), int(found.distance[0, 2])
    ([0, 1, 2], 3)
    """
    distance, next_hop, infinite = _room(g)
    _place_arcs(g.offsets, g.targets, arc_weights(g), distance, next_hop)
    checked = infinite if may_be_too_long(g, 2 * g.n) else None
    on_cycle, operations = _floyd_warshall(distance, next_hop, infinite, checked)
    error: Exception | None = None
    if on_cycle == TOO_SHORT:
        error = LengthOverflow("shorter", distance.dtype)
    elif on_cycle >= 0:
        error = RoundingError(int(on_cycle), "float64")
    elif checked is not None and not all(is_held(g, row) for row in distance):
        error = LengthOverflow("longer", distance.dtype)
    rounded = distance.dtype == np.float64 and weight_facts(g).least < 0
    if rounded and error is None and (lost := _first_lost(next_hop)) >= 0:
        error = RoundingError(int(lost), "float64")
    if rounded or error is not None:
        error = find_negative_cycle(g, np.zeros(g.n) if error else distance.min(axis=0)) or error
    if error is not None:
        raise error
    return AllPairs(distance, next_hop, int(operations))


def _room(g: Graph):
    """Return infinite distances, hops, and infinity."""
    check_graph(g)
    if g.n > DENSE_LIMIT:
        raise InvalidArgument("g.n", g.n, f"at most {DENSE_LIMIT:,} for a matrix of all pairs")
    wide = np.dtype(f"{weight_type(g).kind}8")
    infinite = no_arc(wide)
    distance = np.full((g.n, g.n), infinite, wide)
    return distance, np.full((g.n, g.n), -1, np.int32), distance.dtype.type(infinite)


@compiled()
def _place_arcs(offsets, targets, weights, distance, next_hop):
    """Write the least arc of each pair; 0 from a vertex to itself, unless its arc is negative."""
    for u in range(len(distance)):
        distance[u, u], next_hop[u, u] = 0, u
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if weights[i] < distance[u, v]:
                distance[u, v], next_hop[u, v] = weights[i], v


@compiled()
def _first_lost(next_hop):
    """Return a vertex from which hops to another one never arrive, or -1: O(n^2)."""
    n = len(next_hop)
    seen = np.empty(n, np.int32)
    for j in range(n):
        seen[:] = -1
        seen[j] = j
        for i in range(n):
            v = i
            while next_hop[v, j] >= 0 and seen[v] < 0:
                seen[v] = i
                v = next_hop[v, j]
            if v != j and seen[v] == i and next_hop[v, j] >= 0:
                return v
    return -1


@compiled()
def _floyd_warshall(distance, next_hop, infinite, checked):
    """Return a vertex on a cycle of negative length, or -1, and the number of sums.

    The highest vertex of such a cycle has a negative path to itself before it is the pivot. Until
    then, all distances belong to paths without repeated vertices.
    """
    n, operations = len(distance), 0
    for k in range(n):
        if distance[k, k] < 0:
            return k, operations
        for i in range(n):
            first = distance[i, k]
            if first == infinite:
                continue
            operations += n
            for j in range(n):
                if checked is not None and distance[k, j] != infinite:
                    if too_far(first, distance[k, j], checked):
                        if first < 0:
                            return TOO_SHORT, operations
                        continue
                if distance[k, j] != infinite and first + distance[k, j] < distance[i, j]:
                    distance[i, j] = first + distance[k, j]
                    next_hop[i, j] = next_hop[i, k]
    return -1, operations
