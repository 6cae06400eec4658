"""The single-block kernel: level after level in one launch of one block, while levels are small.

BFS-4K [busato2015bfs4k], section 5.5. At the first and last levels, and at all levels of a road
network, a frontier does not fill the GPU, and a launch with its read-back costs more than the work.
One block keeps the frontier in shared memory and does not wait for the host. It goes on until a
frontier is empty or exceeds `room` vertices, then leaves it in global memory.

Mapping: vertex of the frontier to a virtual warp; every level chooses its size again from the
threads of the block. One block has few warps to hide the latency of memory, so a group visits
`TOGETHER` vertices at once: all their arcs are loaded before the first is visited. There are no
local queues: the lanes of a warp cull and append their finds at each step, with one atomic in
shared memory per warp. Each level has one barrier: one of two frontiers is read and one is filled;
one of three counters (and flags) is read, one is filled, and one, read a level ago, is cleared.
Work O(arcs of the frontiers).

The paper's kernel would start child kernels from the device. Here the block leaves a frontier that
holds a vertex for the child kernel to the multi-block kernels. It reads the degree of every vertex
that it appends, which also brings the offsets into the cache for the next level.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import ENTRIES, LEVEL, count_work
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget, is_repeated
from gpukernels.frontiers.state import Queue, kernel_argument
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK

from ..claim import Search, claim
from ..result import UNVISITED, adopt

#: Vertices of a virtual warp whose arcs are loaded at the same time.
TOGETHER = 4


@kernel_argument
class Shape(NamedTuple):
    """How the block uses its threads and its shared memory."""

    narrowest: int  #: binary logarithm of the smallest virtual warp
    widest: int  #: binary logarithm of the largest
    room: int  #: vertices of each of the two frontiers in shared memory
    slots: int  #: slots of a hash table
    words: int  #: words that the cull takes, before the frontiers


@cuda.jit(device=True)
def append_nearby(near, begin, room, queue, counts, filled, v, has):
    """Append the `v` of every lane that `has` one to a frontier in shared memory; all lanes call.

    The frontier has `room` places in `near`, from `begin` on; vertices beyond them go to `queue`.
    The vertices are counted in ``counts[filled]``.
    """
    votes = cuda.ballot_sync(FULL_MASK, has)
    base = int32(0)
    if cuda.laneid == 0 and votes != 0:
        base = cuda.atomic.add(counts, filled, cuda.popc(votes))
    slot = cuda.shfl_sync(FULL_MASK, base, 0) + cuda.popc(votes & cuda.lanemask_lt())
    if has:
        if slot < room:
            near[begin + slot] = v
        elif slot < queue.next_frontier.size:
            queue.next_frontier[slot] = v


@benign_race("distance", "parent", "hash_table", "table", "leave")
@cuda.jit(**LARGE_BLOCKS)
def single_block_levels(
    search: Search, frontier, size, queue: Queue, counted, sizes, level, shape: Shape, child_above
):
    """Search from the `size` vertices of `frontier` on; only one block may call.

    ``sizes[d]`` receives the size of the frontier at distance d. ``next_size`` receives the size
    and the level of the frontier left in `next_frontier`.

    Threads that reach the same vertex at once store the same distance, and each stores a valid
    parent. A cull that reads an entry which another warp is writing may find or miss the duplicate.
    All threads that set an element of `leave` in a level set it to 1.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    queues = cuda.shared.array(0, int32)
    counts = cuda.shared.array(3, int32)
    leave = cuda.shared.array(3, int32)
    slot_table = hash_table[: shape.slots]
    vertex = cuda.local.array(TOGETHER, int32)
    arc = cuda.local.array(TOGETHER, int32)
    end = cuda.local.array(TOGETHER, int32)
    found = cuda.local.array(TOGETHER, int32)
    thread = cuda.threadIdx.x
    if thread == 0:
        counts[0], counts[1], leave[0], leave[1] = size, 0, 0, 0
        sizes[level] = size
    if search.how == HISTORY_CULLING or search.how == MERRILL:
        forget(table)
    cuda.syncthreads()
    for i in range(thread, size, cuda.blockDim.x):
        u = frontier[i]
        queues[shape.words + i] = u
        if search.offsets[u + 1] - search.offsets[u] > child_above:
            leave[0] = 1
    cuda.syncthreads()
    arcs, dropped = int64(0), int64(0)
    here, there, read = shape.words, shape.words + shape.room, 0
    while size > 0 and size <= shape.room and leave[read] == 0:
        filled = (read + 1) % 3
        if thread == 0:
            counts[(read + 2) % 3] = 0
            leave[(read + 2) % 3] = 0
        shift = int32(shape.widest)
        while shift > shape.narrowest and (size << shift) > cuda.blockDim.x:
            shift = int32(shift - 1)
        lane = thread & ((1 << shift) - 1)
        groups = cuda.blockDim.x >> shift
        for first in range((thread - cuda.laneid) >> shift, size, TOGETHER * groups):
            for k in range(TOGETHER):
                i = first + k * groups + (cuda.laneid >> shift)
                vertex[k], arc[k], end[k] = 0, 0, 0
                if i < size:
                    u = queues[here + i]
                    vertex[k], arc[k], end[k] = (
                        u, search.offsets[u] + lane, search.offsets[u + 1]
                    )  # fmt: skip
            left = True
            while cuda.any_sync(FULL_MASK, left):
                left = False
                for k in range(TOGETHER):
                    found[k] = -1
                    if arc[k] < end[k]:
                        found[k] = search.targets[arc[k]]
                        arc[k] += 1 << shift
                        arcs += 1
                    left = left or arc[k] < end[k]
                for k in range(TOGETHER):
                    if found[k] >= 0 and search.distance[found[k]] != UNVISITED:
                        found[k] = -1
                for k in range(TOGETHER):
                    has = found[k] >= 0
                    if cuda.any_sync(FULL_MASK, has):
                        v = found[k]
                        if has:
                            has = claim(search.how, search.distance, search.bitmap, v, level)
                            if has:
                                adopt(search.parent, v, vertex[k])
                        repeated = is_repeated(search.how, v, has, slot_table, table)
                        if repeated:
                            dropped += 1
                        has = has and not repeated
                        append_nearby(queues, there, shape.room, queue, counts, filled, v, has)
                        if not has:
                            found[k] = -1
                for k in range(TOGETHER):
                    v = found[k]
                    if v >= 0 and search.offsets[v + 1] - search.offsets[v] > child_above:
                        leave[filled] = 1
        cuda.syncthreads()
        read, level = filled, level + 1
        here, there = there, here
        size = counts[read]
        if thread == 0:
            sizes[level] = size
    for i in range(thread, min(size, shape.room, queue.next_frontier.size), cuda.blockDim.x):
        queue.next_frontier[i] = queues[here + i]
    if thread == 0:
        queue.next_size[ENTRIES], queue.next_size[LEVEL] = size, level
    count_work(counted, arcs, dropped)
