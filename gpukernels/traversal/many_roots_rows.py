"""Distances from the frontiers of some levels: a row of words a level says who was found then.

A step writes a bit a search where a distance would be four bytes. When the searches end, or after
seven levels, distances are made from the rows. The first time a thread adds up, in three words, the
digits of 64 distances at once, and then writes all of a vertex: the only time that a search of few
levels writes distances, sector by sector whole. Later only the few that were found are written.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32, uint64

from gpukernels.primitives.launch_shape import WARP_SIZE

from .many_roots_words import BITS, ROWS, warp_number
from .result import UNVISITED

#: Bits of the half of a word, and every fourth of them: digits of eight distances.
HALF, FOURTHS = 32, 0x11111111


@cuda.jit(device=True)
def write_half(distance, cell, n, count, ones, twos, fours):
    """Write the distances from up to 32 roots to a vertex; `count` says how many there are.

    The first lies in `cell` and the others `n` cells apart. Bit i of the three words are the digits
    of the i-th distance plus one. Eight distances at a time are brought together in one register.
    """
    for offset in range(4):
        eight = uint32(uint32(ones >> uint32(offset)) & uint32(FOURTHS))
        eight |= uint32(uint32(uint32(twos >> uint32(offset)) & uint32(FOURTHS)) << uint32(1))
        eight = uint32(eight)
        eight |= uint32(uint32(uint32(fours >> uint32(offset)) & uint32(FOURTHS)) << uint32(2))
        eight = uint32(eight)
        at = uint64(cell + uint64(offset) * n)
        for k in range(HALF // 4):
            if int32(4 * k + offset) < count:
                value = uint32(uint32(eight >> uint32(4 * k)) & uint32(7))
                distance[at] = int32(value) + int32(UNVISITED)
            at = uint64(at + uint64(4) * n)


@cuda.jit(device=True)
def write_all(searches, levels):
    """Write all distances: those below `levels`, of at most 7, and -1; all threads call.

    Neighboring lanes have neighboring words. So those of eight vertices write eight distances from
    one root, a sector.
    """
    n = uint64(searches.offsets.size - 1)
    shift = uint32(searches.shift)
    for first in range(cuda.grid(1), searches.seen.size, cuda.gridsize(1)):
        at = uint32(first)
        # A digit of each distance, plus one: 0 is for those not found.
        ones, twos, fours = int64(0), int64(0), int64(0)
        for level in range(levels):
            found = searches.fronts[uint32(level), at]
            if (level + 1) & 1 != 0:
                ones |= found
            if (level + 1) & 2 != 0:
                twos |= found
            if (level + 1) & 4 != 0:
                fours |= found
        word = uint32(at & uint32((uint32(1) << shift) - uint32(1)))
        search = int32(word) * int32(BITS)
        cell = uint64(search) * n + uint64(at >> shift)
        for _ in range(BITS // HALF):
            count = int32(searches.searches - search)
            write_half(
                searches.distance, cell, n, count, uint32(ones), uint32(twos), uint32(fours)
            )  # fmt: skip
            ones, twos, fours = ones >> int64(HALF), twos >> int64(HALF), fours >> int64(HALF)
            search += HALF
            cell = uint64(cell + uint64(HALF) * n)


@cuda.jit(device=True)
def empty_rows(searches, base, level, write):
    """Make zeros of the rows of levels from `base` up to `level`; all threads of the grid call.

    If `write`, the distances of whom they hold are written before.
    """
    n = int64(searches.offsets.size - 1)
    for past in range(base, level):
        row = past % ROWS
        for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
            mine = searches.some[row, k]
            if uint32(mine >> uint32(cuda.laneid)) & uint32(1) != 0:
                v = k * WARP_SIZE + cuda.laneid
                for w in range(1 << searches.shift):
                    at = (v << searches.shift) + w
                    found = searches.fronts[row, at]
                    searches.fronts[row, at] = 0
                    while write and found != 0:
                        searches.distance[(w * BITS + cuda.ffs(found) - 1) * n + v] = past
                        found &= found - 1
            cuda.syncwarp()  # all have read who is there
            if cuda.laneid == 0 and mine != 0:
                searches.some[row, k] = 0
