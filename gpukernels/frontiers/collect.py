"""Collect: make a level again from the marks of all vertices, each once, in O(V).

A level that has more duplicates than its queue has room for is not lost: what the search knows of
every vertex, its distance, says who belongs to it. `append_level` needs nothing but that.
`collect_level` is for searches that size their launches by arcs: it counts those that leave the
level on its way, and draws room by block.
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
