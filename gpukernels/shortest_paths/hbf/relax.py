"""Relax an arc as its class allows, and decide which thread enqueues a vertex that falls.

H-BF [busato2016hbf], Algorithms 4 to 6. A plain read of the distance comes before the atomic: most
new distances are no better, and reads of one address need not wait for each other.

Slips: Algorithm 6 packs the distance d(u) and forgets the weight of the arc; Algorithm 5, of the
same step, adds it. Algorithm 6 also enqueues a vertex whenever the old word has another round. But
the old word comes back whether or not the minimum changed it, so distances that were no better
would enqueue too. Here a vertex is enqueued if its distance has really fallen, by the first thread
that lowered it in this round; `how` says whether later threads enqueue it again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda

from gpukernels.frontiers.local_queue import hold
from gpukernels.frontiers.state import Local, Queue, kernel_argument
from gpukernels.primitives.cache_hints import load_past_l1, store_past_l1

from .classes import ID_BITS, ID_MASK, IN_DEGREE, NORMAL
from .words import key_of, longer, packed, round_of

#: Values of `how`: ways to keep a vertex from being visited twice in a round.
DUPLICATES = {"none": 0, "table": 1, "atomic64": 2}
NONE, TABLE, ATOMIC64 = DUPLICATES.values()
#: Places in ``next_size`` after those of queue and pieces: the vertices that the lookup table has
#: kept, vertices that the frontier holds again, and whether a distance fell too low.
KEPT, REPEATED, BELOW = 3, 4, 5
COUNTERS = 6


@kernel_argument
class Search(NamedTuple):
    """The graph, the words of its vertices, and the optimizations in use."""

    offsets: Any
    targets: Any  #: int32, with classes if `classes`
    weights: Any
    words: Any  #: uint64, distance and round: see `words`
    times: Any  #: int32, how often the arcs of a vertex were relaxed
    visited: Any  #: int32, the round of the last visit, if ``how == NONE``; else empty
    floor: int  #: a key below this proves a cycle of negative length
    floats: bool
    classes: bool
    how: int  #: a number of `DUPLICATES`
    hints: bool  #: whether loads and stores give hints to the caches


class Visit(NamedTuple):
    """The values that a thread needs at an arc; made in a kernel."""

    search: Search
    round: int
    alone: bool  #: whether no other thread may relax an arc to the same vertex: the source class
    local: Local  #: where a thread first puts vertices that fall
    queue: Queue  #: where the local queue is emptied to


@cuda.jit(device=True)
def relax(work, key, arc):
    """Relax `arc` from a vertex whose distance has this `key`."""
    search, round, alone, local, queue = work
    v = load_past_l1(search.targets, arc, search.hints)
    kind = NORMAL
    if search.classes:
        if v < 0:
            return
        kind = v >> ID_BITS
        v = v & ID_MASK
    # Start both loads before waiting for either.
    weight = load_past_l1(search.weights, arc, search.hints)
    old = load_past_l1(search.words, v, search.hints)
    length = longer(key, weight, search.floats)
    if length < search.floor:
        cuda.atomic.max(queue.next_size, BELOW, 1)
        return
    if length < key_of(old):
        if kind == IN_DEGREE or alone:
            store_past_l1(search.words, v, packed(length, round), search.hints)
        else:
            old = cuda.atomic.min(search.words, v, packed(length, round))
        if length < key_of(old) and (search.how != ATOMIC64 or round_of(old) != round):
            hold(local, queue, v)
