"""Kernels without warp operations that both the machine and numba's simulator run.

``python simulator_kernels.py results.npz``, under NUMBA_ENABLE_CUDASIM=1, writes the simulator's
results.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import record_kernels
from numba import cuda, float32, int32, int64

WEIGHTS = np.array([1, 4, 6, 4, 1], np.int32)


@cuda.jit(device=True)
def ordered(x, y):
    if x > y:
        return y, x
    return x, y


@cuda.jit
def block_sums(a, out):
    buffer = cuda.shared.array(64, int64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    buffer[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            buffer[t] += buffer[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = buffer[0]


@cuda.jit
def inclusive_scan(a, out):
    buffer = cuda.shared.array((2, 48), int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    side = 0
    buffer[0, t] = a[i]
    cuda.syncthreads()
    offset = 1
    while offset < cuda.blockDim.x:
        value = buffer[side, t]
        if t >= offset:
            value += buffer[side, t - offset]
        side = 1 - side
        buffer[side, t] = value
        cuda.syncthreads()
        offset *= 2
    out[i] = buffer[side, t]


@cuda.jit
def histogram(a, out):
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, a[i] & 7, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, bins[t])


@cuda.jit
def transpose_tiles(a, out):
    tile = cuda.shared.array((8, 9), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if x < a.shape[0] and y < a.shape[1]:
        tile[i, j] = a[x, y]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 8 + i, cuda.blockIdx.x * 8 + j
    if x < out.shape[0] and y < out.shape[1]:
        out[x, y] = tile[j, i]


@cuda.jit
def stencil(a, out):
    window = cuda.shared.array(20, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    window[t + 2] = a[i]
    if t < 2:
        window[t] = a[i - 2] if i >= 2 else 0
        window[t + 18] = a[i + 16] if i + 16 < a.size else 0
    cuda.syncthreads()
    weights = cuda.const.array_like(WEIGHTS)
    total = 0
    for k in range(5):
        total += weights[k] * window[t + k]
    out[i] = total


@cuda.jit
def sort_rows(a):
    own = cuda.local.array(6, int32)
    row = cuda.grid(1)
    if row >= a.shape[0]:
        return
    for k in range(6):
        own[k] = a[row, k]
    for last in range(5, 0, -1):
        swapped = False
        for k in range(last):
            low, high = ordered(own[k], own[k + 1])
            if low != own[k]:
                swapped = True
            own[k], own[k + 1] = low, high
        if not swapped:
            break
    for k in range(6):
        a[row, k] = own[k]


@cuda.jit
def expand_frontier(offsets, targets, frontier, size, distance, next_frontier, next_size, level):
    i = cuda.grid(1)
    if i >= size:
        return
    u = frontier[i]
    for e in range(offsets[u], offsets[u + 1]):
        v = targets[e]
        if cuda.atomic.cas(distance, v, -1, level) == -1:
            place = cuda.atomic.add(next_size, 0, 1)
            next_frontier[place] = v


@cuda.jit
def in_space(out, limit):
    x, y, z = cuda.grid(3)
    nx, ny, nz = cuda.gridsize(3)
    value = 0
    k = x
    while True:
        k += 3
        if k % 5 == 0:
            continue
        if k > limit + y:
            break
        value += k * (z + 1)
    out[x, y, z] = value + nx * ny + nz if (x + y) % 2 else -value


@cuda.jit
def real_numbers(a, out):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[i, 0] = math.sqrt(abs(x)) + math.floor(x) - x // 1.5
        out[i, 1] = x % 0.75 + x**3 / 7 + round(x)
        out[i, 2] = min(x, 1.0) * max(x, -1.0) + math.atan2(x, 2.0)


def _graph(n, rng):
    degrees = rng.integers(0, 4, n)
    offsets = np.concatenate(([0], np.cumsum(degrees))).astype(np.int32)
    return offsets, rng.integers(0, n, offsets[-1]).astype(np.int32)


def cases():
    """Return {name: (kernel, grid, block, arguments, bytes of dynamic shared memory)}."""
    rng = np.random.default_rng(5)

    def ints(*shape):
        return rng.integers(0, 50, shape).astype(np.int32)

    offsets, targets = _graph(40, rng)
    distance = np.full(40, -1, np.int32)
    distance[:10] = 0
    frontier = np.arange(10, dtype=np.int32)
    queue = np.full(40, -1, np.int32)
    bfs = (offsets, targets, frontier, 10, distance, queue, np.zeros(1, np.int32), 1)
    floats = rng.normal(0, 3, 30)
    records = record_kernels.cases()
    for name in record_kernels.NOT_SIMULATED:
        del records[name]
    return records | {
        "block_sums": (block_sums, 3, 64, (ints(150), np.zeros(3, np.int64)), 0),
        "inclusive_scan": (inclusive_scan, 2, 48, (ints(96), np.zeros(96, np.int32)), 0),
        "histogram": (histogram, 2, 24, (ints(333), np.zeros(8, np.int32)), 0),
        "transpose_tiles": (
            transpose_tiles,
            (2, 3),
            (8, 8),
            (rng.random((13, 18), dtype=np.float32), np.zeros((18, 13), np.float32)),
            0,
        ),
        "stencil": (stencil, 3, 16, (ints(48), np.zeros(48, np.int32)), 0),
        "sort_rows": (sort_rows, 2, 20, (ints(33, 6),), 0),
        "expand_frontier": (expand_frontier, 1, 16, bfs, 0),
        "in_space": (in_space, (2, 1, 2), (2, 3, 2), (np.zeros((4, 3, 4), np.int64), 30), 0),
        "real_numbers": (real_numbers, 1, 32, (floats, np.zeros((30, 3))), 0),
    }


def arrays_after(launch):
    """Launch every case; return {name|position: array}, with queues in sorted order."""
    results = {}
    for name, (kernel, grid, block, arguments, shared) in cases().items():
        launch(kernel, grid, block, arguments, shared)
        for position, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                free_order = (name, position) == ("expand_frontier", 5)
                results[f"{name}|{position}"] = np.sort(argument) if free_order else argument
    return results


if __name__ == "__main__":

    def simulate(kernel, grid, block, arguments, shared):
        kernel[grid, block, 0, shared](*arguments)

    np.savez(sys.argv[1], **arrays_after(simulate))
