"""A top-down step of the searches in both directions: each block spreads the frontier's arcs.

The mapping is `cta_warp_scan`. A compare-and-swap claims a vertex, so that a queue holds no vertex
twice [beamer2012direction].
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, int64

from gpukernels.frontiers.counts import ARCS, count_up
from gpukernels.frontiers.enqueue import enqueue_held
from gpukernels.frontiers.local_queue import LOCAL, hold
from gpukernels.frontiers.state import Local, kernel_argument
from gpukernels.mapping.cta_warp_scan import cta_warp_scan
from gpukernels.primitives.launch_shape import WARP_SIZE

from .result import UNVISITED, adopt

#: Arcs that each thread of a top-down step should have before another block takes a share.
ARCS_A_THREAD = 4


@kernel_argument
class Search(NamedTuple):
    """The graph in both directions, and the distances and parents so far."""

    offsets: Any
    targets: Any
    reverse_offsets: Any
    sources: Any
    distance: Any  #: int32, UNVISITED at vertices not reached yet
    parent: Any  #: int32; without elements if parents are not kept


@cuda.jit(device=True)
def find(work, u, arc):
    """Follow an arc of `u`; keep its target if this thread is the first to visit it.

    ``found[:held[0]]`` are the vertices that the thread keeps. ``held[1]`` counts the arcs that
    leave its finds, including finds that had no room and were enqueued at once.
    """
    search, level, local, queue = work
    v = search.targets[arc]
    if search.distance[v] == UNVISITED:
        if cuda.atomic.cas(search.distance, v, UNVISITED, level + 1) == UNVISITED:
            adopt(search.parent, v, u)
            local.held[1] += search.offsets[v + 1] - search.offsets[v]
            hold(local, queue, v)


@cuda.jit(device=True)
def top_down(search, frontier, size, arcs, queue, level, cta_threshold):
    """Visit the `arcs` arcs of the `size` vertices of the frontier; all threads call.

    A block takes a portion of as many vertices as it has threads and spreads their arcs. If the
    frontier has few vertices but many arcs, several blocks share a portion, and each takes a slice
    of every list.
    """
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(2, int32)
    work = (search, level, Local(found, held), queue)
    leaving = int64(0)
    portions = (size + cuda.blockDim.x - 1) // cuda.blockDim.x
    slices = arcs // (portions * cuda.blockDim.x * ARCS_A_THREAD)
    slices = max(1, min(slices, cuda.gridDim.x // portions))
    for job in range(cuda.blockIdx.x, portions * slices, cuda.gridDim.x):
        i = job // slices * cuda.blockDim.x + cuda.threadIdx.x
        u, begin, end = int32(0), int32(0), int32(0)
        if i < size:
            u = frontier[i]
            last = search.offsets[u + 1]
            share = (last - search.offsets[u] + slices - 1) // slices
            begin = int32(min(search.offsets[u] + job % slices * share, last))
            end = int32(min(begin + share, last))
        held[0], held[1] = 0, 0
        cta_warp_scan(find, work, u, begin, end, cta_threshold, WARP_SIZE)
        enqueue_held(queue, Local(found, held))
        leaving += held[1]
    count_up(queue.next_size, ARCS, leaving)
