"""Each race that a search declares benign happens, and no other race does."""

from __future__ import annotations

import pytest
from reading_device import SmallDevice

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.simt.errors import RaceError
from gpukernels.traversal import (
    bfs,
    contract_expand,
    edge_parallel,
    expand_contract,
    frontier,
    harish,
    linear_cull,
    luo,
    luo_levels,
    persistent,
    two_phase,
    virtual_warp,
    word_bottom_up,
)

KERNELS = {
    "harish": harish.harish_level,
    "virtual_warp": virtual_warp.virtual_warp_level,
    "edge_parallel": edge_parallel.edge_parallel_level,
    "frontier": frontier.expand_frontier,
    "linear_work": linear_cull.mask_unvisited,
    "luo": luo.search_all_levels,
    "expand_contract": expand_contract.expand_and_contract,
    "contract_expand": contract_expand.contract_and_expand,
    "two_phase": two_phase.contract_edges,
}
#: Options with which a search uses an array or a kernel that it does not use by default.
OPTIONS = {"hash_table": {"duplicates": "hash64"}}
CHOICES = {"linear_work": {"cull": "mask"}}
DECLARED = [(m, a) for m, k in KERNELS.items() for a in sorted(k.py_func.__benign_races__)]
GRAPH = gk.erdos_renyi(200, 6, seed=1)


@pytest.mark.parametrize(("method", "array"), DECLARED)
def test_an_undeclared_race_is_found(method, array, monkeypatch):
    function = KERNELS[method].py_func
    monkeypatch.setattr(function, "__benign_races__", function.__benign_races__ - {array})
    options = OPTIONS.get(array, {}) | CHOICES.get(method, {})
    with pytest.raises(RaceError, match=array):
        bfs(GRAPH, 0, method, SimtDevice(check=True), **options)


THREE = {"claim": "exchange", "kernels": "three"}
#: Kernels whose only race is a plain read of a distance, and the options that launch them.
LOOKS = [
    (linear_cull.claim_unvisited, "linear_work", {"cull": "linear"}),
    (luo.search_all_levels, "luo", {"claim": "exchange"}),
    (luo_levels.search_by_one_block, "luo", {**THREE, "threads": 256}),
    (luo_levels.search_one_level, "luo", {**THREE, "threads": 32}),
    (luo_levels.search_high_degrees, "luo", {**THREE, "threads": 32, "high_degree": 0}),
    (
        persistent.search_and_meet_by_grid,
        "persistent",
        {"alone": 0, "eager": 0, "blocks": 2, "threads": 32},
    ),
    (word_bottom_up.search_and_meet_by_grid, "direction_optimizing", {"alpha": 0}),
]


@pytest.mark.parametrize(
    ("kernel", "method", "options"), LOOKS, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_plain_look_at_a_distance_is_declared(kernel, method, options, monkeypatch):
    device = (SmallDevice if method == "luo" else SimtDevice)(check=True)
    bfs(GRAPH, 0, method, device, **options)
    monkeypatch.setattr(kernel.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="distance"):
        bfs(GRAPH, 0, method, device, **options)
