"""The arcs of an R-MAT graph, drawn on all cores: the same numbers as one core draws.

Level by level, each arc takes one random number, which says into which quadrant it falls. NumPy's
generator, PCG64, can be set forward by any number of draws. So each core draws its own arcs, and
for them goes through all levels at once, with a generator a level. A step of one generator takes a
multiplication of 128 bits, and waits for the one before. So each level has `LANES` generators, at
as many places of the arcs; their steps are made of products of 32 bits, which a processor's vector
instructions do for several at once.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import int32, njit, uint64
from numpy.typing import NDArray

from gpukernels.cores import cores

#: Arcs drawn at a time, so many that to set the generators forward takes no time beside it.
CHUNK = 1 << 19
#: Generators a level, next to each other in memory.
LANES = 32
#: What PCG64 multiplies its state with, and what all is counted modulo.
FACTOR, ALL = 47026247687942121848144207491837523525, 1 << 128
UPPER, LOWER = FACTOR >> 64, FACTOR & (1 << 64) - 1


def quadrants(
    rng: np.random.Generator, scale: int, arcs: int, a: float, b: float, c: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw the ends of `arcs` arcs; `rng`, of PCG64, is left behind all its draws.

    Parameters
    ----------
    rng : numpy.random.Generator
        The random numbers.
    scale : int
        Levels: how often the matrix is quartered.
    arcs : int
        Arcs to draw.
    a, b, c : float
        Probability of the quadrants top left, top right and bottom left.

    Returns
    -------
    source, target : array of int32, shape (arcs,)
    """
    source, target = np.empty(arcs, np.int32), np.empty(arcs, np.int32)
    before = rng.bit_generator.state
    step = before["state"]["inc"]
    # A random number is a whole number of 53 bits by 2^53; so the limits are whole numbers too.
    limits = [math.ceil(limit * 2**53) for limit in (a, a + b, a + b + c)]

    def draw(first: int) -> None:
        part = slice(first, min(first + CHUNK, arcs))
        rows = -(-(part.stop - part.start) // LANES)
        factor, added = _leap(rows, step)
        states = np.empty((2, scale, LANES), np.uint64)
        bits = np.random.PCG64()
        bits.state = before
        bits.advance(first)
        for level in range(scale):
            state = bits.state["state"]["state"]
            for lane in range(LANES):
                states[:, level, lane] = _words(state)
                state = (state * factor + added) % ALL
            bits.advance(arcs)
        _descend(*states, *_words(step), *limits, rows, source[part], target[part])

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(draw, range(0, arcs, CHUNK)))
    rng.bit_generator.advance(scale * arcs)
    return source, target


def _words(number: int) -> tuple[int, int]:
    """Return the upper and the lower 64 bits of 128."""
    return number >> 64, number & (1 << 64) - 1


def _leap(steps: int, step: int) -> tuple[int, int]:
    """Return what so many steps multiply a state with, and what they then add."""
    factor, added = 1, 0
    for bit in bin(steps)[2:]:
        factor, added = factor * factor % ALL, added * (factor + 1) % ALL
        if bit == "1":
            factor, added = factor * FACTOR % ALL, (added * FACTOR + step) % ALL
    return factor, added


@njit(uint64(uint64, uint64), inline="always", cache=True)
def _upper_product(a, b):
    """Return the upper 64 bits of a product, by products of 32 bits."""
    half, lower = np.uint64(32), np.uint64(0xFFFFFFFF)
    inner = (a >> half) * (b & lower) + ((a & lower) * (b & lower) >> half)
    outer = (a & lower) * (b >> half) + (inner & lower)
    return (a >> half) * (b >> half) + (inner >> half) + (outer >> half)


@njit(uint64(uint64), inline="always", cache=True)
def _even_bits(path):
    """Return the bits 0, 2, 4, ... of a number, side by side."""
    path &= np.uint64(0x5555555555555555)
    path = (path | path >> np.uint64(1)) & np.uint64(0x3333333333333333)
    path = (path | path >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    path = (path | path >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    path = (path | path >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (path | path >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)


@njit(
    (uint64[:, ::1], uint64[:, ::1], *[uint64] * 6, int32[::1], int32[::1]),
    nogil=True,
    cache=True,
)
def _descend(uppers, lowers, step_upper, step_lower, limit, limit2, limit3, rows, source, target):
    """Draw as PCG64 does (O'Neill 2014), generators a level, and follow the quadrants.

    A lane's arcs lie next to each other, `rows` of them; the last lanes' may lie beyond the end.
    """
    upper_factor, factor = np.uint64(UPPER), np.uint64(LOWER)
    paths = np.empty(LANES, np.uint64)
    for row in range(rows):
        paths[:] = 0
        for level in range(uppers.shape[0]):
            highs, lows = uppers[level], lowers[level]
            for lane in range(LANES):
                high, low = highs[lane], lows[lane]
                high = _upper_product(low, factor) + high * factor + low * upper_factor
                product = low * factor
                low = product + step_lower
                high += step_upper + np.uint64(low < product)
                highs[lane], lows[lane] = high, low
                mixed, turn = high ^ low, high >> np.uint64(58)
                mixed = mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))
                drawn = mixed >> np.uint64(11)
                # Of the quadrants in reading order, the number of the one that it falls into.
                quadrant = np.uint64(drawn >= limit) + np.uint64(drawn >= limit2)
                paths[lane] = paths[lane] << np.uint64(2) | quadrant + np.uint64(drawn >= limit3)
        for lane in range(LANES):
            i = np.int64(lane * rows + row)
            if i < source.size:
                source[i] = _even_bits(paths[lane] >> np.uint64(1))
                target[i] = _even_bits(paths[lane])
