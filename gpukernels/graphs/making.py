"""Put arcs into the rows of CSR, and draw the arcs of an R-MAT graph.

NumPy makes small graphs, without a wait for a compiler. From `LARGE` arcs on, two loops that numba
compiles once and keeps on disk are faster; they give the same result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.cores.slabs import on_all_cores

#: The number of arcs from which the compiled loops are used. With fewer arcs NumPy is done before
#: numba has compiled a loop.
LARGE = 1 << 22

Rows = tuple[NDArray[np.int32], NDArray[np.int32], NDArray | None]


def in_order(
    n: int, source: NDArray[np.int32], target: NDArray[np.int32], weight: NDArray | None
) -> Rows:
    """Return row offsets, targets and weights of arcs, by source, then target, then as given.

    Parameters
    ----------
    n : int
        Number of vertices. It is not checked that all ends are below `n`.
    source, target : array of int32, shape (m,)
        The ends of every arc.
    weight : array of int32, int64, float32 or float64, shape (m,), optional
        The weight of every arc.
    """
    if weight is None and source.size < LARGE:
        # Equal arcs cannot be distinguished, so a faster sort, which is not stable, is enough.
        arcs = np.sort(source.astype(np.int64) << 32 | target)
        return _offsets(n, arcs >> 32), arcs.astype(np.int32), None
    offsets, source, weight = grouped(n, target, source, weight)
    target = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
    return grouped(n, source, target, weight)


def grouped(
    n: int, key: NDArray[np.int32], other: NDArray[np.int32], weight: NDArray | None
) -> Rows:
    """Return row offsets, other ends and weights of arcs whose row is their `key`.

    The arcs of a row stay in the order in which they are given.
    """
    if key.size < LARGE:
        # NumPy's stable sort is a radix sort for 16 bits, but not for 32 bits.
        order = np.argsort(key.astype(np.uint16), kind="stable")
        if n > 1 << 16:
            order = order[np.argsort((key[order] >> 16).astype(np.uint16), kind="stable")]
        return _offsets(n, key), other[order], None if weight is None else weight[order]
    # Weights are moved as bits, so that one compiled loop works for all types of a size.
    bits = np.empty(0, np.int32) if weight is None else weight.view(f"i{weight.itemsize}")
    # An unsigned index needs no test whether it counts from the end.
    rows = key.view(np.uint32)
    offsets, other, bits = _counting_sort(n, *map(_read_only, (rows, other, bits)))
    return offsets, other, None if weight is None else bits.view(weight.dtype)


def quadrants(
    rng: np.random.Generator, scale: int, arcs: int, a: float, b: float, c: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw the ends of an R-MAT graph's arcs; `rng`, a PCG64, ends after all its draws.

    Each of `scale` levels takes one random number per arc: the quadrant of the matrix into which
    the arc falls, then the quadrant of that quadrant, and so on. `a`, `b` and `c` are the
    probabilities of the quadrants top left, top right and bottom left.
    """
    source, target = np.zeros(arcs, np.int32), np.zeros(arcs, np.int32)
    if arcs < LARGE:
        for _ in range(scale):
            draws = rng.random(arcs)
            down = draws >= a + b
            right = ((draws >= a) & ~down) | (draws >= a + b + c)
            source += source + down
            target += target + right
        return source, target
    generator: Any = rng.bit_generator
    before = generator.state

    def draw(first: int, last: int) -> None:
        """Draw a part of the arcs: PCG64 can skip the draws of the others."""
        bits: Any = np.random.PCG64()
        bits.state = before
        bits.advance(first)
        part_rng, draws = np.random.Generator(bits), np.empty(last - first)
        for _ in range(scale):
            part_rng.random(out=draws)
            _descend(draws, a, a + b, a + b + c, source[first:last], target[first:last])
            bits.advance(arcs - draws.size)

    # The draw and the two ends of an arc take as much memory as four whole numbers.
    on_all_cores(draw, (arcs, 4))
    generator.advance(scale * arcs)
    return source, target


def _offsets(n: int, row: NDArray) -> NDArray[np.int32]:
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(row.astype(np.intp, copy=False), minlength=n), out=offsets[1:])
    return offsets


def _read_only(array: NDArray) -> NDArray:
    # numba compiles a function again for arrays that may be written.
    view = array.view()
    view.flags.writeable = False
    return view


@compiled()
def _counting_sort(n, key, other, weight):
    offsets = np.zeros(n + 1, np.int32)
    behind = offsets[1:]
    for row in key:
        behind[row] += 1
    for row in range(n):
        offsets[row + 1] += offsets[row]
    place = offsets[:-1].copy()
    others = np.empty(key.size, np.int32)
    weights = np.empty_like(weight)
    for i in range(key.size):
        to = np.uint32(place[key[i]])
        place[key[i]] = to + 1
        others[to] = other[i]
        if weight.size:
            weights[to] = weight[i]
    return offsets, others, weights


@compiled(nogil=True)
def _descend(draws, a, ab, abc, source, target):
    for i in range(draws.size):  # without a branch, so that vector instructions do it
        down = draws[i] >= ab
        right = ((draws[i] >= a) & ~down) | (draws[i] >= abc)
        source[i] += source[i] + down
        target[i] += target[i] + right
