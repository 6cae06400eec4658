"""A filter of duplicates as a search calls it, on candidates given as a table, for small traces."""

from __future__ import annotations

import numpy as np
from numba import cuda, int64

import gpukernels as gk
from gpukernels.device import SimtDevice

SMALL, LARGE = 64, 512


@gk.benign_race("hash_table")
@cuda.jit
def filter_small(candidates, kept):
    hash_table = cuda.shared.array(SMALL, int64)
    thread = cuda.threadIdx.x
    for r in range(candidates.shape[0]):
        v = candidates[r, cuda.grid(1)]
        if v >= 0:
            hash_table[v % SMALL] = (int64(v) << 32) | thread
        cuda.syncwarp()
        if v >= 0:
            got = hash_table[v % SMALL]
            kept[r, cuda.grid(1)] = (got >> 32) != v or (got & 0xFFFFFFFF) == thread


@gk.benign_race("hash_table")
@cuda.jit
def filter_large(candidates, kept):
    hash_table = cuda.shared.array(LARGE, int64)
    thread = cuda.threadIdx.x
    for slot in range(thread, LARGE, cuda.blockDim.x):
        hash_table[slot] = -1
    cuda.syncthreads()
    for r in range(candidates.shape[0]):
        v = candidates[r, cuda.grid(1)]
        if v >= 0:
            hash_table[v % LARGE] = (int64(v) << 32) | thread
        cuda.syncwarp()
        if v >= 0:
            got = hash_table[v % LARGE]
            kept[r, cuda.grid(1)] = (got >> 32) != v or (got & 0xFFFFFFFF) == thread


def filtered(candidates, threads=64, kernel=filter_small, schedule="lockstep", seed=0):
    """Run a filter on candidates (rounds by threads, -1 for none); return the trace and `kept`."""
    candidates = np.asarray(candidates, np.int32)
    device = SimtDevice(schedule, seed, trace=True)
    kept = device.array(np.zeros(candidates.shape, np.int32))
    blocks = candidates.shape[1] // threads
    device.launch(kernel, blocks, threads, device.array(candidates), kept)
    return device.trace, np.asarray(kept)


def some_candidates(rounds=3, threads=64, vertices=90, share=0.4, seed=1):
    """Draw candidates: the share of threads that have one, with repeats and shared slots."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, vertices, (rounds, threads))
    return np.where(rng.random((rounds, threads)) < share, drawn, -1)
