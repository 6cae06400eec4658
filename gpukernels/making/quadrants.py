"""The arcs of an R-MAT graph, drawn on all cores: the same numbers as one core draws.

Level by level, each arc takes one random number, which says into which quadrant it falls. NumPy's
generator can be set forward by any number of draws. So each core draws its own arcs, and for them
goes through all levels at once, with a generator a level: a step of one generator takes a
multiplication of 128 bits, and twenty that do not wait for each other are done in the time of five.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from llvmlite import ir
from numba import int32, njit, uint64
from numba.extending import intrinsic
from numpy.typing import NDArray

from gpukernels.cores import cores

#: Arcs drawn at a time, so many that to set the generators forward takes no time beside it.
CHUNK = 1 << 17
#: What PCG64 multiplies its state with: the upper and the lower word.
UPPER, LOWER = np.uint64(2549297995355413924), np.uint64(4865540595714422341)


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
    step = np.array(_words(before["state"]["inc"]), np.uint64)
    # A random number is a whole number of 53 bits by 2^53; so the limits are whole numbers too.
    limits = [math.ceil(limit * 2**53) for limit in (a, a + b, a + b + c)]

    def draw(first: int) -> None:
        part = slice(first, min(first + CHUNK, arcs))
        states = np.empty((scale, 2), np.uint64)
        bits = np.random.PCG64()
        bits.state = before
        bits.advance(first)
        for level in range(scale):
            states[level] = _words(bits.state["state"]["state"])
            bits.advance(arcs)
        _descend(states, step, *limits, source[part], target[part])

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(draw, range(0, arcs, CHUNK)))
    rng.bit_generator.advance(scale * arcs)
    return source, target


def _words(number: int) -> tuple[int, int]:
    """Return the upper and the lower 64 bits of 128."""
    return number >> 64, number & (1 << 64) - 1


@intrinsic
def _upper_product(typing_context, x, y):
    """Return the upper 64 bits of a product of two uint64."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        x, y = (builder.zext(argument, wide) for argument in arguments)
        upper = builder.lshr(builder.mul(x, y), ir.Constant(wide, 64))
        return builder.trunc(upper, ir.IntType(64))

    return uint64(uint64, uint64), generate


@njit(
    (uint64[:, ::1], uint64[::1], uint64, uint64, uint64, int32[::1], int32[::1]),
    nogil=True,
    cache=True,
)
def _descend(states, step, right_from, down_from, corner_from, source, target):
    """Draw as PCG64 does (O'Neill 2014), of `states` for each level, and follow the quadrants."""
    for i in range(source.size):
        u = v = np.int32(0)
        for level in range(states.shape[0]):
            high, low = states[level, 0], states[level, 1]
            high = _upper_product(low, LOWER) + low * UPPER + high * LOWER
            low = low * LOWER + step[1]
            high += step[0] + np.uint64(low < step[1])
            states[level, 0], states[level, 1] = high, low
            mixed, turn = high ^ low, high >> np.uint64(58)
            mixed = mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))
            drawn = mixed >> np.uint64(11)
            down = drawn >= down_from
            right = ((drawn >= right_from) & (not down)) | (drawn >= corner_from)
            u += u + down
            v += v + right
        source[i], target[i] = u, v
