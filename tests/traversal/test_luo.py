"""Luo's search: our form, the authors' three kernels, the claims, and the step for high degrees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from bfs_rules import check_search
from effort import every_pair
from reading_device import SmallDevice

import gpukernels as gk
from gpukernels.trace import ATOMIC
from gpukernels.trace.metrics import balance, work_per_thread

GRAPHS = {
    "rmat": gk.rmat(scale=7, edge_factor=6, seed=3),
    "road_grid": gk.road_grid(5, 8, seed=1),
    "star": gk.star(200),
    "ring": gk.Graph.from_arcs(9, np.arange(9), (np.arange(9) + 1) % 9),
}
CHOICES = list(product(("one", "three"), ("compare_and_swap", "exchange"), (None, 0, 9)))
NAMES = "kernels", "claim", "high_degree"
OPTIONS = [dict(zip(NAMES, choice, strict=True)) for choice in CHOICES]
choices = pytest.mark.parametrize("options", OPTIONS, ids=lambda o: str([*o.values()]))
KERNELS_OF = {
    "one_block": ["search_by_one_block"],
    "several_blocks": ["search_all_levels"],
    "one_level": ["search_one_level"],
}


@choices
@pytest.mark.parametrize("name", GRAPHS)
def test_every_choice_is_right(name, options, device):
    g = GRAPHS[name]
    result = gk.bfs(g, 0, "luo", device, threads=32, **options)
    check_search(g, 0, result.distance, result.parent)
    sizes = np.bincount(result.distance[result.distance >= 0])
    np.testing.assert_array_equal(result.stats["frontier_sizes"], sizes)


@pytest.mark.parametrize(
    ("options", "schedule", "name"),
    every_pair(OPTIONS, ["lockstep", "warp", "random"], GRAPHS),
)
def test_every_choice_is_right_where_frontiers_exceed_the_device(options, schedule, name):
    g, device = GRAPHS[name], SmallDevice(schedule=schedule, seed=4, check=True)
    result = gk.bfs(g, 0, "luo", device, threads=32, **options)
    check_search(g, 0, result.distance, result.parent)


@pytest.mark.parametrize("high_degree", [None, 9])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_size_of_the_frontier_chooses_the_kernel(name, high_degree):
    g, device = GRAPHS[name], SmallDevice(trace=True)
    options = {"kernels": "three", "high_degree": high_degree, "threads": 32}
    stats = gk.bfs(g, 0, "luo", device, **options).stats
    names = {"one_block": range(1, 33), "several_blocks": range(33, 65)}
    expected = [
        next((kernel for kernel, sizes in names.items() if size in sizes), "one_level")
        for size in stats["frontier_sizes"]
    ]
    # A full sub-queue ends the launch of one block early; the next launch has one block again.
    assert stats["kernels"] == expected
    ran = [x.kernel for x in device.trace.launches]
    assert stats["launches"] == stats["read_backs"] == len(ran)
    assert set(ran) - {"search_high_degrees"} == {k for e in expected for k in KERNELS_OF[e]}
    assert ran.count("search_one_level") == expected.count("one_level")


def test_one_kernel_asks_the_host_for_nothing():
    device = SmallDevice(trace=True)
    stats = gk.bfs(GRAPHS["rmat"], 0, "luo", device, threads=32).stats
    assert [x.kernel for x in device.trace.launches] == ["search_all_levels"]
    assert (stats["launches"], stats["read_backs"]) == (1, 0)


def atomics(trace, array: str) -> int:
    table = trace.select(array=array).requests
    return int(np.diff(table.start)[table.kind == ATOMIC].sum())


@pytest.mark.parametrize("kernels", ["one", "three"])
@pytest.mark.parametrize("name", ["rmat", "road_grid"])
def test_a_vertex_is_exchanged_for_or_swapped_and_enqueued_once(name, kernels):
    """Each thread that sees a vertex unvisited tries to claim it; the first one enqueues it."""
    g = GRAPHS[name]
    for claim, array, other in (
        ("compare_and_swap", "distance", "shade"),
        ("exchange", "shade", "distance"),
    ):
        with gk.trace() as t:
            result = gk.bfs(g, 0, "luo", claim=claim, kernels=kernels, threads=32)
        assert atomics(t.trace, array) >= result.reached - 1
        assert other not in {x.name for x in t.trace.arrays} or atomics(t.trace, other) == 0
        assert atomics(t.trace, "counts") == result.reached - 1


def test_a_high_degree_is_shared_by_all_threads():
    """At a star's hub, one thread follows 299 arcs, or 320 threads follow one arc each."""
    most = {}
    for high_degree in (None, 50):
        with gk.trace() as t:
            stats = gk.bfs(gk.star(300), 0, "luo", high_degree=high_degree, threads=32).stats
        most[high_degree] = int(work_per_thread(t.trace, "targets", 0).max())
        assert stats["high_degree_vertices"] == (high_degree is not None)
    # One arc of the hub, and the arc from a leaf back to the hub.
    assert most == {None: 300, 50: 2}


def test_a_graph_without_high_degrees_has_no_second_step():
    g = GRAPHS["road_grid"]
    steps = []
    for high_degree in (None, int(g.out_degree.max())):
        with gk.trace() as t:
            gk.bfs(g, 0, "luo", high_degree=high_degree)
        steps.append(len(t.trace.steps))
        assert balance(t.trace).threads >= 1
    assert steps[0] == steps[1]
