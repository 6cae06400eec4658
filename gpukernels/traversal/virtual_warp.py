"""Virtual-warp BFS: a group of 1 to 32 threads per vertex, every vertex at every level.

Hong et al. [hong2011accelerating]; Algorithm 8 of [busato2017chapter], section 5.1.2. The lanes of
a virtual warp take the neighbors of one vertex in turn: they read adjacent addresses and share a
long list between them. Work O(V D + E) as in `harish`, but V x `warp_size` threads per level: in a
group wider than the degree, lanes idle. The size is fixed before the search; dynamic virtual warps
later change this. `gpukernels.mapping` chooses the lane of each arc; this module says what the lane
does at the arc.
"""

from __future__ import annotations

from numba import cuda

from gpukernels.device import benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.virtual_warp import check_warp_size, virtual_warp
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .result import UNVISITED, BFSResult, read_tree, start_at, vertices_per_level


@cuda.jit(device=True)
def visit_arc(work, u, arc):
    """Give the arc's target a distance and a parent, if it has none.

    ``work`` holds targets, distance, parent, level and changed.
    """
    v = work[0][arc]
    if work[1][v] == UNVISITED:
        work[1][v] = work[3] + 1
        work[2][v] = u
        work[4][0] = 1


@benign_race("distance", "parent", "changed")
@cuda.jit
def virtual_warp_level(offsets, targets, distance, parent, level, changed, warp_size):
    """Visit the neighbors of every vertex at distance `level`, `warp_size` of them at a time.

    The lanes of a group need no barrier: each reads the vertex's distance itself. In this level, a
    distance may only change to ``level + 1``, never to `level`.
    """
    thread = cuda.grid(1)
    u = thread // warp_size
    lane = thread % warp_size
    if u < distance.size and distance[u] == level:
        work = (targets, distance, parent, level, changed)
        virtual_warp(visit_arc, work, u, offsets[u], offsets[u + 1], lane, warp_size)


def bfs(
    g: Graph, root: int, device, *, warp_size: int = 8, threads: int = THREADS, parents: bool = True
) -> BFSResult:
    """Search `g` from `root`, with one launch per level, until a level reaches nothing new.

    Parameters
    ----------
    warp_size : {1, 2, 4, 8, 16, 32}
        Threads of a virtual warp.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents; the kernel stores them in either case.

    Returns
    -------
    BFSResult
        ``stats`` adds ``warp_size`` and ``arcs_inspected``: each arc that leaves a reached vertex,
        once.

    Raises
    ------
    InvalidArgument
        If `warp_size` is not a power of two from 1 to 32.
    """
    check_threads(threads)
    check_warp_size(warp_size)
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    distance, parent = start_at(root, g.n, device)
    blocks = blocks_for(g.n * warp_size, threads)

    def launch(level, changed):
        device.launch(
            virtual_warp_level, blocks, threads,
            offsets, targets, distance, parent, level, changed, warp_size,
        )  # fmt: skip

    level = level_by_level(device, launch)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "virtual_warp",
        "warp_size": warp_size,
        "launches": level,
        "read_backs": level,
        "threads": level * g.n * warp_size,
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": lambda: int(g.out_degree[distance != UNVISITED].sum()),
    }
    return BFSResult(distance, parent, level, stats)
