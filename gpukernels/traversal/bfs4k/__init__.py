"""BFS-4K: a search that chooses its technique again at every level.

Busato and Bombieri [busato2015bfs4k]; [busato2017chapter], section 2.2. One idea a file:

================  ==================================================================================
`single_block`    small frontiers: one block, level after level in one launch, in shared memory
`multi_block`     other frontiers: dynamic virtual warps over the whole GPU, a launch a level
`edge_discover`   fewer vertices than threads: a thread an arc, found by shuffles
`child`           the few vertices of very high degree: a grid of their own
`ahead`           visits that have four arcs of a lane under way, where it is asked for
`knobs`, `rules`  the seven numbers that choose, and how to set them for a graph
`large`           which vertices are of very high degree
`levels`          the host's side of a level: buffers, launches, read-backs
`report`          what the search did
================  ==================================================================================

The lanes' local queues, what writes them to the next frontier and the culls of duplicates are parts
that other searches use too: see `frontiers`. Work O(V + E), but for duplicates that no cull
sees; the host reads back four numbers at most once a level, and once for all levels of a single
block. Only a level with more duplicates than its queue can hold costs O(V), and a read-back more.
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
        wants a device that is scaled down with it.
    capacity : int, optional
        Vertices that a queue can hold; by default n. A level with so many duplicates that it does
        not fit is collected again from the distances, without duplicates.
    parents : bool
        Whether the result holds parents.
    **knobs
        See :class:`.knobs.Knobs`. ``tune_bfs4k`` sets K1 to K7 for a graph.

    Returns
    -------
    BFSResult
        ``stats["frontier_sizes"]`` counts what was enqueued at each level. ``stats`` adds ``knobs``
        (a dict), ``kernels`` and ``warp_sizes`` (lists, an entry a level: "single_block",
        "multi_block" or "edge_discover", and the threads of a virtual warp, 0 for edge-discover),
        ``child_above`` (degree above which the child kernel takes a vertex), ``child_vertices``
        (how many it took) and ``child_launches``, ``arcs_inspected``, ``duplicates`` (a list: of
        the vertices of a level, how many were enqueued before), ``duplicates_detected`` (dropped by
        a cull), ``duplicates_missed`` (enqueued), ``duplicates_made`` (both), and ``overflows``
        (levels that did not fit).

    Raises
    ------
    InvalidArgument
        If a knob is not what it may be, or `capacity` is less than n or far beyond n and m.
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
            # A block that meets a vertex for the child kernel comes back at once, for nothing: it
            # tries where earlier levels have spared the read-back, or no such vertex is left.
            level += 1
            stays = search.children_left <= 0 or search.read_backs < level
    return report(search, level)


__all__ = ["Knobs", "bfs", "tune_bfs4k"]
