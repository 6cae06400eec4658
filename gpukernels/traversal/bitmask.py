"""A bitmask of visited vertices that may forget: one bit a vertex, set without an atomic.

Merrill et al. [merrill2012scalable]. Before a thread reads the four bytes of a vertex's distance,
which are likely in memory, it reads the vertex's bit, which is likely in a cache: 32 times as many
vertices fit there. The bit is set by reading a byte, adding a bit to it and storing it. Two threads
that do so at once to one byte may lose each other's bit, and no atomic prevents it: a bit that is
set is right, a bit that is not says nothing, and the distance decides. A filter of this kind is
called conservative. It goes before any claim and any cull.
"""

from __future__ import annotations

from numba import cuda, uint8


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
