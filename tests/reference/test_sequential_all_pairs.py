"""All pairs on one core, against NetworkX, SciPy, Bellman and Ford, and the definition."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from awkward_graphs import AWKWARD
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

import gpukernels as gk
from gpukernels import reference

INT64_MAX = np.iinfo(np.int64).max
ALGORITHMS = [reference.floyd_warshall, reference.johnson]
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda f: f.__name__)


@every_algorithm
@pytest.mark.parametrize("name", [name for name, g in AWKWARD.items() if g.n <= 70])
@pytest.mark.parametrize("kind", ["none", "int32", "float32"])
def test_each_row_is_that_of_a_search_from_one_root(algorithm, name, kind):
    g = AWKWARD[name]
    if kind != "none":
        weights = np.random.default_rng(g.m).integers(0, 100, g.m).astype(kind)
        g = gk.Graph(g.offsets, g.targets, weights)
    result = algorithm(g)
    assert result.distance.dtype == (np.float64 if kind == "float32" else np.int64)
    for root in range(g.n):
        row = reference.dijkstra(g, root)
        np.testing.assert_array_equal(result.distance[root], row.distance)
        np.testing.assert_array_equal(result.next_hop[root] >= 0, row.parent >= 0)


@st.composite
def weighted_arcs(draw):
    n = draw(st.integers(1, 10))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex, st.integers(-3, 9)), max_size=40))


@every_algorithm
@examples(100, 3_000)
@given(case=weighted_arcs(), dtype=st.sampled_from(["int32", "float32"]))
def test_lengths_paths_and_cycles_agree_with_networkx(algorithm, case, dtype):
    n, arcs = case
    weights = np.array([w for _, _, w in arcs], dtype)
    g = gk.Graph.from_arcs(n, [u for u, _, _ in arcs], [v for _, v, _ in arcs], weights)
    oracle = networkx.DiGraph()
    oracle.add_nodes_from(range(n))
    for u, v, w in arcs:
        oracle.add_edge(u, v, weight=min(w, oracle.get_edge_data(u, v, {"weight": w})["weight"]))
    if networkx.negative_edge_cycle(oracle):
        with pytest.raises(gk.NegativeCycleError) as caught:
            algorithm(g)
        assert networkx.path_weight(oracle, [*caught.value.cycle, caught.value.cycle[0]],
                                    "weight") < 0  # fmt: skip
        return
    result = algorithm(g)
    for i in range(n):
        lengths = networkx.single_source_bellman_ford_path_length(oracle, i)
        for j in range(n):
            path = result.path(i, j)
            if j not in lengths:
                assert path == []
                assert result.distance[i, j] in (INT64_MAX, np.inf)
                continue
            assert (path[0], path[-1]) == (i, j)
            assert result.distance[i, j] == lengths[j]
            assert networkx.path_weight(oracle, path, "weight") == lengths[j]


@every_algorithm
def test_sums_beyond_int32_are_exact(algorithm):
    n, w = 6, 2**31 - 1
    g = gk.Graph.from_arcs(n, range(n - 1), range(1, n), [w] * (n - 1))
    assert algorithm(g).distance[0].tolist() == [w * v for v in range(n)]


@every_algorithm
def test_distances_do_not_double_around_negative_cycles(algorithm):
    g = gk.complete(200)
    g = gk.Graph(g.offsets, g.targets, np.full(g.m, -(2**31), np.int32))
    with pytest.raises(gk.NegativeCycleError):
        algorithm(g)


def test_operations_are_those_of_rows_that_reach_the_pivot():
    assert reference.floyd_warshall(gk.complete(5)).operations == 5**3
    assert reference.floyd_warshall(gk.Graph([0, 0, 0, 0], [])).operations == 3 * 3


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_johnson_agrees_with_scipy_where_weights_are_negative(kind):
    g = gk.rmat(6, 5, seed=8, parallel="min")
    rng = np.random.default_rng(1)
    height, (source, target) = rng.integers(0, 200, g.n), g.coo
    weights = rng.integers(1, 100, g.m) + height[source] - height[target]
    g = gk.Graph(g.offsets, g.targets, weights.astype(kind))
    assert (g.weights < 0).any()
    expected = csgraph.johnson(csgraph.csgraph_from_dense(g.dense(np.inf), null_value=np.inf))
    result = reference.johnson(g)
    joined = np.isfinite(expected)
    np.testing.assert_array_equal(result.next_hop >= 0, joined)
    np.testing.assert_array_equal(result.distance[joined], expected[joined])
    np.testing.assert_array_equal(result.distance, reference.floyd_warshall(g).distance)


def test_a_weight_that_vanishes_beside_a_height_still_counts():
    # The arc of -1e30 gives vertices 1 to 3 heights in which weights of 1 and 5 are rounded away.
    g = gk.Graph.from_arcs(4, [0, 1, 1, 2], [1, 3, 2, 3], np.float32([-1e30, 5, 1, 1]))
    result = reference.johnson(g)
    assert result.distance[1].tolist() == [np.inf, 0, 1, 2]
    assert result.path(1, 3) == [1, 2, 3]
    for arcs in ([(1, 2, 1), (2, 1, -3)], [(2, 2, -3)]):
        u, v, w = zip((0, 2, -1e30), *arcs, strict=True)
        with pytest.raises(gk.NegativeCycleError) as caught:
            reference.johnson(gk.Graph.from_arcs(3, u, v, np.float32(w)))
        assert sorted(caught.value.cycle) == sorted({u for u, *_ in arcs})


def test_johnson_refuses_distances_that_rounding_makes_smaller_than_any_path():
    # In float64 2^53 + 1 is 2^53, so that the way 1 -> 2 -> 1 of length 0 seems to save 1.
    g = gk.Graph.from_arcs(3, [0, 1, 2], [1, 2, 1], np.float32([2**53, 1, -1]))
    with pytest.raises(gk.RoundingError, match="float64"):
        reference.johnson(g)


def test_johnson_forms_the_sums_of_a_search_from_each_root():
    g = gk.random_weights(gk.rmat(6, 4, seed=2), low=0, high=9, seed=1)
    rows = sum(reference.dijkstra(g, root).relaxations for root in range(g.n))
    assert reference.johnson(g).operations == rows
    g = gk.Graph.from_arcs(3, [0, 1], [1, 2], [4, -1])
    # Heights: 3 arcs from the vertex before all, 2 from the graph. Rows: 2, 1 and 0.
    assert reference.johnson(g).operations == 5 + 3


@every_algorithm
@pytest.mark.parametrize("g", [None, [[0, 1], [1, 0]], gk.path(32_769)], ids=str)
def test_what_is_no_graph_or_too_large_is_refused(algorithm, g):
    with pytest.raises(gk.InvalidArgument, match=r"^g"):
        algorithm(g)


@every_algorithm
def test_a_path_to_what_is_no_vertex_is_refused(algorithm):
    with pytest.raises(gk.VertexOutOfRange, match="j = 3"):
        algorithm(gk.path(3)).path(0, 3)
