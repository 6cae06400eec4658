"""The sectors that loads move when the compiler runs a loop four turns at a time.

What is left of the division by four runs in a loop of its own, before the main loop or behind it;
the machine code of a kernel has one or the other. Where the lanes of a warp take different numbers
of turns, they part there. With the rest first, a lane with one turn more is ahead of the others
from then on, and reads another turn's element, and so another sector, in the same request.
"""

from __future__ import annotations

import math

import numpy as np

from gpukernels.trace import LOAD, Trace
from gpukernels.trace.costs import SECTOR_BYTES

COPIES = 4


def load_sectors(trace: Trace, copies: int = COPIES, rest: str = "first") -> int:
    """Return the sectors of all global loads if every loop ran `copies` turns at a time.

    A load's turns are told apart by how often its lane has come to it, so loops within loops are
    taken for one long loop.

    Parameters
    ----------
    trace : Trace
        Of one launch, or more.
    copies : int
        Turns that the main loop takes at a time.
    rest : str
        Whether the turns that are left run ``"first"`` or ``"last"``.
    """
    table = trace.select(space="global", kind=LOAD).requests
    row, lane = table.lane_row(), table.lane_id()
    if not row.size:
        return 0
    place = table.launch, table.block, table.warp, table.source, table.line, table.array
    load = np.unique(_as_one(place), return_inverse=True)[1].ravel()[row]
    thread = load * 32 + lane
    order = np.lexsort((table.step[row], thread))
    first = np.flatnonzero(np.append(True, np.diff(thread[order]) != 0))
    turns = np.diff(np.append(first, thread.size))
    turn = np.arange(thread.size) - np.repeat(first, turns)
    left = np.repeat(turns % copies, turns)
    if rest == "first":
        # All lanes enter the main loop together, at a number that no turn before it has.
        when = np.where(turn < left, turn, turn - left + copies)
    else:
        main = np.repeat(turns, turns) - left
        when = np.where(turn < main, turn, turn - main + turns.max())
    size = np.array([a.itemsize for a in trace.arrays])[table.array[row]]
    sector = (table.index * size // SECTOR_BYTES)[order]
    touched = np.sort(_as_one((load[order], when, sector)))
    return 1 + int(np.count_nonzero(np.diff(touched)))


def _as_one(columns) -> np.ndarray:
    """Return a number for each row of whole numbers from 0 on, the same for the same rows only."""
    sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) >= 2**63:  # a number too large to hold: ranks are no more than the rows
        parts = (_as_one(columns[:-1]), columns[-1]) if len(columns) > 2 else columns
        columns = [np.unique(part, return_inverse=True)[1].ravel() for part in parts]
        sizes = [int(column.max()) + 1 for column in columns]
    key = np.zeros(columns[0].size, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    return key
