"""Edge-discover: the multi-block kernel with threads on arcs instead of vertices.

BFS-4K [busato2015bfs4k], section 5.4. A warp holds 32 vertices of the frontier in its registers and
scans their degrees. Each lane finds the vertex of its next arc by a binary search of shuffles
(`mapping.local_warp_search`), so that all lanes visit equally many arcs, whatever the degrees. EXT:
if the last lane's vertex has enough arcs left for the whole next round, the warp visits them
without a search; the last round of all may be shorter than 32 arcs. A round that ends one vertex
and begins another needs its own search. Work O(arcs of the frontier), and 5 shuffles per arc for
the search.

The paper takes edge-discover if the frontier has fewer vertices than resident threads / K4.
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import count_work
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.frontiers.local_queue import LOCAL, flush
from gpukernels.frontiers.pieces import Children, queue_pieces
from gpukernels.frontiers.state import Local, Queue, Writes
from gpukernels.primitives import warp_inclusive_scan, warp_owner
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from ..claim import Search, Visit, discover

#: Arcs that a warp visits before its lanes' queues may be full.
WINDOW = 512


@cuda.jit(device=True)
def search_window(visit, work, item, begin, inclusive, size, first, last, extended):
    """Visit the units from `first` to `last` of the warp's 32 items, 32 at a time.

    All lanes call, each with its `item`, the first unit of the item (`begin`), the number of its
    units (`size`), and the `inclusive` scan of the sizes (all int32). `extended` turns EXT on.
    """
    before = int32(inclusive - size)
    ahead = int32(begin - before)
    long_item, long_ahead, long_end = int32(0), int32(0), int32(0)
    for start in range(first, last, WARP_SIZE):
        unit = int32(start + cuda.laneid)
        if extended and min(start + WARP_SIZE, last) <= long_end:
            if unit < last:
                visit(work, long_item, long_ahead + unit)
        else:
            owner = warp_owner(before, unit)
            its_item = cuda.shfl_sync(FULL_MASK, item, owner)
            its_ahead = cuda.shfl_sync(FULL_MASK, ahead, owner)
            if extended:
                its_end = cuda.shfl_sync(FULL_MASK, inclusive, owner)
                long_item = cuda.shfl_sync(FULL_MASK, its_item, WARP_SIZE - 1)
                long_ahead = cuda.shfl_sync(FULL_MASK, its_ahead, WARP_SIZE - 1)
                long_end = cuda.shfl_sync(FULL_MASK, its_end, WARP_SIZE - 1)
            if unit < last:
                visit(work, its_item, its_ahead + unit)


@benign_race("distance", "parent", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def edge_discover_level(
    search: Search, frontier, size, queue: Queue, counted, level, extended, children: Children,
    writes: Writes,
):  # fmt: skip
    """Visit the arcs of the `size` vertices of the frontier, 32 vertices per warp.

    Threads that reach the same vertex at once store the same distance, and each stores a valid
    parent. A cull that reads an entry which another warp is writing may find or miss the duplicate.
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
    for base in range(cuda.grid(1) - cuda.laneid, size, cuda.gridsize(1)):
        i = base + cuda.laneid
        u, begin, end = int32(0), int32(0), int32(0)
        if i < size:
            u = frontier[i]
            begin, end = search.offsets[u], search.offsets[u + 1]
        arcs += end - begin
        if end - begin > children.child_above:
            queue_pieces(discover, work, u, u, begin, end, 0, 1, children)
            end = begin
        degree = int32(end - begin)
        inclusive = warp_inclusive_scan(degree)
        total = cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1)
        first = 0
        while cuda.any_sync(FULL_MASK, first < total or held[0] > 0):
            last = min(first + WINDOW, total)
            search_window(discover, work, u, begin, inclusive, degree, first, last, extended)
            first += WINDOW
            dropped += flush(search.how, work.local, hash_table, table, queue, writes)
    count_work(counted, arcs, int64(dropped))
