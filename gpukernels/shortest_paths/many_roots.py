"""Search from many roots at once, with one launch per round for all of them.

The topology-driven search [burtscher2012quantitative] on rows of distances, one per root. Mapping:
work-item (vertex) of a root to thread. Work O(k n (n + m)) at worst for k roots: a round relaxes
every arc for each root whose distances the last round has changed. A small graph does not fill a
GPU, but many of its roots together may. H-BF does the same with a frontier for each root: see
`hbf.many_roots`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gpukernels.device import Device, DeviceArray, benign_race
from gpukernels.graphs.graph import Graph
from gpukernels.primitives.launch_shape import blocks_for

from .hbf.many_roots import FromManyRoots
from .negative import Watch
from .overflow import check_lengths
from .result import arcs_on, infinity
from .tight import parents_of

#: The most blocks in a grid's second dimension.
MOST_ROOTS = 65_535
#: A GPU's allocations are multiples of so many bytes.
APART = 256


@cuda.jit
def start_rows(distance, roots):
    """Set the distance of each row's root to 0; ``roots[row]`` is the root."""
    row = cuda.grid(1)
    if row < distance.shape[0]:
        distance[row, roots[row]] = 0


@benign_race("distance", "changed")
@cuda.jit
def relax_rows(offsets, targets, weights, distance, infinite, times, going, changed):
    """Relax all arcs of every vertex that is reached, one row per root, as `relax_all` does.

    A row is done if its ``going`` is 0. ``changed`` marks the rows that continue: all threads of a
    row store the same 1.
    """
    row, u = cuda.blockIdx.y, cuda.grid(1)
    if u < distance.shape[1] and going[row] == 1:
        near = distance[row, u]
        if near != infinite:
            times[row, u] += 1
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                length = near + weights[i]
                if length < distance[row, v]:
                    cuda.atomic.min(distance, (row, v), length)
                    changed[row] = 1


class Found(NamedTuple):
    """The distances, parents and counts of the searches.

    Attributes
    ----------
    distance : ndarray, shape (k, n)
        One row of distances per root.
    parent : ndarray of int32, shape (k, n), or None
        One row of parents per root.
    launches, read_backs, iterations, relaxations : int
        Totals of all searches; a round of a batch is one iteration.
    """

    distance: NDArray
    parent: NDArray | None
    launches: int
    read_backs: int
    iterations: int
    relaxations: int


class TopologyDriven:
    """A topology-driven search from each root of a batch, on one device.

    Parameters
    ----------
    g, device, threads
        As in a search from one root.
    batch : int
        The largest number of roots of a batch.

    Attributes
    ----------
    arcs : tuple of device arrays
        Offsets, targets and weights.
    launches, read_backs, iterations : int
        Totals of all batches so far; a round of a batch is one iteration.
    """

    def __init__(self, g: Graph, device: Device, batch: int, threads: int):
        self.g, self.device, self.threads = g, device, threads
        self.arcs = arcs_on(device, g)
        dtype = np.int32 if g.weights is None else g.weights.dtype
        self.distance = device.empty((batch, g.n), dtype)
        self.times = device.full((batch, g.n), 0, np.int32)
        self.flags = [device.empty(batch, np.int32) for _ in "ab"]
        self.launches = self.read_backs = self.iterations = 0

    @staticmethod
    def bytes_of(g: Graph, roots: int) -> list[int]:
        """Return the bytes of each array that a batch of `roots` roots takes on a device."""
        words = [g.n + 1, g.m, g.m, *[roots * g.n] * 2, *[roots] * 2]
        return [4 * size for size in words]

    def search(self, roots: NDArray[np.int32]) -> DeviceArray:
        """Search from all `roots`; return device distances, one row per root."""
        g, device, threads = self.g, self.device, self.threads
        rows, counts = self.distance[: roots.size], self.times[: roots.size]
        going, changed = (flag[: roots.size] for flag in self.flags)
        infinite = infinity(rows.dtype)
        device.fill(rows, infinite)
        device.fill(going, 1)
        blocks = blocks_for(roots.size, threads)
        device.launch(start_rows, blocks, threads, rows, device.array(roots))
        grid, rounds = (blocks_for(g.n, threads), roots.size), 0
        watches = [Watch(g, int(root), device) for root in roots]
        more = np.ones(roots.size, np.int32)
        while more.any():
            for row in np.flatnonzero(more):
                if watches[row].due(rounds):
                    watches[row].look(rounds, rows[int(row)])
            device.clear(changed)
            args = *self.arcs, rows, infinite, counts, going, changed
            device.launch(relax_rows, grid, threads, *args)
            more, rounds = device.read(changed), rounds + 1
            going, changed = changed, going
        self.launches += 1 + rounds
        self.read_backs += rounds
        self.iterations += rounds
        return rows

    def relaxations(self) -> int:
        """Return the number of relaxations of arcs."""
        times = self.device.read(self.times).sum(axis=0, dtype=np.int64)
        return int(times @ self.g.out_degree)


#: The searches that take many roots at once, by the name of the method.
AT_ONCE = {"topology_driven": TopologyDriven, "hbf": FromManyRoots}


def bytes_for(g: Graph, roots: int, parents: bool, search: str = "topology_driven") -> int:
    """Return how many bytes of a device `roots` roots at once take, including the graph."""
    arrays = [*AT_ONCE[search].bytes_of(g, roots), 4 * roots]
    if parents:
        arrays += [4 * g.n, 4 * g.n, 4]
    return sum(-(-size // APART) * APART for size in arrays)


def roots_within(g: Graph, memory: int, parents: bool, search: str = "topology_driven") -> int:
    """Return how many roots at once take at most `memory` bytes; 0 if not even one does."""
    counts = range(1, min(max(g.n, 1), MOST_ROOTS) + 1)
    return bisect_right(counts, memory, key=lambda k: bytes_for(g, k, parents, search))


def search_from_all(
    g: Graph,
    roots: NDArray[np.int32],
    device: Device,
    search: str,
    batch: int,
    threads: int,
    parents: bool,
) -> Found:
    """Search from all `roots`, `batch` at a time.

    Raises
    ------
    NegativeCycleError, OverflowError, RoundingError
        As in a search from one root.
    """
    batch = max(1, min(batch, roots.size))
    s = AT_ONCE[search](g, device, batch, threads)
    dtype = np.int32 if g.weights is None else g.weights.dtype
    distance: NDArray = np.empty((roots.size, g.n), dtype)
    parent = np.empty(distance.shape, np.int32) if parents else None
    launches = 0
    for first in range(0, roots.size, batch):
        some = roots[first : first + batch]
        rows = s.search(some)
        if parent is None:
            device.read(rows, into=distance[first : first + some.size])
            for row, root in enumerate(some):
                check_lengths(g, int(root), distance[first + row])
        else:
            for row, root in enumerate(some):
                lengths, of_root, more_launches = parents_of(
                    g, int(root), device, s.arcs, rows[row], threads
                )
                distance[first + row], parent[first + row] = lengths, of_root
                launches += more_launches
    return Found(
        distance, parent, s.launches + launches, s.read_backs, s.iterations, s.relaxations()
    )
