"""A search in one launch for graphs of many small levels: few waits a level, whoever waits.

Luo, Wong and Hwu [luo2010effective] let one block go from level to level while the frontier is
small, and the blocks of a GPU wait for each other at a barrier made by hand [xiao2009interblock]
while it is not. A road network or a grid has thousands of levels, each too small to fill a GPU:
what a level costs is how often it waits, for memory and for other threads. Here that is cut to the
least: `persistent_steps` counts the waits. Work O(V + E); space O(V). Mapping: 1 to 32 lanes to a
vertex of the frontier; lists that are long beside that are shared by blocks.

One cooperative launch does it all, and no word goes to the host. A turn is one level by all blocks,
or as many levels as one block does alone; a barrier of all blocks ends it. They wait at the
`grid_barrier` made by hand, or at the grid sync (``barrier="grid"``), which on an H200 took longer.
Few threads and few
blocks are the faster ones there: frontiers are small, and who has nothing to do meets the others.

Every vertex is claimed by a compare-and-swap on its distance, without a look at it before: that is
one wait less a level, for more atomics. Frontiers of more than `eager` vertices do look.
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

#: Threads of a block, and the resident threads of a device for each of which there is a block: one
#: on a multiprocessor. On an H200 a grid of 2,048 x 2,048 took hardly less time in any other way.
THREADS, THREADS_A_BLOCK = 128, 2048
#: By default, a list of more arcs than so many times the lanes that share it is a long one.
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
        # The entry is loaded beside the number of entries; what lies beyond them is not looked at.
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

    A look at a distance that another thread is claiming finds UNVISITED or what it becomes; then
    the claim decides.
    """
    search_levels(meet_by_hand, search, root, arrived, log)


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_and_meet_by_grid(search: Search, root, arrived, log):
    """Search from `root`; the blocks wait at the grid sync. The race is the other kernel's."""
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
        machine by default at the grid sync: there neither costs anything, and a kernel that polls
        runs warp by warp. A block that is alone has nobody to wait for, and takes the grid sync.
    lanes : {1, 2, 4, 8, 16, 32}, optional
        How many threads share the arcs of a vertex; by default the power of two at the mean degree.
    alone : int, optional
        The largest frontier that is left to one block, at most 1,024; 0 for none. By default what
        it expands at once.
    eager : int, optional
        The largest frontier that claims without a look at the distance; by default what all blocks
        expand at once.
    long_above : int, optional
        A list of more arcs is shared by blocks; by default 16 times `lanes`.
    threads : int
        Threads a block; fewer where a small graph has no use for them.
    blocks : int, optional
        Blocks of the launch, if the device holds so many at once; by default one for each 2,048
        threads that it holds, or as many as the graph has use for.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``blocks``, ``lanes``, ``levels_alone`` (by one block), ``barriers`` (how
        often all blocks met) and ``arcs_inspected``.

    Raises
    ------
    InvalidArgument
        If an option is none of these.
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
    # Of the first entries some are loaded before anybody knows how many there are.
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
