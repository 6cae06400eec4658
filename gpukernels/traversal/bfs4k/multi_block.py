"""The multi-block kernel with dynamic virtual warps: one launch per level, over the whole GPU.

BFS-4K [busato2015bfs4k], sections 5.2 and 5.5. Mapping: vertex of the frontier to a virtual warp.
The host sets its threads, `warp_size`, again at every level: the largest power of two from K1 to 32
with which the GPU still holds a group for every vertex at once. A thread keeps the vertices that it
finds in a local queue. If one lane of a warp may run out of room at its next vertex, all lanes
meet, cull and enqueue. The child kernel takes vertices of more than `child_above` arcs. Work O(arcs
of the frontier).

Reads of the frontier (section 5.6): a group of 32 reads one vertex at a time. So if groups are that
wide and the frontier exceeds the resident threads, a warp reads 32 vertices side by side and passes
them to its lanes by shuffles.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import count_work
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.frontiers.local_queue import LOCAL, flush
from gpukernels.frontiers.pieces import Children, queue_pieces
from gpukernels.frontiers.state import Local, Queue, Writes
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from ..claim import Search, Visit, discover


@benign_race("distance", "parent", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def multi_block_level(
    search: Search, frontier, size, queue: Queue, counted, level, warp_size, share_reads,
    children: Children, writes: Writes,
):  # fmt: skip
    """Visit the `size` vertices of the frontier, `warp_size` threads per vertex.

    With `share_reads` a warp reads 32 vertices at a time, otherwise a group reads one. Threads that
    reach the same vertex at once store the same distance, and each stores a valid parent. A cull
    that reads an entry which another warp is writing may find or miss the duplicate.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(1, int32)
    held[0] = 0
    work = Visit(search, level, Local(found, held), queue)
    if search.how == HISTORY_CULLING or search.how == MERRILL:
        forget(table)
        cuda.syncthreads()
    arcs, dropped = int64(0), 0
    warp, warps = cuda.grid(1) // WARP_SIZE, cuda.gridsize(1) // WARP_SIZE
    lane, group = cuda.laneid % warp_size, cuda.laneid // warp_size
    groups = WARP_SIZE // warp_size
    at_once = groups
    if share_reads:
        at_once = WARP_SIZE
    for first in range(warp * at_once, size, warps * at_once):
        mine, its_begin, its_end = int32(0), int32(0), int32(0)
        i = first + group
        if share_reads:
            i = first + cuda.laneid
        if i < size:
            mine = frontier[i]
            its_begin, its_end = search.offsets[mine], search.offsets[mine + 1]
        for turn in range(int32(0), int32(at_once), int32(groups)):
            u, begin, end = mine, its_begin, its_end
            if share_reads:
                u = cuda.shfl_sync(FULL_MASK, mine, turn + group)
                begin = cuda.shfl_sync(FULL_MASK, its_begin, turn + group)
                end = cuda.shfl_sync(FULL_MASK, its_end, turn + group)
            if lane == 0:
                arcs += end - begin
            if end - begin > children.child_above:
                queue_pieces(discover, work, u, u, begin, end, lane, warp_size, children)
                end = begin
            start, window = begin, int32(LOCAL * warp_size)
            while cuda.any_sync(FULL_MASK, start < end):
                stop = int32(start + min(int32(end - start), window))
                room = int32((LOCAL - held[0]) * warp_size)
                if cuda.any_sync(FULL_MASK, int32(stop - start) > room):
                    dropped += flush(search.how, work.local, hash_table, table, queue, writes)
                virtual_warp(discover, work, u, start, stop, lane, warp_size)
                start = stop
    dropped += flush(search.how, work.local, hash_table, table, queue, writes)
    count_work(counted, arcs, int64(dropped))
