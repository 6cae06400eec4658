"""The hierarchical queue of Luo et al.: small queues in shared memory in front of a global one.

Luo, Wong and Hwu [luo2010effective]. A thread puts each found vertex into one of `SUBQUEUES` small
queues in shared memory (the W-frontiers). Its lane chooses the queue, so that the lanes of a warp
hardly meet at one counter. At the end of a portion the block joins them (the B-frontier) and
reserves room in the global queue by one atomic. Then neighboring threads copy to neighboring slots
(the G-frontier). A full sub-queue spills into the global queue.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32

#: W-frontiers per block: as many as a multiprocessor of the paper's GPU had processors.
SUBQUEUES = 8
#: Vertices per W-frontier.
CAPACITY = 128
#: The begins of the W-frontiers in the B-frontier, and its begin in the global queue.
BEGINS = SUBQUEUES + 1


class Nearby(NamedTuple):
    """The small queues of a block, in shared memory; made in a kernel."""

    found: Any  #: the W-frontiers: int32, shape (SUBQUEUES, CAPACITY)
    counts: Any  #: vertices put into each, including those that have spilled
    begins: Any  #: the begin of each: int32, shape (BEGINS,)


@cuda.jit(device=True)
def empty_counts(counts):
    """Make the block's W-frontiers empty; all threads call. It ends with a barrier."""
    if cuda.threadIdx.x < SUBQUEUES:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()


@cuda.jit(device=True)
def enqueue_nearby(nearby, queues, side, size, v):
    """Put `v` into the W-frontier of the lane, or into the global queue if this one is full."""
    mine = cuda.laneid % SUBQUEUES
    slot = cuda.atomic.add(nearby.counts, mine, 1)
    if slot < CAPACITY:
        nearby.found[mine, slot] = v
    else:
        queues[side, cuda.atomic.add(size, 0, 1)] = v


@cuda.jit(device=True)
def join(nearby):
    """Store where each W-frontier begins in the B-frontier; return its length; one thread calls."""
    total = int32(0)
    for q in range(SUBQUEUES):
        nearby.begins[q] = total
        total += min(nearby.counts[q], CAPACITY)
    return total


@cuda.jit(device=True)
def flush(nearby, queues, side, size):
    """Join the block's W-frontiers and append them to the global queue; all threads call."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = join(nearby)
        nearby.begins[SUBQUEUES] = cuda.atomic.add(size, 0, total)
    cuda.syncthreads()
    for q in range(SUBQUEUES):
        for i in range(cuda.threadIdx.x, min(nearby.counts[q], CAPACITY), cuda.blockDim.x):
            queues[side, nearby.begins[SUBQUEUES] + nearby.begins[q] + i] = nearby.found[q, i]
    cuda.syncthreads()
    empty_counts(nearby.counts)
