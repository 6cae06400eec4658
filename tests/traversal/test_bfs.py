"""Every breadth-first search is right on every awkward graph, under every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from awkward_graphs import AWKWARD, ROOTS, roots
from bfs_rules import check_search
from diamonds import diamonds
from effort import SCHEDULES, every_pair, examples, schedule_name
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import gpukernels as gk
from gpukernels import reference
from gpukernels.device import CudaDevice, SimtDevice, default_device
from gpukernels.traversal import METHODS, BFSResult, bfs

WARP_SIZES = (1, 2, 4, 8, 16, 32)
VARIANTS = [(m, {}) for m in METHODS if m != "virtual_warp"]
VARIANTS += [("virtual_warp", {"warp_size": size}) for size in WARP_SIZES]
VARIANTS += [
    ("luo", {"kernels": "three", "claim": "exchange", "high_degree": 6}),
    ("linear_work", {"cull": "mask"}),
    ("linear_work", {"gather": "fine"}),
    ("linear_work", {"gather": "fine", "cull": "linear", "scan": "padded", "sequential_below": 0}),
]
VARIANTS += [
    ("expand_contract", {"duplicates": "hash64", "bitmask": False}),
    ("contract_expand", {"duplicates": "none", "cta_threshold": 32}),
    ("two_phase", {"duplicates": "compare_and_swap", "bitmask": False}),
    ("hybrid", {"two_phase_above": 8, "duplicates": "hash64"}),
]
VARIANTS += [
    ("bottom_up", {"frontier": "bitmap"}),
    ("direction_optimizing", {"frontier": "bitmap"}),
    ("direction_optimizing", {"frontier": "distance", "beta": 18}),
    ("direction_optimizing", {"frontier": "words", "alpha": 1e9, "beta": 100.0}),
    ("direction_optimizing", {"frontier": "bitmap", "alpha": 1e9, "beta": 100.0}),
]
VARIANTS += [
    ("bfs4k", {"single_block": 0}),
    ("bfs4k", {"single_block": 0, "edge_discover": 0, "resident_threads": 256}),
    ("bfs4k", {"block_threads": 32, "child_share": 0.2, "child_queue": 1, "min_warp_size": 1}),
]
VARIANTS += [
    ("persistent", {"alone": 3, "blocks": 3, "lanes": 2, "long_above": 3}),
    ("persistent", {"alone": 0, "blocks": 2, "lanes": 1, "eager": 0}),
]
variants = pytest.mark.parametrize(
    ("method", "options"), VARIANTS, ids=lambda p: p if isinstance(p, str) else str(p or "")
)
FEW_VARIANTS = [v for v in VARIANTS if v[1].get("warp_size", 1) in (1, 4, 32)]
few_variants = pytest.mark.parametrize(
    ("method", "options"),
    FEW_VARIANTS,
    ids=lambda p: p if isinstance(p, str) else str(p or ""),
)
methods = pytest.mark.parametrize("method", METHODS)


def variants_of(method: str) -> list[dict]:
    """Return the options with which a method is tried on every kind of graph."""
    return [options for m, options in FEW_VARIANTS if m == method]


#: Graphs, kinds of root, methods, and numbers of the method's variants.
AWKWARD_SEARCHES = every_pair(
    AWKWARD,
    ROOTS,
    METHODS,
    range(max(len(variants_of(method)) for method in METHODS)),
    allowed=lambda name, root, method, variant: (
        root < len(roots(AWKWARD[name])) and variant < len(variants_of(method))
    ),
)


@pytest.mark.parametrize(("name", "root", "method", "variant"), AWKWARD_SEARCHES)
def test_right_on_awkward_graphs(name, root, method, variant, device):
    g = AWKWARD[name]
    root = roots(g)[root]
    result = bfs(g, root, method, device, **variants_of(method)[variant])
    check_search(g, root, result.distance, result.parent)


@methods
def test_right_on_a_path_of_more_levels_than_a_byte_counts(method):
    g = gk.path(300)
    result = bfs(g, 0, method)
    check_search(g, 0, result.distance, result.parent)


SCHEDULED = {
    "rmat": gk.rmat(scale=6, edge_factor=4, seed=2),
    "road_grid": gk.road_grid(5, 9, seed=1),
    "diamonds": diamonds(6),
}


@pytest.mark.parametrize(
    ("variant", "scheduled_device", "name"),
    every_pair(VARIANTS, SCHEDULES, SCHEDULED),
    indirect=["scheduled_device"],
    ids=lambda p: p if isinstance(p, str) else schedule_name(p) if p in SCHEDULES else str(p),
)
def test_right_under_every_schedule(variant, scheduled_device, name):
    (method, options), g = variant, SCHEDULED[name]
    result = bfs(g, 0, method, scheduled_device, **options)
    check_search(g, 0, result.distance, result.parent)


@variants
def test_right_on_a_larger_graph(method, options, device):
    g = gk.rmat(scale=10, edge_factor=8, seed=5)
    result = bfs(g, 1, method, device, **options)
    ones = gk.Graph(g.offsets, g.targets).to_scipy()
    steps = shortest_path(ones, unweighted=True, indices=1)
    np.testing.assert_array_equal(result.distance, np.where(np.isinf(steps), -1, steps))


@examples(25, soak=500)
@given(data=st.data())
def test_right_on_random_graphs(data):
    n = data.draw(st.integers(1, 40), "n")
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=120)
    arcs = np.array(data.draw(ends, "arcs"), dtype=np.int32).reshape(-1, 2)
    g = gk.Graph.from_arcs(n, arcs[:, 0], arcs[:, 1], directed=data.draw(st.booleans(), "directed"))
    root = data.draw(st.integers(0, n - 1), "root")
    method = data.draw(st.sampled_from(sorted(METHODS)), "method")
    device = default_device()
    if not isinstance(device, CudaDevice):
        schedule = data.draw(st.sampled_from(["lockstep", "warp", "random"]), "schedule")
        device = SimtDevice(schedule=schedule, seed=data.draw(st.integers(0, 9)), check=True)
    result = bfs(g, root, method, device, threads=32)
    check_search(g, root, result.distance, result.parent)


@few_variants
@pytest.mark.parametrize("threads", [32, 64, 1024])
def test_block_size_does_not_matter(method, options, threads, device):
    g = gk.rmat(scale=6, edge_factor=4, seed=3)
    result = bfs(g, 0, method, device, threads=threads, **options)
    check_search(g, 0, result.distance, result.parent)


@methods
def test_result_describes_the_search(method, device):
    g = gk.rmat(scale=6, edge_factor=4, seed=1)
    result = bfs(g, 0, method, device)
    assert isinstance(result, BFSResult)
    assert result.levels == result.distance.max() + 1
    assert result.reached == np.count_nonzero(result.distance >= 0) < g.n
    assert result.stats["method"] == method
    # Other methods make several launches per level, or one more; their own tests count these.
    if method not in ("linear_work", "contract_expand", "two_phase", "hybrid", "bfs4k"):
        assert result.stats["launches"] == (
            1 if method in ("luo", "direction_optimizing", "persistent") else result.levels
        )
    sizes = np.bincount(result.distance[result.distance >= 0])
    duplicates = result.stats.get("duplicates", np.zeros(result.levels, dtype=int))
    np.testing.assert_array_equal(result.stats["frontier_sizes"], sizes + duplicates)


def test_work_is_what_the_papers_say(device):
    g = gk.path(40)
    stats = {m: bfs(g, 0, m, device).stats for m in METHODS}
    levels = 40
    assert stats["harish"]["threads"] == g.n * levels
    assert stats["harish"]["arcs_inspected"] == g.m
    assert stats["virtual_warp"]["threads"] == g.n * levels * stats["virtual_warp"]["warp_size"]
    assert stats["edge_parallel"]["arcs_inspected"] == g.m * levels
    assert stats["frontier"]["threads"] == g.n


# --- duplicates ---------------------------------------------------------------------------------


def test_frontier_enqueues_duplicates():
    """In lockstep both sides of a diamond find its far end unvisited, so duplicates double."""
    result = bfs(diamonds(4), 0, "frontier", SimtDevice(check=True), capacity=100)
    assert result.stats["frontier_sizes"] == [1, 2, 2, 4, 4, 8, 8, 16, 16]
    assert result.stats["duplicates"] == [0, 0, 1, 2, 3, 6, 7, 14, 15]
    assert result.stats["overflows"] == 0


def test_a_frontier_that_does_not_fit_is_collected_from_the_distances():
    g = diamonds(40)
    result = bfs(g, 0, "frontier", SimtDevice(check=True))
    check_search(g, 0, result.distance, result.parent)
    assert result.stats["overflows"] > 0
    assert max(result.stats["frontier_sizes"]) <= 4 * g.m


# --- the rules themselves -------------------------------------------------------------------------


def move_a_distance(g, distance, parent):
    distance[7] += 1


def take_a_parent_without_an_arc(g, distance, parent):
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True))
    pairs = ((u, v) for v in range(1, g.n) for u in range(g.n) if distance[u] == distance[v] - 1)
    u, v = next(pair for pair in pairs if pair not in arcs)
    parent[v] = u


def give_the_root_another_parent(g, distance, parent):
    parent[0] = 1


def miss_a_vertex(g, distance, parent):
    last = int(np.argmax(distance))
    distance[last] = parent[last] = -1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (move_a_distance, None),
        (take_a_parent_without_an_arc, "arc exists"),
        (give_the_root_another_parent, "own parent"),
        (miss_a_vertex, None),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_rules_refuse_a_search_that_is_wrong_in_one_place(spoil, message):
    g = gk.road_grid(4, 5, seed=1)
    result = reference.bfs(g, 0)
    distance, parent = result.distance.copy(), result.parent.copy()
    check_search(g, 0, distance, parent)
    spoil(g, distance, parent)
    with pytest.raises(AssertionError, match=message):
        check_search(g, 0, distance, parent)


@pytest.mark.parametrize("method", METHODS)
def test_parents_are_optional(method):
    g = gk.rmat(7, 8, seed=1)
    with_parents, without = (gk.bfs(g, 3, method, parents=kept) for kept in (True, False))
    assert without.parent is None
    assert np.array_equal(with_parents.distance, without.distance)
    assert with_parents.stats["read_backs"] <= with_parents.stats["launches"]


@methods
def test_duplicates_are_counted_by_every_method(method):
    g = gk.road_grid(9, 9, seed=1)
    stats = bfs(g, 0, method, SimtDevice()).stats
    sizes_and_distance = stats["frontier_sizes"], gk.reference.bfs(g, 0).distance
    assert stats["duplicates_missed"] == sum(sizes_and_distance[0]) - np.count_nonzero(
        sizes_and_distance[1] >= 0
    )
    assert stats["duplicates_made"] == stats["duplicates_detected"] + stats["duplicates_missed"]
    assert stats["levels"] == len(sizes_and_distance[0])
    if method == "frontier":
        assert stats["duplicates_missed"] > 0
