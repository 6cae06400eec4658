"""Queue append by atomic add: each thread draws the next free slot and writes its item there.

The order of the items depends on which thread draws first, the set of items does not. Every append
is an atomic on one address, which lanes of a warp make one after another: the cost that scans
avoid.
"""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def queue_append(queue, size, item):
    """Put `item` at the end of `queue` and count it in ``size[0]``.

    What no longer fits is counted but not written: the caller compares ``size[0]`` with
    ``queue.size`` after the launch.
    """
    slot = cuda.atomic.add(size, 0, 1)
    if slot < queue.size:
        queue[slot] = item
