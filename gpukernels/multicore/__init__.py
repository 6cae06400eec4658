"""What all cores of a CPU do together, compiled by numba: the fair rival of a GPU.

One plain core, as in `gpukernels.sequential`, flatters whatever it is compared with. One idea a
file: `search` is a direction-optimizing BFS, `loops` has a neighbor sum and a scan.
"""

from gpukernels.cores import all_cores, cores, processor

from .loops import neighbor_sum, offsets_of
from .search import bfs

__all__ = ["all_cores", "bfs", "cores", "neighbor_sum", "offsets_of", "processor"]
