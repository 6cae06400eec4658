"""Expand-contract BFS: one kernel per level, from vertex frontier to vertex frontier.

The first search of Merrill, Garland and Grimshaw [merrill2012scalable]; [busato2017chapter],
section 2. Mapping: vertex of the frontier to thread, its arcs to the block by `cta_warp_scan`
([busato2017chapter], section 5.2.2). A thread that visits an arc looks at its target at once: at
the bitmask, then at the distance. Unvisited vertices go to the thread's local queue. When the block
has visited its portion, the culls drop the duplicates that they recognize, and a scan and one
atomic enqueue the rest. Work O(V + E). Only vertices pass through memory between levels, O(V)
words; the searches with an edge frontier write and read O(E) words.

The original culls at every turn of the block. Here threads fill local queues first. A thread that
finds more than its queue holds enqueues the rest at once, one atomic each, without a cull.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.counts import ARCS, DROPPED, count_up
from gpukernels.frontiers.duplicates import HISTORY_CULLING, MERRILL, forget
from gpukernels.frontiers.enqueue import enqueue_held
from gpukernels.frontiers.local_queue import LOCAL, cull, hold
from gpukernels.frontiers.state import Local, Queue
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.cta_warp_scan import cta_warp_scan
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import WARP_SIZE

from .claim import Search
from .edge_frontier import is_new
from .merrill import MerrillSearch, Options
from .result import BFSResult, adopt


@cuda.jit(device=True)
def follow(work, u, arc):
    """Follow `arc` from `u`; put its target into the thread's queue if it is not visited yet."""
    search, bitmask, level, local, queue = work
    v = search.targets[arc]
    if is_new(search, bitmask, v, level):
        adopt(search.parent, v, u)
        hold(local, queue, v)


@benign_race("distance", "parent", "bitmask", "hash_table", "table")
@cuda.jit(**LARGE_BLOCKS)
def expand_and_contract(
    search: Search, bitmask, frontier, size, queue: Queue, level, cta_threshold
):
    """Enqueue the unvisited neighbors of the `size` vertices of the frontier.

    Threads that reach the same vertex in a level all store the same distance, and each stores a
    valid parent. A bit lost from the bitmask, or a word lost from a table of a cull, causes a
    duplicate and nothing else.
    """
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    if search.how == HISTORY_CULLING or search.how == MERRILL:
        forget(table)
    cuda.syncthreads()
    found = cuda.local.array(LOCAL, int32)
    held = cuda.local.array(1, int32)
    work = (search, bitmask, level, Local(found, held), queue)
    arcs, dropped = int64(0), int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        u, begin, end = int32(0), int32(0), int32(0)
        if i < size:
            u = frontier[i]
            begin, end = search.offsets[u], search.offsets[u + 1]
        held[0] = 0
        cta_warp_scan(follow, work, u, begin, end, cta_threshold, WARP_SIZE)
        dropped += cull(search.how, found, held, hash_table, table)
        enqueue_held(queue, Local(found, held))
        arcs += end - begin
    count_up(queue.next_size, ARCS, arcs)
    count_up(queue.next_size, DROPPED, dropped)


@takes_fields_of(Options)
def bfs(g: Graph, root: int, device: Device, **options: Any) -> BFSResult:
    """Search `g` from `root`: expand and contract, with one launch per level.

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
    queues = s.queue(), s.queue()
    frontier, size = s.full(1, root), 1
    s.enqueued.append(1)
    while size:
        level = len(s.enqueued) - 1
        queue = queues[level % 2]
        s.launch(
            expand_and_contract, size, s.state, s.bits, frontier, size, queue, level,
            s.cta_threshold, shared=s.shared, clear=True,
        )  # fmt: skip
        size, arcs = s.read_counts()
        s.enqueued.append(size)
        s.inspected += arcs
        frontier = queue.next_frontier
        if size > g.n:
            size, _ = s.collect(queue, level + 1)
    return s.result("expand_contract")
