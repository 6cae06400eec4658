"""Bellman-Ford with one thread per vertex and a mask: the next round relaxes changed vertices.

Harish and Narayanan [harish2007accelerating], as surveyed in [busato2017chapter], section 3.
Mapping: work-item (vertex) to thread. Work O(n (n + m)) at worst: a round reads every vertex's
mark, and relaxes the arcs of the vertices whose distance has fallen.

A round has two kernels. The first relaxes the arcs of marked vertices into a second array of
distances; the second copies those that have become less, and marks their vertices. So no thread
reads a distance that another lowers in the same launch, and the order of threads changes no count.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .negative import Watch
from .result import SSSPResult, arcs_on, start_at
from .tight import finish


@cuda.jit
def relax_marked(offsets, targets, weights, marked, distance, lower, times):
    """Relax the arcs of marked vertices into `lower`, remove the marks, and count in `times`."""
    u = cuda.grid(1)
    if u < distance.size and marked[u] == 1:
        marked[u] = 0
        times[u] += 1
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            length = distance[u] + weights[i]
            if length < distance[v]:
                cuda.atomic.min(lower, v, length)


@benign_race("changed")
@cuda.jit
def take_over(distance, lower, marked, changed):
    """Copy the distances of `lower` that are less, and mark their vertices."""
    v = cuda.grid(1)
    if v < distance.size and lower[v] < distance[v]:
        distance[v] = lower[v]
        marked[v] = 1
        changed[0] = 1


def sssp(
    g: Graph, root: int, device: Device, *, threads: int = THREADS, parents: bool = True
) -> SSSPResult:
    """Search `g` from `root`, with two launches per round, until a round changes nothing.

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
        The same counts in every run.

    Raises
    ------
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    """
    check_threads(threads)
    watch = Watch(g, root, device)
    arcs = arcs_on(device, g)
    distance, lower = start_at(root, g, device), start_at(root, g, device)
    marked, times = device.full(g.n, 0, np.int32), device.full(g.n, 0, np.int32)
    device.put(marked, root, 1)
    blocks = blocks_for(g.n, threads)

    def launch(round, changed):
        watch.look(round, distance)
        device.launch(relax_marked, blocks, threads, *arcs, marked, distance, lower, times)
        device.launch(take_over, blocks, threads, distance, lower, marked, changed)

    rounds = level_by_level(device, launch)
    return finish(g, root, device, arcs, distance, times, threads, parents, "harish", rounds, 2)
