"""The levels of Luo's search: how a thread claims and visits vertices, and kernels for a level.

Luo, Wong and Hwu [luo2010effective]. `luo` has the kernel in which all blocks wait for each other,
and chooses between the kernels. Between its launches, a search has all its state in ``sizes``, five
int32. ``sizes[level % 3]`` holds the size of the frontier, whose vertices are in row ``level % 2``
of `queues`; one of the three is read, one is filled, and one, read a level ago, is cleared. The
fourth is the level, the fifth the number of vertices of high degree met so far.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.frontiers.counts import LEVEL
from gpukernels.frontiers.hierarchical_queue import (
    BEGINS,
    CAPACITY,
    SUBQUEUES,
    Nearby,
    empty_counts,
    enqueue_nearby,
    flush,
    join,
)
from gpukernels.frontiers.state import kernel_argument
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import MAX_THREADS

from .result import UNVISITED, adopt

#: The place in ``sizes`` after the three sizes and the level: vertices of high degree met.
LARGE = 4
STATE = 5


@kernel_argument
class Search(NamedTuple):
    """The graph, the distances and parents so far, and the queues."""

    offsets: Any
    targets: Any
    distance: Any  #: int32, UNVISITED at vertices not reached yet
    parent: Any  #: int32; without elements if parents are not kept
    shade: Any  #: int32, colors of vertices, or empty: see `is_mine`
    large: Any  #: int32, vertices of high degree that have been met; or empty
    most_arcs: int  #: a degree above this is high
    queues: Any  #: int32, shape (2, n)
    sizes: Any  #: int32, the state of the search, see above


@cuda.jit(device=True)
def is_mine(distance, shade, v, level):
    """Claim `v`, just seen unvisited; return whether the calling thread is the first to do so.

    Without a `shade`, the claim is a compare-and-swap on the distance. With a `shade`, it is the
    original's: a thread stores this level's gray by an exchange, and is the first if it gets
    another shade back. There are two grays, used in turn, so a vertex of the level before has
    another gray than a vertex that has been claimed in this level.
    """
    if shade.size == 0:
        return cuda.atomic.cas(distance, v, UNVISITED, level + 1) == UNVISITED
    gray = int32(1 + level % 2)
    if cuda.atomic.exch(shade, v, gray) == gray:
        return False
    distance[v] = level + 1
    return True


@cuda.jit(device=True)
def follow_arcs(search, level, nearby, next_size, u, begin, end, step):
    """Follow every `step`-th arc of `u` from `begin` to `end`; enqueue the new vertices."""
    targets, distance = search.targets, search.distance
    for k in range(begin, end, step):
        v = targets[k]
        if distance[v] == UNVISITED:
            if is_mine(distance, search.shade, v, level):
                adopt(search.parent, v, u)
                enqueue_nearby(nearby, search.queues, (level + 1) % 2, next_size, v)


@cuda.jit(device=True)
def visit(search, level, nearby, next_size, u):
    """Follow all arcs of `u`, or put it aside if it has more than `most_arcs` of them."""
    begin, end = search.offsets[u], search.offsets[u + 1]
    if search.large.size > 0 and end - begin > search.most_arcs:
        search.large[cuda.atomic.add(search.sizes, LARGE, 1)] = u
    else:
        follow_arcs(search, level, nearby, next_size, u, begin, end, 1)


@cuda.jit(device=True)
def visit_large(search, level, nearby, next_size, first, last):
    """Follow the arcs of ``large[first:last]``, one thread per arc; all threads of a grid call."""
    for j in range(first, last):
        u = search.large[j]
        begin = search.offsets[u] + cuda.grid(1)
        end, step = search.offsets[u + 1], cuda.gridsize(1)
        follow_arcs(search, level, nearby, next_size, u, begin, end, step)


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_by_one_block(search: Search, first, level):
    """Search from `level` on as long as a frontier has no more vertices than the block has threads.

    One block, with one thread per vertex. The frontier stays in shared memory, and a barrier of the
    block ends a level. A frontier that is larger, or that has spilled from a full W-frontier, is
    left in global memory. `first` vertices of high degree have been met before.

    If the vertex was visited earlier, a plain read of the distance shows it and saves the atomic.
    If the read misses a claim that is being made, the atomic fails: only the atomic decides.
    """
    found = cuda.shared.array((SUBQUEUES, CAPACITY), int32)
    counts = cuda.shared.array(SUBQUEUES, int32)
    begins = cuda.shared.array(BEGINS, int32)
    near = cuda.shared.array(MAX_THREADS, int32)
    next_state = cuda.shared.array(2, int32)
    nearby = Nearby(found, counts, begins)
    mine = cuda.threadIdx.x
    size = search.sizes[level % 3]
    if mine < size:
        near[mine] = search.queues[level % 2, mine]
    empty_counts(counts)
    if mine == 0:
        # From here on, the sizes count the vertices that spill, at any level.
        search.sizes[0], search.sizes[1], search.sizes[2] = 0, 0, 0
    cuda.syncthreads()
    while size > 0 and size <= cuda.blockDim.x:
        next_size = search.sizes[(level + 1) % 3 :]
        if mine < size:
            visit(search, level, nearby, next_size, near[mine])
        cuda.syncthreads()
        if search.large.size > 0:
            last = search.sizes[LARGE]
            visit_large(search, level, nearby, next_size, first, last)
            first = last
            cuda.syncthreads()
        if mine == 0:
            next_state[0] = join(nearby)
            next_state[1] = next_size[0]  # spilled
        cuda.syncthreads()
        size, spilled = next_state[0], next_state[1]
        if size <= cuda.blockDim.x and spilled == 0:
            for q in range(SUBQUEUES):
                for i in range(mine, counts[q], cuda.blockDim.x):
                    near[begins[q] + i] = found[q, i]
            cuda.syncthreads()
            empty_counts(counts)
        else:
            flush(nearby, search.queues, (level + 1) % 2, next_size)
            size = cuda.blockDim.x + 1  # leave
        level += 1
    if mine == 0:
        search.sizes[LEVEL] = level


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_one_level(search: Search, level):
    """Visit the frontier of `level`, one thread per vertex, except its vertices of high degree."""
    found = cuda.shared.array((SUBQUEUES, CAPACITY), int32)
    counts = cuda.shared.array(SUBQUEUES, int32)
    begins = cuda.shared.array(BEGINS, int32)
    empty_counts(counts)
    nearby = Nearby(found, counts, begins)
    size, next_size = search.sizes[level % 3], search.sizes[(level + 1) % 3 :]
    if cuda.grid(1) == 0:
        search.sizes[(level + 2) % 3] = 0
        search.sizes[LEVEL] = level + 1
    for begin in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
        i = begin + cuda.threadIdx.x
        if i < size:
            visit(search, level, nearby, next_size, search.queues[level % 2, i])
        flush(nearby, search.queues, (level + 1) % 2, next_size)


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_high_degrees(search: Search, first, level):
    """Visit the vertices of high degree that were met at `level`, after the `first` before it."""
    found = cuda.shared.array((SUBQUEUES, CAPACITY), int32)
    counts = cuda.shared.array(SUBQUEUES, int32)
    begins = cuda.shared.array(BEGINS, int32)
    empty_counts(counts)
    nearby = Nearby(found, counts, begins)
    next_size = search.sizes[(level + 1) % 3 :]
    visit_large(search, level, nearby, next_size, first, search.sizes[LARGE])
    flush(nearby, search.queues, (level + 1) % 2, next_size)
