"""Packed words: the distance of a vertex and the round that gave it, in 64 bits for one atomic.

H-BF [busato2016hbf], section 4.2, Figs. 4 and 5: distance in the high half, round in the low one.
``atomic.min`` on the word lowers the distance and notes the round in one transaction, and the old
word tells who was the first to do so in this round. Of equal distances the older round is less, so
that an offer that is not better changes nothing.

Slip: the atomic compares *unsigned* numbers, for which a negative distance as it stands is larger
than all others and always loses. So the high half is a *key*, which orders as an unsigned number as
the distance does: an int32 with its sign bit flipped, which is the number plus 2^31; of a float32
also the other bits where it is negative. All bits set is the word of what no path has reached.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32, int64, uint64

#: Key of distance 0, and what an int32 and its key differ by.
BIAS = 2**31
#: Key of a vertex that no path has reached.
NEVER = 2**32 - 1
#: All bits of a float32 but its sign.
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
    """Return the key of the distance of `key` plus `weight`.

    A sum of int32 that is too large gives `NEVER` or more, one that is too small a number below 0:
    the key is an int64 and has room. A float32 that is too large is infinite. Nothing is lower than
    what is lower already.
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
    """Return device words of n vertices of which `root` has distance 0 and the others have none."""
    words = device.full(n, np.uint64(2**64 - 1), np.uint64)
    device.put(words, root, np.uint64(BIAS << HALF))
    return words
