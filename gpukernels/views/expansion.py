"""Who visits which unit of a workload, in which request: read from the trace of an expansion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.simt.trace import LOAD, STORE, Trace

SECTOR = 32


@dataclass(frozen=True)
class Expansion:
    """One technique on one workload; arrays have one entry a unit.

    Threads, warps and blocks are numbered over all launches that visit units, one launch after the
    other.

    Attributes
    ----------
    thread, warp, block : numpy.ndarray
        int64: who visits the unit.
    request : numpy.ndarray
        int64: the request that does it; a request is of one warp.
    round : numpy.ndarray
        int64: how many requests the warp made before that one, counted from the end of the
        launches before it.
    threads, warps, blocks : int
        How many were launched.
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
        """How many requests visit units."""
        return int(self.request.max(initial=-1)) + 1

    def moved(self, step: int) -> np.ndarray:
        """Return how often each sector has been moved up to round `step`, int64."""
        units = np.flatnonzero(self.round <= step)
        sectors = -(-len(self.round) // self.sector_units)
        pairs = np.unique(self.request[units] * sectors + units // self.sector_units)
        return np.bincount(pairs % max(sectors, 1), minlength=sectors)


def _visits(trace: Trace) -> tuple[np.ndarray, int] | None:
    """Return the rows of requests that visit units, and the array's bytes an element."""
    r = trace.requests
    for name, kind in (("item", STORE), ("values", LOAD)):
        named = [i for i in trace.array_named(name) if trace.arrays[i].space == "global"]
        rows = np.flatnonzero(np.isin(r.array, named) & (r.kind == kind))
        if rows.size:
            return rows, trace.arrays[named[0]].itemsize
    return None


def read_expansion(trace: Trace, units: int, argument: str) -> Expansion:
    """Read who visits the `units` units of a workload.

    Parameters
    ----------
    trace : Trace
        Of one expansion: each unit is stored once to an array ``item``, or, without such stores,
        loaded once from an array ``values``.
    units : int
        Units of the workload.
    argument : str
        What to call the trace in an error.

    Raises
    ------
    InvalidArgument
        If the trace does not visit each unit exactly once.
    """
    found = _visits(trace)
    if found is None:
        raise InvalidArgument(
            argument, "no store to `item`, no load of `values`", "the trace of gk.expand"
        )
    rows, itemsize = found
    r = trace.requests
    columns = {name: np.zeros(units, dtype=np.int64) for name in ("thread", "warp", "block")}
    request, turn = np.zeros((2, units), dtype=np.int64)
    visits = np.zeros(units, dtype=np.int64)
    threads = warps = blocks = first_round = number = 0
    for launch in trace.launches:
        mine = rows[r.launch[rows] == launch.index]
        made: dict[int, int] = {}
        for row in mine.tolist():
            index = r.index[r.start[row] : r.start[row + 1]]
            if index.max() >= units:
                raise InvalidArgument(
                    argument, f"a visit of unit {index.max()}", f"a workload of {units} units"
                )
            block, in_block = int(r.block[row]), int(r.warp[row])
            warp = block * launch.warps_per_block + in_block
            thread = threads + block * launch.threads_per_block + 32 * in_block + r.lanes(row)
            np.add.at(visits, index, 1)
            columns["thread"][index] = thread
            columns["warp"][index] = warps + warp
            columns["block"][index] = blocks + block
            request[index] = number
            turn[index] = first_round + made.get(warp, 0)
            made[warp] = made.get(warp, 0) + 1
            number += 1
        if mine.size:
            threads += launch.blocks * launch.threads_per_block
            warps += launch.blocks * launch.warps_per_block
            blocks += launch.blocks
            first_round += max(made.values())
    if (visits != 1).any():
        unit = int(np.flatnonzero(visits != 1)[0])
        raise InvalidArgument(
            argument, f"unit {unit} visited {visits[unit]} times", "each unit visited once"
        )
    return Expansion(
        **columns,
        request=request,
        round=turn,
        threads=threads,
        warps=warps,
        blocks=blocks,
        sector_units=max(SECTOR // itemsize, 1),
    )
