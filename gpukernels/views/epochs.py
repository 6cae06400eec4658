"""The barriers of the whole grid within a launch; the part between two is like a launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukernels.trace import BARRIER, WARP_SIZE, Trace
from gpukernels.trace.record import lanes_of

#: A barrier of blocks that meet at a counter, `gpukernels.primitives.grid_barrier`, by its name. It
#: has two barriers of a block, between which nothing but the counter is touched.
_BY_HAND = "grid_barrier"


def _waits_for_grid(trace: Trace, source: int, line: int) -> bool:
    """Tell a barrier of the grid, CUDA's own or one made by hand, from that of a block."""
    text = trace.text(source, line)
    of_block = "syncthreads" in text and trace.sources[source].function == _BY_HAND
    return ".sync()" in text or of_block


def grid_epochs(trace: Trace, launch: int) -> np.ndarray:
    """Return how many barriers of the grid lie before each request of a launch.

    Parameters
    ----------
    trace : Trace
        The trace.
    launch : int
        A launch of it.

    Returns
    -------
    numpy.ndarray
        int64, one entry per request of the trace; -1 for requests of other launches.
    """
    steps, r = trace.steps, trace.requests
    waits = np.flatnonzero((steps.launch == launch) & (steps.kind == BARRIER))
    for_all = [_waits_for_grid(trace, int(steps.source[at]), int(steps.line[at])) for at in waits]
    waits = waits[np.array(for_all, dtype=bool)]
    own = np.flatnonzero(r.launch == launch)
    epoch = np.full(len(r), -1)
    if not own.size:
        return epoch
    longest = int(steps.step[steps.launch == launch].max()) + 1

    def key(table: Any, rows: np.ndarray, lane: np.ndarray, step: np.ndarray | int) -> np.ndarray:
        warp = table.block[rows].astype(np.int64) * trace.launches[launch].warps_per_block
        return ((warp + table.warp[rows]) * WARP_SIZE + lane) * longest + step

    # Lanes that go apart come to a barrier in steps of their own, so passes are counted by lanes.
    at, lane = lanes_of(steps.mask[waits])
    passed = np.sort(key(steps, waits[at], lane, steps.step[waits[at]]))
    row, lane = lanes_of(r.mask[own])
    first = lane[np.unique(row, return_index=True)[1]]
    before = np.searchsorted(passed, key(r, own, first, 0))
    epoch[own] = np.searchsorted(passed, key(r, own, first, r.step[own])) - before
    return epoch
