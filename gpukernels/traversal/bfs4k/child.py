"""The child kernel: a grid of its own for the few vertices with very many neighbors.

BFS-4K [busato2015bfs4k], section 5.3. There a thread that meets such a vertex starts a kernel from
the device, of ``degree / (K3 x threads)`` blocks: enough that it ends when the parent does, and not
so many that its blocks do little but update the queue (Fig. 5). numba.cuda has no launch from the
device, so the level's kernel queues the vertex in pieces of K3 x threads arcs, and the host
launches one child kernel behind it for all of them. Neither needs a word from the device: the grid
is sized by a bound over the graph, and the blocks read the number of pieces.

Mapping: piece to block, arc to thread. Work O(arcs of the pieces).
"""

from __future__ import annotations

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import count_work
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.frontiers.local_queue import LOCAL, flush
from gpukernels.frontiers.pieces import PIECES, Children
from gpukernels.frontiers.state import Local, Queue, Writes
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.large_blocks import LARGE_BLOCKS

from ..claim import Search, Visit, discover


@benign_race("distance", "parent", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def child_kernel(search: Search, queue: Queue, counted, level, children: Children, writes: Writes):
    """Visit the queued pieces, a block a piece, and enqueue what is found.

    Threads that reach one vertex together store the same distance, and each a parent that is right;
    a cull that reads what another warp is writing misses a duplicate, or finds it.
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
    dropped = 0
    window = LOCAL * cuda.blockDim.x
    for p in range(
        cuda.blockIdx.x, min(queue.next_size[PIECES], children.pieces.shape[1]), cuda.gridDim.x
    ):
        u, begin = children.pieces[0, p], children.pieces[1, p]
        end = min(begin + children.piece, search.offsets[u + 1])
        for first in range(begin, end, window):
            last = min(first + window, end)
            virtual_warp(discover, work, u, first, last, cuda.threadIdx.x, cuda.blockDim.x)
            dropped += flush(search.how, work.local, hash_table, table, queue, writes)
    count_work(counted, int64(0), int64(dropped))
