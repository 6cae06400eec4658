"""A declared race is accepted if every order of the warps gives the right answer, else not."""

from __future__ import annotations

import pytest
from from_text import kernel_of
from numba import cuda, int32

import gpukernels as gk
from gpukernels.device import benign_race

SEEDS = range(1, 7)


@benign_race("distance")
@cuda.jit
def search_bottom_up(offsets, sources, distance):
    """Look for a neighbor at this level: other warps store `level + 1` meanwhile, never `level`."""
    v = cuda.threadIdx.x
    level, found = 0, True
    while cuda.syncthreads_or(int32(found)):
        found = False
        if v < distance.size and distance[v] == -1:
            for k in range(offsets[v], offsets[v + 1]):
                if distance[sources[k]] == level:
                    found = True
                    break
        if found:
            distance[v] = level + 1
        level += 1


@benign_race("distance")
@cuda.jit
def search_by_one_block(offsets, targets, distance):
    """Look before claiming: a load that misses a claim leads to an atomic that fails."""
    queues = cuda.shared.array((2, 512), int32)
    size = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        queues[0, 0] = 0
    level, length = 0, 1
    while length > 0:
        if cuda.threadIdx.x == 0:
            size[0] = 0
        cuda.syncthreads()
        for i in range(cuda.threadIdx.x, length, cuda.blockDim.x):
            u = queues[level % 2, i]
            for k in range(offsets[u], offsets[u + 1]):
                v = targets[k]
                if distance[v] == -1 and cuda.atomic.cas(distance, v, -1, level + 1) == -1:
                    queues[(level + 1) % 2, cuda.atomic.add(size, 0, 1)] = v
        cuda.syncthreads()
        length = size[0]
        cuda.syncthreads()
        level += 1


@benign_race("distance")
@cuda.jit
def flag_new(neighbor, arcs, distance, flags, level):
    """Look before claiming, as above."""
    i = cuda.grid(1)
    if i < arcs:
        flags[i] = 0
        v = neighbor[i]
        if distance[v] == -1 and cuda.atomic.cas(distance, v, -1, level + 1) == -1:
            flags[i] = 1


RIGHT = {"direction-2": search_bottom_up, "bfs4k-2": search_by_one_block, "queues-3": flag_new}


@pytest.mark.parametrize("name", RIGHT)
def test_a_declared_race_that_is_right_in_every_order_is_accepted(name):
    ex = gk.exercise(name)
    for seed in SEEDS:
        assert ex.check(RIGHT[name], seed=seed)


@pytest.mark.parametrize("name", RIGHT)
def test_a_declaration_alone_repairs_nothing(name, tmp_path):
    ex = gk.exercise(name)
    text = ex.skeleton.replace("@cuda.jit\n", '@gk.benign_race("distance")\n@cuda.jit\n')
    kernel = kernel_of(ex, f"import gpukernels as gk\n{text}", tmp_path)
    for seed in SEEDS:
        assert not ex.check(kernel, raises=False, seed=seed)


def test_a_plain_claim_that_is_declared_finds_a_vertex_twice(tmp_path):
    ex = gk.exercise("queues-3")
    text = ex.solution.text.replace(
        "        if cuda.atomic.cas(distance, neighbor[i], -1, level + 1) == -1:\n",
        "        if distance[neighbor[i]] == -1:\n            distance[neighbor[i]] = level + 1\n",
    ).replace("@cuda.jit\n", '@gk.benign_race("distance")\n@cuda.jit\n')
    kernel = kernel_of(ex, f"import gpukernels as gk\n{text}", tmp_path)
    report = ex.check(kernel, raises=False, seed=1)
    assert "entries for 200 vertices, some of them more than once" in repr(report)


def test_a_race_on_another_array_is_named_with_those_that_may_be_declared(tmp_path):
    ex = gk.exercise("queues-3")
    text = ex.solution.text.replace("@cuda.jit\n", '@gk.benign_race("flags")\n@cuda.jit\n')
    kernel = kernel_of(ex, f"import gpukernels as gk\n{text}", tmp_path)
    said = repr(ex.check(kernel, raises=False))
    assert "declared benign on ['distance'] alone, and `flag_new` declares one on ['flags']" in said
