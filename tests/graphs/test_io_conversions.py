from fractions import Fraction

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import gpukernels as gk


def arcs_of(g):
    source, target = g.coo
    weights = [None] * g.m if g.weights is None else g.weights.tolist()
    return list(zip(source.tolist(), target.tolist(), weights, strict=True))


def test_duplicate_entries_of_a_matrix_take_the_minimum():
    entries = (np.array([7, 3, 5]), (np.array([0, 0, 1]), np.array([1, 1, 0])))
    matrix = sparse.coo_array(entries, shape=(2, 2))
    assert arcs_of(gk.from_scipy(matrix)) == [(0, 1, 3), (1, 0, 5)]
    assert gk.from_scipy(matrix, parallel="keep").m == 3
    assert matrix.nnz == 3, "the matrix is left as it was"
    uncanonical = sparse.csr_array((np.array([7, 3]), np.array([1, 1]), np.array([0, 2, 2])))
    assert arcs_of(gk.from_scipy(uncanonical)) == [(0, 1, 3)]


def test_summing_duplicates_would_have_given_other_distances():
    ends = np.array([[0, 0, 1], [1, 1, 2]], dtype=np.int32)
    entries = (np.array([4.0, 6.0, 5.0]), tuple(ends))
    matrix = sparse.coo_array(entries, shape=(3, 3))
    right = dijkstra(gk.from_scipy(matrix).to_scipy(), indices=0)
    assert right.tolist() == [0, 4, 9]
    assert dijkstra(matrix.tocsr(), indices=0).tolist() == [0, 10, 15]


def test_one_triangle_or_both_make_the_same_undirected_graph():
    lower = sparse.csr_array(np.array([[0, 0, 0], [5, 8, 0], [0, 2, 0]]))
    both = sparse.csr_array(np.array([[0, 5, 0], [5, 8, 2], [0, 2, 0]]))
    expected = [(0, 1, 5), (1, 0, 5), (1, 1, 8), (1, 2, 2), (2, 1, 2)]
    for matrix in (lower, both):
        g = gk.from_scipy(matrix, directed=False)
        assert arcs_of(g) == expected
        assert not g.directed
    assert gk.from_scipy(both, self_loops="remove").m == 4


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_every_layout_gives_the_same_graph(layout, kind):
    matrix = kind(np.array([[0, 1.5, 0], [0, 0, 2.5], [0, 0, 0]])).asformat(layout)
    assert arcs_of(gk.from_scipy(matrix)) == [(0, 1, 1.5), (1, 2, 2.5)]


def test_stored_zeros_are_arcs_and_booleans_are_no_weights():
    zero = sparse.csr_array((np.array([0]), np.array([1]), np.array([0, 1, 1])), shape=(2, 2))
    assert arcs_of(gk.from_scipy(zero)) == [(0, 1, 0)]
    assert arcs_of(gk.from_scipy(zero.astype(bool))) == [(0, 1, None)]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "matrix = 'ndarray': must be a SciPy sparse"),
        (sparse.csr_array((2, 3)), r"matrix.shape = \(2, 3\): must be square"),
        (sparse.csr_array(np.array([[np.nan]])), r"weight\[0\] = nan"),
        (sparse.csr_array(np.array([[1j]])), "weight.dtype = 'complex128'"),
        (sparse.csr_array(np.array([[2**63]])), r"weight\[0\] = 9223372036854775808"),
    ],
)
def test_matrices_that_are_no_graph_are_refused(matrix, message):
    with pytest.raises(gk.InvalidArgument, match=message):
        gk.from_scipy(matrix)


def test_nodes_become_labels_in_their_order():
    graph = networkx.Graph([("b", "a"), ("a", (1, 2))])
    g = gk.from_networkx(graph)
    assert g.labels.tolist() == ["b", "a", (1, 2)]
    assert arcs_of(g) == [(0, 1, None), (1, 0, None), (1, 2, None), (2, 1, None)]
    assert not g.directed
    assert gk.from_networkx(networkx.path_graph(3)).labels is None
    assert gk.from_networkx(networkx.Graph([(2, 0)])).labels.tolist() == [2, 0]
    assert g.to_networkx().nodes[2]["label"] == (1, 2)


def test_parallel_edges_of_a_multigraph_take_the_minimum_or_stay():
    graph = networkx.MultiDiGraph()
    graph.add_weighted_edges_from([(0, 1, 5), (0, 1, 2), (1, 1, 0)])
    assert arcs_of(gk.from_networkx(graph)) == [(0, 1, 2), (1, 1, 0)]
    kept = gk.from_networkx(graph, parallel="keep")
    assert sorted(arcs_of(kept)) == [(0, 1, 2), (0, 1, 5), (1, 1, 0)]
    assert isinstance(kept.to_networkx(), networkx.MultiDiGraph)
    assert gk.from_networkx(graph, self_loops="remove").m == 1


def test_weights_are_whole_only_if_all_are():
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 5), (1, 2, np.int64(7))])
    assert gk.from_networkx(graph).weights.dtype == np.int32
    graph.add_edge(2, 0, weight=0.5)
    assert gk.from_networkx(graph).weights.tolist() == [5, 7, 0.5]
    graph.add_edge(2, 0, weight=2**31)
    assert gk.from_networkx(graph).weights.dtype == np.int64
    assert gk.from_networkx(graph, weight=None).weights is None
    assert gk.from_networkx(graph, weight="capacity").weights is None


@pytest.mark.parametrize(
    "weights", [[2**63, 1], [1, -(2**63) - 1], [2**53 + 1, 0.5], [Fraction(1, 10**400), 1]]
)
def test_a_weight_that_would_be_rounded_is_refused_with_its_edge(weights):
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from((u, u + 1, weight) for u, weight in enumerate(weights))
    with pytest.raises(gk.InvalidArgument, match=r"'weight' of edge \d -> \d = ") as caught:
        gk.from_networkx(graph)
    assert caught.value.value in weights


@pytest.mark.parametrize("weight", [None, "far", float("nan"), float("inf"), 1j])
def test_a_weight_that_is_none_is_refused_with_its_edge(weight):
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 5), ("b", "c", weight)])
    with pytest.raises(gk.InvalidArgument, match="'weight' of edge 'b' -> 'c' = ") as caught:
        gk.from_networkx(graph)
    assert caught.value.value is weight


def test_empty_graphs_convert():
    assert gk.from_networkx(networkx.Graph()).n == 0
    assert gk.from_networkx(networkx.empty_graph(3)).n == 3
    assert gk.from_scipy(sparse.csr_array((3, 3))).m == 0
    assert gk.from_scipy(sparse.coo_array((0, 0))).n == 0
    assert gk.Graph([0], []).to_networkx().number_of_nodes() == 0
