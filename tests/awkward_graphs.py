"""Graphs that break careless code, shared by the tests of all techniques.

``AWKWARD`` maps a name to a graph and ``CASES`` lists every (name, root) worth starting from:

    @pytest.mark.parametrize(("name", "root"), CASES)
    def test_distances(name, root):
        g = AWKWARD[name]
"""

import numpy as np

import gpukernels as gk


def _bipartite(left, right):
    source = np.repeat(np.arange(left), right)
    target = left + np.tile(np.arange(right), left)
    return gk.Graph.from_arcs(left + right, source, target, directed=False)


def _one_way_tree(depth):
    vertex = np.arange(1, 2**depth - 1)
    return gk.Graph.from_arcs(2**depth - 1, (vertex - 1) // 2, vertex)


def _unsorted_rows():
    return gk.Graph([0, 3, 5, 6, 6, 8], [4, 1, 2, 3, 0, 4, 3, 1])


AWKWARD = {
    "no_vertices": gk.Graph([0], []),
    "one_vertex": gk.Graph([0, 0], []),
    "one_vertex_with_loop": gk.Graph([0, 1], [0]),
    "two_vertices_no_arc": gk.Graph([0, 0, 0], []),
    "one_arc": gk.Graph.from_arcs(2, [0], [1]),
    "arc_against_the_ids": gk.Graph.from_arcs(2, [1], [0]),
    "only_self_loops": gk.Graph.from_arcs(5, range(5), range(5)),
    "self_loops_among_arcs": gk.Graph.from_arcs(
        6, [0, 0, 1, 1, 2, 3, 3, 5], [0, 1, 1, 2, 2, 3, 4, 5]
    ),
    "parallel_arcs": gk.Graph.from_arcs(
        5, [0, 0, 0, 0, 1, 1, 2, 2, 3], [1, 1, 1, 2, 3, 3, 3, 3, 0]
    ),
    "parallel_edges": gk.Graph.from_arcs(4, [0, 0, 0, 1, 1, 2], [1, 1, 1, 2, 2, 3], directed=False),
    "unsorted_rows": _unsorted_rows(),
    "disconnected": gk.Graph.from_arcs(9, [0, 1, 3, 4, 5], [1, 2, 4, 5, 3], directed=False),
    "isolated_vertices_between": gk.Graph.from_arcs(70, [1, 33, 65], [33, 65, 1]),
    "directed_cycle": gk.Graph.from_arcs(33, range(33), [*range(1, 33), 0]),
    "directed_path_backwards": gk.Graph.from_arcs(40, range(1, 40), range(39)),
    "path": gk.path(70),
    "star": gk.star(300),
    "star_towards_the_hub": gk.Graph.from_arcs(300, range(1, 300), [0] * 299),
    "star_degree_32": gk.star(33),
    "complete": gk.complete(40),
    "bipartite": _bipartite(7, 45),
    "binary_tree": _one_way_tree(8),
    "example": gk.example(),
    "rmat": gk.rmat(8, 8, seed=1),
    "kron": gk.kron(8, 8, seed=2),
    "erdos_renyi": gk.erdos_renyi(257, 3.0, seed=3, directed=True),
    "small_world": gk.small_world(128, 4, 0.1, seed=4),
    "forest_fire": gk.forest_fire(200, 0.35, seed=5, directed=False),
    "delaunay": gk.delaunay(150, seed=6),
    "road_grid": gk.road_grid(16, 24, seed=7),
}


def roots(g: gk.Graph) -> list[int]:
    """Return the first and last vertex, one of highest degree and one of degree 0, each once."""
    if g.n == 0:
        return []
    chosen = [0, g.n - 1, int(np.argmax(g.out_degree))]
    chosen += np.flatnonzero(g.out_degree == 0)[:1].tolist()
    return sorted(set(chosen))


CASES = [(name, root) for name, g in AWKWARD.items() for root in roots(g)]
#: The kinds of root that `roots` knows, and one case a graph, of all of these in turn.
ROOTS = range(max(len(roots(g)) for g in AWKWARD.values()))
ONE_CASE_EACH = [
    (name, roots(g)[i % len(roots(g))]) for i, (name, g) in enumerate(AWKWARD.items()) if g.n
]
