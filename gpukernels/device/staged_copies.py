"""Large arrays between a GPU and ordinary memory: in pieces, through pages that are locked.

A GPU copies many times as fast from and to page-locked memory of the host as from and to ordinary
memory. For ordinary memory a driver has one core move the bytes, and the host hands out each fresh
page, filled with zeros, when that core first touches it. So page-locked pieces take turns here:
while the GPU copies one piece, all cores empty or fill the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

import numpy as np
from numpy.typing import NDArray

from gpukernels.cores.slabs import all_cores

#: Bytes of a page-locked piece: for a large array, and for one that is not twice as large.
PIECES = 1 << 25, 1 << 23
#: Number of pieces that take turns. With more than two, cores need not wait for the last of them.
#: The bus gives 53 GB/s. Into fresh memory, four pieces of 32 MiB bring 17.6 GB/s and three bring
#: 15.8. Into memory used before, four bring 26.7 and three 24.2. To a GPU, four bring 31, and its
#: driver alone brings 6.8 (32 cores and two H100s).
STAGES = 4
#: Bytes of a piece that a core takes at once. With 1 MiB it calls Python too often: 13 GB/s
#: into memory used before, while 4 MiB bring 22.
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
    pieces = _pieces(into, stages)
    busy: list[list[Future]] = [[] for _ in stages]
    try:
        for number, (first, piece, stage) in enumerate(pieces):
            _done(busy[number % len(stages)])
            bring(stage, first)
            _copy(stage, piece, busy[number % len(stages)])
        for copies in busy:
            _done(copies)
    finally:  # the stages will be lent again
        for copies in busy:
            wait(copies)


def write_staged(
    send: Callable[[NDArray[np.uint8], int], object],
    stages: Sequence[NDArray[np.uint8]],
    source: NDArray,
) -> None:
    """Fill a GPU's array from `source`.

    Parameters
    ----------
    send : callable
        ``send(stage, first)`` copies a stage, or a part of one, to the GPU's bytes from number
        `first` on, and returns when it may be filled again.
    stages, source
        As for `read_staged`.
    """
    pieces = _pieces(source, stages)
    busy: list[list[Future]] = [[] for _ in pieces]

    def fill(number: int) -> None:
        if number < len(pieces):
            _, piece, stage = pieces[number]
            _copy(piece, stage, busy[number])

    try:
        for number in range(len(stages)):
            fill(number)
        for number, (first, _, stage) in enumerate(pieces):
            _done(busy[number])
            send(stage, first)
            fill(number + len(stages))
    finally:
        for copies in busy:
            wait(copies)


def _pieces(
    array: NDArray, stages: Sequence[NDArray[np.uint8]]
) -> list[tuple[int, NDArray[np.uint8], NDArray[np.uint8]]]:
    """Return the first byte of each piece of an array, the piece, and its turn's stage."""
    whole, size = array.reshape(-1).view(np.uint8), stages[0].size
    return [
        (first, piece := whole[first : first + size], stages[at % len(stages)][: piece.size])
        for at, first in enumerate(range(0, whole.size, size))
    ]


def _copy(source: NDArray[np.uint8], to: NDArray[np.uint8], busy: list[Future]) -> None:
    """Let all cores copy a piece, and go on; in one of their threads it is copied at once."""
    busy.clear()
    if (pool := all_cores()) is None:
        to[:] = source
        return
    for at in range(0, source.size, PART):
        busy.append(pool.submit(np.copyto, to[at : at + PART], source[at : at + PART]))


def _done(copies: list[Future]) -> None:
    for copied in copies:
        copied.result()
