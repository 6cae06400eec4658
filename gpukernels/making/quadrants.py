"""The arcs of an R-MAT graph, drawn on all cores: the same numbers as one core draws.

Level by level, each arc takes one random number, which says into which quadrant it falls. NumPy's
generator can be set forward by any number of draws, so each core draws its own part of every level.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gpukernels.cores import cores

#: Arcs drawn at a time: their random numbers, 1 MB, stay in a core's cache.
CHUNK = 1 << 17


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
    source, target = np.zeros(arcs, np.int32), np.zeros(arcs, np.int32)
    state = rng.bit_generator.state

    def draw(first: int) -> None:
        part = slice(first, min(first + CHUNK, arcs))
        bits = np.random.PCG64()
        bits.state = state
        bits.advance(first)
        mine = np.random.Generator(bits)
        drawn = np.empty(part.stop - first)
        for _ in range(scale):
            mine.random(out=drawn)
            _descend(drawn, a, a + b, a + b + c, source[part], target[part])
            bits.advance(arcs - drawn.size)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(draw, range(0, arcs, CHUNK)))
    rng.bit_generator.advance(scale * arcs)
    return source, target


@njit(nogil=True, cache=True)
def _descend(drawn, right_from, down_from, corner_from, source, target):
    for i in range(drawn.size):
        down = drawn[i] >= down_from
        right = ((drawn[i] >= right_from) & (not down)) | (drawn[i] >= corner_from)
        source[i] += source[i] + down
        target[i] += target[i] + right
