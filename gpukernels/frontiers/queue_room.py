"""How many vertices the queue of a search may be told to hold."""

from __future__ import annotations

from gpukernels.checks import check_whole
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.offsets import MAX_UNITS

#: Entries that a queue may always have: 4 MiB.
SMALL = 2**20
#: A longer queue has at most this many entries for each vertex or arc, of which there are more. A
#: vertex that is enqueued twice doubles what follows, so that no count of arcs bounds a level.
TIMES = 16


def queue_room(capacity: int | None, default: int, g: Graph) -> int:
    """Return `capacity`, or `default` for None.

    Raises
    ------
    InvalidArgument
        If it is no whole number, less than n, as a level without duplicates must fit, or so far
        beyond n and m that its memory would be for nothing.
    """
    if capacity is None:
        return default
    most = min(max(SMALL, TIMES * max(g.n, g.m)), MAX_UNITS)
    return check_whole("capacity", capacity, g.n, most)
