"""Claim a vertex that was found: all threads that see it unvisited may enqueue it, or only one.

With plain stores, every thread that reads ``distance[v] == UNVISITED`` marks v and enqueues it. The
exact ways take one atomic per find, on the distance or on a bitmap with one bit per vertex. A word
of the bitmap has the marks of 32 vertices: it takes less memory, but atomics meet more often.
`discover` is the visit that the techniques of `mapping` call at each arc.

Before any of these, a thread may look at a bitmask of visited vertices: one bit per vertex, set
without an atomic. Merrill et al. [merrill2012scalable]. The four bytes of a vertex's distance are
likely in memory, but its bit is likely in a cache, because 32 times as many vertices fit there. So
a thread reads the bit first. To set a bit, it reads a byte, adds the bit to it and stores the byte.
If two threads do so to one byte at the same time, one of the two bits may be lost, and no atomic
prevents it. So a bit that is set is right, and where a bit is not set, the distance decides. A
filter of this kind is called conservative.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, uint8

from gpukernels.frontiers.duplicates import BITMAP, COMPARE_AND_SWAP
from gpukernels.frontiers.local_queue import hold
from gpukernels.frontiers.state import Local, Queue, kernel_argument

from .result import UNVISITED, adopt


@kernel_argument
class Search(NamedTuple):
    """The graph, the distances and parents so far, and the way to claim vertices."""

    offsets: Any
    targets: Any
    distance: Any  #: int32, UNVISITED at vertices not reached yet
    parent: Any  #: int32; without elements if parents are not kept
    bitmap: Any  #: int32, one bit per vertex, if ``how == BITMAP``; else empty
    how: int  #: a number of `DUPLICATES`


class Visit(NamedTuple):
    """The values that a thread needs at an arc; made in a kernel."""

    search: Search
    level: int  #: distance of the vertices whose arcs are followed
    local: Local  #: where the thread first puts found vertices
    queue: Queue  #: where the local queue is emptied to


@cuda.jit(device=True)
def is_marked(bitmask, v):
    """Return whether the bit of `v` is set, and set it if not; any thread may call.

    `bitmask` is an array of uint8 with eight vertices per element, or an empty array: then nothing
    is marked. After False, the caller must make sure that `v` is visited by the end of the launch.
    """
    marked = False
    if bitmask.size > 0:
        byte = bitmask[v >> 3]
        bit = 1 << (v & 7)
        marked = byte & bit != 0
        if not marked:
            bitmask[v >> 3] = uint8(byte | bit)
    return marked


def bitmask_bytes(n: int) -> int:
    """Return how many elements the bitmask of `n` vertices has."""
    return (n + 7) // 8


@cuda.jit(device=True)
def claim(how, distance, bitmap, v, level):
    """Give `v` the distance ``level + 1`` if it is unvisited; return whether to enqueue it.

    `bitmap` holds one bit per vertex in words of int32; it is only used if ``how == BITMAP``.
    """
    if distance[v] != UNVISITED:
        return False
    if how == COMPARE_AND_SWAP:
        return cuda.atomic.cas(distance, v, UNVISITED, level + 1) == UNVISITED
    if how == BITMAP:
        bit = int32(1) << (v & 31)
        if cuda.atomic.or_(bitmap, v >> 5, bit) & bit != 0:
            return False
    distance[v] = level + 1
    return True


@cuda.jit(device=True)
def discover(work, u, arc):
    """Follow `arc` from `u`; put its target into the thread's queue if it is not visited yet."""
    search, level, local, queue = work
    v = search.targets[arc]
    if claim(search.how, search.distance, search.bitmap, v, level):
        adopt(search.parent, v, u)
        hold(local, queue, v)
