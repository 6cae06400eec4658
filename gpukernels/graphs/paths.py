"""Paths and cycles along the parents that a search has kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpukernels.checks import check_vertex
from gpukernels.cores.compiled import compiled
from gpukernels.errors import NegativeCycleError
from gpukernels.graphs.graph import Graph

#: ``parent`` of a vertex that no path reaches.
NO_PARENT = -1


def path_to(parent: NDArray[np.int32], v: int) -> list[int]:
    """Return the vertices from the root to `v`; an empty list if there is no path.

    Parameters
    ----------
    parent : array of int32, shape (n,)
        The vertex before each one; the root is its own; -1 if there is no path.
    v : int
        The vertex where the path ends.

    Raises
    ------
    InvalidArgument, VertexOutOfRange
        If `v` is not a vertex.
    """
    v = check_vertex("v", v, parent.size)
    if parent[v] == NO_PARENT:
        return []
    path = [v]
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path[::-1]


@compiled()
def vertex_on_cycle(parent, seen):
    """Return a vertex on a cycle of two and more vertices of `parent`, or -1: O(n).

    `seen` has room for n int32.
    """
    seen[:] = 0
    for start in range(parent.size):
        v = start
        while seen[v] == 0:
            seen[v] = start + 1
            if parent[v] == NO_PARENT or parent[v] == v:
                break
            v = parent[v]
        else:
            if seen[v] == start + 1:
                return v
    return -1


def negative_cycle(g: Graph, parent: NDArray[np.int32], on_it: int) -> NegativeCycleError | None:
    """Return the error that names the cycle of `parent` through `on_it`.

    Return None if the cycle's arcs add up to 0 or more, exactly: then rounding has closed it.
    """
    cycle = [on_it]
    while parent[cycle[-1]] != on_it:
        cycle.append(int(parent[cycle[-1]]))
    cycle[1:] = cycle[:0:-1]
    arcs = zip(cycle, cycle[1:] + cycle[:1], strict=True)
    length = sum(Fraction(_least_weight(g, u, v)) for u, v in arcs)
    return NegativeCycleError(cycle) if length < 0 else None


def _least_weight(g: Graph, u: int, v: int) -> float:
    assert g.weights is not None  # without, no cycle is negative
    arcs = slice(g.offsets[u], g.offsets[u + 1])
    return g.weights[arcs][g.targets[arcs] == v].min().item()
