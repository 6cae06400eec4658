"""Algorithms on all cores of a CPU, compiled by numba: the fair rival of a GPU.

Compared with one plain core, as in `gpukernels.reference`, any rival looks fast. One idea per file:
`search` is a direction-optimizing BFS, `shortest_paths` a delta-stepping search with the operations
of `atomics`, `loops` a neighbor sum and a scan. `gpukernels.all_pairs.all_cores` has Floyd and
Warshall's loops in tiles, with the same results as its family.
"""

from gpukernels.cores import all_cores, cores, processor

from .loops import neighbor_sum, offsets_of
from .search import bfs
from .shortest_paths import sssp

__all__ = ["all_cores", "bfs", "cores", "neighbor_sum", "offsets_of", "processor", "sssp"]
