"""BFS as one sparse matrix-vector product per level: every row, every arc, at every level.

Deng et al. [deng2009taming]. Let x be the flags of the frontier. The product of the transposed
adjacency matrix and x counts for every vertex its neighbors in the frontier. Vertices with a count
above zero and no distance yet are the next frontier. Mapping: row to thread over the reverse graph,
so only one thread writes each element, and no atomic is needed. Work O(V D + E D): the product does
not skip visited vertices and does not end a row early.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpukernels.device import benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .result import UNVISITED, BFSResult, read_tree, start_at, vertices_per_level


@benign_race("changed")
@cuda.jit
def multiply_level(offsets, sources, x, y, distance, parent, level, changed):
    """Multiply by the flags `x`; write the next flags `y` and the distances of new vertices.

    `offsets` and `sources` are the reverse graph's. All threads store the same to ``changed[0]``.
    """
    v = cuda.grid(1)
    if v < distance.size:
        count, last = 0, UNVISITED
        for i in range(offsets[v], offsets[v + 1]):
            u = sources[i]
            if x[u] != 0:
                count += 1
                last = u
        new = count > 0 and distance[v] == UNVISITED
        y[v] = new
        if new:
            distance[v] = level + 1
            parent[v] = last
            changed[0] = 1


def bfs(g: Graph, root: int, device, *, threads: int = THREADS, parents: bool = True) -> BFSResult:
    """Search `g` from `root`, with one product per level, until a product reaches nothing new.

    The reverse graph is made if it is not there yet.

    Parameters
    ----------
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents; the kernel stores them in either case.

    Returns
    -------
    BFSResult
        ``stats`` adds ``arcs_inspected``: every arc of the graph at every level.
    """
    check_threads(threads)
    offsets, sources = device.keep(g.reverse.offsets), device.keep(g.reverse.targets)
    distance, parent = start_at(root, g.n, device)
    flags = device.full(g.n, 0, np.uint8), device.full(g.n, 0, np.uint8)
    device.put(flags[0], root, 1)
    blocks = blocks_for(g.n, threads)

    def launch(level, changed):
        now, later = flags[level % 2], flags[1 - level % 2]
        device.launch(
            multiply_level, blocks, threads,
            offsets, sources, now, later, distance, parent, level, changed,
        )  # fmt: skip

    level = level_by_level(device, launch)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "spmv",
        "launches": level,
        "read_backs": level,
        "threads": level * g.n,
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": level * g.m,
    }
    return BFSResult(distance, parent, level, stats)
