"""Refuse distances that their type cannot hold, or that rounding has made wrong.

A kernel stores a sum only if it is less than the distance that it replaces, so a sum that is too
large is dropped. Unless another path reaches the arc's target, the target's distance stays
infinite: an arc leads from a reached vertex to an unreached one. Such an arc needs a distance close
to the end of the type. In most graphs, two comparisons on the host show that there is none.

Float distances may be rounded wrongly only if weights are negative. Then distances fall around a
cycle whose exact length is 0 or more, or a negative cycle is lost in the rounding. After a search
no arc lowers a distance, so no distance is greater than the rounded length of a shortest path. If
tight arcs lead from the root to each vertex, each distance is also the rounded length of a path.
So it is as close to the exact length as the rounded sum of one path is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.errors import LengthOverflow, RoundingError
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.weight_facts import is_held, weight_facts
from gpukernels.reference.in_type import largest
from gpukernels.reference.negative_cycles import find_negative_cycle

from .result import infinity

#: Greatest factor by which rounding lengthens a float32 sum of arcs. One addition adds at most one
#: part in 2^24, and a sum that is 2^25 times as long as the longest arc does not grow any more.
ROUNDED = 4


def check_lengths(g: Graph, root: int, lengths: NDArray) -> None:
    """Raise an error if `lengths` cannot hold the lengths of paths from `root`, or has wrong ones.

    O(n + m) on the host for floats if some are negative; mostly two comparisons for others.

    Parameters
    ----------
    g : Graph
        The graph that has been searched.
    root : int
        The vertex where the paths begin.
    lengths : ndarray of int32 or float32, shape (n,)
        The distances that a search has found: no arc lowers one of them any more.

    Raises
    ------
    NegativeCycleError
        If weights are floats, and a path leads to a cycle of negative length; names one.
    LengthOverflow
        If the length of a path is too large for the type, or too low for floats.
    RoundingError
        If floats are rounded so far that a vertex has a distance which no path to it has.
    """
    signed = lengths.dtype.kind == "f" and weight_facts(g).least < 0
    error: Exception | None = None
    if signed and np.isneginf(lengths).any():
        error = LengthOverflow("shorter", lengths.dtype, root)
    elif _is_near_the_end(g, lengths) and not is_held(g, lengths):
        error = LengthOverflow("longer", lengths.dtype, root)
    elif signed:
        weights = g.weights.astype(lengths.dtype, copy=False)  # as kernels add them
        vertex = _without_tight_path(g.offsets, g.targets, weights, lengths, root)
        error = RoundingError(int(vertex)) if vertex >= 0 else None
    if signed:
        error = find_negative_cycle(g, lengths) or error
    if error is not None:
        raise error


def _is_near_the_end(g: Graph, lengths: NDArray) -> bool:
    """Return whether the sum of a distance and an arc after it may be too large."""
    most, end = weight_facts(g).most, largest(lengths.dtype)
    if ROUNDED * (g.n - 1) * most <= end:
        return False
    finite = lengths != infinity(lengths.dtype)
    return lengths.max(initial=0, where=finite).item() + most > end


@compiled()
def _without_tight_path(offsets, targets, weights, distance, root):
    """Return a vertex that is reached, though not from the root by tight arcs alone; or -1."""
    if distance[root] != 0:
        return root
    met = np.zeros(distance.size, np.bool_)
    stack = np.empty(distance.size, np.int32)
    met[root], stack[0], size = True, root, 1
    while size:
        size -= 1
        u = stack[size]
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if not met[v] and distance[u] + weights[i] == distance[v]:
                met[v] = True
                stack[size] = v
                size += 1
    for v in range(distance.size):
        if not met[v] and distance[v] != np.inf:
            return v
    return -1
