"""The conditions on the result of a breadth-first search, by the rules of the GAP benchmark suite.

Parents are not unique, so they are checked by their properties; distances have an oracle.
"""

from __future__ import annotations

import networkx as nx
import numpy as np


def expected_distance(g, root: int) -> np.ndarray:
    """Return NetworkX's distances from `root`, -1 where unreachable."""
    distance = np.full(g.n, -1, dtype=np.int32)
    for vertex, steps in nx.single_source_shortest_path_length(g.to_networkx(), root).items():
        distance[vertex] = steps
    return distance


def check_search(g, root: int, distance, parent) -> None:
    """Raise AssertionError if `distance` and `parent` are not a breadth-first search of `g`."""
    assert distance.dtype == parent.dtype == np.int32
    assert distance.shape == parent.shape == (g.n,)
    assert distance[root] == 0, "the root lies at distance 0"
    assert parent[root] == root, "the root is its own parent"
    reached = distance != -1
    assert np.array_equal(reached, parent != -1), "exactly the reached vertices have a parent"
    others = np.flatnonzero(reached & (np.arange(g.n) != root))
    assert reached[parent[others]].all(), "a parent is reached"
    assert np.all(distance[others] == distance[parent[others]] + 1), "a parent is one step nearer"
    arcs = set(zip(*(ends.tolist() for ends in g.coo), strict=True))
    assert all((int(parent[v]), int(v)) in arcs for v in others), "a parent's arc exists"
    np.testing.assert_array_equal(distance, expected_distance(g, root))
