"""One relaxation, as the class of its arc allows, and who enqueues the vertex whose distance falls.

H-BF [busato2016hbf], Algorithms 4 to 6. A plain look at the distance comes before the atomic: most
offers are no better, and a look costs no turn at the address.

Slips: Algorithm 6 packs the distance d(u) and forgets the weight of the arc; Algorithm 5, of the
same step, adds it. And Algorithm 6 enqueues wherever the round in the old word is another one. The
old word comes back whether or not the minimum changed it, so that offers which were no better would
enqueue too. Here a vertex is enqueued if its distance has really fallen, and by the first who
lowered it in this round; `how` says if later ones enqueue it again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda

from gpukernels.frontiers.local_queue import hold
from gpukernels.frontiers.state import Local, Queue, kernel_argument
from gpukernels.primitives.cache_hints import load_past_l1, store_past_l1

from .classes import ID_BITS, ID_MASK, IN_DEGREE, NORMAL
from .words import key_of, longer, packed, round_of

#: Ways to keep a vertex from being visited twice in a round, as `how` holds them.
DUPLICATES = {"none": 0, "table": 1, "atomic64": 2}
NONE, TABLE, ATOMIC64 = DUPLICATES.values()
#: Places in ``next_size`` behind those of queue and pieces: what the lookup table has kept,
#: vertices of the frontier that are there a second time, and whether a distance fell too low.
KEPT, REPEATED, BELOW = 3, 4, 5
COUNTERS = 6


@kernel_argument
class Search(NamedTuple):
    """The graph, what the search knows of its vertices, and which optimizations it uses."""

    offsets: Any
    targets: Any  #: int32, with classes if `classes`
    weights: Any
    words: Any  #: uint64, distance and round: see `words`
    times: Any  #: int32, how often the arcs of a vertex were relaxed
    visited: Any  #: int32, the round of the last visit, for ``how == NONE``; else without elements
    floor: int  #: a key below this proves a cycle of negative length
    floats: bool
    classes: bool
    how: int  #: a number of `DUPLICATES`
    hints: bool  #: whether loads and stores tell the caches what becomes of them


class Visit(NamedTuple):
    """What a thread needs at an arc; made in a kernel."""

    search: Search
    round: int
    alone: bool  #: whether no other thread may relax an arc to the same vertex: the source class
    local: Local  #: where vertices go first whose distance has fallen
    queue: Queue  #: where they go then


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
    # Both loads are under way before either is waited for.
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
