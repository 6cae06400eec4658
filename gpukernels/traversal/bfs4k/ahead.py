"""Visits that do not wait for each other: a lane reads four targets before it claims the first.

`mapping.virtual_warp` visits arc after arc, and each visit waits twice: for the target, then for
what is known of it. The compiler cannot begin the next one earlier, as the claim in between writes.
Where a list gives a lane several arcs, it pays to read ahead: two waits for four arcs. On an H200
128 million arcs of a random graph took 1.12 ms instead of 1.26, and 0.90 with a look at bits
(``python -m gpukernels.bench knobs``). The paper [busato2015bfs4k] has no such step; what is
visited and found is the same.

Indices are unsigned here: of a signed one numba asks whether it counts from the end.
"""

from __future__ import annotations

from numba import boolean, cuda, int32, uint32

from gpukernels.frontiers.duplicates import BITMAP

from ..claim import take
from ..result import UNVISITED

#: Arcs that a lane has under way.
AHEAD = 4


@cuda.jit(device=True)
def may_be_new(search, v):
    """Return whether `v` is unvisited for all that the calling thread can see; a claim decides.

    Where each visited vertex has its bit, the bit is enough: 32 times as many fit a cache as
    distances do.
    """
    if search.how == BITMAP:
        return search.bitmap[uint32(v) >> uint32(5)] & int32(1) << (v & 31) == 0
    return search.distance[uint32(v)] == UNVISITED


@cuda.jit(device=True)
def discover_ahead(work, u, begin, end, lane, warp_size):
    """Visit the arcs from `begin` to `end` of `u` that fall to `lane` of a group.

    As `mapping.virtual_warp` does by `discover`; the lanes need not meet. A lane without a target
    looks at vertex 0: where no look hangs on a condition, the compiler keeps them together.
    """
    search = work.search
    found, new = cuda.local.array(AHEAD, int32), cuda.local.array(AHEAD, boolean)
    arc = begin + lane
    while arc < end:
        for k in range(AHEAD):
            found[k] = -1
            if arc < end:
                found[k] = search.targets[uint32(arc)]
            arc += warp_size
        for k in range(AHEAD):
            new[k] = may_be_new(search, max(found[k], 0))
        for k in range(AHEAD):
            if new[k] and found[k] >= 0:
                take(work, u, found[k])
