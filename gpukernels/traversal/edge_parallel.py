"""Edge-parallel BFS: one thread per arc, every arc at every level.

Jia et al. [jia2011edge]; also the edge-list BFS of [padamata2013graph]. Mapping: arc to thread over
the coordinate list sorted by source. So every thread has the same small amount of work, whatever
the degrees are, and neighboring threads read neighboring addresses. The price: Work O(E D) for D
levels, and 2E words for the arcs.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.device import benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .result import UNVISITED, BFSResult, read_tree, start_at, vertices_per_level


@benign_race("distance", "parent", "changed")
@cuda.jit
def edge_parallel_level(source, target, distance, parent, level, changed):
    """Follow every arc that leaves a vertex at distance `level` to an unvisited one.

    Threads that reach the same vertex in a level all store the same distance, and each stores a
    valid parent.
    """
    i = cuda.grid(1)
    if i < source.size:
        u, v = source[i], target[i]
        if distance[u] == level and distance[v] == UNVISITED:
            distance[v] = level + 1
            parent[v] = u
            changed[0] = 1


def bfs(g: Graph, root: int, device, *, threads: int = THREADS, parents: bool = True) -> BFSResult:
    """Search `g` from `root`, with one launch per level, until a level reaches nothing new.

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
    source, target = (device.keep(a) for a in g.coo)
    distance, parent = start_at(root, g.n, device)
    blocks = blocks_for(g.m, threads)

    def launch(level, changed):
        device.launch(
            edge_parallel_level, blocks, threads, source, target, distance, parent, level, changed
        )

    level = level_by_level(device, launch)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "edge_parallel",
        "launches": level if blocks else 0,
        "read_backs": level,
        "threads": level * g.m,
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": level * g.m,
    }
    return BFSResult(distance, parent, level, stats)
