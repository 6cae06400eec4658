"""Packed words: the distance of a vertex and the round that gave it, in 64 bits for one atomic.

H-BF [busato2016hbf], section 4.2, Figs. 4 and 5: distance in the high half, round in the low one.
One ``atomic.min`` on the word lowers the distance and stores the round. It returns the old word,
whose round shows whether this thread was the first to do so in this round. If the distances are
equal, the older round is smaller, so an equal distance changes nothing.

Slip: the atomic compares *unsigned* numbers, where a negative distance is larger than all others
and always loses. So the high half is a *key*: keys order as unsigned numbers as the distances do.
The key of an int32 has the sign bit flipped, which adds 2^31; of a negative float32, the other bits
are flipped too. In the word of a vertex that no path has reached, all bits are set.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32, int64, uint64

#: Key of distance 0, which is also the difference between an int32 and its key.
BIAS = 2**31
#: Key of a vertex that no path has reached.
NEVER = 2**32 - 1
#: All bits of a float32 except its sign.
MAGNITUDE = 2**31 - 1
HALF = 32


@cuda.jit(device=True)
def key_of(word):
    """Return the distance of a packed word, as a key (int64)."""
    return int64(word >> uint64(HALF))


@cuda.jit(device=True)
def round_of(word):
    """Return the round of a packed word (int64)."""
    return int64(word & uint64(NEVER))


@cuda.jit(device=True)
def packed(key, round):
    """Return the word of a distance's `key` and a `round`."""
    return (uint64(key) << uint64(HALF)) | uint64(round)


@cuda.jit(device=True)
def float_of(key):
    """Return the float32 of `key`."""
    bits = key - BIAS
    return int32(bits ^ ((bits >> 31) & MAGNITUDE)).view(np.float32)


@cuda.jit(device=True)
def longer(key, weight, floats):
    """Return the key of the sum of a weight and the distance with this `key`.

    An int32 sum that is too large gives `NEVER` or more, and one that is too small a number below
    0: the key is an int64 and has room. A float32 sum that is too large is infinite. Sums that are
    too large lower no distance.
    """
    if floats:
        bits = int64((float_of(key) + float32(weight)).view(np.int32))
        return (bits ^ ((bits >> 31) & MAGNITUDE)) + BIAS
    return key + int64(weight)


@cuda.jit(device=True)
def put_distance(distance, v, key, infinite, floats):
    """Store the distance of `key` in ``distance[v]``."""
    if key == NEVER:
        distance[v] = infinite
    elif floats:
        distance[v] = float_of(key)
    else:
        distance[v] = int32(key - BIAS)


def start_words(n: int, root: int, device):
    """Return device words of `n` vertices: `root` has distance 0, the others have none."""
    words = device.full(n, np.uint64(2**64 - 1), np.uint64)
    device.put(words, root, np.uint64(BIAS << HALF))
    return words
