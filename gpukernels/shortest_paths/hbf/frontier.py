"""A round: relax the arcs of the frontier with virtual warps of a size set for the round.

H-BF [busato2016hbf], section 5.2. In each round, the host chooses the threads of a virtual warp
again: the largest power of two from 4 to 32 with which the GPU still holds a group for every vertex
at once.

A warp takes `at_once` vertices, 32 if the frontier is large. It reads them side by side, and its
groups take them in turn: a group that is done takes the next one while another is still busy. A
block keeps its place on the multiprocessor until its last warp ends. So with one vertex per group,
one heavy vertex leaves the places of other warps idle. The sums of many vertices differ less than
single ones: blocks end at nearly the same time, and fewer blocks must start.

The paper always gives a warp 32 vertices. Here a warp has fewer if otherwise warps of the GPU had
none: with 32, a frontier of 1,000 vertices would use 32 of the 8,448 warps of an H200.
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

#: Arcs that a lane relaxes before the groups of its warp take their next vertices.
STRETCH = 4
#: Each lane writes its own local queue, without a search for the shortest: never side by side, and
#: by a ballot if no lane holds two.
SCATTER = Writes(LOCAL + 1, True)


@kernel_argument
class Shape(NamedTuple):
    """How the vertices of the frontier are given to warps."""

    warp_size: int  #: threads of a virtual warp
    at_once: int  #: vertices that a warp takes
    coalesced: bool  #: whether found vertices are written through shared memory


@cuda.jit(device=True)
def flush(local, queue, slots, coalesced, hints):
    """Append the vertices that a warp's lanes hold to `queue`, and empty the lanes; all call."""
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
    """Relax the arcs of the frontier's `size` vertices, and clear the counters of the next round.

    A thread may read a distance while another lowers it. If it is the distance of the visited
    vertex, this vertex is enqueued again; if it is the target's, the atomic decides. A plain store
    is made only if no other thread relaxes an arc to the target. With duplicates in the frontier,
    one may, but then the vertex that it visits is enqueued again.
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
