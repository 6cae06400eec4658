"""H-BF: Bellman-Ford on a frontier, with every optimization a keyword that can be switched off.

Busato and Bombieri [busato2016hbf]; [busato2017chapter], section 3. One idea a file:

===========  ======================================================================================
`words`      distance and round in one 64-bit word, and the order of keys
`classes`    edge classes in the two high bits of each target
`relax`      one relaxation, by its class; who enqueues the vertex
`frontier`   a round: dynamic virtual warps, many vertices a warp
`child`      the vertices of very high degree: a grid of their own
`table`      what the 64-bit atomic is compared with: a lookup table
`ending`     distances out of their words, and those of vertices that were left out
`options`    the switches, and the numbers behind them
`rounds`     the host's side of a round: buffers, launches, read-backs
`report`     what the search did
`many_roots` the same from many roots at once
===========  ======================================================================================

A vertex whose distance falls is in the next round's frontier, and only its arcs are relaxed there.
The queues, what fills them and the pieces of large vertices are parts that other searches use too:
see `frontiers`. Work O(n m) at worst, on most graphs a few times m; the host reads back six numbers
a round.

Distances are those of every run. How many rounds it takes, and what is relaxed and enqueued in
them, depends on the order of the threads: a distance that falls is read in the same round by
whoever comes later.
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
        Where the paths begin.
    device : SimtDevice or CudaDevice
        Where to run.
    resident_threads : int, optional
        Threads that may run at once; by default what `device` holds. A graph that is scaled down
        wants a device that is scaled down with it.
    capacity : int, optional
        Vertices that a queue can hold; by default n, and with another cull of duplicates than the
        64-bit atomic n or m, whichever is more. A round with so many duplicates that they do not
        fit is collected again from the rounds in the words, without duplicates.
    parents : bool
        Whether the result holds parents.
    **options
        See :class:`.options.Options`.

    Returns
    -------
    SSSPResult
        ``stats`` adds ``options`` (a dict), ``launches_for_classes`` (1 where the arcs were marked
        in this call), by round ``frontier_sizes``, ``warp_sizes`` and ``vertices_a_warp`` (lists),
        ``child_launches`` and ``child_vertices``, ``relaxations_at_the_end`` (arcs into the
        vertices that were left out), ``class_of_arc`` (int8, shape (m,): 0 for none, 1 in-degree, 2
        self-loop, 3 out-degree), ``edge_classes`` (arcs of each class), ``saved`` (by class: how
        often an arc was skipped, or relaxed without an atomic), ``enqueues``, ``duplicates``
        (vertices of a frontier that are there a second time), ``duplicates_removed`` (by the table)
        and ``overflows`` (rounds that did not fit).

    Raises
    ------
    InvalidArgument
        If an option is not what it may be, or `g` has more than 2^30 vertices and edge classes.
    NegativeCycleError
        Where a path from the root leads to a cycle of negative length; names one.
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
