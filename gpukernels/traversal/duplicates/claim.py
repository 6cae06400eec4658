"""Who may enqueue a vertex that is found: everybody who saw it unvisited, or exactly one thread.

By plain stores, a thread that reads ``distance[v] == UNVISITED`` marks v and goes on; others may
have read the same. The exact ways cost an atomic a find, on the distance itself or on a bitmap of
one bit a vertex, which packs 32 vertices' marks into one word: less memory, more meetings.
"""

from __future__ import annotations

from numba import cuda, int32

from ..result import UNVISITED

COMPARE_AND_SWAP, BITMAP = 5, 6


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
