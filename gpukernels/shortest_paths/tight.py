"""Find parents after the search, from arcs that a shortest path may take, in one pass over arcs.

When no arc relaxes any more, an arc u -> v is *tight* if ``distance[u] + weight`` is exactly
``distance[v]``, and shortest paths are made of tight arcs. So a relaxation need not store a parent,
in a 64-bit word or in a second store that races with the first. Floats are as exact: rounding keeps
order, so the arc that gave v its distance is still tight with the last distance of u.

Tight arcs that lead to a greater distance close no cycle, and give a tree at once. Other tight arcs
might: those of weight 0 and below, and floats so small that they vanish in the sum. If some vertex
has no other arc, parents are given again from the root on, one step per launch.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.paths import NO_PARENT
from gpukernels.graphs.stats import Stats
from gpukernels.mapping.merge_path import STEPS, merge_path, tiles_of
from gpukernels.mapping.workload import MAX_BLOCKS, SHARED_WORDS
from gpukernels.primitives.launch_shape import blocks_for

from .overflow import check_lengths
from .result import SSSPResult, infinity

#: From so many vertices on, distances are copied during the pass over all arcs, and the device
#: finds vertices without a parent. For fewer, a stream and a launch cost more time than they save.
LARGE = 1 << 16

#: Steps per thread in a large graph: a tile's two searches in all offsets take longer than its
#: arcs. On an H100, 128 million arcs took 1.79 ms by 11 steps, 1.58 by 23, 1.54 by 31, 2.21 by 43.
MANY_STEPS = 31


@cuda.jit(device=True)
def adopt(work, u, arc):
    """Make `u` the parent of the arc's target, if the arc is tight and leads further away."""
    targets, weights, distance, infinite, root, parent = work
    near = distance[u]
    v = targets[arc]
    if v != root and near < distance[v] and distance[v] != infinite:
        if near + weights[arc] == distance[v]:
            parent[v] = u


@benign_race("parent")
@cuda.jit
def adopt_forward(offsets, targets, weights, distance, infinite, root, parent, steps_per_thread):
    """Make each vertex the parent of the vertices further away to which it has a tight arc.

    If several parents are valid, any of them stays. Arcs and vertices go to threads by merge path,
    as one vertex may have a large part of all arcs.
    """
    path = cuda.shared.array(0, int32)
    work = (targets, weights, distance, infinite, root, parent)
    tile = cuda.blockDim.x * steps_per_thread
    steps = distance.size + targets.size
    for begin in range(cuda.blockIdx.x * tile, steps, cuda.gridDim.x * tile):
        merge_path(
            adopt, work, offsets, distance.size, targets.size, begin, steps_per_thread, path
        )  # fmt: skip


@benign_race("steps", "parent", "changed")
@cuda.jit
def adopt_next(offsets, targets, weights, distance, parent, step, steps, changed):
    """Let the vertices `step` arcs from the root adopt, by tight arcs, vertices without a parent.

    ``steps[v]`` is the number of arcs from the root to v; -1 as long as v has no parent.
    """
    u = cuda.grid(1)
    if u < distance.size and steps[u] == step:
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if steps[v] == -1 and distance[u] + weights[i] == distance[v]:
                steps[v] = step + 1
                parent[v] = u
                changed[0] = 1


@benign_race("lost")
@cuda.jit
def find_lost(distance, infinite, parent, lost):
    """Set ``lost[0]`` if a vertex is reached and has no parent."""
    v = cuda.grid(1)
    if v < distance.size and parent[v] == NO_PARENT and distance[v] != infinite:
        lost[0] = 1


def parents_of(g: Graph, root: int, device, arcs, distance, threads: int):
    """Return distances and parents on the host, and the number of launches for the parents.

    Raises
    ------
    OverflowError, NegativeCycleError, RoundingError
        As in :func:`.overflow.check_lengths`.
    """
    large = g.n >= LARGE
    steps_per_thread = min(MANY_STEPS, (SHARED_WORDS - 1) // threads) if large else STEPS
    tiles, shared = tiles_of(g.n, g.m, threads, steps_per_thread)
    infinite = infinity(distance.dtype)
    parent = device.full(g.n, NO_PARENT, np.int32)
    device.put(parent, root, root)
    lengths = device.pinned(g.n, distance.dtype) if large else device.read(distance)
    with device.copy_stream() if large else nullcontext() as beside:
        if large:
            beside.read(distance, lengths)
        device.launch(
            adopt_forward, min(tiles, MAX_BLOCKS), threads,
            *arcs, distance, infinite, root, parent, steps_per_thread, shared=shared,
        )  # fmt: skip
        if large:
            lost = device.full(1, 0, np.int32)
            device.launch(
                find_lost, blocks_for(g.n, threads), threads, distance, infinite, parent, lost
            )
    check_lengths(g, root, lengths)
    host_parent = device.read(parent)
    if large:
        some_lost = bool(device.read(lost)[0])
    else:
        some_lost = bool(((host_parent == NO_PARENT) & (lengths != infinite)).any())
    launches = 1 + large
    if not some_lost:
        return lengths, host_parent, launches
    steps, changed = device.full(g.n, -1, np.int32), device.full(1, 0, np.int32)
    device.put(steps, root, 0)
    step, more = 0, True
    while more:
        device.clear(changed)
        device.launch(
            adopt_next, blocks_for(g.n, threads), threads,
            *arcs, distance, parent, step, steps, changed,
        )  # fmt: skip
        more = bool(device.read(changed)[0])
        step += 1
    return lengths, device.read(parent), launches + step


def finish(
    g, root, device, arcs, distance, times, threads, parents, method, rounds, launches
) -> SSSPResult:
    """Return the result of a search of `rounds` rounds, with `launches` launches each.

    ``times[u]`` is how often the arcs of u were relaxed.
    """
    stats = {
        "method": method,
        "launches": rounds * launches,
        "read_backs": rounds,
        "iterations": rounds,
        "relaxations": lambda: int(device.read(times).astype(np.int64) @ g.out_degree),
    }
    return with_parents(g, root, device, arcs, distance, threads, parents, stats)


def with_parents(g, root, device, arcs, distance, threads, parents, stats) -> SSSPResult:
    """Return distances, and `stats` with ``launches_for_parents``: 0 without `parents`.

    Without `parents` nothing is launched, and no array of parents is made or copied.
    """
    if parents:
        lengths, parent, more = parents_of(g, root, device, arcs, distance, threads)
    else:
        lengths, parent, more = device.read(distance), None, 0
        check_lengths(g, root, lengths)
    return SSSPResult(lengths, parent, Stats({**stats, "launches_for_parents": more}))
