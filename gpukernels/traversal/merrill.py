"""What the four searches of Merrill et al. share on the host: buffers, launches and counts.

Merrill, Garland and Grimshaw [merrill2012scalable] build one search in three ways, which differ in
what lies in memory between two levels: vertices (`expand_contract`), arcs (`contract_expand`), or
both in turn (`two_phase`); a fourth, `hybrid`, takes the second or the third at every level. The
host's part is the same: everything is allocated before the first
level, a launch gets no more blocks than the GPU holds at once, so that a block takes several
portions and its memory of what it has seen is worth something, and four numbers are read back a
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
    """What all four searches may be told, by keyword.

    Attributes
    ----------
    duplicates : str
        How to keep duplicates out: see :mod:`gpukernels.frontiers.duplicates`.
    bitmask : bool
        Whether to look at a vertex's bit before its distance.
    threads : int
        Threads a block.
    cta_threshold : int, optional
        Vertices of more arcs are expanded by the whole block; by default `threads`.
    parents : bool
        Whether the result holds parents.

    Raises
    ------
    InvalidArgument
        If one of them is none of these.
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
    """The state of one search, and what it has done so far.

    The statistics that all four give are these, beside those of every search:

    - ``frontier_sizes``: vertices enqueued at each level, duplicates included; of a level that did
      not fit, those that it would have held.
    - ``edge_frontier_sizes``: the arcs that each edge frontier held; not where there is none.
    - ``arcs_inspected``: how many targets of arcs were read.
    - ``duplicates``: of the vertices enqueued at each level, how many were so before.
      ``duplicates_missed`` is their sum, ``duplicates_detected`` how many a cull dropped, and
      ``duplicates_made`` both together. The exact ways make none.
    - ``overflows``: levels that did not fit the queues and were collected again.

    Without parents, ``parent`` has no elements, and without a bitmask, ``bits``.

    Attributes
    ----------
    state : Search
        The graph and what is known of it.
    bits : device array of uint8
        The bitmask.
    next_size : device array of int64, shape (4,)
        What the launches of a level count: see :mod:`gpukernels.frontiers.counts`.
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
        self.next_size, self.told = device.empty(4, np.int64), device.pinned(4, np.int64)
        self.most_blocks = max(1, device.resident_threads // threads)
        self.enqueued, self.edges = [], []
        self.launches = self.read_backs = self.threads_used = self.overflows = 0
        self.inspected = self.detected = 0

    def queue(self) -> Queue:
        """Return a queue that holds all vertices, and nothing yet."""
        return Queue(self.device.empty(self.distance.size, np.int32), self.next_size)

    def edges_room(self) -> Edges:
        """Return an edge frontier that holds all arcs, and nothing yet."""
        sizes = self.targets.size, self.targets.size * bool(self.parent.size)
        return Edges(*(self.device.empty(size, np.int32) for size in sizes))

    def first_edges(self, root: int) -> Edges:
        """Return the edge frontier that holds `root` alone, which is to be visited then."""
        self.device.put(self.distance, root, UNVISITED)
        return Edges(self.full(1, root), self.full(int(self.parent.size > 0), root))

    def full(self, size: int, value: int):
        """Return an array of int32 that holds `value` alone."""
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
        counts = self.device.read(self.next_size, into=self.told)
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
        """Return what was found, and the statistics with `more` of them."""
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
