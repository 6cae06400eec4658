"""Count the write direction of an expansion and its read direction.

A mapping decides which thread visits a unit, but not what the visit does. `expand` has two visits:
one writes the item of every unit, as in the papers; the other reads every unit's value and adds it
to its item's total, as a search reads arcs. [busato2017chapter], section 5.5, says that its
findings for writing hold for reading too. `directions` counts both on the SIMT machine. The same
requests touch the units in the same places, with the same sectors. But reading adds to a total by
an atomic, so lanes of a warp with units of the same item wait for each other.
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
    """The requests of one direction.

    Attributes
    ----------
    requests, sectors : int
        Requests to the array that has one number per unit, and the 32-byte sectors that they touch.
    coalescing : float
        Bytes of this array that were requested / bytes of the sectors touched, 0 to 1; NaN if there
        are no units.
    atomics, waiting : int
        Lanes that add to a total, and how many of them find another lane of their warp at the same
        total in the same request. Both are 0 in the write direction.
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
        Options of :func:`gpukernels.expand`, also ``threads``; not ``values`` and ``device``.

    Returns
    -------
    tuple of Direction
        The write direction, then the read direction.

    Raises
    ------
    InvalidArgument, UnknownMethod, TypeError
        As in :func:`gpukernels.expand`.
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
    """Return the counters of one direction, whose units are in the global array named `array`."""
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
