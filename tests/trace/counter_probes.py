"""Small kernels that ask one question each of a GPU's counters, as what a collision costs.

`counter_cases` launches them beside the book's own kernels. Where each lane goes is read from an
array, so the compiler cannot see that an address is the same for all lanes; `count_uniformly` is
the one in which it can.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float64, int32

LANE = np.arange(32)

#: Which of 32 words each lane reads, -1 for none: do the two half-warps share a pass?
READS = {
    "own words": LANE,
    "one word": LANE * 0,
    "16 words, the halves alike": LANE % 16,
    "16 words, neighbors alike": LANE // 2,
    "two words, a half each": LANE // 16,
    "two words, by turns": LANE % 2,
    "own words, first half only": np.where(LANE < 16, LANE, -1),
    "own words, even lanes only": np.where(LANE % 2 == 0, LANE, -1),
    "one word, even lanes only": np.where(LANE % 2 == 0, 0, -1),
    "one word, first half only": np.where(LANE < 16, 0, -1),
    "first and last lane": np.where(LANE % 31 == 0, LANE, -1),
    "every other word": LANE * 2 % 32,
}


@cuda.jit
def collide(at, counters, one):
    """Add `one` where each lane is told, and forget what was there."""
    i = cuda.grid(1)
    cuda.atomic.add(counters, at[i], one)


@cuda.jit
def count_uniformly(counter, old):
    """Count the threads in one word, which the compiler sees is the same for all."""
    cuda.atomic.add(counter, 0, 1)
    old[cuda.grid(1)] = 1


@cuda.jit
def read_doubles(at, out):
    """Read words of 8 bytes from shared memory where each lane is told."""
    words = cuda.shared.array(32, float64)
    lane = cuda.threadIdx.x
    words[lane] = lane
    cuda.syncwarp()
    if at[lane] >= 0:
        out[lane] = words[at[lane]]


@cuda.jit
def queue_locally(values, at, out):
    """Fill a queue of 16 of the thread's own, and read it at an index known only then."""
    queue = cuda.local.array(16, int32)
    i = cuda.grid(1)
    for k in range(16):
        queue[k] = values[i + k]
    out[i] = queue[at[i]] + queue[15 - at[i]]


@cuda.jit
def odd_and_even(x):
    """Do one of two cheap things, which the compiler makes all lanes do."""
    i = cuda.grid(1)
    if i % 2 == 0:
        x[i] += 1
        x[i] *= 2
    else:
        x[i] -= 1
        x[i] *= 3


@cuda.jit
def count_to(turns, out):
    """Go through a loop as often as each lane is told."""
    i = cuda.grid(1)
    total = 0
    for k in range(turns[i]):
        total += k ^ turns[i]
    out[i] = total


@cuda.jit
def divide(numbers, by, out):
    """Divide by a 64-bit number known only at run time."""
    i = cuda.grid(1)
    out[i] = numbers[i] // by


@cuda.jit
def transpose_directly(a, out):
    """Store the transpose of one tile: reads side by side, writes 32 places apart."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[x, y] = a[y, x]


@cuda.jit
def transpose_unpadded(a, out):
    """Store the transpose by a detour whose columns lie in one bank each."""
    tile = cuda.shared.array((32, 32), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


@cuda.jit
def transpose_padded(a, out):
    """Store the transpose by a detour whose rows are one word longer than 32 banks."""
    tile = cuda.shared.array((32, 33), int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


@cuda.jit
def copy_strided(values, out, stride):
    """Copy every `stride`-th element of `values`."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = values[i * stride]
