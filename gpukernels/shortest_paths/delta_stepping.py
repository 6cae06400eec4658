"""Delta-stepping, its buckets made by sorting: the nearest bucket is relaxed until it is empty.

Meyer and Sanders [meyer2003delta]; the Bucketing of Davidson et al. [davidson2014workefficient];
[busato2017chapter], section 3. A bucket is a list that grows and shrinks, and thousands of threads
cannot keep many such lists. So one array holds all waiting vertices. Whenever the nearest bucket is
empty, a counting sort orders the array by ``floor(distance / delta)``: the first bucket is the new
frontier, the rest waits. Bucket 0 begins at the least waiting distance, so it is never empty; the
last bucket holds all vertices beyond. Mapping: arcs and vertices of the frontier to threads by
merge path, in the sort vertex to thread. Work O(n m) at worst, near Dijkstra's for a small delta.

Every sort moves all waiting vertices, and most stay where they were. This is why Davidson et al.
prefer two buckets, `near_far`. Unlike Meyer and Sanders, they do not distinguish light and heavy
arcs; ``light_heavy=True`` does, see `light_heavy`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float64, int32

from gpukernels.device import Device
from gpukernels.frontiers.arc_queue import ArcQueue, enqueue_with_arcs
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.launch_shape import WARP_SIZE
from gpukernels.primitives.warp_scan import warp_exclusive_scan

from .light_heavy import LightHeavy
from .piles import Options, Piles, next_limit
from .result import SSSPResult
from .sweep import Search

#: Buckets of a sort: one per lane, so that a scan by one warp gives the beginning of each.
BUCKETS = WARP_SIZE


@cuda.jit(device=True)
def bucket_of(distance, before, limit, delta):
    """Return the bucket of a vertex at `distance`; -1 if it was relaxed `before` already.

    Bucket 0 ends at `limit`; the comparison decides, as a division could be rounded.
    """
    bucket = int32(-1)
    if distance > before:
        bucket = int32(0)
    if distance > limit:
        bucket = int32(1 + min((distance - limit) / delta, float64(BUCKETS - 2)))
    return bucket


@cuda.jit
def count_buckets(search: Search, waiting_vertex, size, limit, least, now, delta, sizes):
    """Count in ``sizes[b]``, which is 0 before, the vertices that wait for bucket b."""
    mine = cuda.shared.array(BUCKETS, int32)
    if cuda.threadIdx.x < BUCKETS:
        mine[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    reach = float64(least[now]) + delta
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        b = bucket_of(search.distance[waiting_vertex[i]], limit[now], reach, delta)
        if b >= 0:
            cuda.atomic.add(mine, b, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < BUCKETS and mine[cuda.threadIdx.x] > 0:
        cuda.atomic.add(sizes, cuda.threadIdx.x, mine[cuda.threadIdx.x])


@cuda.jit
def sort_pile(
    search: Search, waiting_vertex, size, queue: ArcQueue, pile: Queue, counts, used,
    limit, least, infinite, now, delta, sizes,
):  # fmt: skip
    """Enqueue bucket 0, and put the other waiting vertices into `pile`, ordered by their buckets.

    A block counts its vertices of each bucket and reserves places for all of them by an atomic,
    from ``sizes[BUCKETS + b]`` on, which are 0 before. ``limit[1 - now]`` becomes the limit of
    bucket 0, and ``least[1 - now]`` becomes infinite.
    """
    begins = cuda.shared.array(BUCKETS, int32)
    mine = cuda.shared.array(BUCKETS, int32)
    places = cuda.shared.array(BUCKETS, int32)
    found = cuda.local.array(1, int32)
    if cuda.threadIdx.x < BUCKETS:
        waits = int32(0)
        if cuda.threadIdx.x > 0:
            waits = int32(sizes[cuda.threadIdx.x])
        begins[cuda.threadIdx.x] = warp_exclusive_scan(waits)
        if cuda.grid(1) == BUCKETS - 1:
            pile.next_size[0] = begins[BUCKETS - 1] + waits
    reach = float64(least[now]) + delta
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        if cuda.threadIdx.x < BUCKETS:
            mine[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        i = first + cuda.threadIdx.x
        v, b, rank = int32(-1), int32(-1), int32(0)
        if i < size:
            v = waiting_vertex[i]
            b = bucket_of(search.distance[v], limit[now], reach, delta)
            if b > 0:
                rank = cuda.atomic.add(mine, b, 1)
        found[0] = v
        enqueue_with_arcs(queue, counts, search.offsets, found, int32(b == 0))
        cuda.syncthreads()
        if cuda.threadIdx.x < BUCKETS:
            drawn = mine[cuda.threadIdx.x]
            if drawn > 0:
                place = cuda.atomic.add(sizes, BUCKETS + cuda.threadIdx.x, drawn)
                places[cuda.threadIdx.x] = begins[cuda.threadIdx.x] + place
        cuda.syncthreads()
        if b > 0 and places[b] + rank < pile.next_frontier.size:
            pile.next_frontier[places[b] + rank] = v
        cuda.syncthreads()
    if cuda.grid(1) == 0:
        next_limit(limit, least, used, now, reach, infinite)


@takes_fields_of(Options)
def sssp(
    g: Graph, root: int, device: Device, *, light_heavy: bool = False, **options: Any
) -> SSSPResult:
    """Search `g` from `root`, bucket by bucket: one launch per round, and three per sort.

    Parameters
    ----------
    light_heavy : bool
        Whether arcs that weigh more than delta are relaxed only when a bucket is empty. A round
        then takes two launches, and a bucket one more.
    **options
        See :class:`~gpukernels.shortest_paths.piles.Options`.

    Returns
    -------
    SSSPResult
        ``stats`` as in `near_far`, with ``splits`` for the sorts, and ``sorted`` (vertices that the
        sorts have read); with `light_heavy` also ``heavy_relaxations``, which are part of
        ``relaxations``.

    Raises
    ------
    InvalidArgument
        If `delta` is not a number above 0.
    NegativeWeightError
        If an arc weighs less than 0.
    """
    state = LightHeavy if light_heavy else Piles
    s = state("delta_stepping", g, root, device, Options(**options))
    sizes, looked_at = device.full(2 * BUCKETS, 0, np.int32), 0
    while s.size or s.put_off:
        if s.size:
            s.round()
        else:
            looked_at += s.put_off
            s.find_least(cleared=sizes)
            s.look(count_buckets, s.delta, sizes)
            s.split(sort_pile, sizes)
    return s.final_result(sorted=looked_at)
