"""Check the capacity of a search's queue."""

from __future__ import annotations

from gpukernels.checks import check_whole
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.offsets import MAX_UNITS

#: Entries that a queue may always have: 4 MiB.
SMALL = 2**20
#: A longer queue has at most this many entries per vertex or per arc, whichever are more. A vertex
#: that is enqueued twice doubles later levels, so the number of arcs does not bound a level.
TIMES = 16


def queue_room(capacity: int | None, default: int, g: Graph) -> int:
    """Return `capacity`, or `default` for None.

    Raises
    ------
    InvalidArgument
        If it is not a whole number, less than n, which a level without duplicates may need, or so
        far above n and m that most of its memory would be unused.
    """
    if capacity is None:
        return default
    most = min(max(SMALL, TIMES * max(g.n, g.m)), MAX_UNITS)
    return check_whole("capacity", capacity, g.n, most)
