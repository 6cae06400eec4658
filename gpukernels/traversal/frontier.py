"""Frontier BFS: a queue of the vertices of one level, filled with an atomic append.

The frontier-based search of [busato2017chapter], section 2.1, in its plainest form. Mapping: one
thread per vertex *of the frontier*, so the cost of a level is the number of arcs that leave its
vertices. Work O(V + E) in all, as long as no vertex is enqueued twice.

But some vertices are enqueued twice. A thread checks ``distance[v]`` and then stores it. Between
the two, another thread can check it as well: both enqueue v. The distances stay right, but the next
level does the work of the duplicates again, and their number can double from level to level
([busato2015bfs4k], section 6). Here they are counted, not prevented.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import cuda, int64

from gpukernels.checks import check_flag
from gpukernels.device import benign_race
from gpukernels.frontiers.collect import append_level
from gpukernels.frontiers.counts import count_up
from gpukernels.frontiers.queue_room import queue_room
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads
from gpukernels.primitives.queue_append import queue_append

from .result import UNVISITED, BFSResult, read_tree, repeats, start_at


@benign_race("distance", "parent")
@cuda.jit
def expand_frontier(
    offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
):
    """Enqueue the unvisited neighbors of every vertex of the frontier.

    Threads that reach the same vertex in a level all store the same distance, and each stores a
    valid parent. Each of them enqueues the vertex, which makes duplicates.
    """
    i = cuda.grid(1)
    if i < frontier_size[0]:
        u = frontier[i]
        for k in range(offsets[u], offsets[u + 1]):
            v = targets[k]
            if distance[v] == UNVISITED:
                distance[v] = level + 1
                parent[v] = u
                queue_append(next_frontier, next_size, v)


@cuda.jit
def count_frontier_arcs(offsets, frontier, frontier_size, arcs):
    """Add to ``arcs[0]``, an int64, how many arcs leave the vertices of the frontier."""
    i = cuda.grid(1)
    degree = int64(0)
    if i < frontier_size[0]:
        degree = int64(offsets[frontier[i] + 1] - offsets[frontier[i]])
    count_up(arcs, 0, degree)


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    capacity: int | None = None,
    threads: int = THREADS,
    parents: bool = True,
    count_arcs: bool = False,
) -> BFSResult:
    """Search `g` from `root`, with one launch per level, until a frontier is empty.

    Parameters
    ----------
    capacity : int, optional
        Vertices that a queue can hold; by default the larger of n and m. If a level has so many
        duplicates that it does not fit, its vertices are collected again from the distances.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents; the kernel stores them in either case.
    count_arcs : bool
        Whether ``stats`` holds ``arcs_inspected``. Only the device knows the duplicates in a queue,
        so counting takes one more launch per level.

    Returns
    -------
    BFSResult
        ``stats["frontier_sizes"]`` counts the vertices enqueued at each level; if a level did not
        fit, the number that it would have held. ``stats`` adds ``duplicates`` (a list: how many of
        these were enqueued before) and ``overflows`` (levels that did not fit).

    Raises
    ------
    InvalidArgument
        If `capacity` is not a whole number, is less than n (a level without duplicates may need n),
        or is too far above n and m (see :mod:`gpukernels.frontiers.queue_room`). Also if
        `count_arcs` is neither True nor False.
    """
    check_threads(threads)
    capacity = queue_room(capacity, max(g.n, g.m), g)
    check_flag("count_arcs", count_arcs)
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    distance, parent = start_at(root, g.n, device)
    queues = device.empty(capacity, np.int32), device.empty(capacity, np.int32)
    sizes, count = (
        [device.full(1, 1, np.int32), device.empty(1, np.int32)],
        device.pinned(1, np.int32),
    )
    arcs = device.full(1, 0, np.int64) if count_arcs else None
    frontier, size = device.full(1, root, np.int32), 1
    enqueued, threads_used, overflows = [1], 0, 0
    while size:
        level = len(enqueued) - 1
        frontier_size, next_size = sizes[level % 2], sizes[1 - level % 2]
        next_frontier = queues[level % 2]
        device.clear(next_size)
        if count_arcs:
            device.launch(
                count_frontier_arcs, blocks_for(size, threads), threads,
                offsets, frontier, frontier_size, arcs,
            )  # fmt: skip
        device.launch(
            expand_frontier, blocks_for(size, threads), threads,
            offsets, targets, distance, parent,
            frontier, frontier_size, next_frontier, next_size, level,
        )  # fmt: skip
        threads_used += size
        size = int(device.read(next_size, into=count)[0])
        enqueued.append(size)
        if size > capacity:
            device.clear(next_size)
            device.launch(
                append_level, blocks_for(g.n, threads), threads,
                distance, next_frontier, next_size, level + 1,
            )  # fmt: skip
            threads_used += g.n
            overflows += 1
            size = int(device.read(next_size, into=count)[0])
        frontier = next_frontier
    levels = len(enqueued) - 1
    distance, parent = read_tree(device, distance, parent, parents)

    @functools.cache
    def again() -> list[int]:
        return repeats(enqueued, distance)

    stats = {
        "method": "frontier",
        "launches": levels * (2 if count_arcs else 1) + overflows,
        "read_backs": levels + overflows,
        "threads": threads_used,
        "frontier_sizes": enqueued[:levels],
        "duplicates": again,
        "duplicates_made": lambda: sum(again()),
        "duplicates_missed": lambda: sum(again()),
        "overflows": overflows,
    }
    if count_arcs:
        stats["arcs_inspected"] = lambda: int(device.read(arcs)[0])
    return BFSResult(distance, parent, levels, stats)
