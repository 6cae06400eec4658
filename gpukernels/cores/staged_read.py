"""Large arrays of a GPU into ordinary memory: in pieces, through pages that are locked.

A GPU copies many times as fast into page-locked memory of the host as into fresh ordinary memory:
there a driver has one core move the bytes, and the host hands out each page, filled with zeros,
when that core first touches it. So page-locked pieces take turns here: while the GPU fills one,
all cores empty the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

import numpy as np
from numpy.typing import NDArray

from .slabs import all_cores

#: Bytes of a page-locked piece: for a large array, and for one that is not twice as large.
PIECES = 1 << 25, 1 << 23
#: How many take turns: with more than two, cores need not wait for the last of them to be done with
#: one. Of 53 GB/s that the bus gives, four of 32 MiB bring 17.6 into fresh memory and 26.7 into
#: memory that is there, three 15.8 and 24.2 (16 of 32 cores beside two H100s).
STAGES = 4
#: Bytes of a piece that a core takes at once. By 1 MiB it asks Python for more too often: 13 GB/s
#: into memory that is there, where 4 MiB bring 22.
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
            for emptied in busy[turn]:
                emptied.result()
            piece = to[first : first + size]
            stage = stages[turn][: piece.size]
            bring(stage, first)
            if pool is None:
                piece[:] = stage
            else:
                busy[turn] = [
                    pool.submit(np.copyto, piece[at : at + PART], stage[at : at + PART])
                    for at in range(0, piece.size, PART)
                ]
    finally:  # the stages are lent to somebody else next
        for copies in busy:
            wait(copies)
