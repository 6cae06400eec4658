"""BFS with a hierarchical queue: one launch for all levels, no word to the host between them.

Luo, Wong and Hwu [luo2010effective]. Mapping: vertex of the frontier to thread. What a thread
finds goes to one of `SUBQUEUES` small queues in shared memory, chosen by its lane so that the lanes
of a warp hardly meet at one counter (the W-frontiers); at the end of a portion the block joins them
(the B-frontier), draws room in the global queue by one atomic, and copies, neighboring threads to
neighboring slots (the G-frontier). Between levels the blocks wait for each other: the grid sync of
a cooperative launch does what the paper's inter-block barrier did. Work O(V + E).

The original tells visited vertices by color and lets atomics on the queue decide; here a vertex is
claimed by compare-and-swap on its distance, so no queue holds anything twice. A sub-queue that is
full spills into the global queue.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, blocks_for, check_threads

from .result import UNVISITED, BFSResult, adopt, start_at, vertices_per_level

#: W-frontiers a block: as many as a multiprocessor of the paper's GPU had processors.
SUBQUEUES = 8
#: Vertices that one of them holds.
CAPACITY = 128
#: Where each of them begins in the B-frontier, and where that begins in the global queue.
BEGINS = SUBQUEUES + 1


@cuda.jit(device=True)
def enqueue_nearby(found, counts, queues, side, size, v):
    """Put `v` into a W-frontier of the block, or into the global queue where that is full."""
    mine = cuda.laneid % SUBQUEUES
    slot = cuda.atomic.add(counts, mine, 1)
    if slot < CAPACITY:
        found[mine, slot] = v
    else:
        queues[side, cuda.atomic.add(size, 0, 1)] = v


@cuda.jit(device=True)
def flush(found, counts, begins, queues, side, size):
    """Join the block's W-frontiers and append them to the global queue; all threads call."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = int32(0)
        for q in range(SUBQUEUES):
            begins[q] = total
            total += min(counts[q], CAPACITY)
        begins[SUBQUEUES] = cuda.atomic.add(size, 0, total)
    cuda.syncthreads()
    for q in range(SUBQUEUES):
        for i in range(cuda.threadIdx.x, min(counts[q], CAPACITY), cuda.blockDim.x):
            queues[side, begins[SUBQUEUES] + begins[q] + i] = found[q, i]
    cuda.syncthreads()
    if cuda.threadIdx.x < SUBQUEUES:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()


@benign_race("distance")
@cuda.jit
def search_all_levels(offsets, targets, distance, parent, queues, sizes, levels):
    """Search until a frontier is empty; a cooperative launch.

    The frontier of a level lies in row ``level % 2`` of `queues`, and ``sizes[level % 3]`` holds
    its size: of three numbers one is read, one is filled and one, read a level ago, is cleared.

    A plain look at the distance spares the atomic where the vertex has been visited long ago. It
    may miss a claim that is being made: then the compare-and-swap, which decides, fails.
    """
    found = cuda.shared.array((SUBQUEUES, CAPACITY), int32)
    counts = cuda.shared.array(SUBQUEUES, int32)
    begins = cuda.shared.array(BEGINS, int32)
    if cuda.threadIdx.x < SUBQUEUES:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    level = 0
    while sizes[level % 3] > 0:
        here, there = level % 2, (level + 1) % 2
        size, next_size = sizes[level % 3], sizes[(level + 1) % 3 :]
        if cuda.grid(1) == 0:
            sizes[(level + 2) % 3] = 0
        for first in range(cuda.blockIdx.x * cuda.blockDim.x, size, cuda.gridsize(1)):
            i = first + cuda.threadIdx.x
            if i < size:
                u = queues[here, i]
                for k in range(offsets[u], offsets[u + 1]):
                    v = targets[k]
                    if distance[v] == UNVISITED:
                        if cuda.atomic.cas(distance, v, UNVISITED, level + 1) == UNVISITED:
                            adopt(parent, v, u)
                            enqueue_nearby(found, counts, queues, there, next_size, v)
            flush(found, counts, begins, queues, there, next_size)
        cuda.cg.this_grid().sync()
        level += 1
    if cuda.grid(1) == 0:
        levels[0] = level


def bfs(g: Graph, root: int, device, *, threads: int = THREADS, parents: bool = True) -> BFSResult:
    """Search `g` from `root` in one cooperative launch.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    device : SimtDevice or CudaDevice
        Where to run.
    threads : int
        Threads a block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``blocks`` (those of the one launch) and ``arcs_inspected``: each arc that
        leaves a reached vertex, once.
    """
    check_threads(threads)
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    distance, parent = start_at(root, g.n, device, parents)
    queues = device.full((2, g.n), 0, np.int32)
    device.put(queues, 0, root)
    sizes = device.array(np.array([1, 0, 0], dtype=np.int32))
    levels = device.full(1, 0, np.int32)
    args = (offsets, targets, distance, parent, queues, sizes, levels)
    blocks = min(
        blocks_for(g.n, threads), device.cooperative_blocks(search_all_levels, threads, *args)
    )
    device.launch(search_all_levels, blocks, threads, *args, cooperative=True)
    distance = device.read(distance)
    stats = {
        "method": "luo",
        "launches": 1,
        "read_backs": 0,
        "blocks": blocks,
        "threads": lambda: int(np.count_nonzero(distance != UNVISITED)),
        "frontier_sizes": lambda: vertices_per_level(distance),
        "arcs_inspected": lambda: int(g.out_degree[distance != UNVISITED].sum()),
    }
    parent = device.read(parent) if parents else None
    return BFSResult(distance, parent, int(device.read(levels)[0]), stats)
