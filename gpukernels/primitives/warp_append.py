"""Queue append by warp: one atomic for up to 32 items.

A ballot gives each lane its rank among those with an item. One lane reserves room for all of them,
and a shuffle tells the others where it begins ([busato2015bfs4k], section 5.1, with the binary scan
of [harris2011optimizing]). Neighboring lanes write neighboring slots.
"""

from __future__ import annotations

from numba import cuda, int32

from .launch_shape import FULL_MASK


@cuda.jit(device=True)
def warp_append(queue, size, item, has_item):
    """Append the `item` of every lane that `has_item` to `queue`; all 32 lanes must call.

    ``size[0]``, an int32 or int64, counts the items; those that do not fit are not written.
    """
    votes = cuda.ballot_sync(FULL_MASK, has_item)
    begin = int32(0)
    if cuda.laneid == 0 and votes != 0:
        begin = cuda.atomic.add(size, 0, cuda.popc(votes))
    slot = cuda.shfl_sync(FULL_MASK, begin, 0) + cuda.popc(votes & cuda.lanemask_lt())
    if has_item and slot < queue.size:
        queue[slot] = item
