"""Queue append by atomic add: each thread draws the next free slot and writes its item there.

The order of the items depends on which thread draws first, the set of items does not. All appends
meet on one address; a scan, which counts first and then draws once a warp or a block, avoids that.
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
