"""Counters of an expansion: the three levels of imbalance, coalescing, searches, and work.

`measure` runs a technique on the SIMT machine and reads the counters from the trace. The levels are
those of [busato2017chapter], section 5.1.1: lanes that wait for the longest lane of their warp,
warps for the longest of their block, blocks for the longest of their launch.

The three levels multiply. A *round* is one unit a lane. A warp is busy for as many rounds as its
longest lane has units, a block for as many as its longest warp, a launch for as many as its longest
block; each level divides the lane-rounds that a wait at that level would hold by those of the level
below. Their product is what the launch would hold, over the units that there are. 1 is perfect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukernels.device import trace as traced
from gpukernels.errors import InvalidArgument
from gpukernels.primitives.launch_shape import WARP_SIZE
from gpukernels.simt.metrics import sectors as sectors_moved

from . import expand

SECTOR_BYTES = 32

#: Device functions that search the offsets, wherever these are kept.
SEARCHES = (
    "binary_search_two_sided",
    "upper_owner",
    "interpolation_owner",
    "guarded_interpolation_owner",
    "warp_owner",
)

LOAD, STORE = 0, 1  # values of the trace's ``requests.kind``
BARRIER = 2  # value of its ``steps.kind``


@dataclass(frozen=True)
class Share:
    """Units that threads, warps or blocks visit: the most, and the mean of all."""

    most: int
    mean: float


@dataclass(frozen=True)
class Measure:
    """Counters of one technique on one workload, from a trace of the SIMT machine.

    Attributes
    ----------
    method : str
        The technique.
    stats : dict
        What the technique says it did.
    threads, warp_units, block_units : Share
        Units a thread, a warp, a block, over all launches that write.
    lanes, warps, blocks : float
        Imbalance of the lanes of a warp, of the warps of a block, of the blocks of a launch.
    sectors_per_write : float
        Mean 32-byte sectors a warp's request to write to ``item``; 4 is best for 32 lanes.
    coalescing : float
        Bytes written to ``item`` / bytes of the sectors touched, 0 to 1. Where few lanes are active
        a request needs few sectors and may still waste them; this tells.
    searches, search_reads : int
        Searches that were begun, and elements or registers of other lanes that they read.
    steps, sectors, barriers : int
        Warp steps, sectors of all global requests, and arrivals of warps at barriers.
    longest : tuple of (int, ...)
        Steps and sectors of the warp with most of both, one number a launch.
    totals : tuple of (int, ...)
        Steps and sectors of all warps, one number a launch.
    """

    method: str
    stats: dict[str, Any]
    threads: Share
    warp_units: Share
    block_units: Share
    lanes: float
    warps: float
    blocks: float
    sectors_per_write: float
    coalescing: float
    searches: int
    search_reads: int
    steps: int
    sectors: int
    barriers: int
    longest: tuple[int, ...] = field(repr=False)
    totals: tuple[int, ...] = field(repr=False)

    @property
    def write_waste(self) -> float:
        """Sectors that the writes touch / sectors that their bytes fill: 1 is best, 8 worst."""
        return _ratio(1.0, self.coalescing)

    @property
    def launched_over_used(self) -> float:
        """Lane-rounds that the launches hold / units: the product of the three levels."""
        return self.lanes * self.warps * self.blocks


def measure(offsets, method: str, **knobs) -> Measure:
    """Expand a workload on the SIMT machine and count.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        The workload; it should have units.
    method : str
        One of ``METHODS``.
    **knobs
        As for :func:`gpukernels.expand`, ``threads`` among them; not ``values``, ``device``.

    Returns
    -------
    Measure
        The counters. Their imbalances are NaN where there are no units.

    Raises
    ------
    InvalidArgument, UnknownMethod, TypeError
        As :func:`gpukernels.expand` does.
    """
    for name in ("values", "device"):
        if name in knobs:
            raise InvalidArgument(name, knobs[name], "left out: writes are counted, by a trace")
    with traced() as t:
        result = expand(offsets, method, **knobs)
    return read_trace(t.trace, method, result.stats)


def read_trace(trace, method: str, stats: dict[str, Any]) -> Measure:
    """Return the counters of one expansion that `trace` holds alone."""
    rounds = [_rounds(trace, launch) for launch in trace.launches]
    rounds = [units for units in rounds if units.any()]
    sectors, useful = sectors_of(trace)
    writes = requests_of(trace, "item") & (trace.requests.kind == STORE)
    written = int(sectors[writes].sum())
    totals, longest = _work(trace, sectors)
    per_warp = [u.sum(axis=2) for u in rounds]
    return Measure(
        method,
        stats,
        _share([u.ravel() for u in rounds]),
        _share([u.ravel() for u in per_warp]),
        _share([u.sum(axis=1) for u in per_warp]),
        *_levels(rounds),
        _ratio(written, int(writes.sum())),
        _ratio(int(useful[writes].sum()), written * SECTOR_BYTES),
        int(stats.get("searches", 0)),
        _search_reads(trace),
        len(trace.steps),
        int(sectors.sum()),
        int(np.count_nonzero(trace.steps.kind == BARRIER)),
        longest,
        totals,
    )


def _rounds(trace, launch) -> np.ndarray:
    """Return the units that each thread of a launch writes, shape (blocks, warps, 32)."""
    table = trace.requests
    mine = requests_of(trace, "item") & (table.kind == STORE) & (table.launch == launch.index)
    row = table.lane_row()
    chosen = mine[row]
    row, lane = row[chosen], table.lane_id()[chosen]
    shape = launch.blocks, launch.warps_per_block, WARP_SIZE
    thread = (table.block[row].astype(np.int64) * shape[1] + table.warp[row]) * WARP_SIZE + lane
    return np.bincount(thread, minlength=int(np.prod(shape))).reshape(shape)


def _levels(rounds: list[np.ndarray]) -> tuple[float, float, float]:
    """Return the imbalance in a warp, among the warps of a block, among blocks."""
    units = sum(int(u.sum()) for u in rounds)
    in_warp = in_block = in_launch = 0
    for u in rounds:
        warp = u.max(axis=2)
        block = warp.max(axis=1)
        in_warp += WARP_SIZE * int(warp.sum())
        in_block += WARP_SIZE * warp.shape[1] * int(block.sum())
        in_launch += u.size * int(block.max())
    return _ratio(in_warp, units), _ratio(in_block, in_warp), _ratio(in_launch, in_block)


def requests_of(trace, array: str) -> np.ndarray:
    """Return which requests are to the global array of that name."""
    named = np.array([a.name == array and a.space == "global" for a in trace.arrays] or [False])
    return named[trace.requests.array]


def sectors_of(trace) -> tuple[np.ndarray, np.ndarray]:
    """Return sectors and distinct bytes of every request; 0 where it is not to global memory."""
    table = trace.requests
    size = np.array([a.itemsize for a in trace.arrays] or [1])
    is_global = np.array([a.space == "global" for a in trace.arrays] or [False])[table.array]
    sectors = np.zeros(len(table), np.int64)
    sectors[is_global] = sectors_moved(trace)
    row = table.lane_row()
    chosen = is_global[row]
    pairs = np.unique(np.stack([row[chosen], table.index[chosen]]), axis=1)
    elements = np.bincount(pairs[0], minlength=len(table))
    return sectors, elements * size[table.array] if len(table) else elements


def _work(trace, sectors: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return steps plus sectors of all warps and of the longest one, for each launch."""
    totals, longest = [], []
    for launch in trace.launches:
        count = launch.blocks * launch.warps_per_block
        work = np.zeros(count, np.int64)
        for table, weight in ((trace.steps, None), (trace.requests, sectors)):
            mine = table.launch == launch.index
            warp = table.block[mine].astype(np.int64) * launch.warps_per_block + table.warp[mine]
            w = None if weight is None else weight[mine]
            work += np.bincount(warp, weights=w, minlength=count).astype(np.int64)
        totals.append(int(work.sum()))
        longest.append(int(work.max(initial=0)))
    return tuple(totals), tuple(longest)


def _search_reads(trace) -> int:
    """Return how many elements, or registers of other lanes, the searches read."""
    searching = np.array([s.function in SEARCHES for s in trace.sources] or [False])
    requests, shuffles = trace.requests, trace.shuffles
    loads = searching[requests.source] & (requests.kind == LOAD)
    exchanges = searching[shuffles.source]
    lanes = np.diff(requests.start)[loads].sum() + np.diff(shuffles.start)[exchanges].sum()
    return int(lanes)


def _share(levels: list[np.ndarray]) -> Share:
    units = np.concatenate(levels) if levels else np.zeros(1, np.int64)
    return Share(int(units.max()), float(units.mean()))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
