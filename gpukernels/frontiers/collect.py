"""Collect: make a level again from the distances of all vertices, each once, in O(V).

If a level has more duplicates than its queue has room for, no vertex is lost: the distance of each
vertex says whether it belongs to the level. `append_level` needs nothing else. `collect_level` is
for searches that size their launches by arcs: it also counts the arcs that leave the level, and
reserves room by block.
"""

from __future__ import annotations

from numba import cuda, int64

from gpukernels.primitives.queue_append import queue_append

from .counts import ARCS, count_up
from .enqueue import enqueue
from .state import Queue


@cuda.jit
def append_level(distance, frontier, frontier_size, level):
    """Enqueue every vertex at distance `level`, each once."""
    v = cuda.grid(1)
    if v < distance.size and distance[v] == level:
        queue_append(frontier, frontier_size, v)


@cuda.jit
def collect_level(offsets, distance, queue: Queue, level):
    """Enqueue every vertex at distance `level`, each once, and count the arcs that leave them."""
    arcs = int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, distance.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        has = v < distance.size and distance[v] == level
        enqueue(queue, v, has)
        if has:
            arcs += offsets[v + 1] - offsets[v]
    count_up(queue.next_size, ARCS, arcs)
