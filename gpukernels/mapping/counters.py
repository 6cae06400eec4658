"""Counters of an expansion: the three levels of imbalance, coalescing, searches, and work.

`measure` runs a technique on the SIMT machine and reads the counters from the trace. The levels are
the ones of [busato2017chapter], section 5.1.1: lanes wait for the longest lane of their warp, warps
for the longest of their block, blocks for the longest of their launch.

The three levels multiply. In a *round*, each lane has one unit. A warp is busy for as many rounds
as its longest lane has units, a block as its longest warp, a launch as its longest block. The
imbalance of a level is the number of lane-rounds held at this level, divided by the number at the
level below. So the product is the lane-rounds of the launch, divided by its units. 1 is perfect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukernels.device import trace as traced
from gpukernels.errors import InvalidArgument
from gpukernels.trace import LOAD, STORE, WARP_SIZE, metrics

from . import expand

#: Device functions that search offsets, in any kind of memory.
SEARCHES = (
    "binary_search_two_sided",
    "upper_owner",
    "interpolation_owner",
    "guarded_interpolation_owner",
    "warp_owner",
    "path_item",
    "path_item_by_warp",
)


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
        The technique's own statistics.
    threads, warp_units, block_units : Share
        Units per thread, warp and block, over all launches that write.
    lanes, warps, blocks : float
        Imbalance of the lanes of a warp, of the warps of a block, of the blocks of a launch.
    sectors_per_write : float
        Mean 32-byte sectors per request of a warp to write to ``item``; 4 is best for 32 lanes.
    coalescing : float
        Bytes written to ``item`` / bytes of the sectors touched, 0 to 1. If few lanes are active, a
        request needs few sectors but may still waste part of them; this ratio shows it.
    searches, search_reads : int
        Searches that were begun, and elements or registers of other lanes that they read.
    steps, sectors, barriers : int
        Warp steps, sectors of all global requests, and arrivals of warps at barriers.
    longest : tuple of (int, ...)
        Steps and sectors of the warp with the most of both, one number per launch.
    totals : tuple of (int, ...)
        Steps and sectors of all warps, one number per launch.
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
        Options of :func:`gpukernels.expand`, also ``threads``; not ``values`` and ``device``.

    Returns
    -------
    Measure
        The counters. The imbalances are NaN if there are no units.

    Raises
    ------
    InvalidArgument, UnknownMethod, TypeError
        As in :func:`gpukernels.expand`.
    """
    for name in ("values", "device"):
        if name in knobs:
            raise InvalidArgument(name, knobs[name], "left out: a trace counts writes")
    with traced() as t:
        result = expand(offsets, method, **knobs)
    return read_trace(t.trace, method, result.stats)


def read_trace(trace, method: str, stats: dict[str, Any]) -> Measure:
    """Return the counters of an expansion; `trace` must hold nothing else."""
    writes = trace.select(array=["item"], space="global", kind=STORE)
    rounds = [metrics.per_thread(writes.requests, launch) for launch in trace.launches]
    rounds = [units for units in rounds if units.any()]
    per_warp = [u.sum(axis=2) for u in rounds]
    outside = trace.select(space="global")
    sectors = metrics.sectors(outside)
    work = [
        metrics.per_warp(trace.steps, launch)
        + metrics.per_warp(outside.requests, launch, weights=sectors)
        for launch in trace.launches
    ]
    searching = trace.select(function=SEARCHES)
    return Measure(
        method,
        stats,
        _share([u.ravel() for u in rounds]),
        _share([u.ravel() for u in per_warp]),
        _share([u.sum(axis=1) for u in per_warp]),
        *_levels(rounds),
        metrics.sectors_per_request(writes),
        metrics.coalescing_efficiency(writes),
        int(stats.get("searches", 0)),
        metrics.accesses(searching, kinds=LOAD) + len(searching.shuffles.lane),
        metrics.warp_steps(trace),
        int(sectors.sum()),
        metrics.barriers(trace),
        longest=tuple(int(warps.max(initial=0)) for warps in work),
        totals=tuple(int(warps.sum()) for warps in work),
    )


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


def _share(levels: list[np.ndarray]) -> Share:
    units = np.concatenate(levels) if levels else np.zeros(1, np.int64)
    return Share(int(units.max()), float(units.mean()))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
