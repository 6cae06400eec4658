"""What searches by workfronts share: the advance of a frontier, its buffers, its rounds.

The workfront of Davidson et al. [davidson2014workefficient] is the queue of vertices whose distance
fell in the round before. `advance` relaxes their arcs, spread evenly over the grid by
`mapping.merge_path`, and enqueues whose distance falls; by which limit a vertex goes to the next
frontier or waits in a pile is all in which three searches differ.

One launch and one read-back a round. The original enqueues every vertex as often as it falls, marks
them in a table and removes duplicates in two kernels more; then it scans the degrees. Here the mark
is a stamp with the number of the round, which an atomic exchange puts on a vertex before it is
enqueued, so that nobody else does; and the queue knows its arcs (`frontiers.arc_queue`).

Sums are formed in 64 bits where weights are int32, and only what is less than a distance is stored,
so that no length wraps; a float sum that is too large is infinite, and less than nothing.
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

#: Place in the counters of a launch, behind the size of the queue that it fills.
DUPLICATES = 1
#: Counters of a launch.
COUNTERS = 2
#: Vertices that a lane puts off, from which a warp writes those of all lanes side by side.
SIDE_BY_SIDE = 4


@kernel_argument
class Search(NamedTuple):
    """The graph, and what a search knows of its vertices."""

    offsets: Any
    targets: Any
    weights: Any
    distance: Any  #: int32 or float32
    stamp: Any  #: int32: the last launch that enqueued the vertex
    waiting: Any  #: int32: 1 once the vertex was put into the pile; no elements where there is none


@cuda.jit(device=True)
def relax(work, item, unit):
    """Relax one arc of the frontier; hold its target if the calling thread is to enqueue it.

    ``held`` counts what the thread has for the next frontier, what for the pile, and what it has
    dropped because it is in one of them already.
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
    """Relax the `units` arcs of a frontier of `items` vertices, and enqueue whose distance falls.

    ``limit[now]`` is the largest distance that goes to `queue`; what is further waits in `pile`.
    ``counts`` are those of this launch; those that were `used` before become 0.

    A thread may read a distance while another lowers it. If it gets the old one of its arc's
    source, that is enqueued for the next round; the old one of the target costs an atomic that
    changes nothing.
    """
    path = cuda.shared.array(0, int32)
    # A thread visits at most STEPS arcs of a tile, so these have room for all that it finds.
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
    """The state of one search, and what it has done so far.

    Room: a frontier holds no vertex twice, as its stamp is that of the launch from the first time
    on. A pile is entered once in a search, as ``waiting`` tells: who leaves it is within the limit,
    and falls to no distance beyond it. So n entries are enough for each, and 31 bits for the arcs
    of all of them; `read` looks whether that was so.

    Parameters
    ----------
    g, root, device, threads
        As the search got them.
    limit : float
        The largest distance that goes to the first frontiers; infinity where nothing is put off.

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
        self.told, self.counts = device.pinned(counts.size, np.int64), counts
        self.rows = counts[:COUNTERS], counts[COUNTERS : 2 * COUNTERS]
        sizes = counts[-3:-2], counts[-2:-1]
        self.piles = [Queue(room(self.search.waiting.size), size) for size in sizes]
        self.limit = device.full(2, limit, np.float64)
        # The limit in force, and the pile: one of two each. A turn is a launch that fills a queue.
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
        """Relax the arcs of the frontier; what has fallen is the next one, or waits."""
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
        """Wait for the launches so far, and see how large the queue and the pile have become."""
        told = self.device.read(self.counts, into=self.told)
        self.read_backs += 1
        row = told[COUNTERS * (self.turn % 2) :]
        self.size, self.arcs = entries_and_arcs(row[0])
        self.duplicates += int(row[DUPLICATES])
        self.put_off = int(told[2 * COUNTERS + self.side])
        if max(self.size, self.put_off) > self.g.n or self.arcs > self.g.m:
            raise AssertionError(f"a vertex is in a queue twice: {self.size}, {self.put_off}")

    def result(self, method: str, parents: bool, **more) -> SSSPResult:
        """Return what was found, and the statistics with `more` of them."""
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
