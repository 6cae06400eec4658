"""Bellman-Ford with one thread per vertex: every vertex in every round, distances in place.

The topology-driven search of LonestarGPU [burtscher2012quantitative], as surveyed in
[busato2016hbf]. Mapping: work-item (vertex) to thread. Work O(n (n + m)) at worst: a round relaxes
every arc. No mask, no queue, one kernel. If a distance falls, threads that read it later in the
same round get the new value. So there are fewer rounds than in a search that separates old and new
distances, but their number depends on the order of the threads.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .negative import Watch
from .result import SSSPResult, arcs_on, infinity, start_at
from .tight import finish


@benign_race("distance", "changed")
@cuda.jit
def relax_all(offsets, targets, weights, distance, infinite, times, changed):
    """Relax all arcs of every vertex that is reached.

    A thread may read a distance while another lowers it. If it reads the old one, ``changed``
    causes another round.
    """
    u = cuda.grid(1)
    if u < distance.size:
        near = distance[u]
        if near != infinite:
            times[u] += 1
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                length = near + weights[i]
                if length < distance[v]:
                    cuda.atomic.min(distance, v, length)
                    changed[0] = 1


def sssp(
    g: Graph, root: int, device: Device, *, threads: int = THREADS, parents: bool = True
) -> SSSPResult:
    """Search `g` from `root`, with one launch per round, until a round changes nothing.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed. Weights may be negative.
    root : int
        The vertex where the paths begin.
    device : SimtDevice or CudaDevice
        Where kernels run.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    SSSPResult
        The number of rounds and of relaxations depends on the order of the threads.

    Raises
    ------
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    """
    check_threads(threads)
    watch = Watch(g, root, device)
    arcs = arcs_on(device, g)
    distance = start_at(root, g, device)
    times = device.full(g.n, 0, np.int32)
    blocks, infinite = blocks_for(g.n, threads), infinity(distance.dtype)

    def launch(round, changed):
        watch.look(round, distance)
        device.launch(
            relax_all, blocks, threads, *arcs, distance, infinite, times, changed
        )  # fmt: skip

    rounds = level_by_level(device, launch)
    return finish(
        g, root, device, arcs, distance, times, threads, parents, "topology_driven", rounds, 1
    )
