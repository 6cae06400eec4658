"""A queue that knows where the arcs of each entry begin, so that no scan is needed between rounds.

A mapping that gives arcs to threads needs the prefix sum of the degrees of a frontier. A search
would scan them before every round, with one or two more launches. Here the queue's size is one word
of 64 bits, with entries above and arcs below. The atomic that reserves places for the entries of a
warp also returns how many arcs came before. Entries and arcs have the same order, so ``begin``
rises from place to place as the scan of the degrees does.

Each half must hold its count: a queue without duplicates has at most n entries, and m arcs leave
them, both below 2^31.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32, int64

from gpukernels.primitives.launch_shape import FULL_MASK, WARP_SIZE
from gpukernels.primitives.warp_scan import warp_inclusive_scan

from .counts import ENTRIES
from .state import kernel_argument

#: Bits of a size that count arcs, and their mask.
ARC_BITS = 32
ARC_MASK = 2**ARC_BITS - 1


@kernel_argument
class ArcQueue(NamedTuple):
    """Vertices, and the places of their arcs among all arcs of the queue."""

    vertex: Any  #: int32
    begin: Any  #: int32: arcs of all entries before
    shift: Any  #: int32: arc k of the queue is arc ``shift + k`` of the graph


@cuda.jit(device=True)
def enqueue_with_arcs(queue, size, offsets, found, held):
    """Append the first `held` vertices of every lane's `found` to `queue`; all lanes call.

    ``size[ENTRIES]``, an int64, counts entries and arcs; entries without room are only counted.
    """
    if cuda.any_sync(FULL_MASK, held > 0):
        arcs = int32(0)
        for i in range(held):
            arcs = int32(arcs + offsets[found[i] + 1] - offsets[found[i]])
        entries_here = warp_inclusive_scan(int32(held))
        arcs_here = warp_inclusive_scan(arcs)
        before = int64(0)
        if cuda.laneid == WARP_SIZE - 1:
            before = cuda.atomic.add(size, ENTRIES, (int64(entries_here) << ARC_BITS) + arcs_here)
        before = cuda.shfl_sync(FULL_MASK, before, WARP_SIZE - 1)
        place = (before >> ARC_BITS) + entries_here - held
        begin = (before & ARC_MASK) + arcs_here - arcs
        for i in range(held):
            v = found[i]
            row = offsets[v]
            if place + i < queue.vertex.size:
                queue.vertex[place + i] = v
                queue.begin[place + i] = begin
                queue.shift[place + i] = row - begin
            begin += offsets[v + 1] - row


def entries_and_arcs(size: int) -> tuple[int, int]:
    """Return the numbers of entries and of arcs of a queue whose size is `size`."""
    return int(size) >> ARC_BITS, int(size) & ARC_MASK
