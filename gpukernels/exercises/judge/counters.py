"""Counters that several exercises bound, above all one that falls only if the work is shared.

A thread that does everything by itself may well be right, free of races and perfectly coalesced:
one lane touches one sector. But it asks for every element in a request of its own, and no way to
write the program hides that.
"""

from __future__ import annotations

import numpy as np

from gpukernels.trace import ATOMIC, LOAD, Trace, metrics

from .case import Budget, Case


def busiest_warp(trace: Trace) -> int:
    """Return the most memory requests, to memory of any kind, that a warp made in one launch."""
    requests = trace.requests
    if not len(requests):
        return 0
    warps = np.stack([requests.launch, requests.block, requests.warp])
    return int(np.unique(warps, axis=1, return_counts=True)[1].max())


def by_one_thread(trace: Trace) -> int:
    """Return the most memory requests of a launch if one thread made them all."""
    requests = trace.requests
    launches = requests.launch[requests.lane_row()]
    return int(np.bincount(launches).max(initial=0))


def sharing(case: Case, at_most: int, array: str = "") -> Budget:
    """Return a budget of so many requests for every warp, to any memory or to `array` alone."""

    def measure(trace: Trace) -> int:
        return busiest_warp(_of(trace, array))

    to = f" to `{array}`" if array else ""
    return Budget(f"memory requests{to} of the busiest warp", case, measure, at_most=at_most)


def _of(trace: Trace, array: str) -> Trace:
    """Return the part of a trace for `array`, or all of it."""
    return trace.select(array=[array]) if array else trace


def atomics(case: Case, at_most: int, what: str = "atomics", array: str = "") -> Budget:
    """Return a budget of lanes' atomics, called `what`, on memory of any kind or on `array`."""

    def measure(trace: Trace) -> int:
        return metrics.accesses(_of(trace, array), kinds=ATOMIC)

    return Budget(what, case, measure, at_most=at_most)


def waiting(case: Case, what: str, array: str) -> Budget:
    """Return a budget that refuses lanes that wait for another one at an atomic on `array`."""

    def measure(trace: Trace) -> int:
        return int(metrics.atomic_conflicts(_of(trace, array)).sum())

    return Budget(what, case, measure, at_most=0)


def loads(case: Case, at_most: int, what: str, array: str) -> Budget:
    """Return a budget of lanes' loads from `array`, called `what`."""

    def measure(trace: Trace) -> int:
        return metrics.accesses(_of(trace, array), kinds=LOAD)

    return Budget(what, case, measure, at_most=at_most)


def requests(case: Case, at_most: int, array: str) -> Budget:
    """Return a budget of warps' requests to `array`."""

    def measure(trace: Trace) -> int:
        return metrics.requests(_of(trace, array))

    return Budget(f"requests to `{array}`", case, measure, at_most=at_most)


def no_atomics(case: Case) -> Budget:
    """Return a budget that refuses every atomic, on memory of any kind."""

    def measure(trace: Trace) -> int:
        return metrics.requests(trace, None, (ATOMIC,))

    return Budget("atomic requests", case, measure, at_most=0)


def coalesced(case: Case, at_most: float, array: str = "") -> Budget:
    """Return a budget of sectors per global request, of all requests or of those to `array`."""

    def measure(trace: Trace) -> float:
        return metrics.sectors_per_request(_of(trace, array))

    what = f"sectors per request to `{array}`" if array else "sectors per global request"
    return Budget(what, case, measure, at_most=at_most)


def bank_conflicts(case: Case, at_most: int = 0) -> Budget:
    """Return a budget of so many bank conflicts, of all requests to shared memory together."""

    def measure(trace: Trace) -> int:
        return int(metrics.bank_conflicts(trace).sum())

    return Budget("bank conflicts", case, measure, at_most=at_most)
