"""The same searches by SciPy and NetworkX on one core, for graphs that they search in some seconds.

Before the timed runs, each graph is converted once into the form that the library needs. The result
of a search becomes distances only for the comparison, which is not timed either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from gpukernels.cores.compiled import compiled
from gpukernels.graphs.graph import Graph
from gpukernels.shortest_paths import UNREACHED

#: Up to these numbers of arcs, SciPy searches by levels, and by Dijkstra's algorithm: some seconds.
SCIPY_ARCS, DIJKSTRA_ARCS = 50_000_000, 25_000_000
#: Up to this number of arcs, NetworkX searches: it has an object for each arc.
NETWORKX_ARCS = 1 << 20

#: A search from a root, whose result has a ``distance``.
OnCPU = Callable[[int], Any]


class Found:
    """The result of a library, which becomes distances at the first access."""

    def __init__(self, as_distance: Callable[[], NDArray[np.int32]]):
        self._as_distance = as_distance

    @property
    def distance(self) -> NDArray[np.int32]:
        """The distance of every vertex."""
        return self._as_distance()


def searches(g: Graph) -> Iterator[tuple[str, OnCPU]]:
    """Yield name and breadth-first search of each library that searches `g` in time."""
    if g.m <= SCIPY_ARCS:
        matrix = g.to_scipy().astype(np.float64)

        def by_scipy(root: int) -> Found:
            order, parent = csgraph.breadth_first_order(matrix, root)
            return Found(lambda: _levels(order, parent))

        yield "SciPy", by_scipy
    yield from _networkx(g, nx.single_source_shortest_path_length, -1)


def path_searches(g: Graph) -> Iterator[tuple[str, OnCPU]]:
    """Yield name and search for shortest paths of each library that searches `g` in time.

    All weights are above 0, because SciPy treats an arc of length 0 as no arc. Of parallel arcs it
    gets only the shortest, because it would add them up.
    """
    if g.m <= DIJKSTRA_ARCS:
        shortest = Graph.from_arcs(g.n, *g.coo, g.weights, parallel="min")
        matrix = shortest.to_scipy().astype(np.float64)

        def by_scipy(root: int) -> Found:
            distance = csgraph.dijkstra(matrix, indices=root)
            return Found(lambda: np.where(np.isinf(distance), UNREACHED, distance).astype(np.int32))

        yield "SciPy", by_scipy
    yield from _networkx(g, nx.single_source_dijkstra_path_length, UNREACHED)


@compiled()
def _levels(order, parent):
    distance = np.full(parent.size, -1, np.int32)
    distance[order[0]] = 0
    for i in range(1, order.size):
        distance[order[i]] = distance[parent[order[i]]] + 1
    return distance


def _networkx(g: Graph, search: Callable[..., dict], none: int) -> Iterator[tuple[str, OnCPU]]:
    if g.m > NETWORKX_ARCS:
        return
    graph = g.to_networkx()

    def as_distance(distance_of_vertex: dict[int, int]) -> NDArray[np.int32]:
        distance = np.full(g.n, none, np.int32)
        distance[list(distance_of_vertex)] = list(distance_of_vertex.values())
        return distance

    def by_networkx(root: int) -> Found:
        distances = search(graph, root)
        return Found(lambda: as_distance(distances))

    yield "NetworkX", by_networkx
