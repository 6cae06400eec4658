"""Who may enqueue a vertex that is found: everybody who saw it unvisited, or exactly one thread.

By plain stores, a thread that reads ``distance[v] == UNVISITED`` marks v and goes on; others may
have read the same. The exact ways cost an atomic a find, on the distance itself or on a bitmap of
one bit a vertex, which packs 32 vertices' marks into one word: less memory, more meetings.
`discover` is the visit that the techniques of `mapping` call at each arc.

Before any of them may come a bitmask of visited vertices that may forget: one bit a vertex, set
without an atomic. Merrill et al. [merrill2012scalable]. Before a thread reads the four bytes of a
vertex's distance, which are likely in memory, it reads the vertex's bit, which is likely in a
cache: 32 times as many vertices fit there. The bit is set by reading a byte, adding a bit to it and
storing it. Two threads that do so at once to one byte may lose each other's bit, and no atomic
prevents it: a bit that is set is right, a bit that is not says nothing, and the distance decides. A
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
    """The graph, what a search knows of its vertices, and how it claims them."""

    offsets: Any
    targets: Any
    distance: Any  #: int32, UNVISITED where the search has not come
    parent: Any  #: int32; without elements where nobody asks for parents
    bitmap: Any  #: int32, a bit a vertex, for ``how == BITMAP``; else without elements
    how: int  #: a number of `DUPLICATES`


class Visit(NamedTuple):
    """What a thread needs at an arc; made in a kernel."""

    search: Search
    level: int  #: distance of the vertices whose arcs are followed
    local: Local  #: where finds go first
    queue: Queue  #: where they go then


@cuda.jit(device=True)
def is_marked(bitmask, v):
    """Return whether the bit of `v` is set, and set it if not; any thread may call.

    `bitmask` is an array of uint8, eight vertices an element, or of no elements: then nothing is
    marked. Whoever gets False must see to it that `v` is visited when the launch ends.
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

    `bitmap` holds a bit a vertex in words of int32; it is looked at for ``how == BITMAP`` alone.
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
