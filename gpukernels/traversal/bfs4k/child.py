"""The child kernel: a separate grid for the few vertices with very many neighbors.

BFS-4K [busato2015bfs4k], section 5.3. In the paper, a thread that meets such a vertex starts a
kernel of ``degree / (K3 x threads)`` blocks from the device. These are enough to end when the
parent does, but not so many that they do little but update the queue (Fig. 5). numba.cuda cannot
launch from the device. So the level's kernel queues the vertex in pieces of K3 x threads arcs, and
the host launches one child kernel after it for all pieces. The host waits for no number from the
device: a bound over the graph sizes the grid, and the blocks read the number of pieces.

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
    """Visit the queued pieces, one block per piece, and enqueue the vertices found.

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
