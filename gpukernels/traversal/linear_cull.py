"""Culling by scan: drop visited vertices and duplicates from an edge frontier, and close the gaps.

The third step of a level of `linear_work`. Each candidate of a list gets a flag, a scan of the
flags gives the chosen ones their places, and a kernel copies them. The culls differ in the list:

``"mask"``, of [padamata2013graph]: all vertices. One thread per arc of the edge frontier sets the
flag of the arc's vertex if the vertex is unvisited. Each vertex has one flag, so no duplicate is
left. This costs O(V) per level, however small the frontier is: the flags of all vertices are
cleared, scanned and read again. Below a bound on the frontier, one thread reads flag after flag.

``"linear"``, this book's and the default: the edge frontier itself. One thread per arc claims the
vertex by a compare-and-swap on the distance, and sets the arc's flag if it was the first. This
costs O(arcs of the frontier), with one atomic for every arc to a vertex not yet seen visited.
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

    Threads that reach the same vertex all store 1, and each stores a valid parent.
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
    """Set the distance of every vertex whose flag is set; one thread per vertex of the graph."""
    v = cuda.grid(1)
    if v < mask.size and mask[v] != 0:
        distance[v] = level + 1


@benign_race("distance")
@cuda.jit
def claim_unvisited(neighbor, source, distance, parent, claimed, level):
    """Flag the places of the edge frontier whose thread claims the vertex; one thread per place.

    If the vertex was visited earlier, a plain read of the distance shows it and saves the atomic.
    If the read misses a claim that is being made, the compare-and-swap fails: only this decides.
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
    """Copy every chosen candidate to its place in the next frontier; one thread per candidate.

    `place` is the scan of the flags `chosen`. ``counts`` receives the number of vertices of the
    next frontier, and the number of arcs that leave them, by one atomic per warp.
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
    """Do what a scan and `compact` do, one candidate after another; only one thread may call."""
    size, arcs = 0, 0
    for i in range(chosen.size):
        if chosen[i] != 0:
            v = candidate[i]
            next_frontier[size] = v
            size += 1
            arcs += offsets[v + 1] - offsets[v]
    counts[0], counts[1] = size, arcs
