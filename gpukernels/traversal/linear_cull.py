"""Culling by scan: what an edge frontier holds twice or has seen before goes, the rest moves up.

The third step of a level of `linear_work`. Each of a list of candidates gets a flag, a scan of the
flags says where the chosen ones go, and a kernel puts them there. Two culls differ in the list:

``"mask"``, of [padamata2013graph]: all vertices. A thread an arc of the edge frontier sets the flag
of its vertex if that is unvisited, and an array holds a vertex once, so no duplicate is left. It is
O(V) a level whatever the frontier: the flags of all vertices are cleared, scanned and read again,
below a bound on the frontier by one thread, flag after flag.

``"linear"``, this book's and the default: the edge frontier itself. A thread an arc claims its
vertex by compare-and-swap on the distance; the one that finds it unvisited has its flag set. O(arcs
of the frontier) a level, for one atomic on every arc to a vertex not yet seen visited.
"""

from __future__ import annotations

from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.primitives import warp_sum

from .result import UNVISITED, adopt


@benign_race("mask", "parent")
@cuda.jit
def mask_unvisited(neighbor, source, distance, parent, mask, arcs):
    """Set the flag of every unvisited vertex that an edge frontier of `arcs` arcs holds.

    Threads that meet at one vertex all store 1, and each a parent that is right.
    """
    i = cuda.grid(1)
    if i < arcs:
        v = neighbor[i]
        if distance[v] == UNVISITED:
            mask[v] = 1
            if parent.size > 0:
                parent[v] = source[i]


@cuda.jit
def set_depth(mask, distance, level):
    """Set the distance of every vertex whose flag is set, a thread a vertex of the graph."""
    v = cuda.grid(1)
    if v < mask.size and mask[v] != 0:
        distance[v] = level + 1


@benign_race("distance")
@cuda.jit
def claim_unvisited(neighbor, source, distance, parent, claimed, level):
    """Flag the places of the edge frontier that visit their vertex first, a thread a place.

    A plain look at the distance spares the atomic where the vertex has been visited long ago. It
    may miss a claim that is being made: then the compare-and-swap, which decides, fails.
    """
    i = cuda.grid(1)
    if i < claimed.size:
        v, mine = neighbor[i], 0
        if distance[v] == UNVISITED:
            if cuda.atomic.cas(distance, v, UNVISITED, level + 1) == UNVISITED:
                mine = 1
                if parent.size > 0:
                    adopt(parent, v, source[i])
        claimed[i] = mine


@cuda.jit
def compact(offsets, candidate, chosen, place, next_frontier, counts):
    """Put every chosen candidate in its place, a thread a candidate.

    `place` is the scan of the flags `chosen`. ``counts`` takes the number of vertices of the next
    frontier, and the number of arcs that leave them, one atomic a warp.
    """
    i = cuda.grid(1)
    arcs = int32(0)
    if i < chosen.size and chosen[i] != 0:
        v = candidate[i]
        next_frontier[place[i]] = v
        arcs = offsets[v + 1] - offsets[v]
    arcs = warp_sum(int32(arcs))
    if cuda.laneid == 0 and arcs > 0:
        cuda.atomic.add(counts, 1, arcs)
    if i == 0:
        counts[0] = place[chosen.size]


@cuda.jit
def compact_alone(offsets, candidate, chosen, next_frontier, counts):
    """Do what a scan and `compact` do, candidate after candidate; one thread, no more."""
    size, arcs = 0, 0
    for i in range(chosen.size):
        if chosen[i] != 0:
            v = candidate[i]
            next_frontier[size] = v
            size += 1
            arcs += offsets[v + 1] - offsets[v]
    counts[0], counts[1] = size, arcs
