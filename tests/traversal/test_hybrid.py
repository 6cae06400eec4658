"""Merrill's hybrid: the edge frontier chooses the search of each level, and results are right."""

from __future__ import annotations

import pytest
from bfs_rules import check_search
from diamonds import diamonds
from effort import SCHEDULES, every_pair
from reading_device import SmallDevice

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.trace.metrics import work_per_thread

RMAT = gk.rmat(scale=7, edge_factor=6, seed=4)
ROAD = gk.road_grid(5, 8, seed=1)
BOUNDS = (0, 1, 30, None)


def visited_sizes(stats) -> list[int]:
    """Return the entries of the edge frontiers, beginning with the one of only the root."""
    return [1, *stats["edge_frontier_sizes"]]


@pytest.mark.parametrize(
    ("bound", "scheduled_device", "g"),
    every_pair(BOUNDS, SCHEDULES, (RMAT, ROAD, diamonds(6))),
    indirect=["scheduled_device"],
)
def test_right_under_every_schedule(bound, scheduled_device, g):
    options = {"two_phase_above": bound, "threads": 64}
    result = gk.bfs(g, 0, "hybrid", scheduled_device, **options)
    check_search(g, 0, result.distance, result.parent)


@pytest.mark.parametrize("duplicates", DUPLICATES)
def test_every_way_to_keep_duplicates_out_is_right(duplicates):
    device = SmallDevice(schedule="random", seed=2, check=True)
    result = gk.bfs(RMAT, 0, "hybrid", device, duplicates=duplicates, threads=32)
    check_search(RMAT, 0, result.distance, result.parent)
    assert set(result.stats["kernels"]) == {"contract_expand", "two_phase"}
    if duplicates in ("compare_and_swap", "bitmap"):
        assert result.stats["duplicates_made"] == 0


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("g", [RMAT, ROAD], ids=["rmat", "road"])
def test_the_size_of_the_edge_frontier_chooses(g, bound):
    device = SmallDevice(trace=True)
    stats = gk.bfs(g, 0, "hybrid", device, two_phase_above=bound, threads=32).stats
    above = 64 if bound is None else bound
    large = [size > above for size in visited_sizes(stats)]
    assert stats["kernels"] == ["two_phase" if x else "contract_expand" for x in large]
    ran = [x.kernel for x in device.trace.launches]
    assert ran.count("contract_and_expand") == large.count(False)
    assert ran.count("contract_edges") == large.count(True)
    assert stats["launches"] == len(ran)
    assert stats["read_backs"] == len(large)


def test_the_extremes_are_the_two_searches_that_it_is_made_of():
    """Without duplicates, both reach the same vertices through the same arcs."""
    exact = {"duplicates": "compare_and_swap"}
    small = gk.bfs(RMAT, 0, "hybrid", two_phase_above=RMAT.m, **exact).stats
    fused = gk.bfs(RMAT, 0, "contract_expand", **exact).stats
    same = "launches", "read_backs", "threads", "arcs_inspected", "edge_frontier_sizes"
    assert [small[name] for name in same] == [fused[name] for name in same]
    large = gk.bfs(RMAT, 0, "hybrid", two_phase_above=0, **exact).stats
    apart = gk.bfs(RMAT, 0, "two_phase", **exact).stats
    same = "arcs_inspected", "edge_frontier_sizes", "frontier_sizes"
    assert [large[name] for name in same] == [apart[name] for name in same]
    # It begins with a contraction of the root; two-phase begins with an expansion of it.
    assert large["launches"] - apart["launches"] in (0, 1)


@pytest.mark.parametrize("bound", [0, 10])
def test_what_does_not_fit_is_collected_afresh(bound):
    g = diamonds(14)
    device = SimtDevice(check=True, trace=True)
    result = gk.bfs(g, 0, "hybrid", device, duplicates="none", two_phase_above=bound)
    check_search(g, 0, result.distance, result.parent)
    stats, trace = result.stats, device.trace
    assert stats["overflows"] > 0
    launches = range(len(trace.launches))
    loaded = sum(int(work_per_thread(trace, "targets", i).sum()) for i in launches)
    assert stats["arcs_inspected"] == loaded
