"""The counters of a search on the device: the place of each number, and how threads add to it.

The counters of a launch are in one small array, ``next_size`` or ``counts``, so that the host reads
them back together. The first element is the size of the queue that the launch fills.
"""

from __future__ import annotations

from numba import cuda, int64

from gpukernels.primitives.warp_sum import warp_sum

#: Places in an array of counters: items enqueued, arcs that leave or left them, duplicates dropped.
ENTRIES, ARCS, DROPPED = 0, 1, 2
#: The fourth place: entries of an edge frontier, or the level that a launch has reached.
PLACES = LEVEL = 3


@cuda.jit(device=True)
def count_up(next_size, what, count):
    """Add the `count` of every lane to ``next_size[what]``, one atomic per warp; all lanes call."""
    count = warp_sum(int64(count))
    if cuda.laneid == 0 and count > 0:
        cuda.atomic.add(next_size, what, count)


@cuda.jit(device=True)
def count_work(counted, arcs, dropped):
    """Add each lane's inspected arcs and dropped vertices to ``counted``; all lanes call."""
    arcs, dropped = warp_sum(arcs), warp_sum(dropped)
    if cuda.laneid == 0:
        if arcs > 0:
            cuda.atomic.add(counted, ARCS, arcs)
        if dropped > 0:
            cuda.atomic.add(counted, DROPPED, dropped)
