"""Bellman-Ford by a queue: only the arcs of vertices whose distance has fallen are relaxed.

The Workfront Sweep of Davidson et al. [davidson2014workefficient]; [busato2017chapter], section 3.
Mapping: arcs and vertices of the frontier to threads by merge path. Work O(n m) at worst: a round
relaxes the arcs of the vertices that fell in the round before, but a vertex may fall often. Weights
may be negative. No vertex is put off, unlike in `near_far` and `delta_stepping`.
"""

from __future__ import annotations

from gpukernels.device import Device
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS

from .result import SSSPResult
from .sweep import Sweep


def sssp(
    g: Graph, root: int, device: Device, *, threads: int = THREADS, parents: bool = True
) -> SSSPResult:
    """Search `g` from `root`, with one launch per round, until a frontier is empty.

    Parameters
    ----------
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    SSSPResult
        ``stats`` adds ``enqueues`` (vertices put into a frontier, the root included),
        ``duplicates`` (vertices that fell again when they were already enqueued) and
        ``frontier_sizes``. A distance that falls may be read by other threads in the same round, so
        all these depend on the order of the threads.

    Raises
    ------
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    """
    s = Sweep(g, root, device, threads)
    while s.size:
        s.round()
    return s.result("workfront_sweep", parents)
