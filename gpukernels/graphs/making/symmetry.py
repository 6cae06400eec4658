"""Whether every arc of a graph has its opposite, in one walk over its arcs.

It has if the arcs from lower to higher vertices are those from higher to lower ones, turned around.
Both lists come in other orders. To sort one, or to look every arc up, takes a walk to anywhere in
memory for each; a fingerprint that does not depend on the order takes none. An arc u -> v of weight
w is the linear polynomial r + s u + v + t w, and a list is the product of its arcs' polynomials. A
weight of 64 bits counts as two numbers, each with a coordinate of its own.
Polynomials have one factorization, so two lists are the same if and only if their products are. And
two products that differ are, at a point that is drawn at random from the numbers modulo a prime p,
the same with a chance of their degree by p at most (Schwartz [schwartz1980fast]).

Lists of 2^30 arcs, the most there are, at two points modulo 2^61 - 1: a graph that is not symmetric
is taken for one once in 2^62. One that is symmetric always is, however its rows are sorted. Every
core multiplies a part of the arcs.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numba import prange, uint64
from numpy.typing import NDArray

from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled

from .arcs import read_only
from .modular import PRIME, plus, times

#: A point: r, s, t for the lower 32 bits of a weight, and t for the upper ones.
COORDINATES = 4


def is_symmetric(
    offsets: NDArray[np.int32], targets: NDArray[np.int32], weights: NDArray | None
) -> bool:
    """Return whether each arc has its opposite, of the same weight, bit by bit.

    ``False`` is certain. ``True`` is wrong once in 2^62, whoever made the graph: the points are
    drawn for each call.
    """
    given = np.zeros(0, np.int32) if weights is None else weights.view(f"i{weights.itemsize}")
    points = np.random.default_rng().integers(0, PRIME, (2, COORDINATES), np.uint64)
    with all_cores() as cores:
        parts = targets.size * np.arange(cores + 1, dtype=np.int64) // cores
        rows = np.searchsorted(offsets, parts, side="right") - 1
        products, rise = _multiply(*read_only(offsets, targets, given), parts, rows, points)
    up, down = ([prod(map(int, part)) % PRIME for part in half.T] for half in products)
    return bool(rise.sum() == 0 and up == down)


@compiled(parallel=True)
def _multiply(offsets, targets, weights, parts, rows, points):
    """Return the products of each part's arcs up and of those down, turned around, at two points.

    Beside them stands how many more go up than down.
    """
    cores = parts.size - 1
    weighted = weights.size > 0
    products = np.ones((2, cores, 2), np.uint64)
    rise = np.zeros(cores, np.int64)
    (r1, s1, t1, upper1), (r2, s2, t2, upper2) = points
    for c in prange(cores):
        up1, up2, down1, down2 = uint64(1), uint64(1), uint64(1), uint64(1)
        i, end, row, more = parts[c], parts[c + 1], rows[c], 0
        while i < end:
            u = uint64(row)
            from_u1, from_u2 = plus(r1, times(s1, u)), plus(r2, times(s2, u))
            to_u1, to_u2 = plus(r1, u), plus(r2, u)
            row += 1
            behind = min(end, np.int64(offsets[row]))
            while i < behind:
                v = uint64(targets[i])
                rest1, rest2 = uint64(0), uint64(0)
                if weighted:
                    w = uint64(np.uint32(weights[i]))
                    rest1, rest2 = times(t1, w), times(t2, w)
                    if weights.itemsize == 8:
                        w = uint64(weights[i]) >> uint64(32)
                        rest1, rest2 = plus(rest1, times(upper1, w)), plus(rest2, times(upper2, w))
                if v > u:
                    more += 1
                    up1 = times(up1, plus(plus(from_u1, v), rest1))
                    up2 = times(up2, plus(plus(from_u2, v), rest2))
                elif v < u:
                    more -= 1
                    down1 = times(down1, plus(plus(to_u1, times(s1, v)), rest1))
                    down2 = times(down2, plus(plus(to_u2, times(s2, v)), rest2))
                i += 1
        products[0, c, 0], products[0, c, 1] = up1, up2
        products[1, c, 0], products[1, c, 1] = down1, down2
        rise[c] = more
    return products, rise
