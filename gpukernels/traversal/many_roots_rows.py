"""Distances from the frontiers of some levels: one row of words per level has the vertices found.

A step writes one bit per search, instead of a distance of four bytes. When the searches end, or
after seven levels, distances are made from the rows. A lane takes one vertex and adds up the digits
of 64 distances at once in three words. So a warp writes 32 distances from one root side by side. If
the searches have few levels, no other distances are written. It matters that four sectors are
written together: when four lanes had four words, a warp wrote one sector for each of four roots,
and an H200 took 2.5 times as long. Later levels are written when their row is needed again.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32, uint64

from gpukernels.primitives.launch_shape import WARP_SIZE

from .many_roots_words import BITS, KEPT, ROWS, warp_number
from .result import UNVISITED

#: Bits of half a word, and a mask of every fourth bit: one digit of eight distances.
HALF, FOURTHS = 32, 0x11111111


@cuda.jit(device=True)
def write_half(distance, cell, n, count, ones, twos, fours):
    """Write the distances from `count` roots, up to 32, to one vertex.

    The first is stored in `cell`, and the others `n` cells apart. Bit i of the three words gives
    the digits of distance i, plus one. A register collects the digits of eight distances at a time.
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
    """Write all distances: those below `levels`, which is at most 7, and -1; all threads call."""
    n = uint64(searches.offsets.size - 1)
    shift = uint32(searches.shift)
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        v = uint32(k * WARP_SIZE + cuda.laneid)
        there = uint32(0)  # bit l: whether any search found the vertex at level l
        for level in range(KEPT):
            if level < levels:
                some = uint32(searches.some[level, k] >> uint32(cuda.laneid)) & uint32(1)
                there = uint32(there | uint32(uint32(some) << uint32(level)))
        for w in range(1 << searches.shift):
            at = uint32(uint32(v << shift) + uint32(w))
            # A digit of each distance plus one; 0 is for vertices that are not found.
            ones, twos, fours = int64(0), int64(0), int64(0)
            for level in range(KEPT):
                if uint32(there >> uint32(level)) & uint32(1) != 0:
                    found = searches.fronts[uint32(level), at]
                    if (level + 1) & 1 != 0:
                        ones |= found
                    if (level + 1) & 2 != 0:
                        twos |= found
                    if (level + 1) & 4 != 0:
                        fours |= found
            search = w * BITS
            for _ in range(BITS // HALF):
                count = int32(searches.searches - search)
                if v < n and count > 0:
                    cell = uint64(uint64(search) * n + uint64(v))
                    write_half(
                        searches.distance, cell, n, count, uint32(ones), uint32(twos), uint32(fours)
                    )  # fmt: skip
                ones, twos, fours = ones >> int64(HALF), twos >> int64(HALF), fours >> int64(HALF)
                search += HALF


@cuda.jit(device=True)
def go_through_row(searches, level, write, empty):
    """Write the distances of the vertices found at `level`, or clear its row, or do both.

    All threads of the grid call.
    """
    n, row = int64(searches.offsets.size - 1), level % ROWS
    for k in range(warp_number(), searches.left.size, cuda.gridsize(1) // WARP_SIZE):
        mine = searches.some[row, k]
        if uint32(mine >> uint32(cuda.laneid)) & uint32(1) != 0:
            v = k * WARP_SIZE + cuda.laneid
            for w in range(1 << searches.shift):
                at = (v << searches.shift) + w
                found = searches.fronts[row, at]
                if empty:
                    searches.fronts[row, at] = 0
                while write and found != 0:
                    searches.distance[(w * BITS + cuda.ffs(found) - 1) * n + v] = level
                    found &= found - 1
        cuda.syncwarp()  # all lanes have read the word
        if empty and cuda.laneid == 0 and mine != 0:
            searches.some[row, k] = 0
