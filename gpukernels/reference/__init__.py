"""The sequential algorithms with which the parallel ones are compared, compiled by numba.

Each is a pair: a compiled loop on plain CSR arrays, and a public function that takes a graph,
checks its arguments and allocates the results. One family per file.
"""

from .all_pairs import AllPairs, floyd_warshall
from .breadth_first import Traversal, bfs
from .johnson import johnson
from .shortest_paths import ShortestPaths, bellman_ford, bellman_ford_queue, dijkstra

__all__ = [
    "AllPairs",
    "ShortestPaths",
    "Traversal",
    "bellman_ford",
    "bellman_ford_queue",
    "bfs",
    "dijkstra",
    "floyd_warshall",
    "johnson",
]
