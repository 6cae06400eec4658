"""Answers that are right and too dear, or wrong in one way, to see what the checker says."""

from __future__ import annotations

from numba import cuda, int32

import gpukernels as gk


@cuda.jit
def plain_sum(values, total):
    tile = cuda.shared.array(128, int32)
    i = cuda.threadIdx.x
    tile[i] = 0
    if i < values.size:
        tile[i] = values[i]
    cuda.syncthreads()
    apart = 1
    while apart < 128:
        if i % (2 * apart) == 0:
            tile[i] += tile[i + apart]
        cuda.syncthreads()
        apart *= 2
    if i == 0:
        total[0] = tile[0]


@cuda.jit
def vertices_by_number(offsets, targets, values, order, sums):
    u = cuda.grid(1)
    if u < sums.size:
        total = 0
        for i in range(offsets[u], offsets[u + 1]):
            total += values[targets[i]]
        sums[u] = total


@cuda.jit
def plain_histogram(degree, count):
    u = cuda.grid(1)
    if u < degree.size:
        cuda.atomic.add(count, degree[u], 1)


@cuda.jit
def unguarded_histogram(degree, count):
    cuda.atomic.add(count, degree[cuda.grid(1)], 1)


@cuda.jit
def double_histogram(degree, count):
    u = cuda.grid(1)
    if u < degree.size:
        cuda.atomic.add(count, degree[u], 2)


@cuda.jit(device=True)
def count_double(count, d):
    cuda.atomic.add(count, d, 2)


@cuda.jit
def double_histogram_by_a_function(degree, count):
    u = cuda.grid(1)
    if u < degree.size:
        count_double(count, degree[u])


@gk.benign_race("count")
@cuda.jit
def racy_histogram(degree, count):
    count[0] += 1


@cuda.jit
def histogram_of_other_names(degrees, counts):
    counts[0] = 1


@cuda.jit(device=True)
def device_histogram(degree, count):
    count[0] = 1


def python_histogram(degree, count):
    count[0] = 1


@cuda.jit
def endless_histogram(degree, count):
    u = cuda.grid(1)
    while u < degree.size:
        u += 0


@cuda.jit
def raising_histogram(degree, count):
    u = cuda.grid(1)
    if u == 100:
        raise ValueError("no vertex 100")


@gk.benign_race("distance", "changed")
@cuda.jit
def restless_spread(offsets, targets, distance, changed, level):
    changed[0] = 1


@cuda.jit
def crowded_expand(
    offsets, targets, distance, parent, frontier, frontier_size, next_frontier, next_size, level
):
    cuda.atomic.add(next_size, 0, 1000)
