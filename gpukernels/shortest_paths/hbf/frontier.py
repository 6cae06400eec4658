"""A round: the arcs of all vertices of the frontier, by virtual warps of a size set for the round.

H-BF [busato2016hbf], section 5.2. The host chooses the threads of a virtual warp again in each
round: the largest power of two that gives each vertex a group while the GPU holds all threads, from
4 to 32.

A warp takes `at_once` vertices, 32 where the frontier is large. It reads them side by side, and its
groups take them in turn: one that is done goes on to its next vertex while another is still busy.
Why more than one each: a block keeps its place on the multiprocessor until its last warp ends, so
that one heavy vertex keeps idle what the others have left. The sums of many vertices differ less
than single ones, blocks end at nearly the same time, and there are fewer of them to start.

The paper always gives a warp 32. Here it has fewer where that would leave warps of the GPU without
any: a frontier of 1,000 vertices would be visited by 32 warps of the 8,448 that an H200 holds.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import cuda, int32, int64

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import count_up
from gpukernels.frontiers.enqueue import enqueue_by_warp
from gpukernels.frontiers.local_queue import LOCAL
from gpukernels.frontiers.pieces import Children, queue_pieces
from gpukernels.frontiers.shared_slot import enqueue_through_shared
from gpukernels.frontiers.state import Local, Queue, Writes, kernel_argument
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.primitives.cache_hints import load_once, load_past_l1
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE

from .relax import NONE, REPEATED, Search, Visit, relax
from .words import NEVER, key_of

#: Arcs that a lane relaxes before the groups of its warp look for their next vertices.
STRETCH = 4
#: Local queues are written by the lanes that hold them, without looking for the shortest: never
#: side by side, and by a ballot where none holds two.
SCATTER = Writes(LOCAL + 1, True)


@kernel_argument
class Shape(NamedTuple):
    """How the frontier is dealt out."""

    warp_size: int  #: threads of a virtual warp
    at_once: int  #: vertices that a warp takes
    coalesced: bool  #: whether finds are written through shared memory


@cuda.jit(device=True)
def flush(local, queue, slots, coalesced, hints):
    """Append what the lanes of a warp hold to `queue`, and forget it; all lanes call."""
    if coalesced:
        enqueue_through_shared(queue, local.found, int32(local.held[0]), slots, hints)
    else:
        enqueue_by_warp(queue, local.found, int32(local.held[0]), SCATTER)
    local.held[0] = 0


@benign_race("words")
@cuda.jit(**LARGE_BLOCKS)
def relax_frontier(
    search: Search, frontier, size, queue: Queue, round, alone, cleared, shape: Shape,
    children: Children,
):  # fmt: skip
    """Relax the arcs of the `size` vertices of the frontier, and clear the counters of the next.

    A thread may read a distance while another lowers it. If it is the one of the vertex that it
    visits, that vertex is enqueued again; if it is the one that it would lower, the atomic decides.
    Plain stores are made where no other thread relaxes an arc to the vertex, or, with duplicates in
    the frontier, one whose vertex is enqueued again.
    """
    slots = cuda.shared.array(0, int32)
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(1, int32)
    held[0] = 0
    work = Visit(search, round, alone, Local(found, held), queue)
    if cuda.grid(1) < cleared.size:
        cleared[cuda.grid(1)] = 0
    repeated = int64(0)
    warp, warps = cuda.grid(1) // WARP_SIZE, cuda.gridsize(1) // WARP_SIZE
    lane, group = cuda.laneid % shape.warp_size, cuda.laneid // shape.warp_size
    groups = WARP_SIZE // shape.warp_size
    for first in range(warp * shape.at_once, size, warps * shape.at_once):
        its_begin, its_end, its_key = int32(0), int32(0), int32(0)
        i = first + cuda.laneid
        if cuda.laneid < shape.at_once and i < size:
            u = load_once(frontier, i, search.hints)
            its_begin = load_once(search.offsets, u, search.hints)
            its_end = load_once(search.offsets, u + 1, search.hints)
            key = key_of(load_past_l1(search.words, u, search.hints))
            its_key = int32(key)
            cuda.atomic.add(search.times, u, 1)
            if search.how == NONE and cuda.atomic.exch(search.visited, u, round) == round:
                repeated += 1
            if its_end - its_begin > children.child_above:
                queue_pieces(relax, work, key, u, its_begin, its_end, 0, 1, children)
                its_end = its_begin
        taken = group
        key, start, end = int64(0), int64(0), int64(0)
        while True:
            from_lane = min(taken, WARP_SIZE - 1)
            next_begin = cuda.shfl_sync(FULL_MASK, its_begin, from_lane)
            next_end = cuda.shfl_sync(FULL_MASK, its_end, from_lane)
            next_key = cuda.shfl_sync(FULL_MASK, its_key, from_lane)
            if start >= end and taken < shape.at_once:
                start, end, key = int64(next_begin), int64(next_end), int64(next_key) & NEVER
                taken += groups
            if not cuda.any_sync(FULL_MASK, start < end or taken < shape.at_once):
                break
            if cuda.any_sync(FULL_MASK, held[0] > LOCAL - STRETCH):
                flush(work.local, queue, slots, shape.coalesced, search.hints)
            stop = min(start + STRETCH * shape.warp_size, end)
            virtual_warp(relax, work, key, start, stop, lane, shape.warp_size)
            start = stop
    flush(work.local, queue, slots, shape.coalesced, search.hints)
    if search.how == NONE:
        count_up(queue.next_size, REPEATED, repeated)
