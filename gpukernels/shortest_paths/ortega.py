"""Dijkstra's algorithm in rounds: each settles all vertices that no path can bring nearer any more.

Ortega-Arranz et al. [ortega2013new], [ortega2015comprehensive], with the OUT criterion of
[crauser1998parallelization]; for all pairs, [ortega2013tuned]. Mapping: work-item (vertex) to
thread. Work O(n (n + m)) at worst: each arc is relaxed once, and a round reads every vertex.

Dijkstra's algorithm settles one vertex at a time, the nearest. But a path that goes on from an
unsettled vertex u is at least as long as the distance of u and the least weight that leaves u. The
least of these sums is a limit: a vertex whose distance is not above it is settled, too. So a round
has three launches. The first relaxes the arcs of the vertices settled last, the second finds the
limit, the third settles all vertices within it. The nearest vertex is always among them.

The least weight that leaves a vertex is found once for a graph. A self-loop does not count, since
no shortest path takes it.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.enqueue import warp_minimum
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .non_negative import check_non_negative
from .result import SSSPResult, arcs_on, infinity, start_at
from .tight import with_parents


@cuda.jit
def find_least_out(offsets, targets, weights, infinite, least_out):
    """Store the least weight of the arcs that leave each vertex for another."""
    u = cuda.grid(1)
    if u < least_out.size:
        least = infinite
        for i in range(offsets[u], offsets[u + 1]):
            if targets[i] != u:
                least = min(least, weights[i])
        least_out[u] = least


@benign_race("distance")
@cuda.jit
def relax_settled(offsets, targets, weights, distance, settled_in, round):
    """Relax the arcs of all vertices that were settled in `round`.

    A thread may read the distance of a target while another thread lowers it. Then the atomic
    decides.
    """
    u = cuda.grid(1)
    if u < distance.size and settled_in[u] == round:
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            length = distance[u] + weights[i]
            if length < distance[v]:
                cuda.atomic.min(distance, v, length)


@cuda.jit
def find_limit(distance, settled_in, least_out, infinite, limit, now):
    """Lower ``limit[now]``, which is infinite before, to the least ``distance + least_out``.

    The minimum is taken over the unsettled vertices that a path has reached.
    """
    nearest = infinite
    for u in range(cuda.grid(1), distance.size, cuda.gridsize(1)):
        if settled_in[u] == 0 and distance[u] != infinite:
            nearest = min(nearest, distance[u] + least_out[u])
    nearest = warp_minimum(nearest)
    if cuda.laneid == 0 and nearest < infinite:
        cuda.atomic.min(limit, now, nearest)


@benign_race("changed")
@cuda.jit
def settle(distance, settled_in, infinite, round, limit, now, changed):
    """Settle the vertices within ``limit[now]``; the other limit becomes infinite."""
    v = cuda.grid(1)
    if v < distance.size and settled_in[v] == 0:
        if distance[v] != infinite and distance[v] <= limit[now]:
            settled_in[v] = round
            changed[0] = 1
    if v == 0:
        limit[1 - now] = infinite


def sssp(
    g: Graph, root: int, device: Device, *, threads: int = THREADS, parents: bool = True
) -> SSSPResult:
    """Search `g` from `root`, with three launches per round, until a round settles nothing.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
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
        The same counts in every run. ``stats`` adds ``settled`` (a list: vertices that each round
        relaxed, which the round before it has settled; the first is the root) and
        ``launches_for_weights`` (1 if the least weights were found in this call).

    Raises
    ------
    NegativeWeightError
        If an arc weighs less than 0.
    """
    check_non_negative(g, "ortega")
    check_threads(threads)
    arcs, distance = arcs_on(device, g), start_at(root, g, device)
    blocks, infinite = blocks_for(g.n, threads), infinity(distance.dtype)
    launched = []

    def find():
        launched.append(True)
        least_out = device.empty(g.n, distance.dtype)
        device.launch(find_least_out, blocks, threads, *arcs, infinite, least_out)
        return least_out

    least_out = device.keep_made(g, "least weights out", find)
    settled_in = device.full(g.n, 0, np.int32)
    device.put(settled_in, root, 1)
    limit = device.full(2, infinite, distance.dtype)
    few = min(blocks, max(1, device.resident_threads // threads))

    def launch(level, changed):
        round, now = level + 1, level % 2
        device.launch(relax_settled, blocks, threads, *arcs, distance, settled_in, round)
        device.launch(
            find_limit, few, threads, distance, settled_in, least_out, infinite, limit, now
        )  # fmt: skip
        device.launch(
            settle, blocks, threads, distance, settled_in, infinite, round + 1, limit, now, changed
        )  # fmt: skip

    rounds = level_by_level(device, launch)
    stats = {
        "method": "ortega",
        "launches": 3 * rounds,
        "launches_for_weights": len(launched),
        "read_backs": rounds,
        "iterations": rounds,
        "relaxations": lambda: int(g.out_degree[device.read(settled_in) > 0].sum(dtype=np.int64)),
        "settled": lambda: np.bincount(device.read(settled_in))[1:].tolist(),
    }
    return with_parents(g, root, device, arcs, distance, threads, parents, stats)
