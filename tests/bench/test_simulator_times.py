"""The benchmark of the machine beside numba's simulator compares what gives the same results.

The times themselves are compared by ``make bench``.
"""

from __future__ import annotations

from gpukernels.bench.simulator import all_pairs, by_schedule, compare


def test_machine_traced_machine_and_simulator_agree():
    times = compare(128, runs=1)  # raises AssertionError where distances differ
    assert set(times) == {"plain", "traced", "simulator"}
    assert min(times.values()) > 0


def test_every_schedule_is_timed():
    assert set(by_schedule(128, runs=1)) == {"lockstep", "warp", "random"}


def test_all_pairs_agree_with_scipy():
    assert all_pairs(64) > 0
