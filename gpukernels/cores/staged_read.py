"""Large arrays of a GPU into ordinary memory: in pieces, through pages that are locked.

A GPU copies many times as fast into page-locked memory of the host as into fresh ordinary memory:
there a driver has one core move the bytes, and the host hands out each page, filled with zeros,
when that core first touches it. So page-locked pieces take turns here: while the GPU fills one,
cores empty the others, one each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

import numpy as np
from numpy.typing import NDArray

from .slabs import all_cores

#: Bytes of a page-locked piece: two large pages of the host.
PIECE = 1 << 22
#: How many take turns at most. Of 53 GB/s that the bus gives, 24 bring 28 into fresh memory and 33
#: into memory that is there; 8 bring 19 and 27 (16 cores beside an H200).
STAGES = 24


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
    busy: list[Future | None] = [None] * len(stages)
    try:
        for number, first in enumerate(range(0, to.size, size)):
            turn = number % len(stages)
            if (emptied := busy[turn]) is not None:
                emptied.result()
            piece = to[first : first + size]
            stage = stages[turn][: piece.size]
            bring(stage, first)
            if pool is None:
                piece[:] = stage
            else:
                busy[turn] = pool.submit(np.copyto, piece, stage)
    finally:  # the stages are lent to somebody else next
        wait([emptied for emptied in busy if emptied is not None])
