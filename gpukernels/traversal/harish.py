"""Vertex-parallel BFS: one thread per vertex, every vertex at every level.

Harish and Narayanan [harish2007accelerating], as surveyed in [busato2017chapter], section 2.1.
Mapping: work-item (vertex) to thread. Work O(V D + E) for D levels: O(V) per level to find the
frontier, and each arc is inspected once. Without a queue, no vertex is enqueued twice; but the
threads of a warp walk lists of different lengths.

The original keeps the frontier and the visited vertices in two arrays of flags, in addition to the
distances (O(3V + E) in Table 2). Here the distance holds both: ``distance[v] == UNVISITED`` until a
level reaches v, and a vertex is in the frontier if its distance is the level.
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
def harish_level(offsets, targets, distance, parent, level, changed):
    """Visit the neighbors of every vertex at distance `level`.

    Threads that reach the same vertex in a level all store the same distance, and each stores a
    valid parent.
    """
    u = cuda.grid(1)
    if u < distance.size and distance[u] == level:
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if distance[v] == UNVISITED:
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
        ``stats`` adds ``arcs_inspected``: each arc that leaves a reached vertex, once.
    """
    check_threads(threads)
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    distance, parent = start_at(root, g.n, device)
    blocks = blocks_for(g.n, threads)

    def launch(level, changed):
        device.launch(
            harish_level, blocks, threads, offsets, targets, distance, parent, level, changed
        )

    level = level_by_level(device, launch)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "harish",
        "launches": level,
        "read_backs": level,
        "threads": level * g.n,
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": lambda: int(g.out_degree[distance != UNVISITED].sum()),
    }
    return BFSResult(distance, parent, level, stats)
