"""From local queues to the next frontier: one atomic a warp, and writes side by side.

BFS-4K [busato2015bfs4k], sections 5.1 and 5.6. A warp scans the lengths of its lanes' queues, draws
room for all of them by one atomic, and writes in one of two ways:

- scatter: each lane its own queue, one vertex after another, from where the scan puts it. Lanes
  write far apart.
- induced coalescing (Fig. 9): as long as every lane has a vertex left, all lanes write side by
  side; what exceeds the shortest queue is scattered. Finding the shortest costs five shuffles, so
  it is done only where the queues hold K7 vertices on average.

K7 is read so because the paper says no more than that it is "a threshold for switching the writing
mode": it cannot be compared with the shortest queue, whose search it is to spare, and the scan has
just told the warp how many vertices its 32 queues hold together. With K7 = 10, and 16 vertices that
a queue holds, that is a warp which has filled its queues to two thirds.

The paper's scan has two levels, in the warp by shuffles and in the block by "atomic operations" on
shared memory. The second is left out here: warps fill their queues at their own pace, a second
level would have them wait for each other before each write, and what it saves, a global atomic a
warp for one a block, is little beside the arcs that fill 32 queues. Where a block does meet anyway
there is one: by an atomic in shared memory in `single_block`, by a block scan in
`traversal.enqueue_by_block`.

Where no lane holds more than one vertex, which one vote tells, the scan is a ballot. Slip: the scan
of Fig. 3 drops the result of its last shuffle; see `primitives.warp_scan`.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.primitives import warp_inclusive_scan, warp_sum
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_append import warp_append

from ..local_queue import cull

#: Places in the array ``next_size``: vertices of the next frontier, pieces queued for the child
#: kernel, vertices that these belong to, and the level of the frontier.
SIZE, PIECES, CHILDREN, LEVEL = 0, 1, 2, 3
COUNTS = 4
#: Places in the array ``counted``: arcs inspected, duplicates detected.
ARCS, DETECTED = 0, 1


@cuda.jit(device=True)
def warp_minimum(value):
    """Return the least `value` of the warp, in every lane; all 32 lanes must call."""
    apart = 16
    while apart > 0:
        value = min(value, cuda.shfl_xor_sync(FULL_MASK, value, apart))
        apart //= 2
    return value


@cuda.jit(device=True)
def enqueue(found, length, next_frontier, next_size, coalesce_from, binary_scan):
    """Append the first `length` (int32) vertices of every lane's `found`; all lanes call."""
    if binary_scan and not cuda.any_sync(FULL_MASK, length > 1):
        v = int32(-1)
        if length > 0:
            v = found[0]
        warp_append(next_frontier, next_size, v, length > 0)
        return
    inclusive = warp_inclusive_scan(length)
    begin = int32(0)
    if cuda.laneid == WARP_SIZE - 1:
        begin = cuda.atomic.add(next_size, SIZE, inclusive)
    total = cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1)
    begin = cuda.shfl_sync(FULL_MASK, begin, WARP_SIZE - 1)
    shortest = int32(0)
    if total >= coalesce_from * WARP_SIZE:
        shortest = warp_minimum(length)
        for i in range(shortest):
            slot = begin + i * WARP_SIZE + cuda.laneid
            if slot < next_frontier.size:
                next_frontier[slot] = found[i]
    rest = length - shortest
    slot = begin + shortest * WARP_SIZE + (inclusive - length) - shortest * cuda.laneid
    for i in range(rest):
        if slot + i < next_frontier.size:
            next_frontier[slot + i] = found[shortest + i]


@cuda.jit(device=True)
def flush(
    how, found, held, hash_table, table, next_frontier, next_size, coalesce_from, binary_scan
):  # fmt: skip
    """Cull the local queues of a warp, append what is left, empty them; all lanes call.

    Returns how many duplicates the calling thread has dropped.
    """
    dropped = cull(how, found, held, hash_table, table)
    enqueue(found, int32(held[0]), next_frontier, next_size, coalesce_from, binary_scan)
    held[0] = 0
    return dropped


@cuda.jit(device=True)
def count(counted, arcs, dropped):
    """Add what a thread inspected and dropped to the search's counters; all lanes call."""
    arcs, dropped = warp_sum(arcs), warp_sum(dropped)
    if cuda.laneid == 0:
        if arcs > 0:
            cuda.atomic.add(counted, ARCS, arcs)
        if dropped > 0:
            cuda.atomic.add(counted, DETECTED, dropped)
