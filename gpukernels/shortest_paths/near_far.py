"""Near-far piles: vertices within a limit are relaxed, vertices beyond it wait for a later limit.

The Near-Far Pile of Davidson et al. [davidson2014workefficient], with two buckets in place of the
many of [meyer2003delta]; [busato2017chapter], section 3. Mapping: arcs and vertices of the frontier
to threads by merge path, vertex of the pile to thread. Work O(n m) at worst; with a small delta
close to Dijkstra's, each arc once, and with a large one as in `workfront_sweep`.

The limit grows by delta whenever no near vertex is left. If the least waiting distance is larger
than that, the limit grows to it, so that no launch searches an empty interval. Two launches split
the pile, with one read-back.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, float64, int32

from gpukernels.device import Device
from gpukernels.frontiers.arc_queue import ArcQueue, enqueue_with_arcs
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.methods import takes_fields_of
from gpukernels.primitives.warp_append import warp_append

from .piles import Options, Piles, next_limit
from .result import SSSPResult
from .sweep import Search


@cuda.jit
def split_far(
    search: Search, waiting_vertex, size, queue: ArcQueue, pile: Queue, counts, used,
    limit, least, infinite, now, delta,
):  # fmt: skip
    """Enqueue the vertices that wait within the next limit; those beyond it stay in `pile`.

    ``limit[1 - now]`` becomes the next limit and ``least[1 - now]`` infinite.
    """
    found = cuda.local.array(1, int32)
    reach = max(limit[now] + delta, float64(least[now]))
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = first + cuda.threadIdx.x
        v, near, far = int32(-1), False, False
        if i < size:
            v = waiting_vertex[i]
            distance = search.distance[v]
            far = distance > reach
            near = distance > limit[now] and not far
        found[0] = v
        enqueue_with_arcs(queue, counts, search.offsets, found, int32(near))
        warp_append(pile.next_frontier, pile.next_size, v, far)
    if cuda.grid(1) == 0:
        next_limit(limit, least, used, now, reach, infinite)


@takes_fields_of(Options)
def sssp(g: Graph, root: int, device: Device, **options: Any) -> SSSPResult:
    """Search `g` from `root`, near vertices first: one launch per round, and two per limit.

    Parameters
    ----------
    **options
        See :class:`~gpukernels.shortest_paths.piles.Options`.

    Returns
    -------
    SSSPResult
        ``stats`` adds ``enqueues``, ``duplicates`` (including vertices that were already waiting)
        and ``frontier_sizes`` as in `workfront_sweep`, ``delta``, ``splits`` (how often the limit
        has risen) and ``put_off`` (vertices put into the far pile). The counts depend on the order
        of the threads. If delta is at most the least weight, ``relaxations`` and ``enqueues`` do
        not, as each vertex is relaxed once.

    Raises
    ------
    InvalidArgument
        If `delta` is not a number above 0.
    NegativeWeightError
        If an arc weighs less than 0.
    """
    s = Piles("near_far", g, root, device, Options(**options))
    while s.size or s.put_off:
        if s.size:
            s.round()
        else:
            s.find_least(cleared=s.piles[1 - s.side].next_size)
            s.split(split_far)
    return s.final_result()
