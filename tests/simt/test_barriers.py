"""Barriers: the threads that wait, the returned values, and errors if some threads skip one."""

from __future__ import annotations

import numpy as np
import pytest
from launching import failure, launched, line_of
from numba import cuda, int32

from gpukernels.device import SimtDevice
from gpukernels.simt import launch
from gpukernels.simt.errors import BarrierDivergence, LaunchError
from gpukernels.simt.machine import RESIDENT_THREADS


@cuda.jit
def as_often_as_the_block(out):
    buffer = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    buffer[t] = 0
    for _ in range(cuda.blockIdx.x):
        cuda.syncthreads()
        value = buffer[63 - t] + 1
        cuda.syncthreads()
        buffer[t] = value
    if cuda.blockIdx.x % 2:
        cuda.syncthreads()
    out[cuda.grid(1)] = buffer[t]


def test_blocks_may_take_different_barriers(scheduled_device):
    (out,) = launched(scheduled_device, as_often_as_the_block, 5, 64, np.zeros(320, int))
    np.testing.assert_array_equal(out, np.repeat(np.arange(5), 64))


@cuda.jit
def votes_of_the_rest(a, out):
    i = cuda.grid(1)
    if a[i] < 0:
        return
    out[i, 0] = cuda.syncthreads_count(a[i])
    out[i, 1] = cuda.syncthreads_and(a[i])
    out[i, 2] = cuda.syncthreads_or(a[i])


def test_counting_barriers_ask_the_threads_that_are_left(scheduled_device):
    a = np.random.default_rng(1).integers(-1, 2, (6, 70))
    a[0][a[0] == 0] = 1
    a[1][a[1] == 1] = 0
    a[2] = -1
    a[3, :64] = -1
    _, out = launched(
        scheduled_device, votes_of_the_rest, 6, 70, a.ravel(), np.zeros((a.size, 3), np.int32)
    )
    expected = np.zeros((6, 70, 3), np.int32)
    for block, row in enumerate(a):
        left = row[row >= 0]
        expected[block, row >= 0] = [left.sum(), left.all(), left.any()]
    np.testing.assert_array_equal(out.reshape(expected.shape), expected)


# Grid-wide ------------------------------------------------------------


@cuda.jit
def across_blocks(a, out, rounds):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(rounds):
        value = a[(i + 1) % a.size]
        grid.sync()
        a[i] = value
        cuda.cg.this_grid().sync()
    out[i] = a[a.size - 1 - i]


@pytest.mark.parametrize("shape", [(1, 32), (4, 33), (7, 64)])
def test_grid_sync(scheduled_device, shape):
    # numba finds by itself that the launch must be cooperative, and so does the machine.
    blocks, threads = shape
    a = np.arange(blocks * threads)
    _, out, _ = launched(scheduled_device, across_blocks, blocks, threads, a, np.zeros_like(a), 3)
    np.testing.assert_array_equal(out, np.roll(a, -3)[::-1])


@cuda.jit
def all_but_some(a, out, gone):
    i = cuda.grid(1)
    if gone[i]:
        return
    a[i] = i
    cuda.cg.this_grid().sync()
    out[i] = a[a.size - 1]


def test_a_grid_sync_does_not_wait_for_threads_that_returned_but_for_thread_0(schedule):
    # On a GPU this works as well, though CUDA does not promise it.
    gone = np.zeros(192, np.int8)
    gone[1:40] = gone[70:128] = 1
    out = np.zeros(192, int)
    launch(all_but_some, 3, 64, (np.zeros(192, int), out, gone), schedule=schedule)
    np.testing.assert_array_equal(out, np.where(gone, 0, 191))


@pytest.mark.parametrize(
    ("gone", "who"),
    [
        (slice(128, 192), r"block \(2, 0, 0\)"),
        (slice(64, 65), r"thread 0 of block \(1, 0, 0\)"),
        (slice(64, 96), r"thread 0 of block \(1, 0, 0\)"),
    ],
)
def test_a_grid_sync_that_a_block_cannot_reach_any_more_is_an_error(gone, who, schedule):
    flags = np.zeros(192, np.int8)
    flags[gone] = 1
    arrays = (np.zeros(192, int), np.zeros(192, int), flags)
    match = "waits for ever: " + who
    at = "this_grid().sync()"
    error = failure(
        BarrierDivergence, all_but_some, 3, 64, *arrays, schedule=schedule, match=match, at=at
    )
    assert f"returned at line {line_of(all_but_some, 'return')}: return" in str(error)
    assert None not in (error.block, error.thread)


# Divergence ------------------------------------------------------------


@cuda.jit
def in_a_branch(a):
    t = cuda.threadIdx.x
    if t < 40:
        cuda.syncthreads()
    a[cuda.grid(1)] = t


@cuda.jit
def two_barriers(a):
    if cuda.threadIdx.x < 32:
        cuda.syncthreads()
    else:
        cuda.syncthreads()  # another barrier
    a[cuda.grid(1)] = 1


@cuda.jit
def in_a_ragged_loop(a):
    for _ in range(cuda.threadIdx.x // 32):
        cuda.syncthreads()
    a[cuda.grid(1)] = 1


@cuda.jit
def in_half_a_warp(a):
    if cuda.laneid < 16:
        a[cuda.grid(1)] = cuda.syncthreads_count(int32(1))


@cuda.jit
def one_block_stays_away(a):
    if cuda.blockIdx.x > 0:
        cuda.cg.this_grid().sync()
    a[cuda.grid(1)] = 1


DIVERGENT = [
    (in_a_branch, "        cuda.syncthreads()", "if t < 40:"),
    (two_barriers, None, None),
    (in_a_ragged_loop, "        cuda.syncthreads()", "for _ in range(cuda.threadIdx.x // 32):"),
    (in_half_a_warp, "cuda.syncthreads_count", "if cuda.laneid < 16:"),
    (one_block_stays_away, "cuda.cg.this_grid().sync()", "if cuda.blockIdx.x > 0:"),
]


@pytest.mark.parametrize(("kernel", "barrier", "parting"), DIVERGENT, ids=lambda v: str(v)[:20])
def test_a_barrier_that_some_threads_skip_is_an_error(kernel, barrier, parting, schedule):
    error = failure(
        BarrierDivergence, kernel, 2, 64, np.zeros(128, int), schedule=schedule, at=barrier
    )
    assert None not in (error.block, error.thread)
    if parting is not None:
        assert f"line {line_of(kernel, parting)}: {parting}" in str(error)
    if kernel is in_a_branch:
        assert "by 40 of the 64 live threads" in str(error)


# Residency ------------------------------------------------------------


@cuda.jit
def alone(out):
    out[cuda.grid(1)] = 2


@cuda.jit
def meet(out):
    cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = 1


def test_blocks_that_wait_for_each_other_must_be_resident_together():
    assert RESIDENT_THREADS == SimtDevice.resident_threads
    blocks = RESIDENT_THREADS // 128
    out = np.zeros((blocks + 1) * 128, np.int8)
    with pytest.raises(LaunchError, match=r"has 16,512 threads.*wait for each other.* 16,384,"):
        launch(meet, blocks + 1, 128, (out,))
    assert not out.any()
    launch(meet, blocks, 128, (out[: blocks * 128],))
    assert out.sum() == blocks * 128
    # Only cooperative launches have this limit.
    launch(alone, blocks + 1, 128, (out,))
