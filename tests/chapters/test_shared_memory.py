"""What the chapter on shared memory says of its counters and of measured times."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

import gpukernels as gk
from gpukernels.trace import metrics


def test_shared_04(counted):
    strides = counted.strides
    passes = 1 + metrics.bank_conflicts(strides.trace.select(array="tile"))[33:]
    for stride in range(1, 34):
        assert passes[stride - 1] == math.gcd(stride, 32)
    assert len(passes) == 33


def test_shared_11(counted):
    plans = counted.after("shared-09").plans
    played, runs = counted.played, counted.runs
    reverse, reverse_waiting = counted.reverse, counted.reverse_waiting

    def wrong(kernel, schedule, seed):
        return runs[kernel, schedule, seed][1]

    assert not wrong(reverse, "lockstep", 0)
    assert not wrong(reverse, "random", 2)
    assert wrong(reverse, "warp", 0)
    assert wrong(reverse, "random", 3)
    for plan in plans:
        done, mistakes = runs[reverse_waiting, *plan]
        what = [text for _, text in done]
        assert mistakes == 0
        assert what.index("reads") > what.index("waits", what.index("waits") + 1)
    right = {}
    for kernel in (reverse, reverse_waiting):
        right[kernel] = sum(not played(kernel, "random", seed)[1] for seed in range(100))
    assert right[reverse] == 33
    assert right[reverse_waiting] == 100


def test_shared_18(counted):
    reports, seen = counted.reports, counted.seen
    assert seen["no barrier"][:2] == ["right", "wrong"]
    assert seen["no barrier"].count("right") == 34
    assert set(seen["a barrier"]) == {"right"} == set(seen["one warp"])
    assert set(seen["for some"]) == {"stopped"} == set(seen["one too far"])
    assert reports["a barrier"].ok
    assert reports["one warp"].errors[0].rule == "race"
    assert reports["for some"].errors[0].rule == "barrier-divergence"
    assert reports["one too far"].errors[0].rule == "out-of-bounds"


def test_shared_21(counted):
    count_atomically, count_plainly = counted.count_atomically, counted.count_plainly
    histograms, record = counted.histograms, counted.record

    def counted_by(kernel, schedule):
        counter = np.zeros(1, np.int32)
        gk.SimtDevice(schedule, check=False).launch(kernel, 4, 64, counter)
        return int(counter[0])

    schedules = ("lockstep", "warp", "random")
    assert [counted_by(count_plainly, schedule) for schedule in schedules] == [1, 8, 4]
    assert [counted_by(count_atomically, schedule) for schedule in schedules] == [256, 256, 256]
    counter = np.zeros(1, np.int32)
    assert gk.check(count_plainly, 4, 64, counter).errors[0].rule == "race"
    assert gk.check(count_atomically, 4, 64, counter).ok
    waiting = {k: int(metrics.atomic_conflicts(t).sum()) for k, t in histograms.items()}
    assert waiting == {"1 kind": 31, "4 kinds": 28, "32 kinds": 0}
    one_counter = record(count_atomically, 1, 32, counter)
    assert int(metrics.atomic_conflicts(one_counter).sum()) == 31


def test_shared_25(counted):
    one = gk.sass(counted.count_atomically, (counted.counters,))
    many = gk.sass(counted.count_kinds, (counted.kind, counted.counters))
    assert one.count("VOTE", "VOTEU")
    assert one.count("POPC")
    assert one.count("ATOMG", "RED") == 1
    assert not many.count("VOTE", "VOTEU", "POPC")


def test_shared_31(counted):
    find, ring, searches = counted.find, counted.ring, counted.searches
    values = np.array([4, 7, 7, 1] * 40, np.int32)
    assert gk.check(find, 5, 32, values, 7, np.zeros(1, np.int32)).ok

    @cuda.jit
    def find_undeclared(values, wanted, found):
        i = cuda.grid(1)
        if i < values.size and values[i] == wanted:
            found[0] = 1

    report = gk.check(find_undeclared, 5, 32, values, 7, np.zeros(1, np.int32))
    assert [error.rule for error in report.errors] == ["race"]
    base = searches["lockstep"].result
    changed = {}
    for label, (result, _) in searches.items():
        assert np.array_equal(result.distance, base.distance)
        others = np.arange(ring.n) != 0
        assert np.all(result.distance[result.parent[others]] == result.distance[others] - 1)
        changed[label] = int(np.sum(result.parent != base.parent))
    assert changed["warp"] == 6


def test_shared_40(counted):
    cases, whole = counted.cases, counted.whole
    for name in cases.values():
        assert whole[name, "machine"] == whole[name, "H200"]
    assert whole["a tile, 32 words per row", "H200"]["extra passes"] == 992 == 31 * 32
    assert whole["a tile, 33 words per row", "H200"]["extra passes"] == 0
    assert whole["atomics on 1 counter", "H200"]["sectors of atomics"] == 32
    assert whole["atomics on 32 counters", "H200"]["sectors of atomics"] == 4


def test_shared_46(counted):
    sums, values = counted.sums, np.arange(256, dtype=np.int32)
    for way in counted.ways:
        counted.record(way, 2, 128, values, total := np.zeros(1, np.int64))
        assert total[0] == values.sum()
    at = {way: sums[way, "1,024 numbers"] for way, n in sums if n == "1,024 numbers"}
    assert at["an_atomic_each"]["lanes that wait for the total"] == 992
    assert at["a_tree_in_shared"]["barriers"] == 7 * 32
    assert at["a_tree_in_shared"]["SIMD efficiency"] < at["shuffles_first"]["SIMD efficiency"]
    assert (
        at["shuffles_first"]["requests to shared memory"] == at["shuffles_first"]["barriers"] == 0
    )
    assert at["shuffles_first"]["requests to the total"] == 32
    assert at["atomics_in_shared"]["requests to the total"] == 8
