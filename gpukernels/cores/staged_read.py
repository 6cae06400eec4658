"""Large arrays of a GPU into ordinary memory: in pieces, through pages that are locked.

A GPU copies many times as fast into page-locked memory of the host as into fresh ordinary memory:
there a driver has one core move the bytes, and the host hands out each page, filled with zeros,
when that core first touches it. So two page-locked pieces take turns here: while the GPU fills one,
all cores empty the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

import numpy as np
from numpy.typing import NDArray

from .slabs import all_cores

#: Bytes of a page-locked piece.
PIECE = 1 << 25
#: Bytes that a core takes at once: two large pages of the host.
PART = 1 << 22


def read_staged(
    bring: Callable[[NDArray[np.uint8], int], object],
    stages: Sequence[NDArray[np.uint8]],
    into: NDArray,
) -> None:
    """Fill `into` from a GPU.

    Parameters
    ----------
    bring : callable
        ``bring(stage, first)`` fills a stage, or a part of one, with the GPU's bytes from number
        `first` on, and returns when it is full.
    stages : sequence of ndarray of uint8, shape (size,)
        Page-locked memory, pieces of one size.
    into : ndarray
        Contiguous.
    """
    to = into.reshape(-1).view(np.uint8)
    size, pool = stages[0].size, all_cores()
    busy: list[list[Future]] = [[] for _ in stages]
    try:
        for number, first in enumerate(range(0, to.size, size)):
            turn = number % len(stages)
            wait(busy[turn])
            piece = to[first : first + size]
            stage = stages[turn][: piece.size]
            bring(stage, first)
            if pool is None:
                piece[:] = stage
            else:
                busy[turn] = [
                    pool.submit(np.copyto, piece[part : part + PART], stage[part : part + PART])
                    for part in range(0, piece.size, PART)
                ]
    finally:  # the stages are lent to somebody else next
        for copies in busy:
            wait(copies)
