"""The host's part of the levels of one BFS-4K search: buffers, launches and read-backs.

[busato2015bfs4k], section 5.5. All buffers are allocated before the first level. One read-back of
four numbers follows a launch of the single-block kernel, or one of a multi-block kernel with the
child kernel after it. No level costs O(V), except one that does not fit its queue.
"""

from __future__ import annotations

import numpy as np

from gpukernels.frontiers.collect import append_level
from gpukernels.frontiers.counts import DROPPED, ENTRIES, LEVEL
from gpukernels.frontiers.duplicates import BITMAP
from gpukernels.frontiers.pieces import CHILDREN, PIECES, Children
from gpukernels.frontiers.state import Queue, Writes
from gpukernels.primitives.launch_shape import blocks_for

from ..claim import Search
from ..result import start_at
from .ahead import child_ahead, multi_block_ahead
from .child import child_kernel
from .edge_discover import edge_discover_level
from .knobs import WIDEST
from .large import large_vertices
from .multi_block import multi_block_level
from .single_block import Shape, single_block_levels

#: Blocks of the largest grid, as a multiple of those that the GPU holds at once.
TURNS = 4


class Levels:
    """The buffers of one search, allocated once, its launches, and its counts."""

    def __init__(self, g, root, device, knobs, resident_threads, capacity, parents):
        self.device, self.knobs, self.resident = device, knobs, resident_threads
        self.large = large_vertices(g, knobs)
        self.n, self.capacity, self.parents = g.n, capacity, parents
        self.distance, self.parent = start_at(root, g.n, device, parents)
        bitmap = device.full(g.n // 32 + 1 if knobs.how == BITMAP else 0, 0, np.int32)
        graph = device.keep(g.offsets), device.keep(g.targets)
        self.state = Search(*graph, self.distance, self.parent, bitmap, knobs.how)
        self.next_size = device.full(LEVEL + 1, 0, np.int32)
        #: The queue that holds the frontier, and the one that is filled.
        self.queues = [Queue(device.empty(capacity, np.int32), self.next_size) for _ in "ab"]
        device.put(self.queues[0].next_frontier, 0, root)
        self.host_counters = device.pinned(LEVEL + 1, np.int32)
        self.counted = device.full(DROPPED + 1, 0, np.int64)
        self.sizes = device.empty(g.n + 1 if knobs.frontier_room else 0, np.int32)
        pieces = device.empty((2, max(self.large.pieces, 1)), np.int32)
        self.children = Children(self.large.above, knobs.child_queue * knobs.threads, pieces)
        self.writes = Writes(knobs.coalesce_from, knobs.binary_scan)
        self.kernels: list[str] = []
        #: By level: sizes that the host read, and sizes of frontiers that it collected again.
        self.enqueued, self.collected = {0: 1}, {}
        self.children_left = self.large.vertices
        self.child_vertices = self.child_launches = self.child_threads = 0
        self.launches = self.read_backs = self.overflows = 0

    def by_one_block(self, level: int, size: int) -> tuple[int, int]:
        """Go on from `level` with the single-block kernel; return the level and size it left."""
        knobs = self.knobs
        narrowest, widest = knobs.warp_size or knobs.min_warp_size, knobs.warp_size or WIDEST
        cull = knobs.cull_bytes(knobs.block_threads, knobs.single_block_slots)
        shape = Shape(
            narrowest.bit_length() - 1, widest.bit_length() - 1, knobs.frontier_room,
            knobs.single_block_slots, cull // 4,
        )  # fmt: skip
        self.device.launch(
            single_block_levels, 1, knobs.block_threads, self.state, self.queues[0].next_frontier,
            size, self.queues[1], self.counted, self.sizes, level, shape, self.large.above,
            shared=cull + 8 * knobs.frontier_room,
        )  # fmt: skip
        self.launches += 1
        counters = self.read()
        self.kernels += ["single_block"] * (counters[LEVEL] - level)
        return counters[LEVEL], self.fits(counters[ENTRIES], counters[LEVEL])

    def by_many_blocks(self, level: int, size: int) -> int:
        """Visit one level by a multi-block kernel and the child kernel; return the next size."""
        knobs, device = self.knobs, self.device
        warp_size = knobs.virtual_warp(size, self.resident)
        by_edges = knobs.discovers_edges(size, self.resident)
        workers = size if by_edges else size * warp_size
        most = blocks_for(TURNS * self.resident, knobs.threads)
        device.clear(self.next_size)
        shared = knobs.cull_bytes(knobs.threads, knobs.multi_block_slots)
        frontier, queue = self.queues
        work = self.state, frontier.next_frontier, size, queue, self.counted, level
        ends = self.children, self.writes
        blocks = min(blocks_for(workers, knobs.threads), most)
        if by_edges:
            device.launch(
                edge_discover_level, blocks, knobs.threads, *work, knobs.extended, *ends,
                shared=shared,
            )  # fmt: skip
        else:
            share_reads = warp_size == WIDEST and size > self.resident
            kernel, lanes = multi_block_level, warp_size
            if knobs.ahead:
                kernel, lanes = multi_block_ahead, warp_size.bit_length() - 1
            device.launch(
                kernel, blocks, knobs.threads, *work, lanes, share_reads, *ends, shared=shared
            )
        self.launches += 1
        if self.children_left > 0:
            self.launch_children(level)
        counters = self.read()
        if counters[PIECES] and self.children_left <= 0:
            # Duplicates were counted as large vertices before, so one was left after all.
            self.launch_children(level)
            counters = self.read()
        self.children_left -= counters[CHILDREN]
        self.child_vertices += counters[CHILDREN]
        self.kernels.append("edge_discover" if by_edges else "multi_block")
        return self.fits(counters[ENTRIES], level + 1)

    def launch_children(self, level: int) -> None:
        """Launch the child kernel with as many blocks as the graph may need and the GPU holds."""
        knobs = self.knobs
        blocks = min(self.large.pieces, blocks_for(self.resident, knobs.threads))
        self.device.launch(
            child_ahead if knobs.ahead else child_kernel, blocks, knobs.threads,
            self.state, self.queues[1], self.counted, level, self.children, self.writes,
            shared=knobs.cull_bytes(knobs.threads, knobs.multi_block_slots),
        )  # fmt: skip
        self.launches += 1
        self.child_launches += 1
        self.child_threads += blocks * knobs.threads

    def read(self) -> list[int]:
        """Wait for the device and return its four numbers."""
        self.read_backs += 1
        return self.device.read(self.next_size, into=self.host_counters).tolist()

    def fits(self, size: int, level: int) -> int:
        """Make the next frontier current, collected again if it did not fit; return its size."""
        self.enqueued.setdefault(level, size)
        if size > self.capacity:
            self.device.clear(self.next_size)
            self.device.launch(
                append_level, blocks_for(self.n, self.knobs.threads), self.knobs.threads,
                self.distance, *self.queues[1], level,
            )  # fmt: skip
            self.launches += 1
            self.overflows += 1
            size = self.collected[level] = self.read()[ENTRIES]
        self.queues.reverse()
        return size
