"""Counters that several exercises bound, above all one that falls only if the work is shared.

A thread that does everything by itself may well be right, free of races and perfectly coalesced:
one lane touches one sector. But it asks for every element in a request of its own, and no way to
write the program hides that.
"""

from __future__ import annotations

import numpy as np

from gpukernels.trace import Trace

from .case import Budget, Case


def busiest_warp(trace: Trace) -> int:
    """Return the most memory requests, to memory of any kind, that a warp made in one launch."""
    requests = trace.requests
    if not len(requests):
        return 0
    warps = np.stack([requests.launch, requests.block, requests.warp])
    return int(np.unique(warps, axis=1, return_counts=True)[1].max())


def sharing(case: Case, at_most: int, array: str = "") -> Budget:
    """Return a budget of so many requests for every warp, to any memory or to `array` alone."""

    def measure(trace: Trace) -> int:
        return busiest_warp(trace.select(array=[array]) if array else trace)

    to = f" to `{array}`" if array else ""
    return Budget(f"memory requests{to} of the busiest warp", case, measure, at_most=at_most)
