"""A distance, and whether its vertex waits in a pile, in one word that is only ever lowered.

Distances without negative arcs need 31 bits: whole numbers up to 2^31 - 1, and floats, whose sign
is always 0 and which order as their bits do. The remaining bit says that the vertex waits:

    word = 2 * bits of the distance + (1 if the vertex waits in a pile)

A thread that relaxes an arc takes the minimum with the new distance and a 1: one atomic lowers the
distance, marks the vertex, and returns whether it waited before. So just one thread puts it into a
pile. A thread that takes it out clears the bit by an atomic *and*, which returns the distance of
that moment: if it falls later, the bit is clear. So no relaxation is lost between mark and
distance, no fence is needed between two words, and no stamp needs its own atomic.

Atomics on integers are instructions of the GPU; numba's minimum of floats is a loop of
compare-and-swaps. Lowering and taking never make the word greater. So a plain read of it may be
late, and then the atomic decides, but it never hides a relaxation.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32, uint32

#: The word of a vertex without its last bit.
TAKEN = 0xFFFFFFFE
#: Bits of a distance that no path has: those of 2^31 - 1, above those of an infinite float.
NONE = 2**31 - 1


@cuda.jit(device=True)
def bits_of(length, weights):
    """Return the bits of `length` (int32) as a distance of the type of `weights`."""
    held = cuda.local.array(1, weights.dtype)
    held[0] = length
    return held[0].view(np.int32)


@cuda.jit(device=True)
def length_of(bits, weights):
    """Return the distance of these `bits` (int32), in the type of `weights`."""
    return int32(bits).view(weights.dtype)


@cuda.jit(device=True)
def lower(word, v, bits):
    """Lower the distance of `v` to `bits`, if that is less, and mark it as waiting.

    Return the old word: the distance has fallen if ``old > 2 * bits + 1``.
    """
    return cuda.atomic.min(word, v, uint32(2 * bits + 1))


@cuda.jit(device=True)
def take(word, v):
    """Mark `v` as not waiting, and return the bits (int32) of its distance at that moment."""
    return int32(cuda.atomic.and_(word, v, uint32(TAKEN)) >> 1)
