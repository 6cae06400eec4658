"""Parents afterwards: arcs that a shortest path may take, found in one pass over all arcs.

Once no arc relaxes any more, an arc u -> v is *tight* if ``distance[u] + weight`` is exactly
``distance[v]``, and every shortest path is made of tight arcs. So no relaxation has to carry a
parent along, in a 64-bit word or in a second store that races with the first. Floats are as exact:
rounding keeps order, so the arc that gave v its distance is still tight when u has its last one.

Tight arcs that lead to a greater distance close no cycle, and give a tree at once. Others (weights
of 0 and below, and floats so small beside the distance that they vanish) might; if some vertex has
no arc but such ones, parents are given again, a step a launch away from the root.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.device import benign_race
from gpukernels.graph import Graph
from gpukernels.mapping.merge_path import STEPS, merge_path, tiles_of
from gpukernels.mapping.workload import MAX_BLOCKS
from gpukernels.paths import NO_PARENT
from gpukernels.primitives.launch_shape import blocks_for
from gpukernels.stats import Stats

from .result import SSSPResult, infinity


@cuda.jit(device=True)
def adopt(work, u, arc):
    """Make `u` the parent of the arc's target, if the arc is tight and leads further away."""
    targets, weights, distance, infinite, root, parent, beyond = work
    near = distance[u]
    if near != infinite:
        v = targets[arc]
        if distance[v] == infinite:
            beyond[0] = 1
        elif v != root and near < distance[v]:
            if near + weights[arc] == distance[v]:
                parent[v] = u


@benign_race("parent", "beyond")
@cuda.jit
def adopt_forward(offsets, targets, weights, distance, infinite, root, parent, beyond):
    """Make each vertex the parent of those to which a tight arc leads that are further away.

    Several may be right, and any of them stays. ``beyond[0]`` becomes 1 if an arc leads from a
    vertex that is reached to one that is not: the sum was more than a distance can hold. Arcs and
    vertices go to threads by merge path, as one vertex may have a good part of all arcs.
    """
    path = cuda.shared.array(0, int32)
    work = (targets, weights, distance, infinite, root, parent, beyond)
    tile = cuda.blockDim.x * STEPS
    steps = distance.size + targets.size
    for begin in range(cuda.blockIdx.x * tile, steps, cuda.gridDim.x * tile):
        merge_path(adopt, work, offsets, distance.size, targets.size, begin, STEPS, path)


@benign_race("steps", "parent", "changed")
@cuda.jit
def adopt_next(offsets, targets, weights, distance, parent, step, steps, changed):
    """Let the vertices of one step away from the root adopt, by tight arcs, who has no parent.

    ``steps[v]`` is how many arcs lead from the root to v, -1 while v has no parent.
    """
    u = cuda.grid(1)
    if u < distance.size and steps[u] == step:
        for i in range(offsets[u], offsets[u + 1]):
            v = targets[i]
            if steps[v] == -1 and distance[u] + weights[i] == distance[v]:
                steps[v] = step + 1
                parent[v] = u
                changed[0] = 1


def parents_of(g: Graph, root: int, device, arcs, distance, threads: int):
    """Return distances and parents on the host, and how many launches these took.

    Raises
    ------
    OverflowError
        If a path is longer than the type of the distances holds.
    """
    tiles, shared = tiles_of(g.n, g.m, threads)
    infinite = infinity(distance.dtype)
    parent = device.full(g.n, NO_PARENT, np.int32)
    device.put(parent, root, root)
    beyond = device.full(1, 0, np.int32)
    device.launch(
        adopt_forward, min(tiles, MAX_BLOCKS), threads,
        *arcs, distance, infinite, root, parent, beyond, shared=shared,
    )  # fmt: skip
    lengths = device.read(distance)
    if device.read(beyond)[0]:
        raise OverflowError(
            f"a path from vertex {root} is longer than {lengths.dtype} holds"
            + ("; take float32 weights" if lengths.dtype == np.int32 else "")
        )
    found = device.read(parent)
    if not ((found == NO_PARENT) & (lengths != infinite)).any():
        return lengths, found, 1
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
    return lengths, device.read(parent), 1 + step


def finish(
    g, root, device, arcs, distance, times, threads, parents, method, rounds, launches
) -> SSSPResult:
    """Return the result of a search of so many `rounds`, of so many `launches` each.

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
    """Return distances, parents where asked for, and `stats` with ``launches_for_parents``."""
    lengths, parent, more = parents_of(g, root, device, arcs, distance, threads)
    stats = Stats({**stats, "launches_for_parents": more})
    return SSSPResult(lengths, parent if parents else None, stats)
