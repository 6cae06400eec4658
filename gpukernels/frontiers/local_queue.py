"""A queue of a few vertices in each thread, between finding and enqueuing them.

The local queues of BFS-4K [busato2015bfs4k], section 5.6. In the paper they are in registers; they
are in local memory if the compiler cannot know which place a thread uses. A thread visits arcs
alone, whatever the other lanes of its warp do, and stores found vertices here by `hold`. Then all
lanes meet. `cull` drops the duplicates that it recognizes; the caller counts the rest, scans and
writes: see `enqueue`. If a thread finds more than its queue holds, the rest goes to the next
frontier at once, with one atomic each.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.primitives.launch_shape import FULL_MASK
from gpukernels.primitives.queue_append import queue_append

from .duplicates import is_repeated
from .enqueue import enqueue_by_warp

#: Vertices that a thread holds.
LOCAL = 16


@cuda.jit(device=True)
def hold(local, queue, v):
    """Put `v` into the thread's queue, or into the next frontier if that is full."""
    if local.held[0] < LOCAL:
        local.found[local.held[0]] = v
        local.held[0] += 1
    else:
        queue_append(queue.next_frontier, queue.next_size, v)


@cuda.jit(device=True)
def cull(how, found, held, hash_table, table):
    """Drop from the queues of a warp the duplicates that the cull `how` finds; all lanes call.

    Return how many the calling thread has dropped.
    """
    kept = 0
    for i in range(LOCAL):
        has = i < held[0]
        if not cuda.any_sync(FULL_MASK, has):
            break
        v = -1
        if has:
            v = found[i]
        repeated = is_repeated(how, v, has, hash_table, table)
        if has and not repeated:
            found[kept] = v
            kept += 1
    dropped = held[0] - kept
    held[0] = kept
    return dropped


@cuda.jit(device=True)
def flush(how, local, hash_table, table, queue, writes):
    """Cull the local queues of a warp, append the rest, empty them; all lanes call.

    Return how many duplicates the calling thread has dropped.
    """
    dropped = cull(how, local.found, local.held, hash_table, table)
    enqueue_by_warp(queue, local.found, int32(local.held[0]), writes)
    local.held[0] = 0
    return dropped
