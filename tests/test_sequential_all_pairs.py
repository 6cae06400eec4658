"""Three plain loops for all pairs, against NetworkX, Bellman and Ford, and the definition."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from awkward_graphs import AWKWARD
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

import gpukernels as gk
from gpukernels import sequential

INT64_MAX = np.iinfo(np.int64).max


@pytest.mark.parametrize("name", [name for name, g in AWKWARD.items() if g.n <= 70])
@pytest.mark.parametrize("kind", ["none", "int32", "float32"])
def test_each_row_is_that_of_a_search_from_one_root(name, kind):
    g = AWKWARD[name]
    if kind != "none":
        weights = np.random.default_rng(g.m).integers(0, 100, g.m).astype(kind)
        g = gk.Graph(g.offsets, g.targets, weights)
    found = sequential.floyd_warshall(g)
    assert found.distance.dtype == (np.float64 if kind == "float32" else np.int64)
    for root in range(g.n):
        row = sequential.dijkstra(g, root)
        np.testing.assert_array_equal(found.distance[root], row.distance)
        np.testing.assert_array_equal(found.next_hop[root] >= 0, row.parent >= 0)


@st.composite
def weighted_arcs(draw):
    n = draw(st.integers(1, 10))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex, st.integers(-3, 9)), max_size=40))


@examples(100, 3_000)
@given(weighted_arcs(), st.sampled_from(["int32", "float32"]))
def test_lengths_paths_and_cycles_agree_with_networkx(case, dtype):
    n, arcs = case
    weights = np.array([w for _, _, w in arcs], dtype)
    g = gk.Graph.from_arcs(n, [u for u, _, _ in arcs], [v for _, v, _ in arcs], weights)
    oracle = networkx.DiGraph()
    oracle.add_nodes_from(range(n))
    for u, v, w in arcs:
        oracle.add_edge(u, v, weight=min(w, oracle.get_edge_data(u, v, {"weight": w})["weight"]))
    if networkx.negative_edge_cycle(oracle):
        with pytest.raises(gk.NegativeCycleError) as caught:
            sequential.floyd_warshall(g)
        assert networkx.path_weight(oracle, [*caught.value.cycle, caught.value.cycle[0]],
                                    "weight") < 0  # fmt: skip
        return
    found = sequential.floyd_warshall(g)
    for i in range(n):
        lengths = networkx.single_source_bellman_ford_path_length(oracle, i)
        for j in range(n):
            path = found.path(i, j)
            if j not in lengths:
                assert path == []
                assert found.distance[i, j] in (INT64_MAX, np.inf)
                continue
            assert (path[0], path[-1]) == (i, j)
            assert found.distance[i, j] == lengths[j]
            assert networkx.path_weight(oracle, path, "weight") == lengths[j]


def test_sums_beyond_int32_are_exact():
    n, w = 6, 2**31 - 1
    g = gk.Graph.from_arcs(n, range(n - 1), range(1, n), [w] * (n - 1))
    assert sequential.floyd_warshall(g).distance[0].tolist() == [w * v for v in range(n)]


def test_distances_do_not_double_around_negative_cycles():
    g = gk.complete(200)
    g = gk.Graph(g.offsets, g.targets, np.full(g.m, -(2**31), np.int32))
    with pytest.raises(gk.NegativeCycleError):
        sequential.floyd_warshall(g)


def test_operations_are_those_of_rows_that_reach_the_pivot():
    assert sequential.floyd_warshall(gk.complete(5)).operations == 5**3
    assert sequential.floyd_warshall(gk.Graph([0, 0, 0, 0], [])).operations == 3 * 3


@pytest.mark.parametrize("g", [None, [[0, 1], [1, 0]], gk.path(32_769)], ids=str)
def test_what_is_no_graph_or_too_large_is_refused(g):
    with pytest.raises(gk.InvalidArgument, match=r"^g"):
        sequential.floyd_warshall(g)


def test_a_path_to_what_is_no_vertex_is_refused():
    with pytest.raises(gk.VertexOutOfRange, match="j = 3"):
        sequential.floyd_warshall(gk.path(3)).path(0, 3)
