"""Sums of int64 that would wrap around are found before they are formed."""

from __future__ import annotations

from numba import njit

from gpukernels.cores.compiled import compiled
from gpukernels.graphs.paths import vertex_on_cycle

#: In place of a vertex on a negative cycle: a sum has been below all of int64.
TOO_SHORT = -2


@njit(inline="always")
def too_far(near, weight, most):
    """Return whether the sum is not from ``-most - 1`` to `most`, for which it is not formed.

    The compiler takes for granted that a sum does not wrap around.
    """
    return near < -most - 1 - weight if weight < 0 else near > most - weight


@compiled()
def too_short(parent, seen):
    """Return a vertex on a cycle of `parent`, which a path shorter than all others may have."""
    found = vertex_on_cycle(parent, seen)
    return found if found >= 0 else TOO_SHORT
