"""The choice of a mapping: its reasons, its edges, and what it costs beside the best."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from full_workloads import full_workload

import gpukernels as gk
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import (
    WARPS_AT_ONCE,
    choose_mapping,
    cost,
    costs_of_benchmark,
    label,
    regret,
    warp_size_for,
)
from gpukernels.mapping.counters import measure
from gpukernels.notebook import record

#: What the rule chooses among: what an H200 has timed.
TECHNIQUES = [
    ("work_item_to_thread", {}),
    *(("virtual_warp", {"warp_size": size}) for size in (2, 4, 8, 16, 32)),
    ("dynamic_virtual_warp", {}),
    ("cta_warp_scan", {}),
    ("direct_search", {}),
    ("local_warp_search", {"form": "register"}),
    ("block_search", {"chunk_items": 256}),
    ("two_phase", {}),
    ("multi_phase", {"iterations": 2}),
    ("merge_path", {}),
]


def offsets_of(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def costs(offsets) -> dict[str, float]:
    return {label(m, knobs): cost(measure(offsets, m, **knobs)) for m, knobs in TECHNIQUES}


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("great-britain_osm", "work_item_to_thread"),
        ("web-NotreDame", "merge_path"),
        ("cit-Patents", "local_warp_search register"),
        ("circuit5M", "merge_path"),
        ("as-Skitter", "cta_warp_scan"),
        ("kron", "cta_warp_scan"),
    ],
)
def test_the_papers_workloads_at_full_size(name, chosen):
    choice = gk.choose_mapping(full_workload(name), "papers")
    assert choice.label == chosen
    assert f"{TARGETS[name].largest:,}" in choice.reason


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([], "work_item_to_thread"),
        ([0, 0, 0], "work_item_to_thread"),
        ([2] * 50, "work_item_to_thread"),
        ([5] * 50, "local_warp_search register"),
        ([4, 0, 0, 0] * 9 + [9], "local_warp_search register"),
        ([0] * 9 + [8, 2], "merge_path"),
        ([300] * 50, "virtual_warp 32"),
        ([16, 48] * 25, "virtual_warp 32"),
        ([16, 47] * 25, "local_warp_search register"),
        ([10_000], "virtual_warp 32"),
        ([1] * 500 + [5_000], "merge_path"),
        ([1] * 100_000 + [900], "merge_path"),
        ([1] * 100_000 + [2_000] * 2, "merge_path"),
        ([1] * 1_000_000 + [9_000] * 9, "cta_warp_scan"),
        ([40] * 500 + [90_000], "merge_path"),
        ([0] * 999 + [8], "merge_path"),
    ],
)
def test_edges_of_the_rule(sizes, chosen):
    assert choose_mapping(offsets_of(sizes), "papers").label == chosen


@pytest.mark.parametrize("among", ["all", "papers"])
@pytest.mark.parametrize("sizes", [[], [0], [3] * 40, [7, 0, 100] * 9, [1] * 400 + [4_000]])
def test_a_choice_can_be_run_as_it_is_and_maps_every_unit(sizes, among):
    offsets = offsets_of(sizes)
    choice = choose_mapping(offsets, among)
    assert choice.method in METHODS
    assert choice.reason.endswith(".")
    result = gk.expand(offsets, choice.method, **choice.knobs, device=gk.SimtDevice())
    np.testing.assert_array_equal(result.item, np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize(
    ("mean", "size"),
    [(0.01, 1), (1, 1), (2.1, 2), (2.9, 4), (4.8, 4), (5.2, 4), (6, 8), (13.1, 16), (1e6, 32)],
)
def test_the_size_of_a_virtual_warp_is_the_power_nearest_to_the_mean(mean, size):
    assert warp_size_for(mean) == size


@pytest.mark.parametrize("mean", [0, -1, float("nan")])
def test_a_mean_of_nothing_is_refused(mean):
    with pytest.raises(gk.InvalidArgument, match="mean"):
        warp_size_for(mean)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_among_all_the_fastest_is_chosen(name):
    times = costs_of_benchmark(record.kept("mapping"), threads=128)[name]
    choice = gk.choose_mapping(gk.workload(name, 400))
    assert choice.label == min(times, key=times.get)
    assert not any(digit in choice.reason for digit in "0123456789")


def test_a_choice_among_others_is_refused():
    with pytest.raises(gk.InvalidArgument, match="among = 'some': must be"):
        gk.choose_mapping([0, 1], "some")


def test_offsets_are_checked():
    with pytest.raises(gk.InvalidArgument, match=r"offsets\[2\]"):
        choose_mapping([0, 5, 3])


WORKLOADS = {
    **{name: (name, 2_000) for name in sorted(set(TARGETS) - {"kron"})},
    "kron": ("kron", 400),
}


def most_regret(chosen: str) -> float:
    """Return how far from the best a choice may be, by counters.

    The five shuffles of a local warp search are many steps and little time: on an H200 it beats
    virtual warps by a factor of two where the counters have it the other way round.
    """
    return 2.6 if chosen.startswith("local_warp_search") else 1.25


@pytest.mark.parametrize("name", WORKLOADS)
def test_regret_on_the_papers_workloads_by_counters(name):
    offsets = gk.workload(*WORKLOADS[name])
    ratio = regret({name: costs(offsets)}, {name: choose_mapping(offsets, "papers").label})[name]
    assert ratio.ratio <= most_regret(ratio.chosen), ratio


#: None of these had a say in the rule's thresholds.
OTHERS = {
    "a recursive matrix": lambda: gk.rmat(10, 8, seed=1),
    "a triangulation": lambda: gk.delaunay(1_000, seed=1),
    "a town": lambda: gk.road_grid(32, 32, seed=1),
    "a small world": lambda: gk.small_world(1_000, 10, 0.1, seed=1),
    "a uniform graph": lambda: gk.erdos_renyi(1_000, 8, seed=1),
    "a forest fire": lambda: gk.forest_fire(1_000, seed=1),
    "a star": lambda: gk.star(1_000),
    "a complete graph": lambda: gk.complete(100),
}


@pytest.mark.parametrize("name", OTHERS)
def test_regret_on_other_graphs_by_counters(name):
    offsets = OTHERS[name]().offsets
    ratio = regret({name: costs(offsets)}, {name: choose_mapping(offsets, "papers").label})[name]
    assert ratio.ratio <= most_regret(ratio.chosen), ratio


def test_the_worst_choice_is_far_from_the_best():
    """So that a regret of a quarter means something."""
    by_technique = costs(gk.workload("as-Skitter", 2_000))
    assert max(by_technique.values()) > 4 * min(by_technique.values())


def test_cost_is_what_bounds_each_launch():
    m = measure(gk.workload("web-NotreDame", 64), "work_item_to_thread")
    bound_by_work = dataclasses.replace(m, totals=(8_000, 80), longest=(100, 9))
    assert cost(bound_by_work) == (8_000 + 80) / WARPS_AT_ONCE
    bound_by_a_warp = dataclasses.replace(m, totals=(8_000, 80), longest=(5_000, 80))
    assert cost(bound_by_a_warp) == 5_000 + 80


def test_regret_compares_the_choice_with_the_cheapest():
    costs_by_name = regret({"x": {"a": 3.0, "b": 2.0}, "y": {"a": 1.0}}, {"x": "a", "y": "a"})
    assert (costs_by_name["x"].chosen, costs_by_name["x"].best, costs_by_name["x"].ratio) == (
        "a",
        "b",
        1.5,
    )
    assert costs_by_name["y"].ratio == 1


def test_a_workload_without_a_choice_is_refused():
    with pytest.raises(gk.InvalidArgument, match=r"chosen\['x'\] = None"):
        regret({"x": {"a": 3.0}}, {})


def test_times_of_a_gpu_are_costs_too():
    times = [
        {"workload": "w", "technique": "a", "threads": 128, "ms": 2.0},
        {"workload": "w", "technique": "b", "threads": 128, "ms": 1.0},
        {"workload": "w", "technique": "a", "threads": 256, "ms": 9.0},
    ]
    assert costs_of_benchmark({"times": times}, 128) == {"w": {"a": 2.0, "b": 1.0}}
    assert costs_of_benchmark({"times": times}, 256) == {"w": {"a": 9.0}}
    with pytest.raises(gk.InvalidArgument, match="128, 256"):
        costs_of_benchmark({"times": times}, 512)
