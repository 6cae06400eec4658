"""Whether every arc of a graph has its opposite, in one walk over its rows.

Rows are sorted, so the entries of row v that are below v stand in the order of their vertices. A
walk over the arcs u -> v with u < v, by rising u, therefore has to meet, each time, the next entry
of row v that it has not met yet. If it does, and there are no more entries below v than arcs like
that, every arc has its opposite. Every core walks a part of the rows, and begins in each row v at
the first entry that is not below its own part.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int32, int64, njit, prange
from numpy.typing import NDArray

from gpukernels.cores import all_cores

from .arcs import GIVEN


def is_symmetric(
    offsets: NDArray[np.int32], targets: NDArray[np.int32], weights: NDArray | None
) -> bool:
    """Return whether the rows are sorted and each arc has its opposite, of the same weight.

    ``False`` is no proof of the contrary where rows are unsorted, or where parallel arcs stand in
    another order of weights in the two directions.
    """
    n = offsets.size - 1
    given = np.zeros(0, np.int32) if weights is None else weights.view(np.int32)
    with all_cores() as cores:
        # Equally many arcs for each core, but for the row in which a part ends.
        ends = targets.size * np.arange(1, cores, dtype=np.int64) // cores
        rows = np.concatenate([[0], np.searchsorted(offsets, ends), [n]]).astype(np.int64)
        rows = np.maximum.accumulate(rows)
        next_entry = np.empty((cores, n), np.int32)
        return bool(_walk(offsets, targets, given, rows, next_entry))


@njit(boolean(GIVEN, GIVEN, GIVEN, int64[::1], int32[:, ::1]), parallel=True, cache=True)
def _walk(offsets, targets, weights, rows, next_entry):
    """Return whether rows are sorted, each arc up is met, and there are as many arcs down."""
    cores = rows.size - 1
    weighted = weights.size > 0
    fine = np.ones(cores, np.bool_)
    rise = np.zeros(cores, np.int64)
    for t in prange(cores):
        place = next_entry[t]
        for v in range(place.size):
            low, high = offsets[v], offsets[v + 1]
            while rows[t] > 0 and low < high:
                middle = (low + high) >> 1
                if targets[middle] < rows[t]:
                    low = middle + 1
                else:
                    high = middle
            place[v] = low
        u = rows[t]
        good, up = True, 0
        while good and u < rows[t + 1]:
            before = np.int32(0)
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                met = v >= before
                before = v
                if v > u:
                    up += 1
                    at = place[v]
                    place[v] = at + 1
                    met &= at < targets.size and targets[at] == u
                    met &= not weighted or (at < targets.size and weights[at] == weights[i])
                else:
                    up -= v < u
                if not met:
                    good = False
                    break
            u += 1
        # Whether an entry lies beyond its row is asked once a row: a look at the row's end for
        # every arc would be one more access to anywhere.
        for v in range(place.size):
            good &= place[v] <= offsets[v + 1]
        fine[t], rise[t] = good, up
    return fine.all() and rise.sum() == 0
