"""A neighbor sum and a scan on all cores."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled
from gpukernels.graphs.graph import Graph


def neighbor_sum(
    g: Graph, values: NDArray[np.int32], out: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the sum of `values` over the neighbors of each vertex, once per arc, in `out`."""
    out = np.empty(g.n, np.int64) if out is None else out
    with all_cores():
        _neighbor_sum(g.offsets, g.targets, values, out)
    return out


@compiled(parallel=True)
def _neighbor_sum(offsets, targets, values, sums):
    for u in prange(sums.size):
        total = np.int64(0)
        for i in range(offsets[u], offsets[u + 1]):
            total += values[targets[i]]
        sums[u] = total


def offsets_of(sizes: NDArray[np.int32], out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """Return the sums before each of `sizes`, and the total: int32, shape (n + 1,), in `out`.

    The total must be at most 2^31 - 1; this is not checked.
    """
    out = np.empty(sizes.size + 1, np.int32) if out is None else out
    with all_cores() as count:
        _scan(sizes, out, np.empty(count, np.int64))
    return out


@compiled(parallel=True)
def _scan(sizes, offsets, totals):
    """Add up one part per core, then scan each part from the end of the parts before it."""
    parts, n = totals.size, sizes.size
    for t in prange(parts):
        total = np.int64(0)
        for i in range(n * t // parts, n * (t + 1) // parts):
            total += sizes[i]
        totals[t] = total
    for t in prange(parts):
        before = totals[:t].sum()
        for i in range(n * t // parts, n * (t + 1) // parts):
            offsets[i] = before
            before += sizes[i]
    offsets[n] = totals.sum()
