"""Each race that a search declares benign is there, and there is no other."""

from __future__ import annotations

import numpy as np
import pytest

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
    two_phase,
    virtual_warp,
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
#: What makes a search use an array that it does not use by default, or a kernel.
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


def test_the_plain_look_of_the_linear_cull_is_declared(monkeypatch):
    device = SimtDevice(check=True)
    bfs(GRAPH, 0, "linear_work", device, cull="linear")
    monkeypatch.setattr(linear_cull.claim_unvisited.py_func, "__benign_races__", frozenset())
    with pytest.raises(RaceError, match="distance"):
        bfs(GRAPH, 0, "linear_work", device, cull="linear")


@pytest.mark.parametrize("method", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_there_is_no_other_race(method, seed):
    device = SimtDevice(schedule="random", seed=seed, check=True)
    result = bfs(GRAPH, 0, method, device, **CHOICES.get(method, {}))
    assert np.count_nonzero(result.distance >= 0) > 100
