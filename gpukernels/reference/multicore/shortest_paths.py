"""Shortest paths from one root on all cores: delta-stepping in its near-far form.

Meyer and Sanders's delta-stepping [meyer2003delta] with one pile for all far vertices, as in
[davidson2014workefficient]. As in the benchmark of [beamer2015gap], distances fall by an atomic
minimum, and each core has its own queues. A core continues with the near vertices that it has found
itself, for a bounded number of arcs, before it waits for the others. One core does a round of few
arcs. Work O(n m) at worst; with a small delta, each arc is read about once, in more rounds.

The array `waiting` says where a vertex waits. A core changes this word by an atomic before it puts
the vertex into a queue, so a vertex is in at most one near queue. A core that takes a vertex out
clears the word before it reads the distance, and a core that lowers the distance reads the word
afterwards; so no change is missed. In the end no arc relaxes any further: distances, also of
floats, do not depend on the order or the number of the cores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import config, njit, prange
from numpy.typing import NDArray

from gpukernels.cores import all_cores
from gpukernels.cores.compiled import compiled
from gpukernels.errors import LengthOverflow
from gpukernels.graphs.faces import GraphLike, takes_labels
from gpukernels.graphs.graph import arc_weights, check_root, no_arc
from gpukernels.graphs.summary import shape_of
from gpukernels.graphs.weight_facts import (
    check_non_negative,
    is_held,
    may_be_too_long,
    weight_facts,
)

if config.DISABLE_JIT:
    from .plain_atomics import add, exchange, lower, read, replace
else:
    from .atomics import add, exchange, lower, read, replace

#: The limit grows by so many times the mean weight, divided by the mean degree.
FACTOR = 8.0
#: Vertices and arcs of a round that one core follows while the others wake up.
ALONE, ALONE_ARCS = 512, 4096
#: The most vertices that a core takes from a queue at once.
CHUNK = 64
#: The most near vertices with which a core continues alone, and arcs after which it stops.
FUSED, FUSED_ARCS = 1000, 16384

#: Where a vertex waits.
NOWHERE, FAR, NEAR = 0, 1, 2


class Distances(NamedTuple):
    """The result of a search for shortest paths on all cores.

    Attributes
    ----------
    distance : array of int32, int64 or float64, shape (n,)
        Length of a shortest path from the root: int32 if no path can be too long for it. If there
        is none: infinity, or for whole weights the largest of the type.
    relaxations : int
        Number of times that an arc was read.
    rounds : int
        The number of times that the cores have waited for one another with near vertices.
    """

    distance: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.float64]
    relaxations: int
    rounds: int

    def __repr__(self) -> str:
        return (
            f"Distances: {self.relaxations:,} relaxations in {self.rounds:,} rounds; "
            f"distance {shape_of(self.distance)}"
        )


@takes_labels("root")
def sssp(g: GraphLike, root: Any = 0) -> Distances:
    """Search for shortest paths on all cores.

    Parameters
    ----------
    g : Graph, NetworkX graph or SciPy sparse matrix
        The graph; without weights, each arc counts 1.
    root : vertex
        The vertex where the paths begin, as a label or a position.

    Returns
    -------
    Distances
        Distances, the same as from :func:`gpukernels.reference.dijkstra`, and counts.

    Raises
    ------
    NegativeWeightError
        If an arc weighs less than 0.
    LengthOverflow
        If a path is longer than int64 or float64 holds.
    InvalidArgument, VertexOutOfRange
        If `root` is not a vertex of `g`.
    """
    root = check_root(g, root)
    alternatives = ("sequential.bellman_ford_queue", "sequential.bellman_ford")
    check_non_negative(g, "multicore.sssp", alternatives)
    facts = weight_facts(g)
    weights = arc_weights(g)
    kind: Any = np.float64
    if weights.dtype.kind == "i":
        # A path leaves each vertex at most once; a sum is compared before it is stored.
        kind = np.int32 if facts.most * g.n < np.iinfo(np.int32).max else np.int64
    wide = np.float64 if kind is np.float64 else np.int64
    most = 2.0**61 if kind is not np.float64 else np.finfo(np.float64).max / 4
    delta = wide(min(FACTOR * facts.mean / max(g.m / g.n, 1), most))
    distance: NDArray[Any] = np.empty(g.n, kind)
    waiting = np.empty(g.n, np.int32)
    with all_cores() as count:
        # Only the written parts of these take memory. A core may find a vertex far twice in a row.
        queues, far = np.empty((3, count, g.n), np.int32), np.empty((count, 2 * g.n), np.int32)
        relaxations, rounds = _search(
            g.offsets, g.targets, weights, root, distance, waiting, queues, far, kind(no_arc(kind)),
            delta,
        )  # fmt: skip
    if may_be_too_long(g, g.n) and not is_held(g, distance):
        raise LengthOverflow("longer", distance.dtype, root)
    return Distances(distance, int(relaxations), int(rounds))


@compiled()
def _search(offsets, targets, weights, root, distance, waiting, queues, far, infinite, delta):
    """Fill `distance`; return the number of relaxations and of rounds."""
    count = far.shape[0]
    _clear(distance, waiting, infinite, count)
    now, next_queues, spare = queues[0], queues[1], queues[2]
    sizes, next_sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    piles, arcs = np.zeros(count, np.int64), np.zeros(count, np.int64)
    least, cursor = np.empty(count, distance.dtype), np.zeros(1, np.int64)
    first_chunk = np.zeros(count + 1, np.int64)  # of each queue, if all are numbered in a row
    distance[root], waiting[root] = 0, NEAR
    now[0, 0], sizes[0] = root, 1
    limit, rounds = distance[root] + delta, 0
    while True:
        while sizes.sum() > 0:
            rounds += 1
            chunk = min(max(sizes.sum() // (8 * count), 1), CHUNK)
            for t in range(count):
                first_chunk[t + 1] = first_chunk[t] + (sizes[t] + chunk - 1) // chunk
            cursor[0] = 0
            if count == 1 or _is_little(offsets, now, sizes):
                next_sizes[:] = 0
                _work(
                    0, offsets, targets, weights, distance, waiting, now, sizes, chunk,
                    first_chunk, cursor, next_queues, spare, next_sizes, far, piles, limit,
                    infinite, arcs,
                )  # fmt: skip
            else:
                _work_together(
                    offsets, targets, weights, distance, waiting, now, sizes, chunk,
                    first_chunk, cursor, next_queues, spare, next_sizes, far, piles, limit,
                    infinite, arcs,
                )  # fmt: skip
            now, next_queues = next_queues, now
            sizes, next_sizes = next_sizes, sizes
        limit = _beyond(limit, delta, infinite)
        _bring_near(distance, waiting, far, piles, now, sizes, limit, least, infinite)
        if sizes.sum() == 0:
            if piles.sum() == 0:
                return arcs.sum(), rounds
            limit = _beyond(least.min(), delta, infinite)
            _bring_near(distance, waiting, far, piles, now, sizes, limit, least, infinite)


@njit(inline="always")
def _beyond(length, delta, infinite):
    """Return the sum, or infinity if it is more than that."""
    return min(length, infinite - delta) + delta


@compiled(parallel=True)
def _clear(distance, waiting, infinite, count):
    n = distance.size
    for t in prange(count):
        for v in range(n * t // count, n * (t + 1) // count):
            distance[v] = infinite
            waiting[v] = NOWHERE


@compiled()
def _is_little(offsets, now, sizes):
    """Return whether the work takes less time than waking the other cores."""
    if sizes.sum() > ALONE:
        return False
    arcs = 0
    for t in range(sizes.size):
        for i in range(sizes[t]):
            arcs += offsets[now[t, i] + 1] - offsets[now[t, i]]
    return arcs <= ALONE_ARCS


@compiled(parallel=True)
def _work_together(
    offsets, targets, weights, distance, waiting, now, sizes, chunk, first_chunk, cursor,
    next_queues, spare, next_sizes, far, piles, limit, infinite, arcs,
):  # fmt: skip
    for t in prange(sizes.size):
        _work(
            t, offsets, targets, weights, distance, waiting, now, sizes, chunk, first_chunk,
            cursor, next_queues, spare, next_sizes, far, piles, limit, infinite, arcs,
        )  # fmt: skip


@compiled()
def _work(
    t, offsets, targets, weights, distance, waiting, now, sizes, chunk, first_chunk, cursor,
    next_queues, spare, next_sizes, far, piles, limit, infinite, arcs,
):  # fmt: skip
    """Take chunks of all queues until none is left, then go on with a few of its own vertices."""
    count = sizes.size
    near, other, pile = next_queues[t], spare[t], far[t]
    size, height, done, owner = 0, piles[t], 0, 0
    while True:
        k = add(cursor, 0, 1)
        while owner < count and k >= first_chunk[owner + 1]:
            owner += 1
        if owner == count:
            break
        begin = (k - first_chunk[owner]) * chunk
        for i in range(begin, min(begin + chunk, sizes[owner])):
            u = now[owner, i]
            done += offsets[u + 1] - offsets[u]
            size, height = _relax(
                u, offsets, targets, weights, distance, waiting, near, size, pile, height, limit,
                infinite,
            )  # fmt: skip
    stop = done + FUSED_ARCS
    while 0 < size <= FUSED and done < stop:
        near, other = other, near
        held, size = size, 0
        for i in range(held):
            u = other[i]
            done += offsets[u + 1] - offsets[u]
            size, height = _relax(
                u, offsets, targets, weights, distance, waiting, near, size, pile, height, limit,
                infinite,
            )  # fmt: skip
    for i in range(size):  # copied to itself, or from the other queue
        next_queues[t, i] = near[i]
    next_sizes[t], piles[t] = size, height
    arcs[t] += done


@compiled()
def _relax(
    u, offsets, targets, weights, distance, waiting, near, size, pile, height, limit, infinite
):
    """Relax the arcs of a vertex; return the sizes of the core's queue and of its pile."""
    exchange(waiting, u, NOWHERE)
    distance_of_u = read(distance, u)
    room = infinite - distance_of_u
    for i in range(offsets[u], offsets[u + 1]):
        v = targets[i]
        if weights[i] >= room:  # the sum might wrap around
            continue
        length = distance_of_u + weights[i]
        if length < read(distance, v):
            stored = distance.dtype.type(length)
            if stored < lower(distance, v, stored):
                if length <= limit:
                    if exchange(waiting, v, NEAR) != NEAR:
                        near[size] = v
                        size += 1
                elif replace(waiting, v, NOWHERE, FAR):
                    pile[height] = v
                    height += 1
    return size, height


@compiled()
def _bring_near(distance, waiting, far, piles, now, sizes, limit, least, infinite):
    """Move vertices within the limit from the piles to the queues, which are empty."""
    if far.shape[0] == 1 or piles.sum() <= ALONE:
        for t in range(piles.size):
            _sift(t, distance, waiting, far, piles, now, sizes, limit, least, infinite)
    else:
        _sift_together(distance, waiting, far, piles, now, sizes, limit, least, infinite)


@compiled(parallel=True)
def _sift_together(distance, waiting, far, piles, now, sizes, limit, least, infinite):
    for t in prange(piles.size):
        _sift(t, distance, waiting, far, piles, now, sizes, limit, least, infinite)


@compiled()
def _sift(t, distance, waiting, far, piles, now, sizes, limit, least, infinite):
    """Sift a core's pile; ``least[t]`` becomes the least distance that stays in it.

    A vertex that was near in the meantime no longer waits far, but still has its place in the pile.
    """
    kept, size, lowest = 0, 0, infinite
    for i in range(piles[t]):
        v = far[t, i]
        if read(waiting, v) == FAR:
            length = read(distance, v)
            if length > limit:
                far[t, kept] = v
                kept += 1
                lowest = min(lowest, length)
            elif replace(waiting, v, FAR, NEAR):
                now[t, size] = v
                size += 1
    piles[t], sizes[t], least[t] = kept, size, lowest
