"""Room in a queue for all that a block has found: a block scan, and one atomic a block.

The allocation of Merrill et al. [merrill2012scalable], after [merrill2009parallel]; the multi-block
write of [busato2015bfs4k], section 5.1, is of the same kind. Each thread says how many entries it
brings. A scan gives each its place within the block, one thread draws room for all by an atomic add
on the queue's size, and the places of neighboring threads are neighbors: where a queue filled by
`queue_append` costs an atomic an entry, this costs three barriers and an atomic a block, and one
more atomic for every thread that brings more than `ALONE` entries.

A queue has room for what a search without duplicates needs. What duplicates make beyond is counted
and not written; the host sees it in the size that it reads back, and has `collect_level` make the
level afresh from the distances, in O(V), without duplicates.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.primitives.block_scan import block_exclusive_scan
from gpukernels.primitives.launch_shape import WARP_SIZE
from gpukernels.primitives.warp_sum import warp_sum

#: What the elements of ``next_size`` count: vertices enqueued, arcs that leave or left them,
#: duplicates dropped, entries of the edge frontier.
ENTRIES, ARCS, DROPPED, PLACES = 0, 1, 2, 3

#: A thread that brings more draws room for itself, so that a block's total fits 32 bits.
ALONE = 16384


@cuda.jit(device=True)
def draw_room(count, next_size, what):
    """Return where in a queue the `count` entries of the calling thread begin.

    ``next_size[what]``, an int64, is the size of the queue and grows by what the block brings. All
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
def enqueue(queue, next_size, v, has):
    """Append the `v` of every thread that `has` one to `queue`; all threads of the block call."""
    place = draw_room(int32(has), next_size, ENTRIES)
    if has and place < queue.size:
        queue[place] = v


@cuda.jit(device=True)
def enqueue_held(queue, next_size, found, held):
    """Append the ``held[0]`` vertices of every thread to `queue`; all threads of the block call."""
    place = draw_room(held[0], next_size, ENTRIES)
    for i in range(held[0]):
        if place + i < queue.size:
            queue[place + i] = found[i]


@cuda.jit(device=True)
def count_up(next_size, what, count):
    """Add the `count` of every lane to ``next_size[what]``, an atomic a warp; all lanes call."""
    count = warp_sum(int64(count))
    if cuda.laneid == 0 and count > 0:
        cuda.atomic.add(next_size, what, count)


@cuda.jit
def collect_level(offsets, distance, next_frontier, next_size, level):
    """Enqueue every vertex at distance `level`, each once, and count the arcs that leave them."""
    arcs = int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, distance.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        has = v < distance.size and distance[v] == level
        enqueue(next_frontier, next_size, v, has)
        if has:
            arcs += offsets[v + 1] - offsets[v]
    count_up(next_size, ARCS, arcs)
