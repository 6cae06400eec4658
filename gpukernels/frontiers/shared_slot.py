"""Coalesced enqueue: a warp puts its lanes' vertices into shared memory, then writes them in rows.

H-BF [busato2016hbf], section 5.1 and Fig. 5. If lanes write their own local queues, they write far
apart: lane 1 begins where lane 0 ends. Here a scan gives each lane its place, and all lanes put
their vertices into the warp's slot of shared memory. Then the warp copies the slot, with 32
neighboring lanes to 32 neighboring places. A slot holds `SLOT` vertices, six rows of 32: the
paper's 768 bytes per warp. Further vertices take another turn. If no lane holds more than one
vertex, they are side by side already, and a ballot is the scan.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.primitives.cache_hints import store_once
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_append import warp_append
from gpukernels.primitives.warp_scan import warp_inclusive_scan

from .counts import ENTRIES

#: Vertices that a warp's slot holds.
SLOT = 192


@cuda.jit(device=True)
def enqueue_through_shared(queue, found, length, slots, hints):
    """Append the first `length` (int32) vertices of every lane's `found`; all lanes call.

    `slots` is the block's array of int32 in shared memory, `SLOT` per warp. Vertices without room
    in the queue are counted and not written.
    """
    if not cuda.any_sync(FULL_MASK, length > 1):
        v = int32(-1)
        if length > 0:
            v = found[0]
        warp_append(queue.next_frontier, queue.next_size, v, length > 0)
        return
    inclusive = warp_inclusive_scan(length)
    total = cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1)
    begin = int32(0)
    if cuda.laneid == 0:
        begin = cuda.atomic.add(queue.next_size, ENTRIES, total)
    begin = cuda.shfl_sync(FULL_MASK, begin, 0)
    mine = cuda.threadIdx.x // WARP_SIZE * SLOT
    before = inclusive - length
    for first in range(0, total, SLOT):
        last = min(first + SLOT, total)
        for i in range(max(first - before, 0), min(last - before, length)):
            slots[mine + before + i - first] = found[i]
        cuda.syncwarp()
        for place in range(first + cuda.laneid, last, WARP_SIZE):
            if begin + place < queue.next_frontier.size:
                vertex = slots[mine + place - first]
                store_once(queue.next_frontier, begin + place, vertex, hints)
        cuda.syncwarp()


def slot_bytes(threads: int) -> int:
    """Return the bytes of shared memory that the slots of a block of `threads` take."""
    return 4 * SLOT * (threads // WARP_SIZE)
