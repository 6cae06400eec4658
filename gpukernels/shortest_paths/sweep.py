"""The common part of searches by workfronts: the advance of a frontier, its buffers, its rounds.

The workfront of Davidson et al. [davidson2014workefficient] is the queue of vertices whose distance
fell in the round before. `advance` relaxes their arcs, which `mapping.merge_path` spreads evenly
over the grid, and enqueues the vertices that fall. The three searches differ only in the limit: up
to it, a vertex goes to the next frontier, beyond it, the vertex waits in a pile.

One launch and one read-back per round. The original enqueues a vertex as often as it falls, marks
it in a table and removes duplicates with two more kernels; then it scans the degrees. Here the mark
is a stamp with the round's number. An atomic exchange stores it before the vertex is enqueued, so
that only one thread enqueues it. The queue knows its arcs (`frontiers.arc_queue`).

For int32 weights, sums are formed in 64 bits, and a sum is stored only if it is less than a
distance, so no length wraps. A float sum that is too large is infinite, and less than no distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64

from gpukernels.device import Device, benign_race
from gpukernels.frontiers.arc_queue import ArcQueue, enqueue_with_arcs, entries_and_arcs
from gpukernels.frontiers.counts import count_up
from gpukernels.frontiers.enqueue import enqueue_by_warp
from gpukernels.frontiers.state import Queue, Writes, kernel_argument
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.merge_path import STEPS, merge_path, tiles_of
from gpukernels.mapping.workload import MAX_BLOCKS
from gpukernels.primitives.launch_shape import blocks_for, check_threads

from .negative import Watch
from .result import SSSPResult, arcs_on, start_at
from .tight import with_parents

#: Place in the counters of a launch, after the size of the queue that it fills.
DUPLICATES = 1
#: Counters of a launch.
COUNTERS = 2
#: If a lane puts off so many vertices, a warp writes those of all lanes side by side.
SIDE_BY_SIDE = 4


@kernel_argument
class Search(NamedTuple):
    """The graph, and the distances and marks so far."""

    offsets: Any
    targets: Any
    weights: Any
    distance: Any  #: int32 or float32
    stamp: Any  #: int32: the last launch that enqueued the vertex
    waiting: Any  #: int32: 1 once the vertex was put into the pile; empty if there is no pile


@cuda.jit(device=True)
def relax(work, item, unit):
    """Relax one arc of the frontier; hold its target if the calling thread must enqueue it.

    ``held`` counts three kinds of vertices: those for the next frontier, those for the pile, and
    those that are dropped because they are in one of the two already.
    """
    search, frontier, limit, turn, found, put_off, held = work
    u, arc = frontier.vertex[item], frontier.shift[item] + unit
    v = search.targets[arc]
    length = search.distance[u] + search.weights[arc]
    if length < search.distance[v]:
        if length < cuda.atomic.min(search.distance, v, length):
            if length > limit:
                if cuda.atomic.exch(search.waiting, v, 1) == 0:
                    put_off[held[1]] = v
                    held[1] += 1
                else:
                    held[2] += 1
            elif cuda.atomic.exch(search.stamp, v, turn) != turn:
                found[held[0]] = v
                held[0] += 1
            else:
                held[2] += 1


@benign_race("distance")
@cuda.jit
def advance(
    search: Search, frontier: ArcQueue, items, units, queue: ArcQueue, pile: Queue, counts, used,
    limit, now, turn,
):  # fmt: skip
    """Relax the `units` arcs of a frontier of `items` vertices; enqueue the vertices that fall.

    ``limit[now]`` is the largest distance that goes to `queue`; vertices beyond it wait in `pile`.
    ``counts`` belongs to this launch; the counts `used` by the launch before become 0.

    A thread may read a distance while another lowers it. If it reads the old distance of its arc's
    source, the source is enqueued for the next round; if it reads the target's, the atomic changes
    nothing.
    """
    path = cuda.shared.array(0, int32)
    # A thread visits at most STEPS arcs of a tile, so these have room for all its vertices.
    found = cuda.local.array(STEPS, int32)
    put_off = cuda.local.array(STEPS, int32)
    held = cuda.local.array(3, int32)
    held[2] = 0
    work = (search, frontier, limit[now], turn, found, put_off, held)
    tile = cuda.blockDim.x * STEPS
    for begin in range(cuda.blockIdx.x * tile, items + units, cuda.gridDim.x * tile):
        held[0], held[1] = 0, 0
        merge_path(relax, work, frontier.begin, items, units, begin, STEPS, path)
        enqueue_with_arcs(queue, counts, search.offsets, found, held[0])
        enqueue_by_warp(pile, put_off, int32(held[1]), Writes(SIDE_BY_SIDE, True))
    count_up(counts, DUPLICATES, int64(held[2]))
    if cuda.grid(1) == 0:
        for i in range(used.size):
            used[i] = 0


class Sweep:
    """The state of one search, and its statistics so far.

    Room: a frontier holds no vertex twice, because a vertex keeps the stamp of its launch. A vertex
    enters a pile once in a search, as ``waiting`` records: when it leaves the pile, it is within
    the limit, and its distance can only fall. So n entries are enough for each, and 31 bits for the
    arcs of all of them; `read` checks this.

    Parameters
    ----------
    g, root, device, threads
        The arguments of the search.
    limit : float
        The largest distance that goes to the first frontiers; infinity if no vertex is put off.

    Attributes
    ----------
    size, arcs : int
        Vertices of the frontier, and arcs that leave them.
    put_off : int
        Vertices in the pile.
    """

    def __init__(self, g: Graph, root: int, device: Device, threads: int, limit: float = np.inf):
        def room(size):
            return device.empty(size, np.int32)

        self.g, self.root, self.device = g, root, device
        self.threads = check_threads(threads)
        self.watch = Watch(g, root, device)
        marks = (device.full(n, 0, np.int32) for n in (g.n, g.n if limit < np.inf else 0))
        self.search = Search(*arcs_on(device, g), start_at(root, g, device), *marks)
        self.queues = [ArcQueue(*(room(g.n) for _ in ArcQueue._fields)) for _ in "ab"]
        counts = device.full(2 * COUNTERS + 3, 0, np.int64)
        self.host_counters, self.counts = device.pinned(counts.size, np.int64), counts
        self.rows = counts[:COUNTERS], counts[COUNTERS : 2 * COUNTERS]
        sizes = counts[-3:-2], counts[-2:-1]
        self.piles = [Queue(room(self.search.waiting.size), size) for size in sizes]
        self.limit = device.full(2, limit, np.float64)
        # Places of the current limit and pile, of two each. A turn is a launch that fills a queue.
        self.now = self.side = self.turn = 0
        self.put_off = self.iterations = self.launches = self.read_backs = 0
        self.relaxations = self.duplicates = 0
        for array, value in zip(self.queues[0], (root, 0, int(g.offsets[root])), strict=True):
            device.put(array, 0, value)
        self.size, self.arcs = 1, int(g.out_degree[root])
        self.sizes = []

    def launch(self, kernel, items: int, *args, shared: int = 0, most: int | None = None) -> None:
        """Launch `kernel` with a thread for each of `items`, but at most so many blocks."""
        blocks = min(blocks_for(items, self.threads), most or MAX_BLOCKS)
        self.device.launch(kernel, blocks, self.threads, *args, shared=shared)
        self.launches += 1

    def next_queue(self) -> tuple[ArcQueue, Any, Any]:
        """Begin a turn; return the queue to fill, its counters, and those used in the last turn."""
        self.turn += 1
        at = self.turn % 2
        return self.queues[at], self.rows[at], self.rows[1 - at]

    def round(self) -> None:
        """Relax the arcs of the frontier; vertices that fall are the next frontier, or wait."""
        self.watch.look(self.iterations, self.search.distance)
        self.sizes.append(self.size)
        self.iterations += 1
        self.relax(self.search, self.queues[self.turn % 2], self.size, self.arcs)

    def relax(self, search: Search, frontier: ArcQueue, size: int, arcs: int) -> None:
        """Relax the `arcs` of `size` vertices; enqueue or put off the vertices that fall."""
        queue, counts, used = self.next_queue()
        tiles, shared = tiles_of(size, arcs, self.threads)
        self.launch(
            advance, tiles * self.threads,
            search, frontier, size, arcs, queue, self.piles[self.side], counts, used,
            self.limit, self.now, self.turn, shared=shared,
        )  # fmt: skip
        self.relaxations += arcs
        self.read()

    def read(self) -> None:
        """Wait for the launches so far, and read the sizes of the queue and the pile."""
        counters = self.device.read(self.counts, into=self.host_counters)
        self.read_backs += 1
        row = counters[COUNTERS * (self.turn % 2) :]
        self.size, self.arcs = entries_and_arcs(row[0])
        self.duplicates += int(row[DUPLICATES])
        self.put_off = int(counters[2 * COUNTERS + self.side])
        if max(self.size, self.put_off) > self.g.n or self.arcs > self.g.m:
            raise AssertionError(f"a vertex is in a queue twice: {self.size}, {self.put_off}")

    def result(self, method: str, parents: bool, **more) -> SSSPResult:
        """Return the result of the search, with `more` statistics."""
        stats = {
            "method": method,
            "launches": self.launches,
            "read_backs": self.read_backs,
            "iterations": self.iterations,
            "relaxations": self.relaxations,
            "enqueues": sum(self.sizes),
            "duplicates": self.duplicates,
            "frontier_sizes": self.sizes,
            **more,
        }
        *arcs, distance = self.search[:4]
        return with_parents(
            self.g, self.root, self.device, arcs, distance, self.threads, parents, stats
        )
