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
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.large_blocks import LARGE_BLOCKS

from ..duplicates import HISTORY_CULLING, MERRILL, forget
from ..local_queue import LOCAL, discover
from .enqueue import CHILDREN, PIECES, count, flush


@cuda.jit(device=True)
def queue_pieces(work, u, begin, end, lane, lanes, piece, pieces, next_size):
    """Queue the arcs of `u` in pieces of `piece` arcs; its `lanes` lanes call, each with its own.

    The queue holds every vertex of the graph that is large enough once. Duplicates in the frontier
    may ask for more: a piece that no longer fits is visited by the lane that has it.
    """
    if lane == 0:
        cuda.atomic.add(next_size, CHILDREN, 1)
    for first in range(begin + lane * piece, end, lanes * piece):
        slot = cuda.atomic.add(next_size, PIECES, 1)
        if slot < pieces.shape[1]:
            pieces[0, slot] = u
            pieces[1, slot] = first
        else:
            virtual_warp(discover, work, u, first, min(first + piece, end), 0, 1)


@benign_race("distance", "parent", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def child_kernel(
    offsets, targets, distance, parent, bitmap, how, next_frontier, next_size, counted, level,
    piece, pieces, coalesce_from, binary_scan,
):  # fmt: skip
    """Visit the queued pieces, a block a piece, and enqueue what is found.

    Threads that reach one vertex together store the same distance, and each a parent that is right;
    a cull that reads what another warp is writing misses a duplicate, or finds it.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(1, int32)
    held[0] = 0
    work = (targets, distance, parent, bitmap, how, level, found, held, next_frontier, next_size)
    if how == HISTORY_CULLING or how == MERRILL:
        forget(table)
        cuda.syncthreads()
    dropped = 0
    window = LOCAL * cuda.blockDim.x
    for p in range(cuda.blockIdx.x, min(next_size[PIECES], pieces.shape[1]), cuda.gridDim.x):
        u, begin = pieces[0, p], pieces[1, p]
        end = min(begin + piece, offsets[u + 1])
        for first in range(begin, end, window):
            last = min(first + window, end)
            virtual_warp(discover, work, u, first, last, cuda.threadIdx.x, cuda.blockDim.x)
            dropped += flush(
                how, found, held, hash_table, table, next_frontier, next_size,
                coalesce_from, binary_scan,
            )  # fmt: skip
    count(counted, int64(0), int64(dropped))
