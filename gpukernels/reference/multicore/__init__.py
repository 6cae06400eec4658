"""What all cores of a CPU do together, compiled by numba: the fair rival of a GPU.

One plain core, as in `gpukernels.reference`, flatters whatever it is compared with. One idea a
file: `search` is a direction-optimizing BFS, `shortest_paths` a delta-stepping one with what
`atomics` has, `loops` a neighbor sum and a scan. Floyd and Warshall's loops in tiles, whose results
are those of the family, are `gpukernels.all_pairs.all_cores`.
"""

from gpukernels.cores import all_cores, cores, processor

from .loops import neighbor_sum, offsets_of
from .search import bfs
from .shortest_paths import sssp

__all__ = ["all_cores", "bfs", "cores", "neighbor_sum", "offsets_of", "processor", "sssp"]
