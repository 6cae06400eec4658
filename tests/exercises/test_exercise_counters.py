"""Counters of the exercises agree with what can be counted by hand."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

import gpukernels as gk
from gpukernels.exercises.judge import counters
from gpukernels.exercises.judge.case import Case
from gpukernels.exercises.judge.counters import busiest_warp, coalesced, sharing
from gpukernels.trace import Trace

CASE = Case("a warp", lambda kernel, device: {}, lambda results: None)


@cuda.jit
def uneven(values, out):
    """Have warp w read w + 1 values, and each warp write once."""
    warp = cuda.grid(1) // 32
    total = 0
    for k in range(warp + 1):
        total += values[k]
    out[cuda.grid(1)] = total


def traced(launches: int) -> Trace:
    device = gk.SimtDevice(trace=True)
    for _ in range(launches):
        device.launch(uneven, 2, 64, np.arange(9), np.zeros(128))
    return device.trace


def test_the_busiest_warp_is_one_of_one_launch():
    assert busiest_warp(traced(1)) == busiest_warp(traced(3)) == 4 + 1
    whole, part = sharing(5)(CASE), sharing(4, array="values")(CASE)
    assert whole.what == "memory requests of the busiest warp"
    assert part.what == "memory requests to `values` of the busiest warp"
    for budget, counted in ((whole, 5), (part, 4), (sharing(1, array="out")(CASE), 1)):
        assert budget.measure(traced(1)) == counted
        assert budget.allows(counted)
        assert not budget.allows(counted + 1)
        assert budget.case is CASE
    assert sharing(0, array="nothing")(CASE).measure(traced(1)) == 0


@cuda.jit
def apart(values, out):
    """Have one warp read every second value, and meet at 16 banks and at one counter."""
    tile = cuda.shared.array(64, int32)
    lane = cuda.laneid
    tile[2 * lane] = values[2 * lane]  # 8 sectors; two lanes per bank
    out[lane] = 0  # 4 sectors
    cuda.atomic.add(tile, 0, 1)


def test_the_other_budgets_count_atomics_sectors_bank_conflicts_and_requests():
    device = gk.SimtDevice(trace=True, check=False)
    device.launch(apart, 1, 32, np.arange(64, dtype=np.int32), np.zeros(32, np.int32))
    budgets = {
        counters.no_atomics(): 1,
        counters.atomics(31): 32,
        counters.atomics(31, array="tile"): 32,
        counters.waiting("lanes that wait", "tile"): 31,
        counters.loads(31, "values read", "values"): 32,
        counters.requests(0, "values"): 1,
        counters.bank_conflicts(): 1,
        coalesced(4): 6,
        coalesced(4, array="values"): 8,
    }
    for bound, counted in budgets.items():
        assert bound(CASE).measure(device.trace) == counted
        assert not bound(CASE).allows(counted)
    assert coalesced(4, array="out")(CASE).allows(4)
    assert counters.bank_conflicts(at_most=1)(CASE).allows(1)
