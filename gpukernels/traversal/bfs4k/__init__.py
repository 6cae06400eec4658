"""BFS-4K: a search that chooses its technique again at every level.

Busato and Bombieri [busato2015bfs4k]; [busato2017chapter], section 2.2. One idea per file:

================  ==================================================================================
`single_block`    small frontiers: one block, level after level in one launch, in shared memory
`multi_block`     other frontiers: dynamic virtual warps over the whole GPU, one launch per level
`edge_discover`   fewer vertices than threads: one thread per arc, found by shuffles
`child`           the few vertices of very high degree: a separate grid
`ahead`           visits that load four arcs of a lane at once, as an option
`knobs`, `rules`  the seven numbers that choose, and how to set them for a graph
`large`           which vertices are of very high degree
`levels`          the host's side of a level: buffers, launches, read-backs
`report`          the statistics of the search
================  ==================================================================================

The lanes' local queues, the code that writes them to the next frontier and the culls of duplicates
serve other searches too: see `frontiers`. Work O(V + E), except for duplicates that no cull sees.
The host reads back four numbers once per level or less, and once for all levels of a single block.
Only a level with more duplicates than its queue can hold costs O(V) and one more read-back.
"""

from __future__ import annotations

from gpukernels.checks import check_whole
from gpukernels.frontiers.queue_room import queue_room
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.offsets import MAX_UNITS

from ..result import BFSResult
from .knobs import Knobs
from .levels import Levels
from .report import report
from .rules import tune_bfs4k


@takes_fields_of(Knobs)
def bfs(
    g: Graph,
    root: int,
    device,
    *,
    resident_threads: int | None = None,
    capacity: int | None = None,
    parents: bool = True,
    **knobs,
) -> BFSResult:
    """Search `g` from `root`; each level by the kernel that its frontier suggests.

    Parameters
    ----------
    resident_threads : int, optional
        Threads that may run at once; by default what `device` holds. A graph that is scaled down
        needs a device that is scaled down as well.
    capacity : int, optional
        Vertices that a queue can hold; by default n. If a level has so many duplicates that it does
        not fit, its vertices are collected again from the distances.
    parents : bool
        Whether the result holds parents.
    **knobs
        See :class:`.knobs.Knobs`. ``tune_bfs4k`` sets K1 to K7 for a graph.

    Returns
    -------
    BFSResult
        ``stats["frontier_sizes"]`` counts the vertices enqueued at each level. ``stats`` adds
        ``knobs`` (a dict). Two lists have one entry per level: ``kernels`` ("single_block",
        "multi_block" or "edge_discover") and ``warp_sizes`` (threads of a virtual warp, 0 for
        edge-discover). ``child_above`` is the degree above which the child kernel takes a vertex,
        ``child_vertices`` how many it took. There are ``child_launches``, ``arcs_inspected``,
        ``duplicates`` (a list: of the vertices of a level, how many were enqueued before),
        ``duplicates_detected`` (dropped by a cull), ``duplicates_missed`` (enqueued),
        ``duplicates_made`` (both), and ``overflows`` (levels that did not fit).

    Raises
    ------
    InvalidArgument
        If a knob is not allowed, or `capacity` is less than n or far above n and m.
    """
    chosen = Knobs(**knobs)
    capacity = queue_room(capacity, g.n, g)
    if resident_threads is None:
        resident_threads = device.resident_threads
    check_whole("resident_threads", resident_threads, 1, MAX_UNITS)
    search = Levels(g, root, device, chosen, resident_threads, capacity, parents)
    level, size, stays = 0, 1, g.out_degree[root] <= search.large.above
    while size:
        if size <= chosen.frontier_room and stays:
            level, size = search.by_one_block(level, size)
            stays = False
        else:
            size = search.by_many_blocks(level, size)
            # The block returns at once if it meets a vertex for the child kernel. So try it if
            # earlier levels have saved the read-back, or if no such vertex is left.
            level += 1
            stays = search.children_left <= 0 or search.read_backs < level
    return report(search, level)


__all__ = ["Knobs", "bfs", "tune_bfs4k"]
