"""BFS in one launch for graphs of many small levels: as few waits per level as possible.

Luo, Wong and Hwu [luo2010effective] let one block go from level to level while the frontier is
small. When it is larger, the blocks of the GPU wait for each other at a barrier made by hand
[xiao2009interblock]. A road network or a grid has thousands of levels, each too small to fill a
GPU. So the time of a level depends on how often it waits, for memory and for other threads. This
search waits as little as possible: `persistent_steps` counts the waits. Work O(V + E); space O(V).
Mapping: 1 to 32 lanes to a vertex of the frontier; blocks share the lists that are much longer.

One cooperative launch does all levels, without the host. A turn is one level by all blocks, or as
many levels as one block does alone; a barrier of all blocks ends it. The blocks wait at the
`grid_barrier` made by hand, or at the grid sync (``barrier="grid"``), which took longer on an H200.
There, few threads and few blocks are faster, because frontiers are small and idle blocks must meet
the others as well.

A compare-and-swap on the distance claims a vertex, without a read before it: this saves one wait
per level, but takes more atomics. Frontiers of more than `eager` vertices read the distance first.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import check_whole
from gpukernels.device import benign_race
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.virtual_warp import check_warp_size
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

from .direction_optimizing import MOST_LOGGED, read_log
from .meeting import chosen_barrier, meet_by_grid, meet_by_hand
from .persistent_steps import (
    BEGIN,
    COUNTED_HERE,
    END,
    FOUND,
    LEVEL,
    LONG,
    PARTS,
    PLACES,
    ROOM,
    VERTEX,
    Here,
    Search,
    Turn,
    expand_by_all,
    put_entry,
    search_alone,
)
from .result import BFSResult, read_tree, start_at

#: Threads per block; and the resident threads of a device per block, which gives one block per
#: multiprocessor. On an H200, a grid of 2,048 x 2,048 took hardly less time in any other way.
THREADS, THREADS_A_BLOCK = 128, 2048
#: By default, a list is long if it has more arcs than so many times the lanes that share it.
LONG_LIST = 16


@cuda.jit(device=True)
def search_levels(meet, search, root, arrived, log):
    """Search from `root` until a frontier is empty; all threads of a cooperative launch call."""
    shared_queue = cuda.shared.array((2, PARTS, ROOM), int32)
    counted = cuda.shared.array((3, COUNTED_HERE), int32)
    here = Here(shared_queue, counted, 0, 0)
    counts = search.counts
    if cuda.grid(1) == 0:
        begin, end = search.offsets[root], search.offsets[root + 1]
        if end - begin > search.long_above:
            put_entry(search.longs, 0, 0, root, begin, end)
            counts[0, FOUND] = LONG
        else:
            put_entry(search.queue, 0, 0, root, begin, end)
            counts[0, FOUND] = 1
        counts[0, LEVEL] = 0
        counts[1, FOUND] = 0
    meet(arrived, 1)
    row, now, filled, turn = 0, 0, 1, 1
    place = cuda.grid(1) >> search.shift
    while True:
        # Load the entry at the same time as the number of entries, beyond which it is ignored.
        u, begin, end = int32(0), int32(0), int32(0)
        if place < search.distance.size:
            u = search.queue[row, VERTEX, place]
            begin, end = search.queue[row, BEGIN, place], search.queue[row, END, place]
        found, level = counts[now, FOUND], counts[now, LEVEL]
        if found == 0:
            break
        cleared = 3 - now - filled
        size, longs = int32(found), int32(found >> 32)
        if longs == 0 and size <= search.alone:
            if cuda.blockIdx.x == 0:
                if cuda.threadIdx.x == 0:
                    counts[cleared, FOUND] = 0
                search_alone(search, shared_queue, counted, row, filled, size, level, log)
        else:
            if cuda.grid(1) == 0:
                counts[cleared, FOUND] = 0
                counts[filled, LEVEL] = level + 1
                log[1 + level, 0] = size + longs
                log[1 + level, 1] = 0
            turned = Turn(level, size > search.eager, 1 - row, filled)
            expand_by_all(search, turned, here, row, size, longs, u, begin, end)
        row = 1 - row
        now, filled = filled, cleared
        turn += 1
        meet(arrived, turn)
    if cuda.grid(1) == 0:
        log[0, 0] = counts[now, LEVEL]
        log[0, 1] = turn


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_and_meet_by_hand(search: Search, root, arrived, log):
    """Search from `root`; the blocks wait at the barrier made by hand.

    A read of a distance that another thread is claiming finds UNVISITED or the new value; the claim
    then decides.
    """
    search_levels(meet_by_hand, search, root, arrived, log)


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_and_meet_by_grid(search: Search, root, arrived, log):
    """Search from `root`; the blocks wait at the grid sync. The race is as in the other kernel."""
    search_levels(meet_by_grid, search, root, arrived, log)


def lanes_for(g: Graph) -> int:
    """Return how many lanes share a list by default: the power of two at the mean degree."""
    mean = -(-g.m // max(g.n, 1))
    return min(WARP_SIZE, 1 << max(mean - 1, 0).bit_length())


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    barrier: str | None = None,
    lanes: int | None = None,
    alone: int | None = None,
    eager: int | None = None,
    long_above: int | None = None,
    threads: int = THREADS,
    blocks: int | None = None,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root` in one cooperative launch.

    Parameters
    ----------
    barrier : {"hand", "grid"}, optional
        Where the blocks wait for each other; by default at the barrier made by hand. On the SIMT
        machine the default is the grid sync: neither costs anything there, but a kernel that polls
        runs one warp after another. If there is only one block, it takes the grid sync.
    lanes : {1, 2, 4, 8, 16, 32}, optional
        How many threads share the arcs of a vertex; by default the power of two at the mean degree.
    alone : int, optional
        The largest frontier that one block visits alone, at most 1,024; 0 for none. By default the
        number of vertices that it expands at once.
    eager : int, optional
        The largest frontier that claims vertices without a read of the distance; by default the
        number of vertices that all blocks expand at once.
    long_above : int, optional
        Blocks share a list of more arcs; by default 16 times `lanes`.
    threads : int
        Threads per block; fewer if a small graph has no use for them.
    blocks : int, optional
        Blocks of the launch, if the device holds so many at once; by default one for every 2,048
        threads that it holds, or fewer if the graph has no use for them.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``blocks``, ``lanes``, ``levels_alone`` (by one block), ``barriers`` (the
        number of times that all blocks met) and ``arcs_inspected``.

    Raises
    ------
    InvalidArgument
        If an option has a value that is not allowed.
    """
    barrier = chosen_barrier(device, barrier)
    if lanes is None:
        lanes = lanes_for(g)
    check_warp_size(lanes, "lanes")
    threads = min(check_threads(threads), blocks_for(g.n * lanes, WARP_SIZE) * WARP_SIZE)
    if alone is None:
        alone = min(threads // lanes, ROOM)
    check_whole("alone", alone, 0, ROOM)
    if long_above is None:
        long_above = LONG_LIST * lanes
    check_whole("long_above", long_above, 1, MAX_UNITS)
    for name, value, least in (("eager", eager, 0), ("blocks", blocks, 1)):
        if value is not None:
            check_whole(name, value, least, MAX_UNITS)
    distance, parent = start_at(root, g.n, device, parents)
    graph = device.keep(g.offsets), device.keep(g.targets)
    # Zeros, because some of the first entries are loaded before their number is known.
    queue = device.full((2, PARTS, g.n), 0, np.int32)
    longs = device.empty((2, PARTS, g.m // long_above + 1), np.int32)
    counts, log = device.empty((3, PLACES), np.int64), device.empty((g.n + 1, 2), np.int32)
    state = *graph, distance, parent, queue, longs, counts, lanes.bit_length() - 1, long_above
    arrived = device.full(1, 0, np.int32)
    search = Search(*state, alone, 0)
    kernel = search_and_meet_by_hand if barrier == "hand" else search_and_meet_by_grid
    if blocks is None:
        of_device = max(1, device.resident_threads // THREADS_A_BLOCK)
        blocks = 1 if g.n <= alone else min(of_device, blocks_for(g.n * lanes, threads))
    grid = min(
        blocks,
        device.cooperative_blocks(kernel, threads, search, root, arrived, log),
    )
    if grid == 1:
        kernel = search_and_meet_by_grid
    search = Search(*state, alone, grid * threads // lanes if eager is None else eager)
    device.launch(kernel, grid, threads, search, root, arrived, log, cooperative=True)
    distance, parent = read_tree(device, distance, parent, parents)
    begun = device.read(log[:MOST_LOGGED])
    sizes, by_one = read_log(device, log, begun)
    stats = {
        "method": "persistent",
        "launches": 1,
        "read_backs": 0,
        "blocks": grid,
        "lanes": lanes,
        "threads": lanes * sum(sizes),
        "frontier_sizes": sizes,
        "levels_alone": sum(by_one),
        "barriers": int(begun[0, 1]),
        "arcs_inspected": lambda: int(g.out_degree[distance >= 0].sum()),
    }
    return BFSResult(distance, parent, len(sizes), stats)
