"""Rows of a matrix some at a time, and many at once: what the host does before and after kernels.

One core writes some 4 GB a second, so that a matrix that a GPU closes in 45 milliseconds would take
a second to look at. NumPy lets go of Python's lock while it works on an array: threads suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numpy.typing import NDArray

from gpukernels.cores import cores

#: Elements of the rows that are made at once.
AT_ONCE = 1 << 22
#: Elements that a thread takes: they stay in a core's cache while several operations go over them.
PART = 1 << 17

T = TypeVar("T")


def slabs_of(n: int) -> Iterator[tuple[int, int]]:
    """Return the first row and the end of all rows of an n x n matrix, some at a time."""
    return _cut(n, AT_ONCE // max(n, 1))


def _cut(rows: int, step: int) -> Iterator[tuple[int, int]]:
    step = max(1, step)
    return ((first, min(first + step, rows)) for first in range(0, rows, step))


def on_all_cores(work: Callable[[int, int], T], shape: tuple[int, ...]) -> list[T]:
    """Call ``work(first, last)`` for all rows of a matrix of that shape, some at a time.

    Which rows are together depends on the shape alone. The results come in the order of the rows.
    """
    parts = list(_cut(shape[0], PART // max(shape[1], 1)))
    if len(parts) <= 1:
        return [work(*part) for part in parts]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda part: work(*part), parts))


def copy(source: NDArray, to: NDArray) -> None:
    """Copy a matrix to another of its shape."""

    def rows(first: int, last: int) -> None:
        to[first:last] = source[first:last]

    on_all_cores(rows, to.shape)
