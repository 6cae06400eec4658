"""Direction-optimizing BFS: top-down while the frontier is small, bottom-up while it is large.

Beamer, Asanović and Patterson [beamer2012direction]; on GPUs Hiragushi and Takahashi
[hiragushi2013efficient] and Gunrock [wang2015gunrock]. Let m_f arcs leave the frontier, m_u arcs
leave the unvisited vertices, and n_f be the size of the frontier. The search turns bottom-up when
m_f > m_u / alpha and the frontier grows. It turns back when n_f < n / beta and it does not grow.

Mapping: top-down, `cta_warp_scan` spreads the frontier's arcs over each block; bottom-up, vertex to
thread. Both enqueue the next frontier with one atomic per block or per warp, and count its vertices
and arcs, so that either step may follow. A compare-and-swap claims a vertex, so no queue holds it
twice. Work O(V + E) as long as the search goes top-down; a level bottom-up costs as much at worst,
and mostly far less. One cooperative launch does all levels: after the grid sync, every thread reads
the two numbers and makes the same decision, so the host takes no part.

A bottom-up step asks at every arc whether the arc's source is in the frontier. The plain kernel,
``frontier="distance"``, reads the distance, which needs no additional memory or preparation. With
``frontier="bitmap"`` a step reads a bit, as in [beamer2015gap]: see `frontier_bitmap`. The default,
``frontier="words"``, is made for speed: `word_bottom_up` takes 32 vertices at a time. The SIMT
machine counted the sectors of the first two on graphs of one to four thousand vertices. The reads
of bits touch a half to a fifth of the sectors that reads of distances do. The whole search touches
a sixth fewer sectors on random graphs, and up to a tenth fewer on R-MAT. On a road network, it
touches 2% to 3% more, as making the bits costs more than it saves. Votes take 3% to 4% more steps,
and each turn bottom-up makes the grid wait once more.
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, int64

from gpukernels.checks import check_choice, check_real
from gpukernels.device import Device, DeviceArray, benign_race
from gpukernels.errors import InvalidArgument
from gpukernels.frontiers.counts import ARCS, ENTRIES, count_up
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import blocks_for, check_threads
from gpukernels.primitives.warp_append import warp_append

from . import word_bottom_up as by_words
from .bottom_up import arcs_looked_at, first_parent
from .frontier_bitmap import FRONTIERS, first_parent_by_bits, mark_level, store_votes, words
from .meeting import chosen_barrier
from .result import UNVISITED, BFSResult, adopt, read_tree, start_at
from .top_down import ARCS_A_THREAD, Search, top_down

#: Threads per block by default: on an H200, 256 took two thirds of the time of 128 on R-MAT.
BLOCK = 256
#: Rows of the log that the host reads at once; most searches have fewer levels.
MOST_LOGGED = 64


@cuda.jit(device=True)
def bottom_up(search, bits, next_bits, queue, level):
    """Enqueue every unvisited vertex that has a neighbor at distance `level`; all threads call.

    `bits` holds the frontier's bits and `next_bits` receives those of the next one. If both are
    empty, distances are read instead. Another thread that reads ``distance[v]`` meanwhile sees
    UNVISITED or ``level + 1``. Neither of them is `level`, so the answer is the same.
    """
    leaving = int64(0)
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, search.distance.size, cuda.gridsize(1)):
        v = first + cuda.threadIdx.x
        u = UNVISITED
        if v < search.distance.size and search.distance[v] == UNVISITED:
            if bits.size > 0:
                u = first_parent_by_bits(
                    search.reverse_offsets, search.sources, bits, v, UNVISITED
                )  # fmt: skip
            else:
                u = first_parent(
                    search.reverse_offsets, search.sources, search.distance, v, level
                )  # fmt: skip
        found = u != UNVISITED
        if bits.size > 0:
            store_votes(next_bits, v, search.distance.size, found)
        if found:
            search.distance[v] = level + 1
            adopt(search.parent, v, u)
            leaving += search.offsets[v + 1] - search.offsets[v]
        warp_append(queue.next_frontier, queue.next_size, v, found)
    count_up(queue.next_size, ARCS, leaving)


@benign_race("distance")
@cuda.jit(**LARGE_BLOCKS)
def search_both_ways(search: Search, root, bits, queues, counts, log, alpha, beta, cta_threshold):
    """Search from `root` until a frontier is empty, in either direction; a cooperative launch.

    Row ``level % 2`` of `queues` holds the frontier of a level, row ``level % 3`` of `counts` its
    vertices and arcs: one of three rows is read, one is filled, and one, read a level ago, is
    cleared. ``log[0, 0]`` receives the number of levels and ``log[1 + level]`` the size of each,
    and 1 for bottom-up. If `bits` has elements, its row ``level % 2`` holds the frontier's bits
    while steps go bottom-up; the first of these steps makes them from the distances.
    """
    if cuda.grid(1) == 0:
        queues[0, 0] = root
        counts[0, ENTRIES], counts[0, ARCS] = 1, search.offsets[root + 1] - search.offsets[root]
        counts[1, ENTRIES], counts[1, ARCS] = 0, 0
    cuda.cg.this_grid().sync()
    level, before, turned = 0, int64(0), False
    left = int64(search.targets.size)  # arcs that leave vertices not yet visited
    while counts[level % 3, ENTRIES] > 0:
        here, there = level % 2, (level + 1) % 2
        size, arcs = counts[level % 3, ENTRIES], counts[level % 3, ARCS]
        queue = Queue(queues[there], counts[(level + 1) % 3])
        left -= arcs
        growing = size > before
        was_turned = turned
        if not turned:
            turned = growing and arcs * alpha > left
        elif not growing:
            turned = size * beta >= search.distance.size
        if cuda.grid(1) == 0:
            counts[(level + 2) % 3, ENTRIES] = 0
            counts[(level + 2) % 3, ARCS] = 0
            log[1 + level, 0] = size
            log[1 + level, 1] = turned
        if turned and not was_turned and bits.size > 0:
            mark_level(search.distance, level, bits[here])
            cuda.cg.this_grid().sync()
        if turned:
            bottom_up(search, bits[here], bits[there], queue, level)
        else:
            top_down(search, queues[here], size, arcs, queue, level, cta_threshold)
        cuda.cg.this_grid().sync()
        before = size
        level += 1
    if cuda.grid(1) == 0:
        log[0, 0] = level


def read_log(device: Device, log: DeviceArray, begun: np.ndarray) -> tuple[list[int], list[int]]:
    """Return two lists: how many vertices each level has, and 1 for each level bottom-up, else 0.

    ``log[0, 0]`` is the number of levels, ``log[1 + level]`` holds both values of a level. `begun`
    holds the first `MOST_LOGGED` rows; the rest is read only if a search has more levels.
    """
    levels = int(begun[0, 0])
    rows = begun if levels < MOST_LOGGED else device.read(log[: levels + 1])
    sizes, turned = rows[1 : levels + 1].T.tolist()
    return sizes, turned


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    alpha: float = 15.0,
    beta: float = 40.0,
    frontier: str = "words",
    barrier: str | None = None,
    threads: int = BLOCK,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`; the size of a level chooses the direction.

    The reverse graph is made if it is not there yet.

    Parameters
    ----------
    alpha : float
        The search turns bottom-up at a frontier that is larger than the one before, if more arcs
        leave it than 1 / `alpha` of the arcs that leave unvisited vertices; 0 for never. The
        default is the one of [beamer2015gap].
    beta : float
        The search turns back at a frontier that is no larger than the one before, if less than 1 /
        `beta` of all vertices are in it. Beamer has 18. On an H200, 40 took a fifth less time on a
        Kronecker graph, and about as much on others.
    frontier : {"words", "distance", "bitmap"}
        Where a bottom-up step reads whether a vertex is in the frontier. ``"words"`` is a bitmap in
        a separate kernel that is made for speed, see `word_bottom_up`; ``"distance"`` is the plain
        kernel, the one to read first.
    barrier : {"hand", "grid"}, optional
        Where the blocks wait for each other: at a barrier made by hand, or at the grid sync, the
        only one without ``"words"``. The default for ``"words"`` on a GPU is the one made by hand.
    threads : int
        Threads per block.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats`` adds ``directions`` ("top_down" or "bottom_up", one per level), ``frontier``,
        ``blocks`` (of the one launch) and ``arcs_inspected``.

    Raises
    ------
    InvalidArgument
        If `alpha` is not a number of at least 0, `beta` not a number above 0, `frontier` not one of
        the three, or `barrier` not one that this `frontier` has.
    """
    check_threads(threads)
    check_choice("frontier", frontier, (*FRONTIERS, "words"))
    check_real("alpha", alpha, 0, math.inf, "a number, at least 0")
    check_real("beta", beta, math.ulp(0), math.inf, "a number above 0")
    if frontier == "words":
        barrier = chosen_barrier(device, barrier)
    elif barrier not in (None, "grid"):
        raise InvalidArgument("barrier", barrier, "None or 'grid' unless frontier='words'")
    offsets, targets = device.keep(g.offsets), device.keep(g.targets)
    reverse_offsets, sources = device.keep(g.reverse.offsets), device.keep(g.reverse.targets)
    distance, parent = start_at(root, g.n, device, parents)
    queues, counts = device.empty((2, g.n), np.int32), device.empty((3, 2), np.int64)
    log = device.empty((g.n + 1, 2), np.int32)
    bits = device.empty((2, 0 if frontier == "distance" else words(g.n)), np.uint32)
    search = Search(offsets, targets, reverse_offsets, sources, distance, parent)
    rules = counts, log, float(alpha), float(beta), threads
    kernel, at_once, args = search_both_ways, 1, (search, root, bits, queues, *rules)
    if frontier == "words":
        left, turned_size = device.empty(words(g.n), np.uint32), device.empty(1, np.int64)
        by_hand = barrier == "hand"
        kernel = by_words.search_and_meet_by_hand if by_hand else by_words.search_and_meet_by_grid
        arrived, at_once = device.full(1, 0, np.int32), by_words.AT_ONCE
        args = search, root, bits, left, queues, turned_size, arrived, *rules
    blocks = min(
        blocks_for(max(g.n, g.m // ARCS_A_THREAD), threads),
        device.cooperative_blocks(kernel, threads, *args),
    )
    device.launch(kernel, blocks, threads, *args, cooperative=True)
    distance, parent = read_tree(device, distance, parent, parents)
    sizes, turned = read_log(device, log, device.read(log[:MOST_LOGGED]))
    levels = len(sizes)

    def arcs_inspected() -> int:
        up = [level for level in range(levels) if turned[level]]
        down = np.isin(distance, [level for level in range(levels) if not turned[level]])
        return int(g.out_degree[down].sum()) + (
            arcs_looked_at(g, distance, up, at_once) if up else 0
        )

    stats = {
        "method": "direction_optimizing",
        "launches": 1,
        "read_backs": 0,
        "blocks": blocks,
        "threads": sum(g.n if up else size for size, up in zip(sizes, turned, strict=True)),
        "frontier_sizes": sizes,
        "frontier": frontier,
        "directions": ["bottom_up" if up else "top_down" for up in turned],
        "arcs_inspected": arcs_inspected,
    }
    return BFSResult(distance, parent, levels, stats)
