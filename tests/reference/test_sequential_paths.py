"""Dijkstra's and Bellman and Ford's algorithms against NetworkX, SciPy and the definition."""

from __future__ import annotations

import math

import networkx
import numpy as np
import pytest
from awkward_graphs import AWKWARD, CASES
from effort import every_pair, examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path

import gpukernels as gk
from gpukernels import reference

INT64_MAX = np.iinfo(np.int64).max
ALL = [reference.dijkstra, reference.bellman_ford_queue, reference.bellman_ford]
ANY_SIGN = ALL[1:]


def weighted(g: gk.Graph, weights) -> gk.Graph:
    return gk.Graph(g.offsets, g.targets, weights)


def check_definition(g: gk.Graph, root: int, result) -> None:
    """No arc relaxes any more, and every parent's arc is tight: so distances are shortest."""
    source, target = g.coo
    weights = (
        np.ones(g.m, np.int64) if g.weights is None else g.weights.astype(result.distance.dtype)
    )
    reached = result.parent >= 0
    assert reached[root]
    assert result.parent[root] == root
    assert result.distance[root] == 0
    leads = reached[source]
    assert reached[target[leads]].all()
    lengths = result.distance[source[leads]] + weights[leads]
    assert (result.distance[target[leads]] <= lengths).all()
    nothing = np.inf if result.distance.dtype == float else INT64_MAX
    assert (result.distance[~reached] == nothing).all()
    tight = lengths == result.distance[target[leads]]
    arcs = set(zip(source[leads][tight].tolist(), target[leads][tight].tolist(), strict=True))
    for v in np.flatnonzero(reached & (np.arange(g.n) != root)).tolist():
        assert (int(result.parent[v]), v) in arcs
        path = result.path_to(v)
        assert (path[0], path[-1]) == (root, v)
        assert len(set(path)) == len(path)


@pytest.mark.parametrize(
    ("case", "method", "kind"), every_pair(CASES, ALL, ["none", "int32", "float32"])
)
def test_distances_agree_with_scipy_and_the_definition(case, method, kind):
    name, root = case
    g = AWKWARD[name]
    if kind != "none":
        rng = np.random.default_rng(g.m)
        g = weighted(g, rng.integers(1, 100, g.m).astype(kind))
    result = method(g, root)
    matrix = csgraph_from_dense(g.dense(np.nan).astype(float), null_value=np.nan)
    oracle = shortest_path(matrix, indices=root)
    assert result.distance.dtype == (np.float64 if kind == "float32" else np.int64)
    reached = np.isfinite(oracle)
    np.testing.assert_array_equal(result.parent >= 0, reached)
    np.testing.assert_array_equal(result.distance[reached], oracle[reached])
    check_definition(g, root, result)


@st.composite
def weighted_arcs(draw, low, high):
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(low, high)), max_size=40))
    return n, arcs, draw(vertex)


def graphs_of(n, arcs, dtype):
    ends = [[u for u, _, _ in arcs], [v for _, v, _ in arcs]]
    g = gk.Graph.from_arcs(n, *ends, np.array([w for _, _, w in arcs], dtype))
    oracle = networkx.MultiDiGraph()
    oracle.add_nodes_from(range(n))
    oracle.add_weighted_edges_from(arcs)
    return g, oracle


@examples(60, 2_000)
@given(weighted_arcs(0, 9), st.sampled_from(["int32", "float32"]))
def test_zeros_loops_and_parallel_arcs_agree_with_networkx(case, dtype):
    n, arcs, root = case
    g, oracle = graphs_of(n, arcs, dtype)
    lengths = networkx.single_source_dijkstra_path_length(oracle, root)
    for method in ALL:
        result = method(g, root)
        assert {v: d for v, d in enumerate(result.distance.tolist()) if result.parent[v] >= 0} == (
            lengths
        )
        check_definition(g, root, result)


@examples(150, 5_000)
@given(weighted_arcs(-3, 9), st.sampled_from(["int32", "float32"]))
def test_negative_weights_and_cycles_agree_with_networkx(case, dtype):
    n, arcs, root = case
    g, oracle = graphs_of(n, arcs, dtype)
    try:
        lengths = networkx.single_source_bellman_ford_path_length(oracle, root)
    except networkx.NetworkXUnbounded:
        lengths = None
    for method in ANY_SIGN:
        if lengths is None:
            with pytest.raises(gk.NegativeCycleError) as caught:
                method(g, root)
            check_cycle(g, root, caught.value.cycle)
            continue
        result = method(g, root)
        assert {
            v: d for v, d in enumerate(result.distance.tolist()) if result.parent[v] >= 0
        } == dict(lengths)
        check_definition(g, root, result)


def check_cycle(g: gk.Graph, root: int, cycle: list[int]) -> None:
    """It is a cycle, of negative length, and the root leads there."""
    assert len(set(cycle)) == len(cycle)
    matrix = {}
    source, target = g.coo
    for u, v, w in zip(source.tolist(), target.tolist(), g.weights.tolist(), strict=True):
        matrix[u, v] = min(w, matrix.get((u, v), math.inf))
    assert sum(matrix[arc] for arc in zip(cycle, cycle[1:] + cycle[:1], strict=True)) < 0
    assert reference.bfs(g, root).distance[cycle[0]] >= 0


@pytest.mark.parametrize("method", ANY_SIGN)
def test_a_negative_cycle_out_of_reach_is_none(method):
    g = gk.Graph.from_arcs(4, [0, 2, 3], [1, 3, 2], [5, -1, -1])
    assert method(g, 0).distance.tolist() == [0, 5, INT64_MAX, INT64_MAX]


@pytest.mark.parametrize("method", ANY_SIGN)
@pytest.mark.parametrize("root", [0, 1])
def test_a_negative_self_loop_is_a_negative_cycle(method, root):
    g = gk.Graph.from_arcs(2, [0, 1], [1, 1], [5, -1])
    with pytest.raises(gk.NegativeCycleError, match="negative cycle: 1 -> 1"):
        method(g, root)


@pytest.mark.parametrize("method", ANY_SIGN)
def test_a_long_negative_cycle_is_found_whole(method):
    n = 2_000
    weights = np.ones(n, np.int32)
    weights[7] = -n
    g = gk.Graph.from_arcs(n, range(n), [*range(1, n), 0], weights)
    with pytest.raises(gk.NegativeCycleError) as caught:
        method(g, 5)
    assert sorted(caught.value.cycle) == [*range(n)]


@pytest.mark.parametrize("method", ALL)
def test_sums_beyond_int32_are_exact(method):
    n, w = 6, 2**31 - 1
    g = gk.Graph.from_arcs(n, range(n - 1), range(1, n), [w] * (n - 1))
    assert method(g).distance.tolist() == [w * v for v in range(n)]


def test_dijkstra_refuses_negative_weights_by_arc():
    g = gk.Graph.from_arcs(3, [0, 0, 1], [1, 2, 2], [1, 4, -2])
    with pytest.raises(gk.NegativeWeightError, match="arc 1 -> 2 weighs -2; methods that allow"):
        reference.dijkstra(g)


def test_dijkstra_relaxes_each_reached_arc_once_and_the_others_more():
    g = gk.random_weights(gk.rmat(8, 8, seed=1), seed=2)
    counts = [method(g) for method in ALL]
    reached = counts[0].parent >= 0
    arcs = int(np.diff(g.offsets)[reached].sum())
    assert counts[0].relaxations == arcs
    assert counts[0].enqueues == counts[0].iterations == reached.sum()
    assert counts[2].relaxations > counts[1].relaxations > arcs
    assert counts[1].enqueues == counts[1].iterations


def test_relaxations_of_rounds_follow_from_the_order():
    # Against the order of the vertices a round brings one vertex nearer.
    n = 20
    g = gk.Graph.from_arcs(n, range(1, n), range(n - 1), [1] * (n - 1))
    result = reference.bellman_ford(g, n - 1)
    assert result.iterations == n
    assert result.improvements == n - 1
    forward = reference.bellman_ford(gk.Graph.from_arcs(n, range(n - 1), range(1, n)), 0)
    assert (forward.iterations, forward.relaxations) == (2, 2 * (n - 1))


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("root", [-1, 3, 2**40, 1.0, True])
def test_a_root_that_is_no_vertex_is_refused(method, root):
    with pytest.raises((gk.VertexOutOfRange, gk.InvalidArgument), match="root = "):
        method(gk.path(3), root)


def test_a_path_to_what_is_no_vertex_is_refused():
    result = reference.dijkstra(gk.path(3))
    assert result.path_to(2) == [0, 1, 2]
    with pytest.raises(gk.VertexOutOfRange, match="v = 3"):
        result.path_to(3)
