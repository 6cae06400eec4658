"""Dynamic shared memory: arrays of all types begin at the same byte and share the memory."""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda, float64, int16, int32, int64, uint64
from record_kernels import PARTICLE, cases, particle

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import LaunchError, OutOfBounds, RaceError, UninitializedRead

SCHEDULES = ("lockstep", "warp", "random")


@cuda.jit
def every_size(out):
    i = cuda.grid(1)
    longs = cuda.shared.array(0, int64)
    words = cuda.shared.array(0, int32)
    records = cuda.shared.array(0, particle)
    out[i, 0], out[i, 1], out[i, 2] = longs.size, words.size, records.size
    t = cuda.threadIdx.x
    if t == 0:
        longs[1] = cuda.blockIdx.x + 1
        out[i, 3] = words[2] + words[3] * 1000


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("shared", [16, 40, 48, 100])
def test_lengths_follow_the_launch_and_blocks_have_their_own(shared, schedule):
    out = np.zeros((3, 4), np.int64)
    launch(every_size, 3, 1, (out,), shared=shared, schedule=schedule)
    sizes = [shared // 8, shared // 4, shared // PARTICLE.itemsize]
    assert out.tolist() == [[*sizes, b + 1] for b in range(3)]


@cuda.jit
def declared_in_two_places(out):
    first = cuda.shared.array(0, int32)
    first[0] = 7
    second = cuda.shared.array(0, int32)
    out[0] = second[0]


def test_two_declarations_are_one_memory():
    out = np.zeros(1, np.int32)
    launch(declared_in_two_places, 1, 1, (out,), shared=4)
    assert out[0] == 7


@cuda.jit
def past_the_end(out):
    halves = cuda.shared.array(0, int16)
    halves[cuda.threadIdx.x] = 1
    out[0] = 1


def test_bounds_are_those_of_the_launch():
    launch(past_the_end, 1, 8, (np.zeros(1),), shared=16, check=False)
    with pytest.raises(OutOfBounds, match=r"`halves`, which has 7 elements") as caught:
        launch(past_the_end, 1, 8, (np.zeros(1),), shared=15, check=False)
    assert caught.value.thread == (7, 0, 0)


def test_static_and_dynamic_memory_share_the_limit():
    @cuda.jit
    def kernel(a):
        fixed = cuda.shared.array(6000, float64)
        free = cuda.shared.array(0, int32)
        fixed[0] = free.size
        a[0] = fixed[0]

    out = np.zeros(1)
    launch(kernel, 1, 1, (out,), shared=1152)
    assert out[0] == 288
    with pytest.raises(LaunchError, match="take 49156 bytes per block; allowed are 49152"):
        launch(kernel, 1, 1, (out,), shared=1156)


@cuda.jit
def overlapping(out):
    words = cuda.shared.array(0, int32)
    longs = cuda.shared.array(0, int64)
    t = cuda.threadIdx.x
    if t == 0:
        longs[1] = 5
    if t == 33:
        words[3] = 6
    out[t] = t


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_races_between_arrays_of_two_types(schedule):
    with pytest.raises(RaceError, match=r"race on `(words\[3\]|longs\[1\])`"):
        launch(overlapping, 1, 64, (np.zeros(64),), shared=64, schedule=schedule)


@cuda.jit
def half_written(out):
    words = cuda.shared.array(0, int32)
    longs = cuda.shared.array(0, int64)
    words[2] = 1
    out[0] = words[2]
    out[1] = longs[1]


def test_half_of_an_element_is_unwritten():
    with pytest.raises(UninitializedRead, match="`longs`") as caught:
        launch(half_written, 1, 1, (np.zeros(2),), shared=64)
    assert caught.value.line == line_of(half_written, "longs[1]")


def test_requests_of_a_carved_buffer():
    kernel, grid, block, arguments, shared = cases()["carved"]
    recorder = Recorder()
    launch(kernel, grid, block, arguments, shared=shared, recorder=recorder)
    trace = recorder.trace.select(array="floats", block=1)
    stores = trace.requests.index[: trace.requests.start[1]]
    assert stores.tolist() == list(range(16, 32))
    (info,) = {trace.arrays[i] for i in trace.requests.array}
    assert (info.space, info.itemsize, info.shape) == ("shared", 4, (32,))


@cuda.jit
def turn_round(out):
    words = cuda.shared.array(0, int32)
    t = uint64(cuda.threadIdx.x)
    words[t] = cuda.blockIdx.x * 100 + cuda.threadIdx.x
    cuda.syncthreads()
    out[uint64(cuda.grid(1))] = words[uint64(cuda.blockDim.x - 1) - t]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_index_of_64_unsigned_bits_is_no_float(schedule):
    """More lanes than one warp has: NumPy combines an unsigned and a signed number to float64."""
    out = np.zeros(3 * 64, np.int32)
    launch(turn_round, 3, 64, (out,), shared=4 * 64, schedule=schedule)
    mirrored = 100 * np.arange(3)[:, None] + np.arange(64)[::-1]
    np.testing.assert_array_equal(out, mirrored.ravel())
