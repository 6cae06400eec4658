"""A search reports as many inspected arcs as its trace loads."""

from __future__ import annotations

import pytest

import gpukernels as gk
from gpukernels.trace.metrics import work_per_thread

#: Method, its options, and the array of which every inspected arc loads one element.
LOADED = [
    ("harish", {}, "targets"),
    ("virtual_warp", {"warp_size": 4}, "targets"),
    ("edge_parallel", {}, "source"),
    ("spmv", {}, "sources"),
    ("bottom_up", {}, "sources"),
    ("bottom_up", {"frontier": "bitmap"}, "sources"),
    ("frontier", {"count_arcs": True}, "targets"),
    ("luo", {}, "targets"),
    ("linear_work", {}, "targets"),
    ("linear_work", {"gather": "fine", "cull": "linear", "tile": 3}, "targets"),
    ("expand_contract", {}, "targets"),
    ("expand_contract", {"duplicates": "none", "bitmask": False}, "targets"),
    ("contract_expand", {}, "targets"),
    ("contract_expand", {"duplicates": "none", "cta_threshold": 32}, "targets"),
    ("two_phase", {}, "targets"),
    ("two_phase", {"duplicates": "none"}, "targets"),
    ("hybrid", {"two_phase_above": 20}, "targets"),
    ("bfs4k", {}, "targets"),
    ("bfs4k", {"single_block": 0}, "targets"),
    ("bfs4k", {"single_block": 0, "edge_discover": 0, "warp_size": 4}, "targets"),
    ("persistent", {}, "targets"),
    ("persistent", {"alone": 0, "blocks": 3, "long_above": 5}, "targets"),
    ("direction_optimizing", {}, "targets sources"),
    ("direction_optimizing", {"alpha": 0}, "targets sources"),
    ("direction_optimizing", {"frontier": "bitmap"}, "targets sources"),
    ("direction_optimizing", {"alpha": 1e9, "beta": 1e9}, "targets sources"),
    ("direction_optimizing", {"frontier": "distance"}, "targets sources"),
    ("direction_optimizing", {"frontier": "distance", "alpha": 1e9}, "targets sources"),
]
GRAPHS = {
    "rmat": gk.rmat(scale=7, edge_factor=6, seed=3),
    "road_grid": gk.road_grid(8, 9, seed=1),
    "directed": gk.erdos_renyi(90, 3.0, seed=2, directed=True),
    "star": gk.star(70),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("method", "options", "arrays"), LOADED, ids=str)
def test_inspected_arcs_are_counted(name, method, options, arrays):
    g = GRAPHS[name]
    with gk.trace() as t:
        stats = gk.bfs(g, 0, method, **options).stats
    assert stats["arcs_inspected"] == loads(t.trace, arrays) > 0


def loads(trace, arrays: str) -> int:
    """Return the number of elements of `arrays` that all launches of `trace` load."""
    present = {info.name for info in trace.arrays} & set(arrays.split())
    launches = range(len(trace.launches))
    return sum(int(work_per_thread(trace, a, i).sum()) for i in launches for a in present)


def test_direction_follows_the_heuristic():
    g = gk.rmat(scale=9, edge_factor=16, seed=1)
    chosen = gk.bfs(g, 0, "direction_optimizing").stats
    assert {"top_down", "bottom_up"} == set(chosen["directions"])
    never = gk.bfs(g, 0, "direction_optimizing", alpha=0).stats
    assert set(never["directions"]) == {"top_down"}
    assert never["arcs_inspected"] == gk.bfs(g, 0, "harish").stats["arcs_inspected"]
    assert chosen["arcs_inspected"] < 0.5 * never["arcs_inspected"]


@pytest.mark.parametrize(("beta", "after"), [(20.0, "bottom_up"), (19.9, "top_down")])
def test_the_search_turns_back_below_a_share_of_the_vertices_and_not_at_it(beta, after):
    """A path's frontiers have one vertex of 20: 1 / 20 of all, which is less than 1 / 19.9."""
    stats = gk.bfs(gk.path(20), 0, "direction_optimizing", alpha=1e9, beta=beta).stats
    assert stats["directions"] == ["bottom_up"] + [after] * 19


def test_a_long_thin_graph_is_hardly_ever_searched_bottom_up():
    """The rule may turn only at the end, when few arcs are left."""
    directions = gk.bfs(gk.road_grid(4, 300, seed=2), 0, "direction_optimizing").stats["directions"]
    up = [level for level, way in enumerate(directions) if way == "bottom_up"]
    assert len(up) < 0.1 * len(directions)
    assert not up or up[0] > 0.9 * len(directions)
