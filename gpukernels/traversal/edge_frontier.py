"""The two halves of a search with edge frontiers: contract one to vertices, expand these to arcs.

Merrill et al. [merrill2012scalable]. An *edge frontier* holds the target of every arc that leaves a
level, visited or not, once per arc, and with it the arc's source if parents are kept. *Contraction*
turns it into vertices: it drops visited targets (by the bitmask, then by the distance) and targets
that are there twice (a part of `duplicates`). *Expansion* turns vertices into the next edge
frontier: a block scan of the degrees gives each vertex its place, then `cta_warp_scan` spreads the
copying over the block ([busato2017chapter], section 5.2.2). `two_phase` makes two kernels of these
halves, `contract_expand` one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32

from gpukernels.frontiers.counts import PLACES
from gpukernels.frontiers.duplicates import is_repeated
from gpukernels.frontiers.enqueue import draw_room
from gpukernels.frontiers.state import kernel_argument
from gpukernels.mapping.cta_warp_scan import cta_warp_scan
from gpukernels.primitives.launch_shape import MAX_THREADS, WARP_SIZE

from .claim import claim, is_marked
from .result import adopt


@kernel_argument
class Edges(NamedTuple):
    """An edge frontier."""

    edge_frontier: Any  #: targets of arcs
    edge_parent: Any  #: sources of these arcs; without elements if parents are not kept


@cuda.jit(device=True)
def is_new(search, bitmask, v, level):
    """Return whether `v` is unvisited, as far as the calling thread can see, and mark it."""
    return not is_marked(bitmask, v) and claim(search.how, search.distance, search.bitmap, v, level)


@cuda.jit(device=True)
def contract(search, bitmask, edges, i, size, hash_table, table, level):
    """Look at entry `i` of an edge frontier; return (its vertex, whether to keep it, dropped).

    All threads of the block call, each with an `i` of its own; from `size` on there is no entry. A
    vertex that is kept has the distance ``level + 1``. `dropped` is 1 if a cull recognized a
    duplicate, else 0.
    """
    v, new = int32(-1), False
    if i < size:
        v = edges.edge_frontier[i]
        if is_new(search, bitmask, v, level):
            new = True
            if search.parent.size > 0:
                adopt(search.parent, v, edges.edge_parent[i])
    repeated = is_repeated(search.how, v, new, hash_table, table)
    dropped = 0
    if new and repeated:
        dropped = 1
    return v, new and not repeated, dropped


@cuda.jit(device=True)
def copy_target(work, i, arc):
    """Copy the target of an arc, which leaves the i-th thread's vertex, to the arc's place."""
    targets, whose, shift, edges = work
    place = shift[i] + arc
    if place < edges.edge_frontier.size:
        edges.edge_frontier[place] = targets[arc]
        adopt(edges.edge_parent, place, whose[i])


@cuda.jit(device=True)
def expand(offsets, targets, u, has, edges, next_size, cta_threshold):
    """Append to an edge frontier the arcs that leave the vertex `u` of every thread that `has` one.

    ``next_size[PLACES]`` counts them. All threads of the block call, in whole warps. A thread that
    copies an arc reads from `whose` which vertex the arc leaves, and from `shift` where to copy it:
    arc k of the graph goes to the place ``shift + k``.
    """
    whose = cuda.shared.array(MAX_THREADS, int32)
    shift = cuda.shared.array(MAX_THREADS, int32)
    mine = int32(cuda.threadIdx.x)
    begin, end = int32(0), int32(0)
    if has:
        begin, end = offsets[u], offsets[u + 1]
    place = draw_room(end - begin, next_size, PLACES)
    whose[mine] = u
    shift[mine] = min(place, edges.edge_frontier.size) - begin
    # The first step of cta_warp_scan begins with a barrier, before any thread reads these.
    work = (targets, whose, shift, edges)
    cta_warp_scan(copy_target, work, mine, begin, end, cta_threshold, WARP_SIZE)
