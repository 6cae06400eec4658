"""Enqueue: reserve room in a queue for the vertices of a block or a warp, by a scan and one atomic.

Each thread has a number of entries. A scan gives each thread its place among the others, and one
thread reserves room for all by an atomic add on the queue's size. Neighboring threads get
neighboring places. A queue filled by `queue_append` costs one atomic per entry.

- By block: the allocation of Merrill et al. [merrill2012scalable], after [merrill2009parallel]; the
  multi-block write of [busato2015bfs4k], section 5.1, is similar. It costs three barriers and an
  atomic per block, and one more atomic for every thread that has more than `ALONE` entries.
  `draw_room` returns each thread's place; the caller decides what to write there, and to how many
  arrays. `enqueue` and `enqueue_held` write vertices.
- By warp, from local queues: BFS-4K [busato2015bfs4k], sections 5.1 and 5.6, writes in two ways.
  Scatter: each lane writes its own queue, vertex by vertex, from its place in the scan on; lanes
  write far apart. Induced coalescing (Fig. 9): as long as every lane has a vertex left, all write
  side by side; vertices beyond the shortest queue are scattered. Finding the shortest costs five
  shuffles, so it is done only if the queues hold K7 vertices on average.

The paper only calls K7 "a threshold for switching the writing mode". It cannot be a bound on the
shortest queue, as it should save the search for this queue. So it is read here as a bound on the
mean: the scan has just given the warp the number of vertices in its 32 queues. With K7 = 10 and 16
vertices per queue, the warp has filled its queues to two thirds.

The paper's scan has two levels: in the warp by shuffles, and in the block by "atomic operations" on
shared memory. The second is left out here. Warps fill their queues at their own pace, but a second
level would make them wait for each other before each write. It would save one global atomic per
warp, and add one per block. This is little compared with the arcs that fill 32 queues. If no lane
holds more than one vertex, as one vote shows, the scan is a ballot. Slip: the scan of Fig. 3 drops
the result of its last shuffle; see `primitives.warp_scan`.

A queue has room for the vertices of a search without duplicates. If duplicates exceed this room,
they are counted, but not written. The host sees this in the size that it reads back, and makes the
level again, in O(V), without duplicates: see `collect`.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.primitives.block_scan import block_exclusive_scan
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_append import warp_append
from gpukernels.primitives.warp_scan import warp_inclusive_scan

from .counts import ENTRIES

#: A thread with more entries reserves room alone, so that a block's total fits 32 bits.
ALONE = 16384


@cuda.jit(device=True)
def draw_room(count, next_size, what):
    """Return where in a queue the `count` entries of the calling thread begin.

    ``next_size[what]``, an int64, is the size of the queue and grows by the block's entries. All
    threads of the block call, in whole warps; a barrier has passed when they return.
    """
    warp_totals = cuda.shared.array(WARP_SIZE, int32)
    begins = cuda.shared.array(1, int64)
    shared_count = int32(count)
    if count > ALONE:
        shared_count = int32(0)
    before, total = block_exclusive_scan(shared_count, warp_totals)
    if cuda.threadIdx.x == 0:
        first = int64(0)
        if total > 0:
            first = cuda.atomic.add(next_size, what, int64(total))
        begins[0] = first
    cuda.syncthreads()
    place = begins[0] + before
    if count > ALONE:
        place = cuda.atomic.add(next_size, what, int64(count))
    return place


@cuda.jit(device=True)
def enqueue(queue, v, has):
    """Append the `v` of every thread that `has` one to `queue`; all threads of the block call."""
    place = draw_room(int32(has), queue.next_size, ENTRIES)
    if has and place < queue.next_frontier.size:
        queue.next_frontier[place] = v


@cuda.jit(device=True)
def enqueue_held(queue, local):
    """Append the vertices that every thread holds to `queue`; all threads of the block call."""
    place = draw_room(local.held[0], queue.next_size, ENTRIES)
    for i in range(local.held[0]):
        if place + i < queue.next_frontier.size:
            queue.next_frontier[place + i] = local.found[i]


@cuda.jit(device=True)
def warp_minimum(value):
    """Return the least `value` of the warp, in every lane; all 32 lanes must call."""
    apart = 16
    while apart > 0:
        value = min(value, cuda.shfl_xor_sync(FULL_MASK, value, apart))
        apart //= 2
    return value


@cuda.jit(device=True)
def enqueue_by_warp(queue, found, length, writes):
    """Append the first `length` (int32) vertices of every lane's `found`; all lanes call."""
    if writes.binary_scan and not cuda.any_sync(FULL_MASK, length > 1):
        v = int32(-1)
        if length > 0:
            v = found[0]
        warp_append(queue.next_frontier, queue.next_size, v, length > 0)
        return
    inclusive = warp_inclusive_scan(length)
    begin = int32(0)
    if cuda.laneid == WARP_SIZE - 1:
        begin = cuda.atomic.add(queue.next_size, ENTRIES, inclusive)
    total = cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1)
    begin = cuda.shfl_sync(FULL_MASK, begin, WARP_SIZE - 1)
    shortest = int32(0)
    if total >= writes.coalesce_from * WARP_SIZE:
        shortest = warp_minimum(length)
        for i in range(shortest):
            slot = begin + i * WARP_SIZE + cuda.laneid
            if slot < queue.next_frontier.size:
                queue.next_frontier[slot] = found[i]
    rest = length - shortest
    slot = begin + shortest * WARP_SIZE + (inclusive - length) - shortest * cuda.laneid
    for i in range(rest):
        if slot + i < queue.next_frontier.size:
            queue.next_frontier[slot + i] = found[shortest + i]
