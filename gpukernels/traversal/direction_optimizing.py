"""Direction-optimizing BFS: top-down while the frontier is small, bottom-up while it is large.

Beamer, Asanović and Patterson [beamer2012direction]; on GPUs Hiragushi and Takahashi
[hiragushi2013efficient] and Gunrock [wang2015gunrock]. With m_f arcs leaving the frontier, m_u arcs
leaving vertices not yet visited, and n_f vertices in the frontier, the search turns bottom-up when
m_f > m_u / alpha and the frontier grows, and back when n_f < n / beta and it shrinks.

Mapping: top-down, `cta_warp_scan` spreads the frontier's arcs over each block; bottom-up, vertex to
thread. Both enqueue the next frontier, with one atomic a block, and count its vertices and arcs, so
that either step may follow and the host reads back two numbers a level. A vertex is claimed by
compare-and-swap: a queue holds nothing twice.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.errors import InvalidArgument
from gpukernels.graph import Graph
from gpukernels.mapping.cta_warp_scan import cta_warp_scan
from gpukernels.primitives.launch_shape import THREADS, WARP_SIZE, blocks_for, check_threads
from gpukernels.primitives.queue_append import queue_append

from .bottom_up import arcs_looked_at, first_parent
from .enqueue_by_block import ARCS, count_up, enqueue, enqueue_held
from .local_queue import LOCAL
from .result import UNVISITED, BFSResult, adopt, start_at

#: Arcs that a thread of a top-down step should have before another block takes a share of them.
ARCS_A_THREAD = 4


@cuda.jit(device=True)
def find(work, u, arc):
    """Follow an arc of `u`; whoever visits its target first keeps that.

    ``found[:held[0]]`` are the vertices that the thread keeps and ``held[1]`` the arcs that leave
    them, those counted in that found no room and were enqueued at once.
    """
    offsets, targets, distance, parent, queue, counts, level, found, held = work
    v = targets[arc]
    if distance[v] == UNVISITED:
        if cuda.atomic.cas(distance, v, UNVISITED, level + 1) == UNVISITED:
            adopt(parent, v, u)
            held[1] += offsets[v + 1] - offsets[v]
            if held[0] < LOCAL:
                found[held[0]] = v
                held[0] += 1
            else:
                queue_append(queue, counts, v)


@cuda.jit
def top_down_step(
    offsets, targets, distance, parent, frontier, size, queue, counts, level, slices, cta_threshold
):
    """Visit the arcs of the `size` vertices of the frontier, spread over the threads of a block.

    `slices` blocks share the same vertices, each a part of every list: a frontier of few vertices
    and many arcs would leave the GPU to a few blocks.
    """
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(2, int32)
    held[0], held[1] = 0, 0
    work = (offsets, targets, distance, parent, queue, counts, level, found, held)
    i = cuda.blockIdx.x // slices * cuda.blockDim.x + cuda.threadIdx.x
    u, begin, end = int32(0), int32(0), int32(0)
    if i < size:
        u = frontier[i]
        last = offsets[u + 1]
        share = (last - offsets[u] + slices - 1) // slices
        begin = int32(min(offsets[u] + cuda.blockIdx.x % slices * share, last))
        end = int32(min(begin + share, last))
    cta_warp_scan(find, work, u, begin, end, cta_threshold, WARP_SIZE)
    enqueue_held(queue, counts, found, held)
    count_up(counts, ARCS, held[1])


@benign_race("distance")
@cuda.jit
def bottom_up_step(
    reverse_offsets, sources, offsets, distance, parent, queue, counts, level
):  # fmt: skip
    """Enqueue every unvisited vertex that has a neighbor at distance `level`.

    Another thread that reads ``distance[v]`` meanwhile sees UNVISITED or ``level + 1``, neither of
    which is `level`: the answer is the same.
    """
    v = cuda.grid(1)
    u = UNVISITED
    if v < distance.size and distance[v] == UNVISITED:
        u = first_parent(reverse_offsets, sources, distance, v, level)
    found = u != UNVISITED
    arcs = int32(0)
    if found:
        distance[v] = level + 1
        adopt(parent, v, u)
        arcs = offsets[v + 1] - offsets[v]
    enqueue(queue, counts, v, found)
    count_up(counts, ARCS, arcs)


def choose_slices(blocks: int, threads: int, arcs: int, resident_threads: int) -> int:
    """Return how many blocks share a portion of the frontier.

    As many as the GPU has room for, but so few that a thread still has `ARCS_A_THREAD` arcs.
    """
    room = resident_threads // (blocks * threads)
    return max(1, min(room, arcs // (blocks * threads * ARCS_A_THREAD)))


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    alpha: float = 15.0,
    beta: float = 18.0,
    threads: int = THREADS,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`, in the direction that a level's size suggests.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed. The reverse graph is made if it is not there yet.
    root : int
        Where to start.
    device : SimtDevice or CudaDevice
        Where to run.
    alpha : float
        The search turns bottom-up where more than 1 / `alpha` of the arcs that are left leave the
        frontier; 0 for never. The default is that of [beamer2015gap].
    beta : float
        It turns back where less than 1 / `beta` of all vertices are in the frontier.
    threads : int
        Threads a block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``directions`` ("top_down" or "bottom_up", one a level) and
        ``arcs_inspected``.

    Raises
    ------
    InvalidArgument
        If `alpha` is negative or `beta` is not positive.
    """
    check_threads(threads)
    if not alpha >= 0:
        raise InvalidArgument("alpha", alpha, "a number, at least 0")
    if not beta > 0:
        raise InvalidArgument("beta", beta, "a number above 0")
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    reverse_offsets, sources = device.keep(g.reverse.offsets), device.keep(g.reverse.targets)
    distance, parent = start_at(root, g.n, device, parents)
    frontier, others = device.full(1, root, np.int32), [device.empty(g.n, np.int32) for _ in "ab"]
    counts, told = device.full(2, 0, np.int64), device.pinned(2, np.int64)
    sizes, arcs, directions = [1], [int(g.out_degree[root])], []
    left = g.m - arcs[0]  # arcs that leave vertices not yet visited
    bottom_up, growing, threads_used = False, True, 0
    while sizes[-1]:
        level = len(directions)
        if not bottom_up:
            bottom_up = growing and arcs[-1] * alpha > left
        elif not growing:
            bottom_up = sizes[-1] * beta >= g.n
        queue = others[level % 2]
        device.clear(counts)
        if bottom_up:
            device.launch(
                bottom_up_step, blocks_for(g.n, threads), threads,
                reverse_offsets, sources, offsets, distance, parent, queue, counts, level,
            )  # fmt: skip
        else:
            blocks = blocks_for(sizes[-1], threads)
            slices = choose_slices(blocks, threads, arcs[-1], device.resident_threads)
            device.launch(
                top_down_step, blocks * slices, threads,
                offsets, targets, distance, parent, frontier, sizes[-1], queue, counts, level,
                slices, threads,
            )  # fmt: skip
        threads_used += g.n if bottom_up else sizes[-1]
        directions.append("bottom_up" if bottom_up else "top_down")
        found, leaving = (int(c) for c in device.read(counts, into=told))
        growing = found > sizes[-1]
        sizes.append(found)
        arcs.append(leaving)
        left -= leaving
        frontier = queue
    levels = len(directions)
    distance = device.read(distance)
    up = [level for level in range(levels) if directions[level] == "bottom_up"]
    down = sum(arcs[level] for level in range(levels) if directions[level] == "top_down")
    stats = {
        "method": "direction_optimizing",
        "launches": levels,
        "read_backs": levels,
        "threads": threads_used,
        "frontier_sizes": sizes[:levels],
        "directions": directions,
        "arcs_inspected": lambda: down + (arcs_looked_at(g, distance, up) if up else 0),
    }
    return BFSResult(distance, device.read(parent) if parents else None, levels, stats)
