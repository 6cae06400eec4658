"""Queue append by atomic add: each thread reserves the next free slot and writes its item there.

The order of the items depends on which thread reserves first, but their set does not. All appends
meet at one address. A scan avoids that: it counts first, then reserves once per warp or block.
"""

from __future__ import annotations

from numba import cuda


@cuda.jit(device=True)
def queue_append(queue, size, item):
    """Put `item` at the end of `queue` and count it in ``size[0]``.

    An item that does not fit is counted but not written: the caller compares ``size[0]`` with
    ``queue.size`` after the launch.
    """
    slot = cuda.atomic.add(size, 0, 1)
    if slot < queue.size:
        queue[slot] = item
