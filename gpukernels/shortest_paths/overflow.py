"""Refuse lengths that the type of the distances cannot hold.

A kernel stores a sum only if it is less than the distance that it replaces, so a sum that is too
large is dropped. Unless another path reaches the arc's target, its distance stays infinite: an arc
leads from a vertex that is reached to one that is not. Such an arc needs a distance close to the
end of the type. In most graphs two comparisons on the host show that there is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.graph import Graph
from gpukernels.sequential import bellman_ford_queue
from gpukernels.weight_facts import weight_facts

from .result import UNREACHED, infinity

#: Greatest factor by which rounding lengthens a float32 sum of arcs. One addition adds at most one
#: part in 2^24, and a sum that is 2^25 times as long as the longest arc does not grow any more.
ROUNDED = 4


def largest(dtype: DTypeLike) -> float | int:
    """Return the largest length that a distance of this type can hold."""
    return UNREACHED - 1 if np.issubdtype(dtype, np.integer) else float(np.finfo(dtype).max)


def check_held(g: Graph, root: int, lengths: NDArray) -> None:
    """Raise OverflowError if a path from `root` has a length that `lengths` cannot hold.

    Parameters
    ----------
    g : Graph
        The graph that has been searched.
    root : int
        Where the paths begin.
    lengths : ndarray of int32 or float32, shape (n,)
        The distances that a search has found: no arc lowers one of them any more.

    Raises
    ------
    OverflowError
        If a path is longer than the type holds, or, of floats, lower.
    NegativeCycleError
        If a path is lower because it leads to a cycle of negative length; names one.
    """
    if weight_facts(g).least < 0 and np.isneginf(lengths).any():
        bellman_ford_queue(g, root)  # names the cycle, if there is one
        raise OverflowError(f"a path from vertex {root} is lower than {lengths.dtype} holds")
    infinite = infinity(lengths.dtype)
    if _is_near_the_end(g, lengths, infinite) and _leaves_the_reached(
        g.offsets, g.targets, lengths, infinite
    ):
        raise too_long(root, lengths.dtype)


def too_long(root: int, dtype: DTypeLike) -> OverflowError:
    """Return the error that refuses a path from `root`, and names the remedy."""
    kind = np.dtype(dtype)
    return OverflowError(
        f"a path from vertex {root} is longer than {kind} holds"
        + ("; take float32 weights" if kind == np.int32 else "")
    )


def _is_near_the_end(g: Graph, lengths: NDArray, infinite: float) -> bool:
    """Return whether a distance may have an arc behind it whose sum is too large."""
    most, end = weight_facts(g).most, largest(lengths.dtype)
    if ROUNDED * (g.n - 1) * most <= end:
        return False
    return lengths.max(initial=0, where=lengths != infinite).item() + most > end


@compiled()
def _leaves_the_reached(offsets, targets, distance, infinite):
    """Return whether an arc leads from a vertex that is reached to one that is not."""
    for u in range(distance.size):
        if distance[u] != infinite:
            for i in range(offsets[u], offsets[u + 1]):
                if distance[targets[i]] == infinite:
                    return True
    return False
