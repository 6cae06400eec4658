"""The host's part of the four searches of Merrill et al.: buffers, launches and counts.

Merrill, Garland and Grimshaw [merrill2012scalable] build one search in three ways. The ways
differ by the data in memory between two levels: vertices (`expand_contract`), arcs
(`contract_expand`), or both in turn (`two_phase`). A fourth, `hybrid`, takes the second or the
third way at every level. The host's part is the same. All arrays are allocated before the
first level. A launch gets no more blocks than the GPU holds at once: so a block takes several
portions and can recognize vertices of earlier ones. The host reads back four numbers per
level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.checks import check_flag, check_whole
from gpukernels.device import Device
from gpukernels.frontiers.collect import collect_level
from gpukernels.frontiers.counts import ARCS, DROPPED, ENTRIES
from gpukernels.frontiers.duplicates import BITMAP, check_duplicates, shared_bytes
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import THREADS, WARP_SIZE, blocks_for, check_threads
from gpukernels.primitives.offsets import MAX_UNITS

from .claim import Search, bitmask_bytes
from .edge_frontier import Edges
from .result import UNVISITED, BFSResult, read_tree, repeats, start_at

#: Slots of a block's table of hash64.
HASH_SLOTS = 1024


@dataclass(frozen=True)
class Options:
    """The options of all four searches, by keyword.

    Attributes
    ----------
    duplicates : str
        How to keep duplicates out: see :mod:`gpukernels.frontiers.duplicates`.
    bitmask : bool
        Whether to look at a vertex's bit before its distance.
    threads : int
        Threads per block.
    cta_threshold : int, optional
        The whole block expands a vertex of more arcs; by default `threads`.
    parents : bool
        Whether the result holds parents.

    Raises
    ------
    InvalidArgument
        If an option has a value that is not allowed.
    """

    duplicates: str = "merrill"
    bitmask: bool = True
    threads: int = THREADS
    cta_threshold: int | None = None
    parents: bool = True

    def __post_init__(self) -> None:
        check_duplicates(self.duplicates)
        check_flag("bitmask", self.bitmask)
        check_threads(self.threads)
        if self.cta_threshold is not None:
            check_whole("cta_threshold", self.cta_threshold, WARP_SIZE, MAX_UNITS)


class MerrillSearch:
    """The state of one search, and its statistics so far.

    All four searches add these statistics to those of every search:

    - ``frontier_sizes``: vertices enqueued at each level, duplicates included; if a level did not
      fit, the number that it would have held.
    - ``edge_frontier_sizes``: the arcs in each edge frontier; absent if the search has none.
    - ``arcs_inspected``: how many targets of arcs were read.
    - ``duplicates``: how many of the vertices enqueued at each level had been enqueued before.
      ``duplicates_missed`` is their sum, ``duplicates_detected`` the number that a cull dropped,
      and ``duplicates_made`` the sum of both. The exact ways make none.
    - ``overflows``: levels that did not fit the queues and were collected again.

    Without parents, ``parent`` is empty; without a bitmask, ``bits`` is.

    Attributes
    ----------
    state : Search
        The graph, and the distances and parents found so far.
    bits : device array of uint8
        The bitmask.
    next_size : device array of int64, shape (4,)
        The counts of a level's launches: see :mod:`gpukernels.frontiers.counts`.
    enqueued, edges : list of int
        Vertices and edge frontier entries, level by level.
    """

    def __init__(self, g: Graph, root: int, device: Device, options: Options):
        threads, how = options.threads, check_duplicates(options.duplicates)
        self.device, self.threads, self.options = device, threads, options
        self.cta_threshold = options.cta_threshold or threads
        self.offsets, self.targets = device.keep(g.offsets), device.keep(g.targets)
        self.distance, self.parent = start_at(root, g.n, device, options.parents)
        bitmap = device.full(blocks_for(g.n, 32) if how == BITMAP else 0, 0, np.int32)
        self.state = Search(self.offsets, self.targets, self.distance, self.parent, bitmap, how)
        self.bits = device.full(bitmask_bytes(g.n) if options.bitmask else 0, 0, np.uint8)
        self.shared = shared_bytes(how, threads, HASH_SLOTS)
        self.next_size, self.host_counts = device.empty(4, np.int64), device.pinned(4, np.int64)
        self.most_blocks = max(1, device.resident_threads // threads)
        self.enqueued, self.edges = [], []
        self.launches = self.read_backs = self.threads_used = self.overflows = 0
        self.inspected = self.detected = 0

    def queue(self) -> Queue:
        """Return an empty queue with room for all vertices."""
        return Queue(self.device.empty(self.distance.size, np.int32), self.next_size)

    def edges_room(self) -> Edges:
        """Return an empty edge frontier with room for all arcs."""
        sizes = self.targets.size, self.targets.size * bool(self.parent.size)
        return Edges(*(self.device.empty(size, np.int32) for size in sizes))

    def first_edges(self, root: int) -> Edges:
        """Return an edge frontier that holds only `root`, which is not visited yet."""
        self.device.put(self.distance, root, UNVISITED)
        return Edges(self.full(1, root), self.full(int(self.parent.size > 0), root))

    def full(self, size: int, value: int):
        """Return an array of `size` int32 elements that all are `value`."""
        return self.device.full(size, value, np.int32)

    def launch(self, kernel, items: int, *args, shared: int = 0, clear: bool = False) -> None:
        """Launch `kernel` for `items` items; `clear` sets the counts to 0 before."""
        if clear:
            self.device.clear(self.next_size)
        blocks = min(blocks_for(items, self.threads), self.most_blocks)
        self.device.launch(kernel, blocks, self.threads, *args, shared=shared)
        self.launches += 1
        self.threads_used += items

    def read_counts(self, of: int = ARCS) -> tuple[int, int]:
        """Wait for the launches so far; return how many vertices they enqueued, and the count `of`.

        That is ``ARCS``, or ``PLACES`` for the entries of an edge frontier.
        """
        counts = self.device.read(self.next_size, into=self.host_counts)
        self.read_backs += 1
        self.detected += int(counts[DROPPED])
        return int(counts[ENTRIES]), int(counts[of])

    def collect(self, queue: Queue, depth: int) -> tuple[int, int]:
        """Fill `queue` with the vertices at distance `depth`; return their number and arcs."""
        self.overflows += 1
        n = self.distance.size
        self.launch(collect_level, n, self.offsets, self.distance, queue, depth, clear=True)
        return self.read_counts()

    def result(self, method: str, **more) -> BFSResult:
        """Return the distances and parents, and the statistics with `more` entries."""
        enqueued = [size for size in self.enqueued if size]
        levels, parents = len(enqueued), self.options.parents
        distance, parent = read_tree(self.device, self.distance, self.parent, parents)

        def missed() -> int:
            return sum(enqueued) - int(np.count_nonzero(distance != UNVISITED))

        stats = {
            "method": method,
            "duplicates_by": self.options.duplicates,
            "bitmask": bool(self.options.bitmask),
            "launches": self.launches,
            "read_backs": self.read_backs,
            "threads": self.threads_used,
            "frontier_sizes": enqueued,
            "arcs_inspected": self.inspected,
            "duplicates": lambda: repeats(enqueued, distance),
            "duplicates_detected": self.detected,
            "duplicates_missed": missed,
            "duplicates_made": lambda: self.detected + missed(),
            "overflows": self.overflows,
            **more,
        }
        if self.edges:
            stats["edge_frontier_sizes"] = self.edges
        return BFSResult(distance, parent, levels, stats)
