"""Find sums of int64 that would wrap around before they are formed."""

from __future__ import annotations

from numba import njit

from gpukernels.cores.compiled import compiled
from gpukernels.graphs.paths import vertex_on_cycle

#: Returned in place of a vertex on a negative cycle: a sum was below the range of int64.
TOO_SHORT = -2


@njit(inline="always")
def too_far(near, weight, most):
    """Return whether the sum is outside ``-most - 1`` to `most`; then it must not be formed.

    The compiler assumes that a sum does not wrap around.
    """
    return near < -most - 1 - weight if weight < 0 else near > most - weight


@compiled()
def too_short(parent, seen):
    """Return a vertex on a cycle of `parent`, which a path shorter than all others may have."""
    vertex = vertex_on_cycle(parent, seen)
    return vertex if vertex >= 0 else TOO_SHORT
