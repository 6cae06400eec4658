"""Searches from many roots at once, a launch a round for all of them.

The topology-driven search [burtscher2012quantitative] on rows of distances, one a root. Mapping:
work-item (vertex) of a root to thread. Work O(k n (n + m)) at worst for k roots: a round relaxes
every arc for each root whose distances the last round has changed. A small graph does not fill a
GPU; its roots together may.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gpukernels.device import Device, benign_race
from gpukernels.graph import Graph
from gpukernels.primitives.launch_shape import blocks_for

from .negative import Watch
from .overflow import check_held
from .result import arcs_on, infinity
from .tight import parents_of

#: Blocks of a grid's second dimension.
MOST_ROOTS = 65_535
#: A GPU's allocations are multiples of so many bytes.
APART = 256


@cuda.jit
def start_rows(distance, first):
    """Set the distance of each row's root to 0; the first row has the root `first`."""
    row = cuda.grid(1)
    if row < distance.shape[0]:
        distance[row, first + row] = 0


@cuda.jit
def start_rows_at(distance, roots):
    """Set the distance of each row's root to 0; a row's root is where ``roots`` says."""
    row = cuda.grid(1)
    if row < distance.shape[0]:
        distance[row, roots[row]] = 0


@benign_race("distance", "changed")
@cuda.jit
def relax_rows(offsets, targets, weights, distance, infinite, times, going, changed):
    """Relax all arcs of every vertex that is reached, a row a root, as `relax_all` does.

    A row of which ``going`` is 0 is done. ``changed`` says which go on: any thread of the row sets
    it to the same 1.
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
    """What the searches have found.

    Attributes
    ----------
    distance : ndarray, shape (k, n)
        A row a root.
    parent : ndarray of int32, shape (k, n), or None
        The same of parents.
    launches, read_backs, iterations, relaxations : int
        Of all searches; a round of a batch is one iteration.
    """

    distance: NDArray
    parent: NDArray | None
    launches: int
    read_backs: int
    iterations: int
    relaxations: int


def bytes_for(g: Graph, roots: int, parents: bool, named: bool = False) -> int:
    """Return how many bytes of a device so many roots at once take, the graph's included.

    `named`: they do not follow one another, so the device is told each.
    """
    arrays = [g.n + 1, g.m, g.m, *[roots * g.n] * 2, *[roots] * (2 + named)]
    if parents:
        arrays += [g.n, g.n, 1]
    return sum(-(-4 * size // APART) * APART for size in arrays)


def roots_within(g: Graph, memory: int, parents: bool, named: bool = False) -> int:
    """Return how many roots at once take at most `memory` bytes; 0 if not even one does."""
    counts = range(1, min(max(g.n, 1), MOST_ROOTS) + 1)
    return bisect_right(counts, memory, key=lambda k: bytes_for(g, k, parents, named))


def search_from_all(
    g: Graph,
    device: Device,
    batch: int,
    threads: int,
    parents: bool,
    named: NDArray[np.int32] | None = None,
) -> Found:
    """Search from every vertex, or from those `named`, `batch` at a time.

    Raises
    ------
    NegativeCycleError, OverflowError
        As a search from one root does.
    """
    every = range(g.n) if named is None else named
    batch = max(1, min(batch, len(every)))
    dtype = np.int32 if g.weights is None else g.weights.dtype
    infinite, arcs = infinity(dtype), arcs_on(device, g)
    distance = device.empty((batch, g.n), dtype)
    times = device.empty((batch, g.n), np.int32)
    flags = [device.empty(batch, np.int32) for _ in range(2)]
    found: NDArray = np.empty((len(every), g.n), dtype)
    parent = np.empty(found.shape, np.int32) if parents else None
    launches = read_backs = iterations = 0
    device.clear(times)
    for first in range(0, len(every), batch):
        roots = every[first : first + batch]
        rows, counts = distance[: len(roots)], times[: len(roots)]
        going, changed = (flag[: len(roots)] for flag in flags)
        for array, value in ((rows, infinite), (going, 1)):
            device.fill(array, value)
        start, at = (start_rows, first) if named is None else (start_rows_at, device.array(roots))
        device.launch(start, blocks_for(len(roots), threads), threads, rows, at)
        grid, rounds = (blocks_for(g.n, threads), len(roots)), 0
        watches = [Watch(g, int(root), device) for root in roots]
        more = np.ones(len(roots), np.int32)
        while more.any():
            for row in np.flatnonzero(more):
                if watches[row].due(rounds):
                    watches[row].look(rounds, rows[int(row)])
            device.clear(changed)
            args = *arcs, rows, infinite, counts, going, changed
            device.launch(relax_rows, grid, threads, *args)
            more, rounds = device.read(changed), rounds + 1
            going, changed = changed, going
        launches, read_backs = launches + 1 + rounds, read_backs + rounds
        iterations += rounds
        if parent is None:
            device.read(rows, into=found[first : first + len(roots)])
            for row, root in enumerate(roots):
                check_held(g, int(root), found[first + row])
        else:
            for row, root in enumerate(roots):
                lengths, of_root, more_launches = parents_of(
                    g, int(root), device, arcs, rows[row], threads
                )
                found[first + row], parent[first + row] = lengths, of_root
                launches += more_launches
    relaxations = int(device.read(times).sum(axis=0, dtype=np.int64) @ g.out_degree)
    return Found(found, parent, launches, read_backs, iterations, relaxations)
