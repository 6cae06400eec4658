"""A distance and whether its vertex waits in a pile, in one word that only ever falls.

Distances without negative arcs need 31 bits: whole numbers up to 2^31 - 1, and floats whose sign is
always 0 and which order as their bits do. The bit that is left tells that the vertex waits:

    word = 2 * bits of the distance + (1 if the vertex waits in a pile)

Who relaxes an arc takes the minimum with the new distance and a 1: one atomic lowers the distance,
marks the vertex, and returns whether it waited before, so that just one thread puts it into a pile.
Who takes the vertex out clears the bit by an atomic and, bit, and is told the distance of that very
moment: whatever falls later finds the bit clear. So nothing is ever lost between a mark and a
distance, no fence stands between two words, and no stamp needs an atomic of its own.

Atomics on integers are instructions of the GPU; numba's minimum of floats is a loop of
compare-and-swaps. As neither lowering nor taking ever makes the word greater, a plain look at it
may be late, and then the atomic decides, but it never hides a relaxation.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32, uint32

#: The word of a vertex without its last bit.
TAKEN = 0xFFFFFFFE
#: Bits of a distance that no path has: of 2^31 - 1, and above those of an infinite float.
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

    Returns the word that it had: the distance has fallen if ``old > 2 * bits + 1``.
    """
    return cuda.atomic.min(word, v, uint32(2 * bits + 1))


@cuda.jit(device=True)
def take(word, v):
    """Mark `v` as not waiting any more, and return the bits (int32) of its distance now."""
    return int32(cuda.atomic.and_(word, v, uint32(TAKEN)) >> 1)
