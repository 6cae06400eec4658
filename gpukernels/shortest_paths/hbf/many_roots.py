"""H-BF from many roots at once: one launch per round for all of them, and a frontier for each.

H-BF [busato2016hbf], with its defaults, as a search for all pairs [busato2017chapter], section 4.
Mapping: as in one search; the second index of a block is the row of its root. Work O(k n m) at
worst for k roots.

The kernels are the same as for one root. They are called here as device functions, with the row of
the block's root in each array that a root has for itself: words, frontiers, counters, pieces. All
roots share the graph and the classes of its arcs. Only the source class differs: each row has a
flag, whether plain stores may relax the arcs of its root in round 1.

The host chooses the width of the virtual warps once for all frontiers together. It reads back the
counters of all rows after each round, until no row has a frontier.
"""

from __future__ import annotations

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gpukernels.device import Device, DeviceArray, benign_race
from gpukernels.frontiers.counts import ENTRIES
from gpukernels.frontiers.local_queue import LOCAL
from gpukernels.frontiers.pieces import Children, larger_than
from gpukernels.frontiers.shared_slot import slot_bytes
from gpukernels.frontiers.state import Queue
from gpukernels.graphs.graph import Graph
from gpukernels.mapping.dynamic_virtual_warp import choose_warp_size
from gpukernels.primitives.large_blocks import LARGE_BLOCKS
from gpukernels.primitives.launch_shape import WARP_SIZE, blocks_for

from ..negative import Watch
from ..result import arcs_on, infinity
from .child import relax_pieces
from .classes import Arcs, check_ids, leaf_degree, marked_targets, turned_around
from .ending import end_postponed, unpacked
from .frontier import Shape, relax_frontier
from .options import Options
from .relax import ATOMIC64, BELOW, COUNTERS, Search
from .rounds import has_no_parallel_arcs, shape
from .words import BIAS, packed

#: Sets of counters: one is read, the next is filled, and the third is cleared.
TURNS = 3


def as_function(kernel):
    """Return a kernel as a device function."""
    # numba's simulator calls the Python function `fn`.
    return cuda.jit(device=True)(getattr(kernel, "py_func", None) or kernel.fn)


relax_frontier_of = as_function(relax_frontier)
relax_pieces_of = as_function(relax_pieces)
end_postponed_of = as_function(end_postponed)


@cuda.jit(device=True)
def row_of(search, row):
    """Return the state of the search whose distances are in row `row`."""
    return Search(
        search.offsets, search.targets, search.weights, search.words[row], search.times,
        search.visited, search.floor, search.floats, search.classes, search.how, search.hints,
    )  # fmt: skip


@cuda.jit
def start_roots(roots, words, queue: Queue):
    """Give the root of each row distance 0, and make it the row's frontier."""
    row = cuda.grid(1)
    if row < roots.size:
        words[row, roots[row]] = packed(BIAS, 0)
        queue.next_frontier[row, 0] = roots[row]
        queue.next_size[row, ENTRIES] = 1


@benign_race("words")
@cuda.jit(**LARGE_BLOCKS)
def relax_frontiers(
    search: Search, frontier: Queue, queue: Queue, round, plain, cleared, shape: Shape,
    children: Children,
):  # fmt: skip
    """Relax the arcs of all frontiers; see `relax_frontier`.

    ``plain[row]`` is 1 if plain stores may relax the arcs of the row's root.
    """
    row = cuda.blockIdx.y
    relax_frontier_of(
        row_of(search, row), frontier.next_frontier[row], frontier.next_size[row, ENTRIES],
        Queue(queue.next_frontier[row], queue.next_size[row]), round,
        round == 1 and plain[row] == 1, cleared[row], shape,
        Children(children.child_above, children.piece, children.pieces[row]),
    )  # fmt: skip


@benign_race("words")
@cuda.jit(**LARGE_BLOCKS)
def relax_all_pieces(search: Search, queue: Queue, round, plain, coalesced, children: Children):
    """Relax the arcs of the queued pieces of all rows; see `relax_pieces`."""
    row = cuda.blockIdx.y
    relax_pieces_of(
        row_of(search, row), Queue(queue.next_frontier[row], queue.next_size[row]), round,
        round == 1 and plain[row] == 1, coalesced,
        Children(children.child_above, children.piece, children.pieces[row]),
    )  # fmt: skip


@cuda.jit
def end_all(arcs: Arcs, arcs_in: Arcs, leaf, words, floats, infinite, distance, warp_size):
    """Give every vertex its distance in every row; see `end_postponed`."""
    row = cuda.blockIdx.y
    end_postponed_of(
        arcs, arcs_in, leaf, words[row], floats, infinite, distance[row], warp_size
    )  # fmt: skip


class FromManyRoots:
    """An H-BF search from each root of a batch, on one device.

    It has the parameters and attributes of `TopologyDriven` in ``shortest_paths/many_roots.py``.
    """

    def __init__(self, g: Graph, device: Device, batch: int, threads: int):
        check_ids(g.n)
        self.g, self.device, self.options = g, device, Options(threads=threads)
        self.arcs = Arcs(*arcs_on(device, g))
        self.arcs_in = turned_around(g, device, self.arcs)
        targets, marked_now = marked_targets(g, device, self.arcs, self.arcs_in, threads)
        self.dtype = np.dtype(np.int32 if g.weights is None else g.weights.dtype)
        self.state = Search(
            self.arcs.offsets, targets, self.arcs.weights, device.empty((batch, g.n), np.uint64),
            device.full(g.n, 0, np.int32), device.full(0, 0, np.int32),
            int(max(BIAS + Watch(g, 0, device).least, 0)), self.dtype == np.float32, True,
            ATOMIC64, True,
        )  # fmt: skip
        self.distance = device.empty((batch, g.n), self.dtype)
        self.frontiers = [device.empty((batch, g.n), np.int32) for _ in "ab"]
        self.counts = device.empty((TURNS, batch, COUNTERS), np.int64)
        above, piece = self.options.child_threshold, LOCAL * threads
        self.large = larger_than(g, above, piece)
        pieces = device.empty((batch, 2, max(self.large.pieces, 1)), np.int32)
        self.children = Children(above, piece, pieces)
        self.launches, self.read_backs, self.iterations = int(marked_now), 0, 0

    @staticmethod
    def bytes_of(g: Graph, roots: int) -> list[int]:
        """Return the bytes of each array that a batch of `roots` roots takes on a device."""
        # The narrowest blocks make the most pieces.
        pieces = larger_than(g, Options().child_threshold, LOCAL * WARP_SIZE).pieces
        graph = [4 * (g.n + 1)] * 2 + [4 * g.m] * 5 + [4 * g.n]
        rows = [width * roots * g.n for width in (8, 4, 4, 4)]  # words, two frontiers, distances
        return [*graph, *rows, 8 * TURNS * COUNTERS * roots, 8 * roots * max(pieces, 1), 4 * roots]

    def search(self, roots: NDArray[np.int32]) -> DeviceArray:
        """Search from all `roots`; return device distances, one row per root."""
        g, device, threads, k = self.g, self.device, self.options.threads, roots.size
        search = self.state._replace(words=self.state.words[:k])
        counters = [self.counts[turn][:k] for turn in range(TURNS)]
        queues = [[Queue(room[:k], counts) for counts in counters] for room in self.frontiers]
        device.fill(search.words, np.uint64(2**64 - 1))
        device.clear(self.counts)
        args = device.array(roots), search.words, queues[0][0]
        device.launch(start_roots, blocks_for(k, threads), threads, *args)
        alone = [has_no_parallel_arcs(g, int(root)) for root in roots]
        plain = device.array(np.array(alone, np.int32))
        watches = [Watch(g, int(root), device) for root in roots]
        self.launches += 1
        sizes, round = np.ones(k, np.int64), 0
        while sizes.any():
            for row in np.flatnonzero(sizes).tolist():
                if watches[row].due(round):
                    words = search._replace(words=search.words[row])
                    watches[row].look(round, unpacked(words, device, self.dtype, threads))
                    self.launches += 1
            round += 1
            row_counters = self.relax(round, sizes, search, queues, plain)
            sizes = row_counters[:, ENTRIES]
            for row in np.flatnonzero(row_counters[:, BELOW]).tolist():
                watches[row].prove(round)
        self.iterations += round
        rows = self.distance[:k]
        group = choose_warp_size(g.n, g.m, 0, 1) if g.directed else 1
        device.launch(
            end_all, (blocks_for(g.n * group, threads), k), threads, self.arcs, self.arcs_in,
            leaf_degree(g), search.words, search.floats, infinity(self.dtype), rows, group,
        )  # fmt: skip
        self.launches += 1
        return rows

    def relax(self, round: int, sizes: NDArray, search: Search, queues: list, plain) -> NDArray:
        """Relax the arcs of frontiers of these `sizes`; return the counters of all rows."""
        device, options, threads, k = self.device, self.options, self.options.threads, sizes.size
        frontier = queues[(round - 1) % 2][(round - 1) % TURNS]
        queue, cleared = queues[round % 2][round % TURNS], queues[0][(round + 1) % TURNS].next_size
        total, resident = int(sizes.sum()), max(device.resident_threads, WARP_SIZE)
        warp_size = options.virtual_warp(total, resident)
        at_once = options.vertices_a_warp(total, resident, warp_size)
        most, slots = -(-int(sizes.max()) // at_once), slot_bytes(threads)
        device.launch(
            relax_frontiers, (blocks_for(most * WARP_SIZE, threads), k), threads,
            search, frontier, queue, round, plain, cleared, shape(warp_size, at_once, True),
            self.children, shared=slots,
        )  # fmt: skip
        self.launches += 1
        if self.large.vertices:
            blocks = min(self.large.pieces, blocks_for(resident, threads))
            args = search, queue, round, plain, True, self.children
            device.launch(relax_all_pieces, (blocks, k), threads, *args, shared=slots)
            self.launches += 1
        self.read_backs += 1
        return device.read(queue.next_size)

    def relaxations(self) -> int:
        """Return the number of relaxations of arcs."""
        relaxed = np.concatenate([[0], np.cumsum(self.device.read(self.state.targets) >= 0)])
        times = self.device.read(self.state.times).astype(np.int64)
        return int(times @ np.diff(relaxed[self.g.offsets]))
