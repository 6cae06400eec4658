"""Other kernels build on the techniques: a visit of their own, on items that lie anywhere.

The visit is a step of a breadth-first search: it marks the target of an arc and counts the arcs
that it has seen of each vertex. The frontier's vertices are neither sorted nor next to each other.
"""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair
from numba import cuda, int32

import gpukernels as gk
from gpukernels.mapping.cta_warp_scan import (
    cta_warp_scan,
    gather_by_block,
    gather_by_scan,
    gather_by_warp,
)
from gpukernels.mapping.local_warp_search import search_registers
from gpukernels.mapping.virtual_warp import virtual_warp
from gpukernels.mapping.work_item_to_thread import one_thread
from gpukernels.primitives import queue_append


@cuda.jit(device=True)
def discover(work, vertex, arc):
    targets, distance, seen, queue, size = work
    cuda.atomic.add(seen, vertex, 1)
    v = targets[arc]
    if cuda.atomic.cas(distance, v, -1, 1) == -1:
        queue_append(queue, size, v)


@cuda.jit(device=True)
def frontier_item(frontier, offsets, i):
    if i < frontier.size:
        u = frontier[i]
        return u, offsets[u], offsets[u + 1]
    return int32(0), int32(0), int32(0)


@cuda.jit
def step_by_thread(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    one_thread(discover, (targets, distance, seen, queue, size), u, begin, end)


@cuda.jit
def step_by_virtual_warp(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1) // 8)
    work = targets, distance, seen, queue, size
    virtual_warp(discover, work, u, begin, end, cuda.grid(1) % 8, 8)


@cuda.jit
def step_by_cta_warp_scan(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    work = targets, distance, seen, queue, size
    cta_warp_scan(discover, work, u, begin, end, 64, 32)


@cuda.jit
def step_by_block_alone(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    gather_by_block(discover, (targets, distance, seen, queue, size), u, begin, end, 0)


@cuda.jit
def step_by_warp_alone(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    gather_by_warp(discover, (targets, distance, seen, queue, size), u, begin, end, 0)


@cuda.jit
def step_by_scan_alone(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    gather_by_scan(discover, (targets, distance, seen, queue, size), u, begin, end)


@cuda.jit
def step_by_registers(offsets, frontier, targets, distance, seen, queue, size):
    u, begin, end = frontier_item(frontier, offsets, cuda.grid(1))
    search_registers(discover, (targets, distance, seen, queue, size), u, begin, end)


STEPS = [
    step_by_thread,
    step_by_virtual_warp,
    step_by_cta_warp_scan,
    step_by_block_alone,
    step_by_warp_alone,
    step_by_scan_alone,
    step_by_registers,
]
GRAPHS = {
    "skewed": gk.rmat(scale=7, edge_factor=12, seed=5),
    "regular": gk.road_grid(12, 12, seed=1),
    "a star": gk.star(1200),
}


@pytest.mark.parametrize(
    ("kernel", "name", "scheduled_device"),
    every_pair(STEPS, GRAPHS, SCHEDULES),
    indirect=["scheduled_device"],
)
def test_a_step_of_a_search_inspects_every_arc_once(kernel, name, scheduled_device):
    g, d = GRAPHS[name], scheduled_device
    frontier = np.random.default_rng(3).permutation(g.n)[:: 3 if g.n < 1000 else 10]
    hub = np.argmax(g.out_degree)
    frontier = np.append(frontier[frontier != hub], hub).astype(np.int32)
    distance = d.array(np.where(np.isin(np.arange(g.n), frontier), 0, -1).astype(np.int32))
    seen, size = d.full(g.n, 0, np.int32), d.full(1, 0, np.int32)
    queue = d.full(g.n, -1, np.int32)
    arrays = d.array(g.targets), distance, seen, queue, size
    blocks = -(-frontier.size * 8 // 128)
    d.launch(kernel, blocks, 128, d.array(g.offsets), d.array(frontier), *arrays)
    expected = np.zeros(g.n, int)
    expected[frontier] = g.out_degree[frontier]
    np.testing.assert_array_equal(d.read(seen), expected)
    reached = {int(v) for u in frontier for v in g.targets[g.offsets[u] : g.offsets[u + 1]]}
    new = sorted(reached - set(frontier.tolist()))
    assert d.read(size)[0] == len(new)
    assert sorted(d.read(queue)[: len(new)].tolist()) == new
