"""Closings and products of matrices that lie on the host, on whatever device does them.

What tasks that are sent to workers are made of: they begin and end with arrays of NumPy. Infinity
is as in `lengths`. Without a GPU one core does the same, compiled by numba, in the same order of
vertices for a closing, and for a product in any: a minimum has none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gpukernels.device import Device, chosen_device
from gpukernels.graph import Graph

from .blocked import close, panel_of
from .lengths import absent_of
from .result import name_cycle
from .tiles import form_of, product


class Algebra(NamedTuple):
    """How tiles are worked on.

    Attributes
    ----------
    engine : str
        ``"kernels"`` or ``"cpu"``.
    tile, per_thread, padding
        As in :class:`~gpukernels.all_pairs.tiles.Options`.
    device : SimtDevice or CudaDevice, optional
        Where to run; unless given, where the task finds itself.
    """

    engine: str = "kernels"
    tile: int | None = None
    per_thread: str | None = None
    device: Device | None = None
    padding: bool = True


class Done(NamedTuple):
    """A matrix, and what it took to make it: launches and additions, those on padding included."""

    matrix: NDArray
    launches: int
    operations: int


def closed(algebra: Algebra, matrix: NDArray) -> Done:
    """Return the shortest paths between the vertices of a matrix; its diagonal is 0.

    A negative element on the diagonal of the result says that there is a negative cycle.
    """
    n = len(matrix)
    if algebra.engine == "cpu" or n == 0:
        found = matrix.copy()
        return Done(found, 0, int(_close(found, _absent(matrix))))
    form = form_of(
        n, matrix.dtype, algebra.tile, algebra.per_thread, padding=algebra.padding
    )  # fmt: skip
    device, size = chosen_device(algebra.device), -(-n // form.tile) * form.tile
    _check_room(device, size * size)
    padded = _padded(matrix, (size, size))
    np.fill_diagonal(padded[n:, n:], 0)
    distance, via = device.array(padded), device.full((1, 1), -1, np.int32)
    flags, absent = device.full(2, 0, np.int32), _absent(matrix)
    launches = close(device, form, distance, via, absent, flags, panel_of(size))
    return Done(_normal(device.read(distance)[:n, :n]), launches, size**3)


def without_cycle(g: Graph, done: Done, vertices: NDArray) -> Done:
    """Return it; NegativeCycleError if a way from one of the `vertices` to itself is negative."""
    wrong = np.flatnonzero(done.matrix.diagonal() < 0)
    if wrong.size:
        name_cycle(g, int(vertices[wrong[0]]))
    return done


def lowered(algebra: Algebra, old: NDArray | None, a: NDArray, b: NDArray) -> Done:
    """Return min(old, a x b), the product over (min, +); of `a x b` alone where `old` is None."""
    (n, depth), m = a.shape, b.shape[1]
    absent = _absent(a)
    if algebra.engine == "cpu" or not n * m * depth:
        found = np.full((n, m), absent) if old is None else old.copy()
        return Done(found, 0, int(_lower(found, a, b, absent)))
    form = form_of(
        max(n, m, depth), a.dtype, algebra.tile, algebra.per_thread, padding=algebra.padding
    )  # fmt: skip
    device = chosen_device(algebra.device)
    high, middle, wide = (-(-size // form.tile) * form.tile for size in (n, depth, m))
    _check_room(device, high * middle + middle * wide + high * wide)
    left, right = (
        device.array(_padded(x, shape)) for x, shape in ((a, (high, middle)), (b, (middle, wide)))
    )
    if old is None:
        both = device.full((high, wide), absent, a.dtype)
    else:
        both = device.array(_padded(old, (high, wide)))
    device.launch(
        product(form), (wide // form.tile, high // form.tile), form.block,
        left, right, both, both, device.full((1, 1), -1, np.int32), absent, 0, 0, 0, middle,
        device.full(2, 0, np.int32),
    )  # fmt: skip
    return Done(_normal(device.read(both)[:n, :m]), 1, high * middle * wide)


def _absent(matrix: NDArray) -> Any:
    return matrix.dtype.type(absent_of(matrix.dtype))


def _padded(matrix: NDArray, shape: tuple[int, int]) -> NDArray:
    """Return a matrix with vertices behind it to which no arc leads."""
    result = np.full(shape, _absent(matrix))
    result[: matrix.shape[0], : matrix.shape[1]] = matrix
    return result


def _normal(matrix: NDArray) -> NDArray:
    return np.minimum(matrix, _absent(matrix))


def _check_room(device: Device, elements: int) -> None:
    if (free := device.free_bytes()) < 4 * elements:
        raise MemoryError(f"a tile takes {4 * elements:,} bytes of the device; {free:,} are free")


@njit(cache=True, nogil=True)
def _close(distance, absent):
    """Close a matrix in place, unless there is a negative cycle; return the additions."""
    n, operations = len(distance), 0
    for k in range(n):
        if distance[k, k] < 0:
            break
        for i in range(n):
            first = distance[i, k]
            operations += n
            if first != absent:
                for j in range(n):
                    distance[i, j] = min(distance[i, j], first + distance[k, j])
    return operations


@njit(cache=True, nogil=True)
def _lower(result, a, b, absent):
    """Lower a matrix by a product, in place; return the additions."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            first = a[i, k]
            if first != absent:
                for j in range(b.shape[1]):
                    result[i, j] = min(result[i, j], first + b[k, j])
    return a.shape[0] * a.shape[1] * b.shape[1]
