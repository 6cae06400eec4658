"""Negative indices that a kernel computes: errors, or counted from the end as numba has them."""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda, int64, njit

import gpukernels as gk
from gpukernels.simt import launch
from gpukernels.simt.errors import LaunchError, OutOfBounds

SCHEDULES = ("lockstep", "warp", "random")


@njit
def shifted(a, square, i, k, out):
    out[i, 0] = a[i] - a[i - k]
    out[i, 1] = square[i - k, -i - 1]
    out[i, 2] = a[1:][i - k - 1]
    out[i, 3] = square[i - k][k - 7]
    a[i - k] = a[i - k] + 100


@cuda.jit
def shifts(a, square, k, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = a[i] - a[i - k]
        out[i, 1] = square[i - k, -i - 1]
        out[i, 2] = a[1:][i - k - 1]
        out[i, 3] = square[i - k][k - 7]
        cuda.syncthreads()
        a[i - k] += 100


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("k", [1, 3])
def test_indices_count_from_the_end_as_the_compiler_has_them(k, schedule, trace):
    square = np.arange(49).reshape(7, 7) ** 2
    a, out = np.arange(7) ** 2, np.zeros((7, 4), int)
    expected_a, expected = a.copy(), out.copy()
    for i in range(7):
        shifted(a.copy(), square, i, k, expected)
        expected_a[i - k] += 100
    device = gk.SimtDevice(schedule=schedule, trace=trace, wraparound=True)
    device.launch(shifts, 1, 7, a, square, k, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(a, expected_a)


@cuda.jit
def rotates(data):
    shared = cuda.shared.array(64, int64)
    own = cuda.local.array(4, int64)
    i = cuda.threadIdx.x
    shared[i] = data[i]
    own[i % 4 - 4] = i
    cuda.syncthreads()
    data[i] = shared[i - 10] + 1000 * own[i % 4]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shared_and_local_arrays_count_from_the_end(schedule):
    data = np.arange(64)
    launch(rotates, 1, 64, (data,), schedule=schedule, wraparound=True)
    np.testing.assert_array_equal(data, np.roll(np.arange(64), 10) + 1000 * np.arange(64))


@cuda.jit
def reads(a, index, out):
    out[0] = a[index[0]]


@pytest.mark.parametrize("check", [False, True])
def test_by_default_they_are_errors_that_name_the_switch(check):
    device = gk.SimtDevice(check=check)
    message = "index -1 is out of bounds for `a`, .* with `wraparound=True`"
    with pytest.raises(OutOfBounds, match=message) as caught:
        device.launch(reads, 1, 1, np.zeros(5), np.array([-1]), np.zeros(1))
    assert caught.value.line == line_of(reads, "out[0]")


@pytest.mark.parametrize("index", [-6, 5, np.iinfo(np.int64).min])
def test_indices_beyond_both_ends_stay_errors(index):
    arguments = (np.zeros(5), np.array([index]), np.zeros(1))
    with pytest.raises(OutOfBounds) as caught:
        launch(reads, 1, 1, arguments, wraparound=True)
    assert "wraparound=" not in str(caught.value)
    assert not gk.check(reads, 1, 1, *arguments, wraparound=True).ok


def test_the_check_takes_the_switch_too():
    arguments = (np.zeros(5), np.array([-5]), np.zeros(1))
    assert not gk.check(reads, 1, 1, *arguments).ok
    assert gk.check(reads, 1, 1, *arguments, wraparound=True).ok


def test_the_switch_is_true_or_false():
    with pytest.raises(LaunchError, match="wraparound=1; allowed are True and False"):
        launch(reads, 1, 1, (np.zeros(5), np.array([-5]), np.zeros(1)), wraparound=1)
