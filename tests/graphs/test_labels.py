"""Vertices by label: at the face of every call, in its answers and in its errors."""

import pickle

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import gpukernels as gk

ARCS = [(0, 1, 4), (0, 2, 1), (2, 1, 1), (1, 3, 2), (5, 0, 1)]
NAMES = {
    "texts": ["Ulm", "Bonn", "Kiel", "Trier", "Hof", "Jena"],
    "ids, rising": [1, 3, 7, 9, 10, 400],
    "ids, in any order": [300, -5, 7, 0, 2**62, 12],
    "objects": ["a", 1, (1, 2), None, 2.5, frozenset("x")],
}
#: Calls with one root, and calls with several roots.
ONE = {
    "bfs": gk.bfs,
    "bfs on the machine": lambda g, *root: gk.bfs(g, *root, "frontier", gk.SimtDevice()),
    "sssp": gk.sssp,
    "reference.bfs": gk.reference.bfs,
    "reference.dijkstra": gk.reference.dijkstra,
    "reference.bellman_ford": gk.reference.bellman_ford,
    "reference.bellman_ford_queue": gk.reference.bellman_ford_queue,
}
MANY = {"bfs_many": gk.bfs_many, "sssp_many": gk.sssp_many}


def named(names):
    """Return the graph of `ARCS`, labeled and not; labels as an array, tuples among them too."""
    labels = np.empty(len(names), object)
    labels[:] = names
    if all(isinstance(name, int) for name in names):
        labels = labels.astype(np.int64)
    source, target, weight = zip(*ARCS, strict=True)
    g = gk.Graph.from_arcs(6, source, target, weight, labels=labels)
    return g, gk.Graph.from_arcs(6, source, target, weight)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
def test_a_root_is_a_label_and_arrays_stay_by_position(call, names):
    g, plain = named(names)
    for position, label in enumerate(names):
        np.testing.assert_array_equal(call(g, label).distance, call(plain, position).distance)
    np.testing.assert_array_equal(call(g.unlabeled, 2).distance, call(plain, 2).distance)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("call", MANY.values(), ids=MANY)
def test_roots_are_labels(call, names):
    g, plain = named(names)
    result = call(g, [names[5], names[2], names[5]])
    np.testing.assert_array_equal(result.distance, call(plain, [5, 2, 5]).distance)
    assert result.roots.tolist() == [5, 2, 5]
    assert call(g, roots=[]).distance.shape == (0, 6)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_answers_about_vertices_are_by_label(names):
    g, _ = named(names)
    ulm, bonn, kiel, trier, hof, jena = names
    r = gk.sssp(g, jena)
    assert r.path_to(trier) == [jena, ulm, kiel, bonn, trier]
    assert (r.distance_to(trier), r.distance_to(hof)) == (5, np.inf)
    assert r.to_dict() == {jena: 0, ulm: 1, kiel: 2, bonn: 3, trier: 5}
    assert gk.bfs(g, jena).path_to(trier) == [jena, ulm, bonn, trier]
    pairs = gk.apsp(g, next_hops=True)
    assert pairs.path(ulm, trier) == [ulm, kiel, bonn, trier]
    assert pairs.path(trier, ulm) == []
    assert [g.position_of(name) for name in names] == list(range(6))
    assert pickle.loads(pickle.dumps(r)).path_to(bonn) == [jena, ulm, kiel, bonn]


def test_a_root_that_is_left_out_is_the_first_vertex():
    g, plain = named(NAMES["texts"])
    for call in ONE.values():
        root = () if call is not ONE["bfs on the machine"] else ("Ulm",)
        np.testing.assert_array_equal(call(g, *root).distance, call(plain, 0).distance)


@pytest.mark.parametrize("wrong", ["Berlin", 2, 7, -1, True, 1.0, None, [1], 2**70, np.nan])
def test_no_label_is_refused_with_the_vertex_of_that_position(wrong):
    for names in (NAMES["texts"], [*NAMES["ids, in any order"][1:], 77]):
        g, _ = named(names)
        if wrong in names:
            continue
        for name, call in (("root", lambda g: gk.bfs(g, wrong)), ("v", gk.bfs(g).path_to)):
            with pytest.raises(gk.InvalidArgument) as caught:
                call(g if name == "root" else wrong)
            assert caught.value.argument == name
            first = ", ".join(map(repr, names[:3]))
            assert f"must be a label of the graph, such as {first}" in str(caught.value)
            assert (f"position 2 has the label {names[2]!r}" in str(caught.value)) == (wrong == 2)
        with pytest.raises(gk.InvalidArgument, match=r"roots\[1\]"):
            gk.sssp_many(g, [names[0], wrong])


def test_roots_in_no_row_are_refused():
    g, _ = named(NAMES["texts"])
    for wrong in ("Ulm", 3, None):
        with pytest.raises(gk.InvalidArgument, match="labels in a row"):
            gk.bfs_many(g, wrong)


def test_labels_that_are_alike_or_cannot_be_hashed_are_refused():
    listed = np.empty(2, object)
    listed[:] = [[1], [2]]
    for labels in (["x", "x"], [3, 3], [5, 5.0], listed):
        with pytest.raises(gk.InvalidArgument, match="labels"):
            gk.Graph([0, 0, 0], [], labels=labels)


@pytest.mark.parametrize("search", ["auto", "harish", "topology_driven", "workfront_sweep", "hbf"])
def test_errors_name_vertices_by_label(search):
    g = gk.Graph.from_arcs(None, ["a", "b", "c"], ["b", "c", "a"], [1, 1, -5])
    calls = [lambda: gk.sssp(g, "a", search), lambda: gk.apsp(g), lambda: gk.sssp_many(g, ["b"])]
    for call in calls:
        with pytest.raises(gk.NegativeCycleError) as caught:
            call()
        assert sorted(caught.value.cycle) == ["a", "b", "c"]
        assert pickle.loads(pickle.dumps(caught.value)).cycle == caught.value.cycle
    with pytest.raises(gk.NegativeWeightError, match="arc c -> a weighs -5"):
        gk.sssp(g, "a", "near_far")
    rounded = gk.Graph.from_arcs(None, ["a", "b", "c"], ["b", "c", "b"], [2.0**24, 1, -1])
    with pytest.raises(gk.RoundingError, match="vertex b is not known"):
        gk.sssp(rounded, "a", "topology_driven")
    far = gk.Graph.from_arcs(None, ["a", "b"], ["b", "c"], [2**31 - 2, 2])
    with pytest.raises(gk.LengthOverflow, match="from vertex a is longer than int32"):
        gk.sssp(far, "a", "hbf")
    with pytest.raises(gk.LengthOverflow, match="from vertex a to b is longer than int32"):
        gk.apsp(far, "blocked")


# -- graphs of other libraries ---------------------------------------------------------------------


def test_calls_take_a_networkx_graph_by_its_nodes():
    graph = networkx.grid_2d_graph(4, 5)
    lengths = networkx.single_source_shortest_path_length(graph, (1, 2))
    assert gk.bfs(graph, (1, 2)).to_dict() == lengths
    assert gk.sssp(graph, (1, 2)).to_dict() == lengths
    distances = gk.reference.bfs(graph, (1, 2)).distance
    assert dict(zip(graph, distances.tolist(), strict=True)) == lengths
    pairs = gk.apsp(graph, next_hops=True)
    assert len(pairs.path((0, 0), (3, 4))) == 8
    graph.add_edge((0, 0), (3, 4), weight="no number")  # which a search by levels does not look at
    assert gk.bfs(graph, (0, 0)).distance_to((3, 4)) == 1
    with pytest.raises(gk.InvalidArgument, match="a finite real number"):
        gk.sssp(graph, (0, 0))


def test_calls_take_a_scipy_matrix_by_position():
    matrix = sparse.csr_array(np.array([[0, 2, 0], [0, 0, 3], [0, 0, 0]]))
    for layout in ("csr", "csc", "coo"):
        given = matrix.asformat(layout)
        assert gk.sssp(given, 1).to_dict() == {1: 0, 2: 3}
        assert gk.bfs_many(given, [0]).distance.tolist() == [[0, 1, 2]]
        np.testing.assert_array_equal(
            gk.apsp(given).distance, gk.apsp(gk.from_scipy(matrix)).distance
        )
    assert gk.reference.floyd_warshall(matrix).distance[0, 2] == 5
    assert gk.tune_bfs4k(matrix)["threads"] > 0
    assert gk.random_weights(matrix, 1, 9).m == 2


# -- columns of labels -----------------------------------------------------------------------------


class Column:
    """An object that becomes an array on demand, like the columns of Polars and Arrow."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype or object)


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30))
def test_columns_of_texts_are_labels_in_order(arcs):
    source, target = [u for u, _ in arcs], [v for _, v in arcs]
    g = gk.Graph.from_arcs(None, source, target)
    labels = sorted({*source, *target})
    assert g.n == len(labels)
    assert (g.labels.tolist() if labels else []) == labels
    u, v = g.coo
    assert sorted(zip(g.labels[u], g.labels[v], strict=True) if arcs else []) == sorted(arcs)
    same = gk.Graph.from_arcs(None, Column(source), Column(target))
    np.testing.assert_array_equal(same.targets, g.targets)


def test_columns_of_whole_numbers_are_labels_with_n_none():
    g = gk.Graph.from_arcs(None, [0, 1, 3, 7], [1, 3, 7, 9])
    assert g.labels.tolist() == [0, 1, 3, 7, 9]
    assert gk.bfs(g, 3).to_dict() == {3: 0, 7: 1, 9: 2}
    assert gk.Graph.from_arcs(None, [0, 1], [1, 2]).labels is None


@pytest.mark.parametrize(
    ("source", "target", "named"),
    [
        (["a", None], ["b", "c"], r"source\[1\] = None"),
        (["a"], [1], "target = .*texts"),
        ([1], ["a"], "target = .*whole numbers"),
        ([1.5], [2.5], r"source\[0\] = 1.5"),
        ([["a"]], [["b"]], "source.shape"),
        (["a", "b"], ["c"], r"len\(target\)"),
        (np.array([2**63], np.uint64), [1], r"max\(source\)"),
    ],
)
def test_what_is_no_column_of_labels_is_refused(source, target, named):
    with pytest.raises(gk.InvalidArgument, match=named):
        gk.Graph.from_arcs(None, source, target)


def test_texts_as_positions_are_pointed_to_n_none():
    with pytest.raises(gk.InvalidArgument, match="columns of labels with n=None"):
        gk.Graph.from_arcs(3, ["a"], ["b"])
    with pytest.raises(gk.InvalidArgument, match="None with n=None"):
        gk.Graph.from_arcs(None, ["a"], ["b"], labels=["a", "b"])
