"""The host's part of the rounds of one H-BF search: buffers, launches and read-backs.

All buffers are allocated before the first round. A round is one launch, one more if the graph has
vertices for the child kernel, two more with the lookup table; and one read-back of six numbers. The
kernel of each round clears the counters of the next one.
"""

from __future__ import annotations

import functools

import numpy as np

from gpukernels.frontiers.counts import ENTRIES
from gpukernels.frontiers.local_queue import LOCAL
from gpukernels.frontiers.pieces import CHILDREN, Children, larger_than
from gpukernels.frontiers.shared_slot import slot_bytes
from gpukernels.frontiers.state import Queue
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for
from gpukernels.primitives.offsets import MAX_UNITS

from ..negative import Watch
from ..result import arcs_on
from .child import relax_pieces
from .classes import Arcs, check_ids, marked_targets, turned_around
from .ending import ended, unpacked
from .frontier import Shape, relax_frontier
from .options import Options
from .relax import BELOW, COUNTERS, DUPLICATES, KEPT, NONE, REPEATED, TABLE, Search
from .table import append_lowered, keep_those_in_table, write_table
from .words import BIAS, start_words

#: The same shape must be the same object, so that numba need not find its type again.
shape = functools.cache(Shape)


class Rounds:
    """The buffers of one search, its launches, and its counts."""

    def __init__(self, g, root, device, options: Options, resident_threads, capacity):
        self.g, self.root, self.device, self.options = g, root, device, options
        self.resident, self.capacity = resident_threads, capacity
        if options.edge_classes:
            check_ids(g.n)
        self.watch = Watch(g, root, device)
        self.arcs = Arcs(*arcs_on(device, g))
        targets, self.marked_now = self.arcs.ends, False
        if options.edge_classes:
            self.arcs_in = turned_around(g, device, self.arcs)
            targets, self.marked_now = marked_targets(
                g, device, self.arcs, self.arcs_in, options.threads
            )
        self.dtype = np.dtype(np.int32 if g.weights is None else g.weights.dtype)
        how = DUPLICATES[options.duplicates]
        self.search = Search(
            self.arcs.offsets, targets, self.arcs.weights, start_words(g.n, root, device),
            device.full(g.n, 0, np.int32), device.full(g.n if how == NONE else 0, 0, np.int32),
            int(max(BIAS + self.watch.least, 0)), self.dtype == np.float32, options.edge_classes,
            how, options.cache_hints,
        )  # fmt: skip
        #: The rounds fill these in turn: a queue and its counters.
        self.queues = [
            Queue(device.empty(capacity, np.int32), device.full(COUNTERS, 0, np.int64))
            for _ in "ab"
        ]
        #: The frontier, if it is not a queue of a round: the root, or vertices kept by a table.
        self.kept = self.frontier = device.empty(g.n if how == TABLE else 1, np.int32)
        device.put(self.frontier, 0, root)
        self.table = device.empty(g.n if how == TABLE else 0, np.int32)
        self.host_counters = device.pinned(COUNTERS, np.int64)
        above = options.child_threshold if options.dynamic_parallelism else MAX_UNITS
        piece = LOCAL * options.threads
        self.large = larger_than(g, above, piece)
        pieces = device.empty((2, max(self.large.pieces, 1)), np.int32)
        self.children = Children(above, piece, pieces)
        self.slots = slot_bytes(options.threads) if options.coalesced_enqueue else 0
        self.only_plain = options.edge_classes and has_no_parallel_arcs(g, root)
        self.sizes: list[int] = []
        self.warp_sizes: list[int] = []
        self.vertices_a_warp: list[int] = []
        self.launches = self.read_backs = self.child_launches = self.child_vertices = 0
        self.enqueues, self.duplicates, self.removed, self.overflows = 1, 0, 0, 0

    def run(self) -> None:
        """Relax until a round lowers no distance.

        Raises
        ------
        NegativeCycleError
            If a path from the root leads to a cycle of negative length; names one.
        """
        size, round = 1, 0
        while size:
            if self.watch.due(round):
                self.launches += 1
                self.watch.look(round, self.distances())
            round += 1
            size = self.relax(round, size)

    def relax(self, round: int, size: int) -> int:
        """Relax the arcs of a frontier of `size` vertices; return the size of the next one."""
        device, options, queue = self.device, self.options, self.queues[0]
        warp_size = options.virtual_warp(size, self.resident)
        at_once = options.vertices_a_warp(size, self.resident, warp_size)
        alone = self.only_plain and round == 1
        threads = options.threads
        device.launch(
            relax_frontier, blocks_for(-(-size // at_once) * WARP_SIZE, threads), threads,
            self.search, self.frontier, size, queue, round, alone, self.queues[1].next_size,
            shape(warp_size, at_once, options.coalesced_enqueue), self.children, shared=self.slots,
        )  # fmt: skip
        self.launches += 1
        most = blocks_for(self.resident, threads)
        if self.large.vertices:
            device.launch(
                relax_pieces, min(self.large.pieces, most), threads,
                self.search, queue, round, alone, options.coalesced_enqueue, self.children,
                shared=self.slots,
            )  # fmt: skip
            self.launches += 1
            self.child_launches += 1
        if self.search.how == TABLE:
            device.launch(write_table, most, threads, queue, self.table)
            device.launch(keep_those_in_table, most, threads, queue, self.table, self.kept)
            self.launches += 2
        counters = self.read(queue)
        self.sizes.append(size)
        self.warp_sizes.append(warp_size)
        self.vertices_a_warp.append(at_once)
        return self.take(round, counters)

    def take(self, round: int, counters: list[int]) -> int:
        """Make the vertices enqueued in the round the frontier; return its size."""
        queue, size = self.queues[0], counters[ENTRIES]
        self.enqueues += size
        self.duplicates += counters[REPEATED]
        self.child_vertices += counters[CHILDREN]
        if counters[BELOW]:
            self.watch.prove(round)
        if size > self.capacity:
            self.device.clear(queue.next_size)
            blocks = blocks_for(self.g.n, self.options.threads)
            self.device.launch(
                append_lowered, blocks, self.options.threads, self.search.words, round, *queue
            )  # fmt: skip
            self.launches += 1
            self.overflows += 1
            size_by_table = self.read(queue)[ENTRIES]
            self.removed += size - size_by_table
            size, self.frontier = size_by_table, queue.next_frontier
        elif self.search.how == TABLE:
            self.removed += size - counters[KEPT]
            size, self.frontier = counters[KEPT], self.kept
        else:
            self.frontier = queue.next_frontier
        self.queues.reverse()
        return size

    def read(self, queue: Queue) -> list[int]:
        """Wait for the device and return its counters."""
        self.read_backs += 1
        return self.device.read(queue.next_size, into=self.host_counters).tolist()

    def distances(self):
        """Return device distances so far; vertices left out may have none."""
        return unpacked(self.search, self.device, self.dtype, self.options.threads)

    def end(self):
        """Return device distances after the last round."""
        self.launches += 1
        if not self.options.edge_classes:
            return self.distances()
        return ended(
            self.g, self.arcs, self.arcs_in, self.search, self.device, self.dtype,
            self.options.threads,
        )  # fmt: skip


def has_no_parallel_arcs(g, root: int) -> bool:
    """Return whether the row of `root` is sorted and names no vertex twice."""
    row = g.targets[g.offsets[root] : g.offsets[root + 1]]
    return bool((row[1:] > row[:-1]).all())
