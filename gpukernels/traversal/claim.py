"""Who may enqueue a vertex that is found: everybody who saw it unvisited, or exactly one thread.

By plain stores, a thread that reads ``distance[v] == UNVISITED`` marks v and goes on; others may
have read the same. The exact ways cost an atomic a find, on the distance itself or on a bitmap of
one bit a vertex, which packs 32 vertices' marks into one word: less memory, more meetings.
`discover` is the visit that the techniques of `mapping` call at each arc.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32

from gpukernels.frontiers.duplicates import BITMAP, COMPARE_AND_SWAP
from gpukernels.frontiers.local_queue import hold
from gpukernels.frontiers.state import Local, Queue, kernel_argument

from .result import UNVISITED, adopt


@kernel_argument
class Search(NamedTuple):
    """The graph, what a search knows of its vertices, and how it claims them.

    Attributes
    ----------
    offsets, targets : device array
        The graph.
    distance, parent : device array of int32
        UNVISITED where the search has not come; without elements where nobody asks for parents.
    bitmap : device array of int32
        A bit a vertex for ``how == BITMAP``, else without elements.
    how : int
        A number of `DUPLICATES`.
    """

    offsets: Any
    targets: Any
    distance: Any
    parent: Any
    bitmap: Any
    how: int


class Visit(NamedTuple):
    """What a thread needs at an arc; made in a kernel.

    Attributes
    ----------
    search : NamedTuple
        What the search knows.
    level : int
        Distance of the vertices whose arcs are followed.
    local : Local
        Where finds go first.
    queue : Queue
        Where they go then.
    """

    search: Any
    level: int
    local: Local
    queue: Queue


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
