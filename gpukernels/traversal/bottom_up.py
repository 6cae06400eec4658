"""Bottom-up BFS: every unvisited vertex looks for a parent, and stops at the first.

Beamer, Asanović and Patterson [beamer2012direction]; on GPUs Hiragushi and Takahashi
[hiragushi2013efficient] and Gunrock [wang2015gunrock]; [busato2017chapter], section 2.1. Mapping:
vertex to thread over the reverse graph. If most vertices are in the frontier, most of the others
find a parent among their first arcs and never look at the rest. If the frontier is small, most
unvisited vertices look at all their arcs at every level and find no parent. Work O(V D + E D) at
worst.

Whether a vertex is in the frontier is read from its distance, which exists anyway, or from a bitmap
(`frontier_bitmap`): ``frontier="distance"`` or ``"bitmap"``. Both look at the same arcs.

Invariant: only the thread of v writes ``distance[v]``. Another thread that reads it meanwhile sees
UNVISITED or ``level + 1``. Neither of them is `level`, so the answer is the same.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import cuda

from gpukernels.checks import check_choice
from gpukernels.device import benign_race
from gpukernels.frontiers.level_by_level import level_by_level
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .frontier_bitmap import FRONTIERS, first_parent_by_bits, store_votes, words
from .result import UNVISITED, BFSResult, read_tree, start_at, vertices_per_level


@cuda.jit(device=True)
def first_parent(offsets, sources, distance, v, level):
    """Return the first in-neighbor of `v` at distance `level`, or UNVISITED if it has none."""
    for i in range(offsets[v], offsets[v + 1]):
        u = sources[i]
        if distance[u] == level:
            return u
    return UNVISITED


@benign_race("distance", "changed")
@cuda.jit
def bottom_up_level(offsets, sources, distance, parent, level, changed):
    """Give every unvisited vertex that has a neighbor at distance `level` its distance and parent.

    `offsets` and `sources` are the reverse graph's. All threads store the same to ``changed[0]``.
    """
    v = cuda.grid(1)
    if v < distance.size and distance[v] == UNVISITED:
        u = first_parent(offsets, sources, distance, v, level)
        if u != UNVISITED:
            distance[v] = level + 1
            parent[v] = u
            changed[0] = 1


@benign_race("changed")
@cuda.jit
def bottom_up_level_by_bits(offsets, sources, distance, parent, bits, next_bits, level, changed):
    """Do what `bottom_up_level` does with the frontier's bits; store the bits of the next frontier.

    All threads store the same value to ``changed[0]``.
    """
    v = cuda.grid(1)
    u = UNVISITED
    if v < distance.size and distance[v] == UNVISITED:
        u = first_parent_by_bits(offsets, sources, bits, v, UNVISITED)
        if u != UNVISITED:
            distance[v] = level + 1
            parent[v] = u
            changed[0] = 1
    store_votes(next_bits, v, distance.size, u != UNVISITED)


def arcs_looked_at(g: Graph, distance: np.ndarray, levels: Iterable[int], at_once: int = 1) -> int:
    """Return how many arcs bottom-up steps at these `levels` look at, given the final distances.

    A vertex of distance d looks at all its arcs at each level below d - 1, and at level d - 1 up to
    its first parent. A step that takes several arcs `at_once` does so at the end of a list, too.
    """
    reverse = g.reverse
    row = np.repeat(np.arange(g.n), np.diff(reverse.offsets))
    place = np.arange(g.m) - reverse.offsets[row]
    fits = (distance[reverse.targets] == distance[row] - 1) & (distance[row] > 0)
    first = np.full(g.n, np.iinfo(np.int64).max)
    np.minimum.at(first, row[fits], place[fits])
    degree = -(-np.diff(reverse.offsets).astype(np.int64) // at_once) * at_once
    total = 0
    for level in levels:
        waiting = (distance == UNVISITED) | (distance > level + 1)
        has_parent = distance == level + 1
        total += int(degree[waiting].sum() + (first[has_parent] // at_once + 1).sum() * at_once)
    return total


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    frontier: str = "distance",
    threads: int = THREADS,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`, with one launch per level, until a level reaches nothing new.

    The reverse graph is made if it is not there yet.

    Parameters
    ----------
    frontier : {"distance", "bitmap"}
        Where a step reads whether a vertex is in the frontier.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents; the kernel stores them in either case.

    Returns
    -------
    BFSResult
        ``parent`` is the first vertex of the reverse list that qualifies. ``stats`` adds
        ``frontier`` and ``arcs_inspected``: at every level, the arcs of unvisited vertices up to
        the first parent.

    Raises
    ------
    InvalidArgument
        If `frontier` is neither of the two.
    """
    check_threads(threads)
    check_choice("frontier", frontier, FRONTIERS)
    offsets, sources = device.keep(g.reverse.offsets), device.keep(g.reverse.targets)
    distance, parent = start_at(root, g.n, device)
    blocks = blocks_for(g.n, threads)
    bits = [device.full(words(g.n), 0, np.uint32) for _ in FRONTIERS if frontier == "bitmap"]
    if bits:
        device.put(bits[0], root // 32, 1 << root % 32)
    arrays = offsets, sources, distance, parent

    def launch(level, changed):
        if bits:
            both = bits[level % 2], bits[1 - level % 2]
            device.launch(bottom_up_level_by_bits, blocks, threads, *arrays, *both, level, changed)
        else:
            device.launch(bottom_up_level, blocks, threads, *arrays, level, changed)

    level = level_by_level(device, launch)
    distance, parent = read_tree(device, distance, parent, parents)
    stats = {
        "method": "bottom_up",
        "frontier": frontier,
        "launches": level,
        "read_backs": level,
        "threads": level * g.n,
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": lambda: arcs_looked_at(g, distance, range(level)),
    }
    return BFSResult(distance, parent, level, stats)
