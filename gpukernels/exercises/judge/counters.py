"""Counters that several exercises bound, above all one that falls only if the work is shared.

A thread that does everything by itself may well be right, free of races and perfectly coalesced:
one lane touches one sector. But it asks for every element in a request of its own, and no way to
write the program hides that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpukernels.trace import ATOMIC, LOAD, Trace, metrics

from .case import Budget, Case, CaseOf

#: Makes a budget of the input on which it is counted.
Bound = Callable[[Case], Budget]


def on(name: str, value: Callable[[], object], *bounds: Bound) -> Callable[[CaseOf], list[Budget]]:
    """Return a function that makes the budgets of one input, which `value` returns."""

    def budgets(case_of: CaseOf) -> list[Budget]:
        case = case_of(name, value())
        return [bound(case) for bound in bounds]

    return budgets


def bound(what: str, measure: Callable[[Trace], float], at_most: float) -> Bound:
    """Return a bound on any counter, which reports call `what`."""
    return lambda case: Budget(what, case, measure, at_most=at_most)


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


def sharing(at_most: int, array: str = "") -> Bound:
    """Bound the requests of every warp, to any memory or to `array` alone."""
    to = f" to `{array}`" if array else ""
    what = f"memory requests{to} of the busiest warp"
    return bound(what, lambda trace: busiest_warp(_of(trace, array)), at_most)


def _of(trace: Trace, array: str) -> Trace:
    """Return the part of a trace for `array`, or all of it."""
    return trace.select(array=[array]) if array else trace


def atomics(at_most: int, what: str = "atomics", array: str = "") -> Bound:
    """Bound the lanes' atomics on memory of any kind or on `array`."""
    return bound(what, lambda trace: metrics.accesses(_of(trace, array), kinds=ATOMIC), at_most)


def waiting(what: str, array: str) -> Bound:
    """Refuse lanes that wait for another one at an atomic on `array`."""
    return bound(what, lambda trace: int(metrics.atomic_conflicts(_of(trace, array)).sum()), 0)


def loads(at_most: int, what: str, array: str) -> Bound:
    """Bound the lanes' loads from `array`."""
    return bound(what, lambda trace: metrics.accesses(_of(trace, array), kinds=LOAD), at_most)


def requests(at_most: int, array: str) -> Bound:
    """Bound the warps' requests to `array`."""
    return bound(
        f"requests to `{array}`", lambda trace: metrics.requests(_of(trace, array)), at_most
    )


def no_atomics() -> Bound:
    """Refuse every atomic, on memory of any kind."""
    return bound("atomic requests", lambda trace: metrics.requests(trace, None, (ATOMIC,)), 0)


def coalesced(at_most: float, array: str = "") -> Bound:
    """Bound the sectors per global request, of all requests or of those to `array`."""
    what = f"sectors per request to `{array}`" if array else "sectors per global request"
    return bound(what, lambda trace: metrics.sectors_per_request(_of(trace, array)), at_most)


def bank_conflicts(at_most: int = 0) -> Bound:
    """Bound the bank conflicts of all requests to shared memory together."""
    return bound("bank conflicts", lambda trace: int(metrics.bank_conflicts(trace).sum()), at_most)
