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
from numba.types import UniTuple
from numpy.typing import NDArray

from gpukernels.cores import cores

#: Arcs drawn at a time, so many that to set the generators forward takes no time beside it.
CHUNK = 1 << 19
#: What PCG64 multiplies its state with.
FACTOR = 47026247687942121848144207491837523525


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
    step = _words(before["state"]["inc"])
    # A random number is a whole number of 53 bits by 2^53; so the limits are whole numbers too.
    limits = [math.ceil(limit * 2**53) for limit in (a, a + b, a + b + c)]

    def draw(first: int) -> None:
        part = slice(first, min(first + CHUNK, arcs))
        states = np.empty((2, scale), np.uint64)
        bits = np.random.PCG64()
        bits.state = before
        bits.advance(first)
        for level in range(scale):
            states[:, level] = _words(bits.state["state"]["state"])
            bits.advance(arcs)
        _descend(*states, *step, *limits, source[part], target[part])

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(draw, range(0, arcs, CHUNK)))
    rng.bit_generator.advance(scale * arcs)
    return source, target


def _words(number: int) -> tuple[int, int]:
    """Return the upper and the lower 64 bits of 128."""
    return number >> 64, number & (1 << 64) - 1


@intrinsic
def _next_state(typing_context, upper, lower, step_upper, step_lower):
    """Return the state of PCG64 behind this one (O'Neill 2014), in two words as it is given."""

    def generate(context, builder, signature, arguments):
        wide, word = ir.IntType(128), ir.IntType(64)
        half = ir.Constant(wide, 64)
        a, b, c, d = (builder.zext(argument, wide) for argument in arguments)
        state, step = (builder.or_(builder.shl(x, half), y) for x, y in ((a, b), (c, d)))
        state = builder.add(builder.mul(state, ir.Constant(wide, FACTOR)), step)
        words = builder.trunc(builder.lshr(state, half), word), builder.trunc(state, word)
        return context.make_tuple(builder, signature.return_type, words)

    return UniTuple(uint64, 2)(uint64, uint64, uint64, uint64), generate


@njit(uint64(uint64), cache=True)
def _even_bits(path):
    """Return the bits 0, 2, 4, ... of a number, side by side."""
    path &= np.uint64(0x5555555555555555)
    path = (path | path >> np.uint64(1)) & np.uint64(0x3333333333333333)
    path = (path | path >> np.uint64(2)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    path = (path | path >> np.uint64(4)) & np.uint64(0x00FF00FF00FF00FF)
    path = (path | path >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (path | path >> np.uint64(16)) & np.uint64(0x00000000FFFFFFFF)


@njit(
    (uint64[::1], uint64[::1], uint64, uint64, uint64, uint64, uint64, int32[::1], int32[::1]),
    nogil=True,
    cache=True,
)
def _descend(uppers, lowers, step_upper, step_lower, limit, limit2, limit3, source, target):
    """Draw as PCG64 does, a generator a level, and follow the quadrants."""
    for i in range(source.size):
        path = np.uint64(0)
        for level in range(uppers.size):
            upper, lower = _next_state(uppers[level], lowers[level], step_upper, step_lower)
            uppers[level], lowers[level] = upper, lower
            mixed, turn = upper ^ lower, upper >> np.uint64(58)
            mixed = mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))
            drawn = mixed >> np.uint64(11)
            # Of the quadrants in reading order, the number of the one that it falls into.
            quadrant = np.uint64(drawn >= limit) + np.uint64(drawn >= limit2)
            path = path << np.uint64(2) | (quadrant + np.uint64(drawn >= limit3))
        source[i], target[i] = _even_bits(path >> np.uint64(1)), _even_bits(path)
