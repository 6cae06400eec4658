"""Slices and rows of arrays share memory as NumPy's do, thread by thread."""

import numpy as np
import pytest
from numba import cuda, int32
from thread_by_thread import alone

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import RaceError

SCHEDULES = ("lockstep", "warp", "random")


def rows(n):
    return np.random.default_rng(n).integers(-50, 50, (n, 5)).astype(np.int32)


@cuda.jit(device=True)
def total(row):
    s = 0
    for k in range(len(row)):
        s += row[k]
    return s


@alone(rows(1), np.zeros((1, 7), np.int64), threads=1, blocks=1)
@alone(rows(12), np.zeros((12, 7), np.int64), threads=12, blocks=1)
@alone(rows(32), np.zeros((32, 7), np.int64), threads=32, blocks=1)
@alone(rows(70), np.zeros((70, 7), np.int64), threads=32, blocks=3)
@cuda.jit
def row_parts(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i, 0] = total(a[i])
        out[i, 1] = total(a[i, 1:])
        out[i, 2] = total(a[i, ::-2])
        out[i, 3] = a[i][-1 + a.shape[1]]
        out[i, 4] = total(a[:, 1][i:])
        out[i, 5] = total(a[i, -3:-1])
        out[i, 6] = total(a[i, 4:1])


@cuda.jit
def shift_through_shared(x):
    tile = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    own, other = tile[0], tile[1, ::-1]
    own[t] = x[t]
    cuda.syncthreads()
    other[t] = own[t]
    cuda.syncthreads()
    x[t] = tile[1, t]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_slice_of_shared_memory_is_the_same_memory(schedule):
    x = np.arange(64, dtype=np.int32)
    launch(shift_through_shared, 1, 64, (x,), schedule=schedule)
    assert x.tolist() == list(range(63, -1, -1))


@cuda.jit
def add_from(counters):
    i = cuda.grid(1)
    cuda.atomic.add(counters[i // 2 :], 0, 1)


def test_an_atomic_on_a_slice_changes_the_array():
    counters = np.zeros(16, np.int32)
    launch(add_from, 1, 32, (counters,))
    assert counters.tolist() == [2] * 16


@cuda.jit
def write_neighbor(a):
    i = cuda.grid(1)
    a[i // 2 :][0] = i


def test_races_and_requests_name_the_array_itself():
    with pytest.raises(RaceError, match=r"`a\[0\]`"):
        launch(write_neighbor, 1, 4, (np.zeros(4, np.int64),))
    recorder = Recorder()
    launch(write_neighbor, 1, 4, (np.zeros(4, np.int64),), recorder=recorder, check=False)
    assert recorder.trace.requests.index.tolist() == [0, 0, 1, 1]


@cuda.jit(device=True)
def part_from(a, i):
    if i % 3 == 0:
        return a[i:]
    if i % 3 == 1:
        return a[:i]
    return a[i - 1 : i + 1]


@alone(np.arange(1, 41), np.zeros((40, 2), np.int64), blocks=2, threads=32)
@cuda.jit
def parts_of_threads(a, out):
    i = cuda.grid(1)
    part = a
    if i < out.shape[0]:
        part = part_from(a, i)
        if i % 2 == 0:
            part = part[1:]
        out[i, 0] = total(part)
        out[i, 1] = len(part)


@alone(np.arange(8), np.zeros(8, np.int64))
@cuda.jit
def starred(a, out):
    i = cuda.grid(1)
    both = (a[i:], 1)
    out[i] = min(*(i, 3)) + len(both[0]) + total(*(a[i:],))
