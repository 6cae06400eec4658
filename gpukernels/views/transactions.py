"""What one warp's memory request costs: sectors, lines and passes over the banks.

Device allocations are aligned to 256 bytes, so an element's byte offset in its array says which
32-byte sector and which 128-byte line it lies in, and for shared memory, counted from the array's
start, in which bank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SECTOR, LINE, BANKS, WORD = 32, 128, 32, 4


@dataclass(frozen=True)
class Cost:
    """Cost of one request.

    Attributes
    ----------
    sectors, lines : int
        32-byte sectors moved, and distinct 128-byte lines touched. A sector is moved once, but by
        an atomic once for each pass, since lanes on one element are served one after another.
    ideal : int
        Sectors that the same distinct bytes would fill if they lay side by side.
    useful : int
        Distinct bytes touched.
    passes : int
        Passes over the 32 banks of shared memory beyond those that wide elements need, plus one:
        1 where no two words share a bank. Meaningful for shared memory only.
    same : int
        Most lanes on one element.
    """

    sectors: int
    lines: int
    ideal: int
    useful: int
    passes: int
    same: int


def cost(lanes: np.ndarray, index: np.ndarray, itemsize: int, *, atomic: bool = False) -> Cost:
    """Return the cost of one request.

    Parameters
    ----------
    lanes, index : numpy.ndarray
        int64: the active lanes, and the flat element index that each touches.
    itemsize : int
        Bytes of one element.
    atomic : bool
        Whether the request is an atomic operation.
    """
    if not len(index):
        return Cost(0, 0, 0, 0, 1, 0)
    elements, sharing = np.unique(index, return_counts=True)
    useful = len(elements) * itemsize
    sectors = np.unique(elements * itemsize // SECTOR)
    moved = len(sectors)
    for turn in range(1, int(sharing.max()) if atomic else 1):
        moved += len(np.unique(elements[sharing > turn] * itemsize // SECTOR))
    return Cost(
        sectors=moved,
        lines=len(np.unique(sectors // (LINE // SECTOR))),
        ideal=-(-useful // SECTOR),
        useful=useful,
        passes=1 + _conflicts(np.asarray(lanes), np.asarray(index), itemsize),
        same=int(sharing.max()),
    )


def _conflicts(lanes: np.ndarray, index: np.ndarray, itemsize: int) -> int:
    # Elements of several words are served in turns, half a warp at a time for two words.
    words = max(1, itemsize // WORD)
    turn = lanes * words // BANKS
    if words == 2 and _one_turn(lanes, index):
        turn = turn * 0
    each = (index * itemsize // WORD)[:, None] + np.arange(words)
    extra = 0
    for k in np.unique(turn):
        extra += int(np.bincount(np.unique(each[turn == k]) % BANKS).max()) - 1
    return extra


def _one_turn(lanes: np.ndarray, index: np.ndarray) -> bool:
    # Both halves together, where all neighbors, or all next but one, agree or are not there.
    wants = dict(zip(lanes.tolist(), index.tolist(), strict=True))
    return any(
        all(wants.get(lane ^ apart, element) == element for lane, element in wants.items())
        for apart in (1, 2)
    )
