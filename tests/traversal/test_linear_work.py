"""The linear-work search: its gathers, culls and scans agree, and its counts match the trace."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD, ONE_CASE_EACH
from bfs_rules import check_search
from effort import every_pair
from reading_device import ReadingDevice

import gpukernels as gk
from gpukernels.trace.metrics import work_per_thread

CHOICES = (("serial", "fine"), ("mask", "linear"), ("shuffle", "padded"), (0, 12))
NAMES = ("gather", "cull", "scan", "sequential_below")


def hub_and_path(k: int) -> gk.Graph:
    """A hub with k leaves at the end of a path of k vertices: short frontiers, one long list."""
    source = np.concatenate([np.arange(k), np.full(k, k)])
    target = np.concatenate([np.arange(1, k + 1), np.arange(k + 1, 2 * k + 1)])
    return gk.Graph.from_arcs(2 * k + 1, source, target)


GRAPHS = {
    "rmat": gk.rmat(scale=7, edge_factor=6, seed=3),
    "road_grid": gk.road_grid(7, 9, seed=1),
    "hub": hub_and_path(15),
}


choices = pytest.mark.parametrize(
    ("name", "choice"), [(name, choice) for name, *choice in every_pair(GRAPHS, *CHOICES)], ids=str
)


@choices
def test_every_choice_is_right(name, choice, device):
    g, options = GRAPHS[name], dict(zip(NAMES, choice, strict=True))
    result = gk.bfs(g, 0, "linear_work", device, tile=3, threads=32, **options)
    check_search(g, 0, result.distance, result.parent)


@pytest.mark.parametrize(("name", "root"), ONE_CASE_EACH)
def test_the_scanned_mask_is_right_on_awkward_graphs(name, root, device):
    g = AWKWARD[name]
    options = {"gather": "fine", "cull": "mask", "sequential_below": 0}
    result = gk.bfs(g, root, "linear_work", device, **options)
    check_search(g, root, result.distance, result.parent)


@choices
def test_launches_read_backs_and_masks_are_those_of_the_trace(name, choice):
    g, device = GRAPHS[name], ReadingDevice(trace=True)
    options = dict(zip(NAMES, choice, strict=True))
    result = gk.bfs(g, 0, "linear_work", device, threads=32, **options)
    stats, trace = result.stats, device.trace
    assert stats["launches"] == len(trace.launches)
    # The distances and the parents are read after the search.
    assert stats["read_backs"] == len(device.sizes) - 2 <= result.levels
    masked = [work_per_thread(trace, "mask", i).sum() for i, x in enumerate(trace.launches)
              if x.kernel == "set_depth"]  # fmt: skip
    assert stats["vertices_masked"] == sum(masked)
    sizes = np.bincount(result.distance[result.distance >= 0])
    np.testing.assert_array_equal(stats["frontier_sizes"], sizes)


def test_the_mask_costs_all_vertices_at_every_level_and_the_linear_cull_does_not():
    lengths = np.array([20, 40, 80])
    paths = [gk.path(int(k)) for k in lengths]
    masked = [gk.bfs(g, 0, "linear_work", cull="mask").stats["vertices_masked"] for g in paths]
    np.testing.assert_array_equal(masked, lengths**2)
    stats = [gk.bfs(g, 0, "linear_work", cull="linear").stats for g in paths]
    assert {s["vertices_masked"] for s in stats} == {0}
    threads = np.array([s["threads"] for s in stats])
    assert np.ptp(threads / lengths) < 0.1 * threads[0] / lengths[0]


def flags_read(g: gk.Graph, **options) -> tuple[int, int]:
    """Return the most flags that one thread reads in a launch, and the sum over all threads."""
    with gk.trace() as t:
        gk.bfs(g, 0, "linear_work", **options)
    trace = t.trace
    work = [work_per_thread(trace, "chosen", i) for i in range(len(trace.launches))]
    return max(int(w.max(initial=0)) for w in work), sum(int(w.sum()) for w in work)


@pytest.mark.parametrize("g", [gk.path(40), gk.road_grid(6, 7, seed=1)], ids=["path", "road"])
def test_by_default_no_thread_walks_through_all_vertices_on_a_small_level(g):
    """The paper's search does so at every short level, and roads have only short levels."""
    longest, all_flags = flags_read(g, sequential_below=16)
    assert longest < 16 < g.n
    assert all_flags <= 2 * g.m
    serial, _ = flags_read(g, cull="mask", sequential_below=16)
    assert serial == g.n  # the paper's form is still available
    at_once, _ = flags_read(g, cull="mask", sequential_below=0)
    assert at_once < 16


@pytest.mark.parametrize(("cull", "scanned"), [("mask", 0), ("linear", 1)])
def test_one_thread_compacts_short_lists(cull, scanned):
    """The hub's level has one vertex and 15 arcs: short for the paper, long for the linear cull."""
    with gk.trace() as t:
        gk.bfs(hub_and_path(15), 0, "linear_work", cull=cull, sequential_below=15)
    kernels = [x.kernel for x in t.trace.launches]
    assert kernels.count("compact") == scanned
    assert kernels.count("compact_alone") == 16 - scanned


def test_fine_gathering_levels_what_serial_gathering_leaves_uneven():
    g = gk.star(500)
    work = {}
    for gather, kernel in (("serial", "gather_serial"), ("fine", "gather_fine")):
        with gk.trace() as t:
            gk.bfs(g, 0, "linear_work", gather=gather, cull="linear", tile=4, threads=32)
        first = [x.kernel for x in t.trace.launches].index(kernel)
        work[gather] = int(work_per_thread(t.trace, "targets", first).max())
    assert work == {"serial": 499, "fine": 4}


def test_a_queue_holds_nothing_twice(scheduled_device):
    g = gk.erdos_renyi(300, 6, seed=1)
    for cull in ("mask", "linear"):
        result = gk.bfs(g, 0, "linear_work", scheduled_device, cull=cull)
        sizes = np.bincount(result.distance[result.distance >= 0])
        np.testing.assert_array_equal(result.stats["frontier_sizes"], sizes)
