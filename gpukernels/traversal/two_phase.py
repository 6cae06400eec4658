"""Two-phase BFS: one kernel expands a vertex frontier, another contracts the edge frontier.

The third search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2. A level is two launches, with both frontiers in memory between them. Work O(V + E).

1. Expansion. Mapping: vertex of the frontier to thread, its arcs to the block by `cta_warp_scan`.
   All neighbors are written, visited or not.
2. Contraction. Mapping: entry of the edge frontier to thread, so every thread has the same to do.

The edge frontiers cost two passes over all arcs, O(E) words written and read again. In return, the
two kinds of work do not wait for each other: the expansion only copies, and the contraction, with
its scattered reads of bits and distances, has no idle lanes.

The contraction also counts the arcs that leave the vertices that it enqueues. So the host knows the
length of the next edge frontier before it is made, and reads back once per level.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.counts import ARCS, DROPPED, count_up
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.frontiers.enqueue import enqueue
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of

from .claim import Search
from .edge_frontier import Edges, contract, expand
from .merrill import MerrillSearch, Options
from .result import BFSResult


@cuda.jit
def expand_vertices(offsets, targets, frontier, size, edges: Edges, next_size, cta_threshold):
    """Write the neighbors of all `size` vertices of the frontier to the edge frontier."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        u = int32(0)
        if i < size:
            u = frontier[i]
        expand(offsets, targets, u, i < size, edges, next_size, cta_threshold)


@benign_race("distance", "parent", "bitmask", "hash_table", "table")
@cuda.jit
def contract_edges(search: Search, bitmask, edges: Edges, size, queue: Queue, level):
    """Enqueue the unvisited vertices among the `size` entries of the edge frontier.

    Threads that hold the same vertex may all find it unvisited; all store the same distance, and
    each stores a valid parent. A bit lost from the bitmask, or a word lost from a table of a cull,
    causes a duplicate and nothing else.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    if search.how == HISTORY_CULLING or search.how == MERRILL:
        forget(table)
    cuda.syncthreads()
    arcs, dropped = int64(0), int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        v, keep, told = contract(
            search, bitmask, edges, first + cuda.threadIdx.x, size, hash_table, table, level
        )  # fmt: skip
        enqueue(queue, v, keep)
        dropped += told
        if keep:
            arcs += search.offsets[v + 1] - search.offsets[v]
    count_up(queue.next_size, ARCS, arcs)
    count_up(queue.next_size, DROPPED, dropped)


def expand_by_vertices(s: MerrillSearch, frontier, size: int, edges: Edges) -> None:
    """Write the arcs that leave the `size` vertices of a frontier to an edge frontier."""
    s.launch(
        expand_vertices, size, s.offsets, s.targets, frontier, size, edges, s.next_size,
        s.cta_threshold, clear=True,
    )  # fmt: skip


def contract_by_edges(
    s: MerrillSearch, edges: Edges, size: int, queue: Queue, level: int, clear: bool
) -> tuple[int, int]:
    """Enqueue the unvisited of `size` entries of an edge frontier; return their number and arcs.

    If they do not fit, they are collected again.
    """
    s.launch(
        contract_edges, size, s.state, s.bits, edges, size, queue, level,
        shared=s.shared, clear=clear,
    )  # fmt: skip
    count, arcs = s.read_counts()
    s.enqueued.append(count)
    if count > s.distance.size or arcs > s.targets.size:
        return s.collect(queue, level + 1)
    return count, arcs


@takes_fields_of(Options)
def bfs(g: Graph, root: int, device: Device, **options: Any) -> BFSResult:
    """Search `g` from `root`: expand, then contract, with two launches per level.

    Parameters
    ----------
    **options
        See :class:`~gpukernels.traversal.merrill.Options`.

    Returns
    -------
    BFSResult
        ``stats`` as in :class:`~gpukernels.traversal.merrill.MerrillSearch`.
    """
    s = MerrillSearch(g, root, device, Options(**options))
    edges, queues = s.edges_room(), (s.queue(), s.queue())
    frontier, size, arcs = s.full(1, root), 1, int(g.out_degree[root])
    s.enqueued.append(1)
    while arcs:
        level = len(s.edges)
        s.edges.append(arcs)
        s.inspected += arcs
        expand_by_vertices(s, frontier, size, edges)
        queue = queues[level % 2]
        size, arcs = contract_by_edges(s, edges, arcs, queue, level, clear=False)
        frontier = queue.next_frontier
    return s.result("two_phase")
