"""H-BF: Bellman-Ford on a frontier, with every optimization a keyword that can be switched off.

Busato and Bombieri [busato2016hbf]; [busato2017chapter], section 3. One idea per file:

===========  ======================================================================================
`words`      distance and round in one 64-bit word, and the order of keys
`classes`    edge classes in the two high bits of each target
`relax`      one relaxation, by the arc's class; which thread enqueues the vertex
`frontier`   a round: dynamic virtual warps, many vertices per warp
`child`      the vertices of very high degree: a separate grid
`table`      the technique that the 64-bit atomic is compared with: a lookup table
`ending`     distances from their words, and distances of the vertices that were left out
`options`    the switches, and the numbers behind them
`rounds`     the host's side of a round: buffers, launches, read-backs
`report`     the statistics of the search
`many_roots` the same from many roots at once
===========  ======================================================================================

A vertex whose distance falls is in the next round's frontier, and only its arcs are relaxed there.
Other searches use some parts too: the queues, the code that fills them, and the pieces of large
vertices; see `frontiers`. Work O(n m) at worst, on most graphs a few times m; the host reads back
six numbers per round.

The distances are the same in every run. The number of rounds, and the arcs relaxed in them, depends
on the order of the threads: if a distance falls, threads that read it later in the same round get
the new value.
"""

from __future__ import annotations

from gpukernels.checks import check_whole
from gpukernels.frontiers.queue_room import queue_room
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.launch_shape import WARP_SIZE
from gpukernels.primitives.offsets import MAX_UNITS

from ..result import SSSPResult
from .options import Options
from .report import report
from .rounds import Rounds


@takes_fields_of(Options)
def sssp(
    g: Graph,
    root: int,
    device,
    *,
    resident_threads: int | None = None,
    capacity: int | None = None,
    parents: bool = True,
    **options,
) -> SSSPResult:
    """Search `g` from `root`, with one launch per round, until no distance falls.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed. Weights may be negative.
    root : int
        The vertex where the paths begin.
    device : SimtDevice or CudaDevice
        Where kernels run.
    resident_threads : int, optional
        Threads that may run at once; by default what `device` holds. A graph that is scaled down
        needs a device that is scaled down as well.
    capacity : int, optional
        Vertices that a queue can hold; by default n, and with another cull of duplicates than the
        64-bit atomic the larger of n and m. If a round has so many duplicates that it does not fit,
        its vertices are collected again from the rounds in the words.
    parents : bool
        Whether the result holds parents.
    **options
        See :class:`.options.Options`.

    Returns
    -------
    SSSPResult
        ``stats`` adds ``options`` (a dict), ``launches_for_classes`` (1 if this call has marked
        arcs), lists by round: ``frontier_sizes``, ``warp_sizes`` and ``vertices_a_warp``;
        ``child_launches``, ``child_vertices`` and ``relaxations_at_the_end`` (arcs into the
        vertices that were left out); ``class_of_arc`` (int8, shape (m,): 0 for none, 1 in-degree, 2
        self-loop, 3 out-degree), ``edge_classes`` (arcs of each class), ``saved`` (by class: how
        often an arc was skipped, or relaxed without an atomic); ``enqueues``, ``duplicates``
        (vertices that a frontier holds again), ``duplicates_removed`` (by the table) and
        ``overflows`` (rounds that did not fit).

    Raises
    ------
    InvalidArgument
        If an option is not allowed, or `g` has more than 2^30 vertices and edge classes.
    NegativeCycleError
        If a path from the root leads to a cycle of negative length; names one.
    """
    chosen = Options(**options)
    usual = g.n if chosen.duplicates == "atomic64" else max(g.n, g.m)
    capacity = queue_room(capacity, usual, g)
    if resident_threads is None:
        resident_threads = device.resident_threads
    check_whole("resident_threads", resident_threads, 1, MAX_UNITS)
    rounds = Rounds(g, root, device, chosen, max(resident_threads, WARP_SIZE), capacity)
    rounds.run()
    return report(rounds, parents)


__all__ = ["Options", "sssp"]
