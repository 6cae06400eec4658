import networkx
import numpy as np
import pytest
from awkward_graphs import AWKWARD, CASES
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

import gpukernels as gk
from gpukernels import reference


def check_parents(g, root, distance, parent):
    """Parents are not unique, so their properties are checked."""
    assert parent[root] == root
    arcs = set(zip(*(end.tolist() for end in g.coo), strict=True))
    for v in np.flatnonzero((distance >= 0) & (np.arange(g.n) != root)).tolist():
        assert distance[v] == distance[parent[v]] + 1
        assert (int(parent[v]), v) in arcs
    assert (parent[distance < 0] == -1).all()


@pytest.mark.parametrize(("name", "root"), CASES)
def test_bfs_agrees_with_scipy_and_networkx_on_awkward_graphs(name, root):
    g = AWKWARD[name]
    result = reference.bfs(g, root)
    oracle = shortest_path(g.to_scipy(), unweighted=True, indices=root)
    oracle = np.where(np.isfinite(oracle), oracle, -1).astype(int)
    np.testing.assert_array_equal(result.distance, oracle)
    lengths = networkx.single_source_shortest_path_length(g.to_networkx(), root)
    assert {v: int(d) for v, d in enumerate(result.distance) if d >= 0} == lengths
    check_parents(g, root, result.distance, result.parent)
    assert result.levels == oracle.max() + 1
    assert result.distance.dtype == result.parent.dtype == np.int32


@examples(60, soak=1200)
@given(
    st.integers(1, 15).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
            st.integers(0, n - 1),
        )
    ),
    st.booleans(),
)
def test_bfs_agrees_with_networkx_on_any_graph(case, directed):
    n, arcs, root = case
    g = gk.Graph.from_arcs(n, [u for u, _ in arcs], [v for _, v in arcs], directed=directed)
    oracle = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    oracle.add_nodes_from(range(n))
    oracle.add_edges_from(arcs)
    lengths = networkx.single_source_shortest_path_length(oracle, root)
    result = reference.bfs(g, root)
    assert result.distance.tolist() == [lengths.get(v, -1) for v in range(n)]
    check_parents(g, root, result.distance, result.parent)


@pytest.mark.parametrize("root", [-1, 3, 2**40])
def test_a_root_that_is_no_vertex_is_refused(root):
    with pytest.raises(gk.VertexOutOfRange, match=f"root = {root}: must be a vertex from 0 to 2"):
        reference.bfs(gk.path(3), root)


def test_a_root_in_a_graph_without_vertices_is_refused():
    with pytest.raises(gk.VertexOutOfRange, match="the graph has no vertices"):
        reference.bfs(AWKWARD["no_vertices"])


@pytest.mark.parametrize("root", [1.0, "1", True, None])
def test_a_root_that_is_no_number_is_refused(root):
    with pytest.raises(gk.InvalidArgument, match="root = "):
        reference.bfs(gk.path(3), root)
