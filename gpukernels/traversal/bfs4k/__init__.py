"""BFS-4K: a search that chooses its technique anew at every level.

Busato and Bombieri [busato2015bfs4k]; [busato2017chapter], section 2.2. One idea a file:

================  ==================================================================================
`single_block`    small frontiers: one block, level after level in one launch, in shared memory
`multi_block`     other frontiers: dynamic virtual warps over the whole GPU, a launch a level
`edge_discover`   fewer vertices than threads: a thread an arc, found by shuffles
`child`           the few vertices of very high degree: a grid of their own
`enqueue`         from local queues to the next frontier: scan, one atomic a warp, coalesced writes
`knobs`, `rules`  the seven numbers that choose, and how to set them for a graph
================  ==================================================================================

The lanes' local queues and the culls of duplicates are parts that other searches use too
(`traversal.local_queue`, `traversal.duplicates`). Work O(V + E), but for duplicates that no cull
sees; the host reads back four numbers a launch of a level, and no level costs O(V).
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from gpukernels.errors import InvalidArgument
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import MAX_THREADS, THREADS, blocks_for

from ..duplicates import BITMAP
from ..frontier import collect_level
from ..result import BFSResult, repeats, start_at
from .child import child_kernel
from .edge_discover import edge_discover_level
from .enqueue import ARCS, CHILDREN, COUNTS, DETECTED, LEVEL, PIECES, SIZE
from .knobs import WIDEST, Knobs, children
from .multi_block import multi_block_level
from .rules import tune_bfs4k
from .single_block import single_block_levels

#: Blocks of the largest grid, as a multiple of those that the GPU holds at once.
TURNS = 4


def bfs(
    g: Graph,
    root: int,
    device,
    *,
    min_warp_size: int = 4,
    child_share: float = 0.0015,
    child_queue: int = 16,
    edge_discover: int = 2,
    single_block: int = 1,
    threads: int = THREADS,
    coalesce_from: int = 10,
    extended: bool = True,
    duplicates: str = "hash64",
    hash_slots: int | None = None,
    binary_scan: bool = True,
    warp_size: int | None = None,
    block_threads: int = MAX_THREADS,
    resident_threads: int | None = None,
    capacity: int | None = None,
    parents: bool = True,
) -> BFSResult:
    """Search `g` from `root`; each level by the kernel that its frontier suggests.

    Parameters
    ----------
    g : Graph
        The graph; its outgoing arcs are followed.
    root : int
        Where to start.
    device : SimtDevice or CudaDevice
        Where to run.
    min_warp_size, child_share, child_queue, edge_discover, single_block, threads, coalesce_from
        The knobs K1 to K7, in this order: see :class:`.knobs.Knobs`. ``tune_bfs4k`` sets them for a
        graph.
    extended, duplicates, hash_slots, binary_scan, warp_size, block_threads
        Further choices: see :class:`.knobs.Knobs`.
    resident_threads : int, optional
        Threads that may run at once; by default what `device` holds. A graph that is scaled down
        wants a device that is scaled down with it.
    capacity : int, optional
        Vertices that a queue can hold; by default n. A level with so many duplicates that it does
        not fit is collected afresh from the distances, without duplicates.
    parents : bool
        Whether the result holds parents.

    Returns
    -------
    BFSResult
        ``stats["frontier_sizes"]`` counts what was enqueued at each level. ``stats`` adds ``knobs``
        (a dict), ``kernels`` and ``warp_sizes`` (lists, an entry a level: "single_block",
        "multi_block" or "edge_discover", and the threads of a virtual warp, 0 for edge-discover),
        ``child_above`` (degree above which the child kernel takes a vertex), ``child_vertices``
        (how many it took) and ``child_launches``, ``arcs_inspected``, ``duplicates`` (a list: of
        the vertices of a level, how many were enqueued before), ``duplicates_detected`` (dropped by
        a cull), ``duplicates_missed`` (enqueued), ``duplicates_made`` (both), and ``overflows``
        (levels that did not fit).

    Raises
    ------
    InvalidArgument
        If a knob is not what it may be, or `capacity` is less than n.
    """
    knobs = Knobs(
        min_warp_size, child_share, child_queue, edge_discover, single_block, threads,
        coalesce_from, extended, duplicates, hash_slots, binary_scan, warp_size, block_threads,
    )  # fmt: skip
    if capacity is None:
        capacity = g.n
    if capacity < g.n:
        raise InvalidArgument("capacity", capacity, f"at least the number of vertices, {g.n}")
    if resident_threads is None:
        resident_threads = device.resident_threads
    if resident_threads < 1:
        raise InvalidArgument("resident_threads", resident_threads, "a whole number from 1")
    search = _Search(g, root, device, knobs, resident_threads, capacity, parents)
    # A block that finds a vertex for the child kernel leaves the level to the multi-block kernels.
    level, size, stays = 0, 1, g.out_degree[root] <= search.children.above
    while size:
        if size <= knobs.frontier_room and stays:
            level, size = search.by_one_block(level, size)
            stays = False
        else:
            size = search.by_many_blocks(level, size)
            level, stays = level + 1, True
    return search.result(level)


class _Search:
    """The buffers of one search, allocated once, its launches, and what they did."""

    def __init__(self, g, root, device, knobs, resident_threads, capacity, parents):
        self.device, self.knobs, self.resident = device, knobs, resident_threads
        self.children = children(g, knobs)
        self.n, self.capacity, self.parents = g.n, capacity, parents
        self.distance, self.parent = start_at(root, g.n, device, parents)
        bitmap = device.full(g.n // 32 + 1 if knobs.how == BITMAP else 0, 0, np.int32)
        self.graph = device.keep(g.offsets), device.keep(g.targets)
        self.state = *self.graph, self.distance, self.parent, bitmap, knobs.how
        self.frontier = device.empty(capacity, np.int32)
        self.next_frontier = device.empty(capacity, np.int32)
        device.put(self.frontier, 0, root)
        self.next_size, self.told = (
            device.full(COUNTS, 0, np.int32),
            device.pinned(COUNTS, np.int32),
        )
        self.counted = device.full(2, 0, np.int64)
        self.sizes = device.empty(g.n + 1 if knobs.frontier_room else 0, np.int32)
        self.pieces = device.empty((2, self.children.pieces), np.int32)
        self.piece = knobs.child_queue * knobs.threads
        self.writes = knobs.coalesce_from, knobs.binary_scan
        self.kernels: list[str] = []
        #: By level: sizes that the host read, and sizes of frontiers that it collected afresh.
        self.enqueued, self.collected = {0: 1}, {}
        self.children_left = self.children.vertices
        self.child_vertices = self.child_launches = self.child_threads = 0
        self.launches = self.read_backs = self.overflows = 0

    def by_one_block(self, level: int, size: int) -> tuple[int, int]:
        """Go on from this level by the single-block kernel; return where it left, and with what."""
        knobs = self.knobs
        narrowest, widest = knobs.warp_size or knobs.min_warp_size, knobs.warp_size or WIDEST
        cull = knobs.cull_bytes(knobs.block_threads, knobs.single_block_slots)
        self.device.launch(
            single_block_levels, 1, knobs.block_threads,
            *self.state, self.frontier, size, self.next_frontier, self.next_size, self.counted,
            self.sizes, level, narrowest.bit_length() - 1, widest.bit_length() - 1,
            knobs.frontier_room, knobs.single_block_slots, cull // 4, self.children.above,
            shared=cull + 8 * knobs.frontier_room,
        )  # fmt: skip
        self.launches += 1
        told = self.read()
        self.kernels += ["single_block"] * (told[LEVEL] - level)
        return told[LEVEL], self.fits(told[SIZE], told[LEVEL])

    def by_many_blocks(self, level: int, size: int) -> int:
        """Visit one level by a multi-block kernel, and the child kernel; return the next's size."""
        knobs, device = self.knobs, self.device
        warp_size = knobs.virtual_warp(size, self.resident)
        by_edges = knobs.discovers_edges(size, self.resident)
        workers = size if by_edges else size * warp_size
        most = blocks_for(TURNS * self.resident, knobs.threads)
        device.clear(self.next_size)
        shared = knobs.cull_bytes(knobs.threads, knobs.multi_block_slots)
        queues = self.frontier, size, self.next_frontier, self.next_size, self.counted, level
        child = self.children.above, self.piece, self.pieces
        blocks = min(blocks_for(workers, knobs.threads), most)
        if by_edges:
            device.launch(
                edge_discover_level, blocks, knobs.threads,
                *self.state, *queues, knobs.extended, *child, *self.writes, shared=shared,
            )  # fmt: skip
        else:
            share_reads = warp_size == WIDEST and size > self.resident
            device.launch(
                multi_block_level, blocks, knobs.threads,
                *self.state, *queues, warp_size, share_reads, *child, *self.writes, shared=shared,
            )  # fmt: skip
        self.launches += 1
        if self.children_left > 0:
            self.launch_children(level)
        told = self.read()
        if told[PIECES] and self.children_left <= 0:
            # Duplicates had been taken for the last large vertices of the graph.
            self.launch_children(level)
            told = self.read()
        self.children_left -= told[CHILDREN]
        self.child_vertices += told[CHILDREN]
        self.kernels.append("edge_discover" if by_edges else "multi_block")
        return self.fits(told[SIZE], level + 1)

    def launch_children(self, level: int) -> None:
        """Launch the child kernel, as large as the graph may need it and the GPU holds it."""
        knobs = self.knobs
        blocks = min(self.children.pieces, blocks_for(self.resident, knobs.threads))
        self.device.launch(
            child_kernel, blocks, knobs.threads,
            *self.state, self.next_frontier, self.next_size, self.counted, level,
            self.piece, self.pieces, *self.writes,
            shared=knobs.cull_bytes(knobs.threads, knobs.multi_block_slots),
        )  # fmt: skip
        self.launches += 1
        self.child_launches += 1
        self.child_threads += blocks * knobs.threads

    def read(self) -> list[int]:
        """Wait for the device and return its four numbers."""
        self.read_backs += 1
        return self.device.read(self.next_size, into=self.told).tolist()

    def fits(self, size: int, level: int) -> int:
        """Make the next frontier the frontier, collected afresh if it did not fit; its size."""
        self.enqueued[level] = size
        if size > self.capacity:
            self.device.clear(self.next_size)
            self.device.launch(
                collect_level, blocks_for(self.n, self.knobs.threads), self.knobs.threads,
                self.distance, self.next_frontier, self.next_size, level,
            )  # fmt: skip
            self.launches += 1
            self.overflows += 1
            size = self.collected[level] = self.read()[SIZE]
        self.frontier, self.next_frontier = self.next_frontier, self.frontier
        return size

    def result(self, levels: int) -> BFSResult:
        """Return what `bfs` does, after `levels` levels."""
        knobs, device = self.knobs, self.device
        distance = device.read(self.distance)
        parent = device.read(self.parent) if self.parents else None

        @functools.cache
        def enqueued() -> list[int]:
            """Sizes of the frontiers as they were enqueued; the single block noted its own."""
            noted = device.read(self.sizes[:levels]) if "single_block" in self.kernels else {}
            return [
                self.enqueued[i] if i in self.enqueued else int(noted[i]) for i in range(levels)
            ]

        @functools.cache
        def groups() -> list[int]:
            """Threads of a virtual warp at each level."""
            visited = [self.collected.get(i, size) for i, size in enumerate(enqueued())]
            held = {"single_block": knobs.block_threads, "multi_block": self.resident}
            return [
                knobs.virtual_warp(size, held[kernel]) if kernel in held else 0
                for size, kernel in zip(visited, self.kernels, strict=True)
            ]

        def threads() -> int:
            """Threads that had a vertex, or an arc of the child kernel."""
            visited = [self.collected.get(i, size) for i, size in enumerate(enqueued())]
            busy = sum(size * (group or 1) for size, group in zip(visited, groups(), strict=True))
            return busy + self.child_threads

        @functools.cache
        def counted() -> list[int]:
            return device.read(self.counted).tolist()

        def missed() -> int:
            return sum(repeats(enqueued(), distance))

        stats = {
            "method": "bfs4k",
            "knobs": dataclasses.asdict(knobs),
            "launches": self.launches,
            "read_backs": self.read_backs,
            "threads": threads,
            "frontier_sizes": enqueued,
            "kernels": self.kernels,
            "warp_sizes": groups,
            "child_above": self.children.above,
            "child_vertices": self.child_vertices,
            "child_launches": self.child_launches,
            "arcs_inspected": lambda: counted()[ARCS],
            "duplicates": lambda: repeats(enqueued(), distance),
            "duplicates_detected": lambda: counted()[DETECTED],
            "duplicates_missed": missed,
            "duplicates_made": lambda: counted()[DETECTED] + missed(),
            "overflows": self.overflows,
        }
        return BFSResult(distance, parent, levels, stats)


__all__ = ["Knobs", "bfs", "tune_bfs4k"]
