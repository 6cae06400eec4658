"""What a BFS-4K search counts beside what every search does, and where it lies.

The host reads ``next_size`` once a level: vertices of the next frontier, then the two numbers
below, then the level that it belongs to. ``counted`` holds the sums over a search.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.frontiers.counts import ARCS, DROPPED
from gpukernels.primitives.warp_sum import warp_sum

#: Places in ``next_size``: pieces queued for the child kernel, vertices that these belong to.
PIECES, CHILDREN = 1, 2
COUNTS = 4


@cuda.jit(device=True)
def count(counted, arcs, dropped):
    """Add what a thread inspected and dropped to the search's counters; all lanes call."""
    arcs, dropped = warp_sum(arcs), warp_sum(dropped)
    if cuda.laneid == 0:
        if arcs > 0:
            cuda.atomic.add(counted, ARCS, arcs)
        if dropped > 0:
            cuda.atomic.add(counted, DROPPED, dropped)
