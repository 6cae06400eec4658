"""BFS with a hierarchical queue: all levels in one launch, without the host in between.

Luo, Wong and Hwu [luo2010effective]; [busato2017chapter], section 2. Work O(V + E), with
"inter-block synchronization". The survey finds the speed bounded by small frontiers and by "the
visit exclusively based on vertex parallelism". Mapping: vertex of the frontier to thread. A found
vertex goes through the `hierarchical_queue`. Between levels the blocks wait for each other: the
grid sync of a cooperative launch replaces the paper's inter-block barrier [xiao2009interblock].

By default, the search uses what GPUs offer today; the authors' choices are options. These are the
differences, with the reasons:

- *Kernels.* The authors have three. If a frontier fits one block, this block goes from level to
  level in shared memory. If it fits all multiprocessors, their blocks wait at the barrier. If not,
  a level is one launch, as their kernel could not loop over portions. Ours can, so the second
  kernel serves every frontier. ``kernels="three"`` selects theirs.
- *Claims.* The authors color vertices. A thread exchanges a vertex's color for the gray of the
  level; if it gets another color back, it has claimed the vertex. This takes an array of colors. By
  default, one compare-and-swap on the distance claims a vertex. ``claim="exchange"`` selects
  theirs. (Their code also takes the minimum of the costs by an atomic first; in a search by levels,
  the first thread can store plainly.) Both claims are exact: no queue holds a vertex twice.
- *High degrees.* The method is made for graphs of nearly regular degrees, like circuits, as one
  thread follows a whole list. ``high_degree=k`` adds a second step to each level, in which all
  threads share the arcs of each vertex with more than k arcs. The surveys have no such step
  ("High-degree vertex management: no"), so it is off by default.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import check_choice, check_whole
from gpukernels.device import benign_race
from gpukernels.frontiers.counts import LEVEL
from gpukernels.frontiers.hierarchical_queue import (
    BEGINS,
    CAPACITY,
    SUBQUEUES,
    Nearby,
    empty_counts,
    flush,
)
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

from .luo_levels import (
    LARGE,
    STATE,
    Search,
    search_by_one_block,
    search_high_degrees,
    search_one_level,
    visit,
    visit_large,
)
from .result import UNVISITED, BFSResult, read_tree, start_at, vertices_per_level

KERNELS = ("one", "three")
CLAIMS = ("compare_and_swap", "exchange")


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_all_levels(search: Search, first, level, least, most):
    """Search from `level` on while a frontier has `least` to `most` vertices; a cooperative launch.

    Row ``level % 2`` of `queues` holds the frontier of a level, and ``sizes[level % 3]`` its size.
    Of the three sizes, the level reads one and fills one, and clears the one that the level before
    has read. `first` is the number of vertices of high degree that earlier levels have met.

    If the vertex was visited earlier, a plain read of the distance shows it and saves the atomic.
    If the read misses a claim that is being made, the atomic fails: only the atomic decides.
    """
    found = cuda.shared.array((SUBQUEUES, CAPACITY), int32)
    counts = cuda.shared.array(SUBQUEUES, int32)
    begins = cuda.shared.array(BEGINS, int32)
    empty_counts(counts)
    nearby = Nearby(found, counts, begins)
    size = search.sizes[level % 3]
    while size >= least and size <= most:
        there, next_size = (level + 1) % 2, search.sizes[(level + 1) % 3 :]
        if cuda.grid(1) == 0:
            search.sizes[(level + 2) % 3] = 0
        for begin in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
            i = begin + cuda.threadIdx.x
            if i < size:
                visit(search, level, nearby, next_size, search.queues[level % 2, i])
            flush(nearby, search.queues, there, next_size)
        if search.large.size > 0:
            cuda.cg.this_grid().sync()
            last = search.sizes[LARGE]
            visit_large(search, level, nearby, next_size, first, last)
            flush(nearby, search.queues, there, next_size)
            first = last
        cuda.cg.this_grid().sync()
        level += 1
        size = search.sizes[level % 3]
    if cuda.grid(1) == 0:
        search.sizes[LEVEL] = level


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    kernels: str = "one",
    claim: str = "compare_and_swap",
    high_degree: int | None = None,
    threads: int = THREADS,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root` in one cooperative launch, or by the authors' three kernels.

    Parameters
    ----------
    kernels : {"one", "three"}
        One cooperative launch for all levels; or three kernels, by the size of the frontier: one
        block, as many blocks as the device holds at once, or one launch per level.
    claim : {"compare_and_swap", "exchange"}
        How a thread makes sure that no other thread enqueues the vertex that it has found.
    high_degree : int, optional
        All threads together visit a vertex of more arcs, in a separate step; by default no vertex.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``blocks`` (of a cooperative launch), ``kernels`` (for each level
        "one_block", "several_blocks" or "one_level"), ``high_degree_vertices`` (visited by all
        threads) and ``arcs_inspected``: each arc that leaves a reached vertex, once.

    Raises
    ------
    InvalidArgument
        If a choice is not one of these, or `high_degree` not a whole number of at least 0.
    """
    check_threads(threads)
    check_choice("kernels", kernels, KERNELS)
    check_choice("claim", claim, CLAIMS)
    if high_degree is not None:
        check_whole("high_degree", high_degree, 0, MAX_UNITS)
    most_arcs = MAX_UNITS if high_degree is None else high_degree
    aside = int(np.count_nonzero(g.out_degree > most_arcs))
    distance, parent = start_at(root, g.n, device, parents)
    shade = device.full(g.n if claim == "exchange" else 0, 0, np.int32)
    large = device.empty(aside, np.int32)
    graph = device.keep(g.offsets), device.keep(g.targets)
    queues = device.empty((2, g.n), np.int32)
    device.put(queues, 0, root)
    sizes = device.full(STATE, 0, np.int32)
    device.put(sizes, 0, 1)
    search = Search(*graph, distance, parent, shade, large, most_arcs, queues, sizes)
    resident = device.cooperative_blocks(search_all_levels, threads, search, 0, 0, 1, MAX_UNITS)
    blocks = min(blocks_for(g.n, threads), resident)
    state, launches, ran = [1, 0, 0, 0, 0], 0, []
    host_sizes = device.pinned(STATE, np.int32)
    while size := state[state[LEVEL] % 3]:
        level, met = state[LEVEL], state[LARGE]
        if kernels == "three" and size <= threads:
            chosen = "one_block"
            device.launch(search_by_one_block, 1, threads, search, met, level)
        elif kernels == "three" and size > blocks * threads:
            chosen = "one_level"
            device.launch(search_one_level, blocks_for(size, threads), threads, search, level)
            if aside:
                device.launch(search_high_degrees, blocks, threads, search, met, level)
                launches += 1
        else:
            chosen = "several_blocks"
            bounds = (1, MAX_UNITS) if kernels == "one" else (threads + 1, blocks * threads)
            device.launch(
                search_all_levels, blocks, threads, search, met, level, *bounds, cooperative=True
            )
        launches += 1
        state = device.read(sizes, into=host_sizes).tolist()
        ran += [chosen] * (state[LEVEL] - level)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "luo",
        "launches": launches,
        # The one launch ends with the search: later reads bring the result.
        "read_backs": 0 if kernels == "one" else launches,
        "blocks": blocks,
        "threads": lambda: int(np.count_nonzero(distance != UNVISITED)),
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": lambda: int(g.out_degree[distance != UNVISITED].sum()),
        "kernels": ran,
        "high_degree_vertices": state[LARGE],
    }
    return BFSResult(distance, parent, state[LEVEL], stats)


__all__ = ["bfs", "search_all_levels"]
