"""Closings and products of matrices that lie on the host, on whatever device does them.

Tasks for workers call these functions, so their arguments and results are NumPy arrays. Infinity is
as in `lengths`. Without a GPU one core does the same, compiled by numba. A closing takes the
vertices in the same order; a product may take any order, as a minimum does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled
from gpukernels.device import Device, chosen_device
from gpukernels.graphs.graph import Graph

from .blocked import close, panel_of
from .encoding import absent_in, padded
from .on_device import Launches
from .result import no_cycle
from .tiles import Form, form_of


class Algebra(NamedTuple):
    """How tiles are worked on: by ``"kernels"`` of a device, the one found there by default.

    Or by one core, ``"cpu"``. The rest is as in :class:`~gpukernels.all_pairs.tiles.Options`.
    """

    engine: str = "kernels"
    tile: int | None = None
    per_thread: str | None = None
    device: Device | None = None
    padding: bool = True

    def form(self, size: int, dtype: Any) -> Form:
        """Return the form of the tiles of a matrix of `size` rows."""
        return form_of(size, dtype, self.tile, self.per_thread, padding=self.padding)


class Done(NamedTuple):
    """A matrix, and what it took to make it: launches and additions, those on padding included."""

    matrix: NDArray
    launches: int
    operations: int


def closed(algebra: Algebra, matrix: NDArray, g: Graph, vertices: Sequence[int] | NDArray) -> Done:
    """Return the shortest paths between some `vertices` of `g`: a matrix, its diagonal 0.

    NegativeCycleError if a way from one of them to itself is negative.
    """
    n = len(matrix)
    if algebra.engine == "cpu" or n == 0:
        result = matrix.copy()
        done = Done(result, 0, int(close_rows(result, absent_in(matrix))))
    else:
        form = algebra.form(n, matrix.dtype)
        device, size = chosen_device(algebra.device), form.whole(n)
        check_room(device, size * size)
        on = Launches(device, form, absent_in(matrix))
        distance = device.array(padded(matrix, (size, size), diagonal=True))
        close(on, distance, on.via, panel_of(size))
        result = np.minimum(device.read(distance)[:n, :n], absent_in(matrix))
        done = Done(result, on.launches, size**3)
    no_cycle(g, done.matrix, vertices)
    return done


def lowered(algebra: Algebra, old: NDArray, a: NDArray, b: NDArray) -> Done:
    """Return min(old, a x b), the product over (min, +)."""
    (n, depth), m = a.shape, b.shape[1]
    absent = absent_in(a)
    if algebra.engine == "cpu" or not n * m * depth:
        result = old.copy()
        return Done(result, 0, int(lower_columns(result, 0, a, 0, b, absent)))
    form = algebra.form(max(n, m, depth), a.dtype)
    device = chosen_device(algebra.device)
    high, middle, wide = map(form.whole, (n, depth, m))
    check_room(device, high * middle + middle * wide + high * wide)
    shapes = (high, middle), (middle, wide), (high, wide)
    left, right, both = map(device.array, map(padded, (a, b, old), shapes))
    Launches(device, form, absent).product(left, right, both, both)
    return Done(np.minimum(device.read(both)[:n, :m], absent), 1, high * middle * wide)


def check_room(device: Device, elements: int) -> None:
    """Raise MemoryError unless so many elements fit what is free of the device."""
    if (free := device.free_bytes()) < 4 * elements:
        raise MemoryError(f"a tile takes {4 * elements:,} bytes of the device; {free:,} are free")


@compiled(nogil=True)
def close_rows(distance, absent, via=None, first=0):
    """Close a matrix in place, unless there is a negative cycle; return the additions.

    `via` gets the vertex of each path that is made shorter, the first of them with number `first`.
    """
    n, operations = len(distance), 0
    for k in range(n):
        if distance[k, k] < 0:
            break
        pivots = distance[k].copy()  # which step k leaves as they are: LLVM cannot know
        for i in range(n):
            to_pivot = distance[i, k]
            operations += n
            if to_pivot != absent:
                _lower(distance[i], to_pivot, pivots, None if via is None else via[i], first + k)
    return operations


@compiled(nogil=True)
def lower_columns(result, column, a, begin, b, absent, via=None, first=0):
    """Lower columns from `column` on, in place, by a product; return the additions.

    `a` has as many columns from `begin` on as `b` has rows. `via` is as in `close_rows`.
    """
    for i in range(len(result)):
        row = result[i, column : column + b.shape[1]]  # no sum for an index, which may be negative
        for k in range(len(b)):
            to_pivot = a[i, begin + k]
            if to_pivot != absent:
                _lower(row, to_pivot, b[k], None if via is None else via[i], first + k)
    return result.shape[0] * b.shape[0] * b.shape[1]


@njit(inline="always")
def _lower(row, to_pivot, pivots, via, k):
    """Let paths lead through vertex `k`, and note it if there is a `via`."""
    kind = row.dtype.type
    for j in range(len(pivots)):
        length, before = kind(to_pivot + pivots[j]), row[j]
        row[j] = length if length < before else before
        if via is not None and length < before:
            via[j] = k
