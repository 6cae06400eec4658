"""Contract-expand BFS: one kernel per level, from edge frontier to edge frontier.

The second search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2. Mapping: entry of the edge frontier to thread. A block contracts its portion and at once
expands the vertices that are left by `cta_warp_scan`: no frontier of vertices is ever written to
memory. Work O(V + E).

A level takes one launch, half as many as in `two_phase`. So this search suits small frontiers, and
`hybrid` takes it for them. But after the contraction, only the threads whose entry was kept bring a
vertex to expand. The search begins with an edge frontier that holds only the root, so launch d
finds the vertices at distance d, and the last launch finds nothing new.

The original goes further: one persistent kernel runs many levels, and its blocks wait for each
other at Xiao and Feng's inter-block barrier [xiao2009interblock]. Here the end of the launch is the
barrier, and the host reads the size of the next frontier.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.counts import DROPPED, ENTRIES, PLACES, count_up
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.large_blocks import LARGE_BLOCKS

from .claim import Search
from .edge_frontier import Edges, contract, expand
from .merrill import MerrillSearch, Options
from .result import BFSResult


@benign_race("distance", "parent", "bitmask", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def contract_and_expand(
    search: Search, bitmask, edges: Edges, size, next_edge_frontier, next_edge_parent, next_size,
    level, cta_threshold,
):  # fmt: skip
    """Replace the `size` entries of an edge frontier by the arcs of their unvisited vertices.

    Threads that hold the same vertex may all find it unvisited; all store the same distance, and
    each stores a valid parent. A bit lost from the bitmask, or a word lost from a table of a cull,
    causes a duplicate and nothing else.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    if search.how == HISTORY_CULLING or search.how == MERRILL:
        forget(table)
    cuda.syncthreads()
    kept, dropped = int64(0), int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        v, keep, told = contract(
            search, bitmask, edges, first + cuda.threadIdx.x, size, hash_table, table, level
        )  # fmt: skip
        expand(
            search.offsets, search.targets, v, keep, Edges(next_edge_frontier, next_edge_parent),
            next_size, cta_threshold,
        )  # fmt: skip
        kept += keep
        dropped += told
    count_up(next_size, ENTRIES, kept)
    count_up(next_size, DROPPED, dropped)


@cuda.jit
def expand_level(offsets, targets, distance, edges: Edges, next_size, level, cta_threshold):
    """Write the arcs that leave the vertices at distance `level`, each once, in O(V)."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, distance.size, cuda.gridsize(1)):
        v = int32(first + cuda.threadIdx.x)
        has = v < distance.size and distance[v] == level
        expand(offsets, targets, v, has, edges, next_size, cta_threshold)


def contract_and_expand_once(s: MerrillSearch, edges: Edges, size: int, next_edges: Edges) -> int:
    """Visit the `size` entries of an edge frontier; return the number of entries of the next one.

    If they do not fit, they are collected again.
    """
    level, arcs = len(s.enqueued), s.targets.size
    s.launch(
        contract_and_expand, size, s.state, s.bits, edges, size, *next_edges, s.next_size,
        level - 1, s.cta_threshold, shared=s.shared, clear=True,
    )  # fmt: skip
    count, size = s.read_counts(PLACES)
    s.enqueued.append(count)
    s.inspected += min(size, arcs)
    if size > arcs:
        s.overflows += 1
        s.launch(
            expand_level, s.distance.size, s.offsets, s.targets, s.distance, next_edges,
            s.next_size, level, s.cta_threshold, clear=True,
        )  # fmt: skip
        _, size = s.read_counts(PLACES)
        s.inspected += size
    return size


@takes_fields_of(Options)
def bfs(g: Graph, root: int, device: Device, **options: Any) -> BFSResult:
    """Search `g` from `root`: contract and expand, with one launch per level.

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
    queues = s.edges_room(), s.edges_room()
    edges, size = s.first_edges(root), 1
    while size:
        next_edges = queues[len(s.enqueued) % 2]
        size = contract_and_expand_once(s, edges, size, next_edges)
        if size:
            s.edges.append(size)
        edges = next_edges
    return s.result("contract_expand")
