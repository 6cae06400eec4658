"""Searches of chapters are recorded once, and counted as the pages say."""

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.notebook.searches import Recorded, busiest, lane_loads, sectors_moved
from gpukernels.trace import metrics


@pytest.fixture(scope="module")
def ran():
    return Recorded("frontier")


def test_a_search_is_run_once_for_each_graph_method_and_options(ran):
    g, other = gk.example(), gk.example()
    assert ran(g) is ran(g, "frontier")
    different = [ran(other), ran(g, threads=32), ran(g, "harish"), ran(g)]
    assert len({id(run) for run in different}) == 4


def test_options_are_those_of_the_method_that_is_named_first():
    ran = Recorded("virtual_warp", warp_size=4)
    assert ran(gk.path(3)).result.stats["warp_size"] == 4
    assert ran(gk.path(3), warp_size=2).result.stats["warp_size"] == 2
    assert ran(gk.path(3), "frontier").result.levels == 3


def test_every_entry_and_every_arc_is_loaded_once_on_a_path(ran):
    trace = ran(gk.path(9)).trace
    assert lane_loads(trace, "frontier") == 9
    assert lane_loads(trace, "targets") == gk.path(9).m


def test_lanes_that_draw_slots_together_wait_for_no_other(ran):
    result, trace = ran(gk.star(40))
    assert result.reached == 40
    waits = int(metrics.atomic_conflicts(trace.select(array="next_size")).sum())
    assert sectors_moved(trace) == int(metrics.sectors(trace).sum()) - waits
    path = ran(gk.path(9)).trace
    assert sectors_moved(path) == int(metrics.sectors(path).sum())


def test_the_busiest_warp_of_each_launch_counts(ran):
    trace = ran(gk.star(100)).trace
    by_hand = 0
    for k, launch in enumerate(trace.launches):
        requests = trace.select(space="global", launch=k).requests
        warps = requests.block * launch.warps_per_block + requests.warp
        by_hand += np.bincount(warps).max()
    assert busiest(trace) == by_hand
