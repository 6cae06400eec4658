"""The thread and the request that visit each unit of a workload, read from a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.trace import LOAD, STORE, WARP_SIZE, Trace
from gpukernels.trace.costs import SECTOR_BYTES, ranks


@dataclass(frozen=True)
class Expansion:
    """One technique on one workload; arrays have one entry per unit.

    Threads, warps and blocks are numbered over all launches that visit units, one launch after the
    other.

    Attributes
    ----------
    thread, warp, block : numpy.ndarray
        int64: the thread that visits the unit, its warp, its block.
    request : numpy.ndarray
        int64: the request that visits the unit; each request is made by one warp.
    round : numpy.ndarray
        int64: the number of earlier requests of the warp, counted from the end of the launches
        before it.
    threads, warps, blocks : int
        Numbers of threads, warps and blocks launched.
    sector_units : int
        Units in a sector of 32 bytes.
    """

    thread: np.ndarray
    warp: np.ndarray
    block: np.ndarray
    request: np.ndarray
    round: np.ndarray
    threads: int
    warps: int
    blocks: int
    sector_units: int

    @property
    def rounds(self) -> int:
        """Rounds from the first visit to the last."""
        return int(self.round.max(initial=-1)) + 1

    @property
    def requests(self) -> int:
        """Number of requests that visit units."""
        return int(self.request.max(initial=-1)) + 1

    def moved(self, step: int) -> np.ndarray:
        """Return how often each sector has been moved up to round `step`, int64."""
        units = np.flatnonzero(self.round <= step)
        sectors = -(-len(self.round) // self.sector_units)
        pairs = np.unique(self.request[units] * sectors + units // self.sector_units)
        return np.bincount(pairs % max(sectors, 1), minlength=sectors)


def _visits(trace: Trace) -> Trace:
    """Return the requests that visit units."""
    stores = trace.select(array=["item"], space="global", kind=STORE)
    if len(stores.requests):
        return stores
    return trace.select(array=["values"], space="global", kind=LOAD)


def read_expansion(trace: Trace, units: int, argument: str) -> Expansion:
    """Read the thread that visits each of the `units` units of a workload.

    Parameters
    ----------
    trace : Trace
        Trace of one expansion: each unit is stored once to an array ``item``, or, without such
        stores, loaded once from an array ``values``.
    units : int
        Units of the workload.
    argument : str
        Name of the trace in an error.

    Raises
    ------
    InvalidArgument
        If the trace does not visit each unit exactly once.
    """
    r = _visits(trace).requests
    if not len(r):
        raise InvalidArgument(
            argument, "no store to `item`, no load of `values`", "the trace of gk.expand"
        )
    if r.index.max() >= units:
        raise InvalidArgument(
            argument, f"a visit of unit {r.index.max()}", f"a workload of {units} units"
        )
    visits = np.bincount(r.index, minlength=units)
    if (visits != 1).any():
        unit = int(np.flatnonzero(visits != 1)[0])
        raise InvalidArgument(
            argument, f"unit {unit} visited {visits[unit]} times", "each unit visited once"
        )
    columns = np.zeros((5, units), dtype=np.int64)
    threads = warps = blocks = rounds = requests = 0
    for launch in (trace.launches[k] for k in np.unique(r.launch)):
        mine = r.where(r.launch == launch.index)
        block = mine.block.astype(np.int64)
        warp = block * launch.warps_per_block + mine.warp
        thread = block * launch.threads_per_block + mine.warp * WARP_SIZE
        turn, row = ranks(warp), mine.lane_row()
        who = threads + thread, warps + warp, blocks + block, requests + np.arange(len(mine))
        columns[:, mine.index] = np.stack([*who, rounds + turn])[:, row]
        columns[0, mine.index] += mine.lane_id()
        threads += launch.blocks * launch.threads_per_block
        warps += launch.blocks * launch.warps_per_block
        blocks += launch.blocks
        requests += len(mine)
        rounds += int(turn.max()) + 1
    itemsize = trace.arrays[r.array[0]].itemsize
    return Expansion(*columns, threads, warps, blocks, max(SECTOR_BYTES // itemsize, 1))
