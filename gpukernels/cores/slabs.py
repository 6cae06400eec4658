"""Work on some rows of a matrix at a time, on all cores: the host's part before and after kernels.

One core writes some 4 GB a second, so that a matrix that a GPU closes in 45 milliseconds would take
a second to look at. NumPy lets go of Python's lock while it works on an array: threads suffice.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numpy.typing import NDArray

from . import cores

#: Elements of the rows that are made at once.
AT_ONCE = 1 << 22
#: Elements that a thread takes: they stay in a core's cache while several operations go over them.
PART = 1 << 17
#: The same where one operation goes over them once: a thread asks Python for its next part less
#: often, for which many threads wait for each other. But a matrix has at least so many parts.
ONE_PASS, SHARES = 1 << 20, 64

#: Prefix of the names of its threads.
NAME = "gpukernels"

T = TypeVar("T")


def all_cores() -> ThreadPoolExecutor | None:
    """Return threads to share work among: as many as there are cores, kept for the next call.

    None in one of these threads: if each waited for another, all would wait. Nor has a browser any.
    """
    if threading.current_thread().name.startswith(NAME) or sys.platform == "emscripten":
        return None
    return _pool(os.getpid(), cores())


@functools.cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    # By the process, for a forked one has none of the threads. To begin and end them takes as long
    # as a core takes to copy some megabytes.
    return ThreadPoolExecutor(threads, NAME)


def slabs_of(n: int) -> Iterator[tuple[int, int]]:
    """Return the first row and the end of all rows of an n x n matrix, some at a time."""
    return _cut(n, AT_ONCE // max(n, 1))


def _cut(rows: int, step: int) -> Iterator[tuple[int, int]]:
    step = max(1, step)
    return ((first, min(first + step, rows)) for first in range(0, rows, step))


def on_all_cores(
    work: Callable[[int, int], T], shape: tuple[int, ...], *, one_pass: bool = False
) -> list[T]:
    """Call ``work(first, last)`` for all rows of a matrix of that shape, some at a time.

    The number of rows per call depends on the shape alone, and on whether the work reads them once.
    The results come in the order of the rows.
    """
    rows, width = shape[0], max(shape[1], 1)
    part = min(ONE_PASS, max(PART, rows * width // SHARES)) if one_pass else PART
    parts = list(_cut(rows, part // width))
    pool = all_cores() if len(parts) > 1 else None
    if pool is None:
        return [work(*part) for part in parts]
    return list(pool.map(lambda part: work(*part), parts))


def for_each(work: Callable[[int], object], count: int, together: bool) -> None:
    """Call ``work(i)`` for all i below `count`: many at once, or else one after the other.

    If there are several errors, the one with the least i is raised.
    """
    pool = all_cores() if together and count > 1 else None
    for _ in (map if pool is None else pool.map)(work, range(count)):
        pass


def copy(source: NDArray, to: NDArray) -> None:
    """Copy a matrix to another of its shape."""

    def rows(first: int, last: int) -> None:
        to[first:last] = source[first:last]

    on_all_cores(rows, to.shape, one_pass=True)
