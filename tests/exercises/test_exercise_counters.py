"""Counters of the exercises agree with what can be counted by hand."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

import gpukernels as gk
from gpukernels.exercises.judge.case import Case
from gpukernels.exercises.judge.counters import (
    bank_conflicts,
    busiest_warp,
    coalesced,
    no_atomics,
    sharing,
)
from gpukernels.trace import Trace


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


def test_an_array_that_no_thread_touches_has_no_accesses():
    trace = traced(1)
    assert busiest_warp(trace.select(array=["out"])) == 1
    assert busiest_warp(trace.select(array=["values"])) == 4
    assert busiest_warp(trace.select(array=["nothing"])) == 0


def test_a_budget_of_sharing_says_what_it_counts():
    case = Case("two blocks", lambda kernel, device: {}, lambda found: None)
    whole, part = sharing(case, 5), sharing(case, 4, array="values")
    assert whole.what == "memory requests of the busiest warp"
    assert part.what == "memory requests to `values` of the busiest warp"
    assert whole.allows(whole.measure(traced(1)))
    assert not sharing(case, 4).allows(whole.measure(traced(1)))
    assert part.allows(part.measure(traced(1)))
    assert whole.case is part.case is case


@cuda.jit
def apart(values, out):
    """Have one warp read every second value, and meet at 16 banks and at one counter."""
    tile = cuda.shared.array(64, int32)
    lane = cuda.laneid
    tile[2 * lane] = values[2 * lane]  # 8 sectors; two lanes per bank
    out[lane] = 0  # 4 sectors
    cuda.atomic.add(tile, 0, 1)


def test_the_other_budgets_count_atomics_sectors_and_bank_conflicts():
    device = gk.SimtDevice(trace=True, check=False)
    device.launch(apart, 1, 32, np.arange(64, dtype=np.int32), np.zeros(32, np.int32))
    case = Case("a warp", lambda kernel, device: {}, lambda found: None)
    budgets = {
        no_atomics(case): 1,
        bank_conflicts(case): 1,
        coalesced(case, 4): 6,
        coalesced(case, 4, array="values"): 8,
    }
    for budget, counted in budgets.items():
        assert budget.measure(device.trace) == counted
        assert not budget.allows(counted)
    assert coalesced(case, 4, array="out").allows(4)
    assert bank_conflicts(case, at_most=1).allows(1)
