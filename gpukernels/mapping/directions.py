"""The write direction of an expansion beside its read direction, counted.

A mapping decides who visits a unit; what the visit does is another matter. `expand` knows two: to
write the item of every unit, as the papers do, and to read every unit's value and add it to its
item's total, as a search reads arcs. [busato2017chapter], section 5.5, says that what it tells of
writing holds for reading too. `directions` counts both, on the SIMT machine: the units are touched
in the same places by the same requests, sector for sector; but a total is added to by an atomic,
and lanes of a warp that have units of one item wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.device import trace as traced
from gpukernels.errors import InvalidArgument
from gpukernels.trace import ATOMIC, LOAD, STORE, metrics

from . import expand


@dataclass(frozen=True)
class Direction:
    """What one direction asked for.

    Attributes
    ----------
    requests, sectors : int
        Requests to the array of a number a unit, and the 32-byte sectors that they touch.
    coalescing : float
        Bytes of that array that were asked for / bytes of the sectors touched, 0 to 1; NaN where
        there are no units.
    atomics, waiting : int
        Lanes that add to a total, and how many of them find another lane of their warp at the same
        total in the same request. None does where items are written.
    all_sectors : int
        Sectors of all global requests, offsets and partitions included.
    steps : int
        Warp steps.
    """

    requests: int
    sectors: int
    coalescing: float
    atomics: int
    waiting: int
    all_sectors: int
    steps: int


def directions(offsets, method: str, **knobs) -> tuple[Direction, Direction]:
    """Expand a workload in both directions on the SIMT machine and count.

    The values that are read are int32, as wide as the items that are written.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        The workload.
    method : str
        One of ``METHODS``.
    **knobs
        As for :func:`gpukernels.expand`, ``threads`` among them; not ``values``, ``device``.

    Returns
    -------
    tuple of Direction
        Writing, then reading.

    Raises
    ------
    InvalidArgument, UnknownMethod, TypeError
        As :func:`gpukernels.expand` does.
    """
    for name in ("values", "device"):
        if name in knobs:
            raise InvalidArgument(name, knobs[name], "left out: both directions are traced")
    with traced() as write:
        written = expand(offsets, method, **knobs)
    values = np.zeros(written.stats["units"], np.int32)
    with traced() as read:
        expand(offsets, method, values=values, **knobs)
    return _count(write.trace, "item", STORE), _count(read.trace, "values", LOAD)


def _count(trace, array: str, kind: int) -> Direction:
    """Return the counters of one direction, whose units lie in the global array of that name."""
    units = trace.select(array=[array], space="global", kind=kind)
    adds = trace.select(array=["total"], space="global", kind=ATOMIC)
    return Direction(
        metrics.requests(units),
        int(metrics.sectors(units).sum()),
        metrics.coalescing_efficiency(units),
        metrics.accesses(adds),
        int(metrics.atomic_conflicts(adds).sum()),
        int(metrics.sectors(trace).sum()),
        metrics.warp_steps(trace),
    )
