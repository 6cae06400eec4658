"""The method that runs where none is named: the right one, for a reason, with the right answer."""

from __future__ import annotations

import inspect

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import gpukernels as gk
from gpukernels import all_pairs, reference, shortest_paths, traversal
from gpukernels.errors import ON_THE_CPU
from gpukernels.graphs.depth import is_deep

GRID = gk.road_grid(60, 60, seed=1)
CROWD = gk.rmat(12, 16, seed=1)
FAR = 2**31 - 1


class Gpu:
    """As much of a GPU as the choice of a method looks at."""

    def __init__(self, free=2**34):
        self.free = free

    def launch(self, *_):
        raise AssertionError("nothing is launched to choose a method")

    def free_bytes(self):
        return self.free


@pytest.fixture(params=["no GPU answers", "GPUKERNELS_DEVICE is simt"])
def why(request, monkeypatch):
    """Two machines on which no kernel runs on a GPU: one has none, the other forbids it."""
    if request.param.startswith("no"):
        monkeypatch.delenv("GPUKERNELS_DEVICE", raising=False)
        monkeypatch.setattr("gpukernels.device.choice._gpu_answers", lambda: False)
    else:
        monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    return request.param


def negative(g):
    """Return the graph with weights of which one is below 0, without a negative cycle."""
    weights = np.full(g.m, 5, np.int32)
    loop = np.flatnonzero(g.coo[0] != g.coo[1])[0]
    weights[loop] = -1
    return gk.Graph(g.offsets, g.targets, weights)


@pytest.mark.parametrize(
    ("g", "deep"),
    [
        (GRID, True),
        (CROWD, False),
        (gk.path(100), True),
        (gk.path(10), False),
        (gk.star(50_000), False),
        (gk.complete(100), False),
        (gk.small_world(20_000, 4, 0.0, seed=1), True),
        (gk.small_world(20_000, 4, 0.3, seed=1), False),
        (gk.Graph([0, 0, 0], []), False),
        (gk.Graph([0], []), False),
    ],
)
def test_a_deep_graph_is_one_with_many_small_levels(g, deep):
    assert is_deep(g) is deep


def test_a_gpu_gets_the_fastest_method_for_the_graph(monkeypatch):
    gpu = Gpu()
    small = shortest_paths.auto.choice(negative(CROWD), gpu)
    assert small.method == "harish"
    monkeypatch.setattr(shortest_paths.auto, "ALONE", CROWD.m)
    bfs = {
        name: traversal.auto.choice(g, gpu).method for name, g in {"a": GRID, "b": CROWD}.items()
    }
    assert bfs == {"a": "persistent", "b": "direction_optimizing"}
    sssp = [
        shortest_paths.auto.choice(g, gpu) for g in (GRID, CROWD, negative(GRID), negative(CROWD))
    ]
    names = [chosen.method for chosen in sssp]
    assert names == ["near_far_persistent", "near_far_persistent", "harish", "hbf"]
    assert "negative" in sssp[2].why
    assert all(chosen.device is gpu for chosen in sssp)
    many = [shortest_paths.auto.from_many_roots(g, gpu) for g in (GRID, CROWD, negative(GRID))]
    assert many == ["topology_driven", "near_far_persistent", "topology_driven"]
    assert all_pairs.auto.choice(GRID, gpu, None).method == "blocked"
    few, deep = gk.rmat(9, 8, seed=1), gk.path(500)
    squared = [all_pairs.auto.choice(g, gpu, None).method for g in (few, deep, few.dense())]
    assert squared == ["repeated_squaring"] * 3
    assert all_pairs.auto.choice(few, gpu, None, next_hops=True).method == "blocked"
    assert all_pairs.auto.choice(GRID, Gpu(2**20), None).method == "out_of_core"


@pytest.mark.parametrize("weight", [2**40, 1e300])
def test_weights_that_no_kernel_takes_go_to_the_cpu(weight):
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], np.array([weight, weight]))
    for chosen in (shortest_paths.auto.choice(g, Gpu()), all_pairs.auto.choice(g, Gpu(), None)):
        assert chosen.method is None
        assert "g.weights[0]" in chosen.why
    assert shortest_paths.auto.on_cpu(g, 0).distance.tolist() == [0, weight, 2 * weight]


def test_without_a_gpu_the_cpu_answers_and_says_why(why):
    weighted = gk.random_weights(CROWD, seed=1)
    for result in (gk.bfs(CROWD), gk.sssp(weighted), gk.apsp(gk.path(9))):
        assert result.stats["why"] == why
        assert f", as {why}: " in repr(result)
        assert result.stats["launches"] == 0
        assert "reference" in result.stats["method"]
    assert gk.sssp_many(weighted, [1, 2]).stats["method"] == "reference.dijkstra"
    assert gk.bfs_many(CROWD, [1, 2]).stats["launches"] == 0


def test_the_simt_machine_shows_the_methods_that_are_taught():
    taught = {"bfs": "frontier", "sssp": "topology_driven", "apsp": "blocked"}
    for name, method in taught.items():
        result, trace = gk.traced(getattr(gk, name), gk.path(5))
        assert result.stats["method"] == method
        assert len(trace.launches) > 0
        result = getattr(gk, name)(gk.path(5), device=gk.SimtDevice())
        assert result.stats["method"] == method
        assert result.stats["launches"] > 0
        assert result.stats["why"] == "the SIMT machine was asked for"


def test_an_option_of_one_method_asks_for_its_name():
    with pytest.raises(TypeError, match=r"'auto' takes no option 'warp_size'.*'virtual_warp'"):
        gk.bfs(CROWD, warp_size=8)
    with pytest.raises(TypeError, match=r"takes no option 'nonsense'; it takes \['parents'\]$"):
        gk.sssp(CROWD, nonsense=8)
    assert gk.bfs(CROWD, parents=False).parent is None
    assert gk.sssp(CROWD, parents=False).parent is None


def test_an_algorithm_of_the_cpu_is_pointed_to():
    names = [name for name, it in vars(reference).items() if inspect.isfunction(it)]
    assert sorted(ON_THE_CPU) == sorted(set(names) - {"bfs"})
    with pytest.raises(gk.UnknownMethod, match=r"gk\.reference\.dijkstra is that algorithm"):
        gk.sssp(CROWD, method="dijkstra")


graphs = st.builds(
    lambda n, arcs, weights, kind: gk.Graph.from_arcs(
        n,
        [u % n for u, _ in arcs],
        [v % n for _, v in arcs],
        np.resize(np.array([*weights, 0], kind), len(arcs)),
    ),
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.lists(st.integers(0, 9), max_size=8),
    st.sampled_from([np.int32, np.int64, np.float32, np.float64]),
)


@pytest.mark.parametrize("shared", [False, True], ids=["one core", "all cores"])
@settings(deadline=None, max_examples=60)
@given(g=graphs)
def test_answers_are_those_of_networkx(shared, g):
    limit = 0 if shared else 2**31
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortest_paths.auto, "ON_ALL_CORES", limit)
        patch.setattr(traversal.auto, "ON_ALL_CORES", limit)
        patch.setattr(all_pairs.auto, "SMALL", limit)
        bfs, sssp = traversal.auto.on_cpu(g, 0), shortest_paths.auto.on_cpu(g, 0)
        hops, far = all_pairs.auto.on_cpu(g, next_hops=True), all_pairs.auto.on_cpu(g)
    known = networkx.MultiDiGraph()
    known.add_nodes_from(range(g.n))
    known.add_weighted_edges_from(zip(*g.coo, g.weights, strict=True))
    levels = networkx.single_source_shortest_path_length(known, 0)
    lengths = dict(networkx.all_pairs_dijkstra_path_length(known))
    none = np.inf if g.weights.dtype.kind == "f" else np.iinfo(g.weights.dtype).max
    every = np.array([[lengths[u].get(v, none) for v in range(g.n)] for u in range(g.n)])
    assert bfs.distance.tolist() == [levels.get(v, -1) for v in range(g.n)]
    assert sssp.distance.dtype == far.distance.dtype == g.weights.dtype
    np.testing.assert_array_equal(sssp.distance, every[0])
    np.testing.assert_array_equal(far.distance, every)
    np.testing.assert_array_equal(hops.distance, every)
    for v in range(g.n):
        path = sssp.path_to(v)
        assert bool(path) == (v in lengths[0]) == bool(hops.path(0, v))
        if path:
            assert path[0] == 0
            assert networkx.path_weight(known, path, "weight") == every[0, v]


def test_streets_and_crowds_are_those_of_scipy(why):
    for g in (gk.random_weights(GRID, seed=1), gk.random_weights(CROWD, seed=1), negative(CROWD)):
        matrix = gk.Graph.from_arcs(g.n, *g.coo, g.weights, parallel="min").to_scipy()
        known = csgraph.bellman_ford(matrix.astype(float), indices=0)
        known = np.where(np.isinf(known), FAR, known)
        np.testing.assert_array_equal(gk.sssp(g).distance, known)
        order = csgraph.breadth_first_order(matrix, 0, return_predecessors=False)
        result = gk.bfs(g)
        assert result.reached == order.size
        assert (np.diff(result.distance[order]) >= 0).all()


@pytest.mark.parametrize("roots", [[], [3], list(range(200))])
def test_many_roots_are_searched_by_all_cores_as_by_one(roots):
    g = gk.random_weights(gk.rmat(8, 8, seed=1), seed=1)
    lengths, levels = gk.sssp_many(g, roots).distance, gk.bfs_many(g, roots).distance
    assert lengths.shape == levels.shape == (len(roots), g.n)
    for row, root in enumerate(roots):
        assert (levels[row] == reference.bfs(g, root).distance).all()
        result = reference.dijkstra(g, root)
        assert (lengths[row] == np.where(result.parent >= 0, result.distance, FAR)).all()
