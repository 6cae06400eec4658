"""The figures of a search are what they are called, whatever it takes and whoever waits."""

from __future__ import annotations

import gc
import statistics
from types import SimpleNamespace

import numpy as np
import pytest

import gpukernels as gk
from benchmarks import search_time
from benchmarks.roots import cases, least_bytes
from benchmarks.search_time import time_on_cpu, time_search

COUNTS = {"launches": 1, "read_backs": 3}


class Timer:
    """A timer whose every run takes as many milliseconds as its root's number, and one."""

    def __init__(self, limit_ms: float = 100.0):
        self.device, self.limit_ms, self.runs = object(), limit_ms, []
        self.reset()

    def reset(self):
        self.ms, self.launches, self.late = 0.0, 0, 0

    def search(self, g):
        def search(device, root):
            if device is self:
                self.runs.append(root)
                self.ms, self.launches = root + 1.0, 10
                if self.ms > self.limit_ms:
                    raise search_time.OutOfPatience
            return SimpleNamespace(distance=gk.reference.bfs(g, root).distance, stats=COUNTS)

        return search


@pytest.fixture
def g():
    return gk.rmat(6, 4, seed=1)


def test_rates_are_harmonic_means_and_times_medians(g):
    timer = Timer()
    given = cases(g, 0, 5)
    row = time_search(timer.search(g), timer, given, 3, 0.001, "it", patience=100)
    ms = [case.root + 1.0 for case in given[1:]]
    rates = [case.arcs / t / 1e6 for case, t in zip(given[1:], ms, strict=True)]
    assert row["kernel_ms"] == 1.0
    assert (row["runs"], row["roots"], row["launches"], row["read_backs"]) == (3, 5, 1, 3)
    assert row["roots_kernel_ms"] == statistics.median(ms)
    assert row["gteps"] == round(len(rates) / sum(1 / rate for rate in rates), 4)
    shares = [c.least_bytes / t / 1e6 / 0.001 for c, t in zip(given[1:], ms, strict=True)]
    assert row["share_of_bandwidth"] == round(statistics.median(shares), 4)
    assert row["late"] == 0


def test_kernels_are_timed_without_a_search_for_garbage_and_whole_calls_with_it(g):
    timer, enabled = Timer(), {}

    def search(device, root):
        enabled[device is timer] = gc.isenabled()
        return timer.search(g)(device, root)

    time_search(search, timer, cases(g, 0, 2), 1, 1.0, "it", patience=0)
    assert enabled == {True: False, False: True}
    assert gc.isenabled()


def test_without_patience_a_search_has_one_run_and_one_root(g):
    timer = Timer()
    row = time_search(timer.search(g), timer, cases(g, 0, 5), 9, 1.0, "it", patience=0)
    assert (row["runs"], row["roots"]) == (1, 1)
    row = time_on_cpu(lambda root: gk.reference.bfs(g, root), cases(g, 0, 5), 9, "it", patience=0)
    assert (row["runs"], row["roots"]) == (1, 1)


def test_a_cpu_s_row_counts_its_runs_in_the_same_way(g):
    row = time_on_cpu(
        lambda root: gk.reference.multicore.bfs(g, root), cases(g, 0, 5), 9, "it", patience=99
    )
    assert (row["runs"], row["roots"]) == (9, 5)
    assert set(row) == {"runs", "roots", "call_ms", "roots_call_ms", "call_gteps"}


def test_a_search_that_takes_too_long_is_given_up_and_says_so(g):
    timer = Timer(limit_ms=0.5)
    row = time_search(timer.search(g), timer, cases(g, 0, 2), 9, 1.0, "it")
    assert row == {"stopped_after_ms": 0.5}


@pytest.mark.parametrize("wrong_from", ["first", "other"])
def test_a_wrong_distance_keeps_no_time(g, wrong_from):
    given = cases(g, 0, 3)
    wrong = given[0 if wrong_from == "first" else 2].root
    timer = Timer()
    right = timer.search(g)

    def search(device, root):
        result = right(device, root)
        if root == wrong:
            result.distance[-1] += 1
        return result

    with pytest.raises(AssertionError, match=f"it from {wrong}"):
        time_search(search, timer, given, 1, 1.0, "it", patience=100)


def test_roots_are_of_one_component_have_arcs_and_differ():
    g = gk.rmat(9, 4, seed=3)
    root = int(np.argmax(g.out_degree))
    all_cases = cases(g, root)
    roots = [case.root for case in all_cases]
    assert roots[0] == root
    assert len(set(roots)) == len(roots) == 17
    assert roots == [case.root for case in cases(g, root)]
    for case in all_cases:
        assert g.out_degree[case.root] > 0
        assert (case.reached, case.arcs) == (all_cases[0].reached, all_cases[0].arcs)
        assert np.array_equal(case.distance, gk.reference.bfs(g, case.root).distance)
        assert case.levels == case.distance.max() + 1
    reached = all_cases[0].distance >= 0
    assert all_cases[0].arcs == g.out_degree[reached].sum()
    assert all_cases[0].least_bytes == 8 * reached.sum() + 4 * all_cases[0].arcs


def test_a_vertex_alone_is_its_own_other_root():
    assert [case.root for case in cases(gk.Graph([0, 0, 0], []), 1)] == [1, 1]


def test_least_bytes_count_offset_target_and_distance_once():
    assert least_bytes(reached=3, arcs=5) == 3 * (4 + 4) + 5 * 4
