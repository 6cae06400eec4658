"""Masks that name lanes which have returned, as CUDA allows them to.

All threads that are named in a mask and have not exited must execute the operation (CUDA C++
Programming Guide, warp vote, match, shuffle and synchronization functions).
"""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda, float32, int32

from gpukernels import SimtDevice
from gpukernels.simt import launch
from gpukernels.simt.errors import ShuffleError

FULL = 0xFFFFFFFF
SCHEDULES = ("lockstep", "warp", "random")
SIZES = [1, 2, 20, 31, 32, 33, 50, 64, 90]


@cuda.jit
def operations(a, out):
    shared = cuda.shared.array(96, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i >= a.size:
        return
    shared[t] = a[i]
    cuda.syncwarp()
    out[i, 0] = shared[t // 32 * 32]
    out[i, 1] = cuda.popc(cuda.ballot_sync(FULL, a[i] > 4))
    out[i, 2] = cuda.all_sync(FULL, a[i] >= 0)
    out[i, 3] = cuda.any_sync(FULL, a[i] == 0)
    out[i, 4] = cuda.shfl_sync(FULL, a[i], 0)
    out[i, 5] = cuda.shfl_up_sync(FULL, a[i], 1)
    out[i, 6] = cuda.popc(cuda.match_any_sync(FULL, int32(a[i]) % 3))
    mask, same = cuda.match_all_sync(FULL, int32(1))
    out[i, 7] = cuda.popc(mask) if same else -1


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("n", SIZES)
def test_warps_go_on_without_the_lanes_that_have_returned(n, schedule):
    a = np.arange(n, dtype=np.float32)
    out = np.full((n, 8), -2, np.float32)
    SimtDevice(schedule=schedule, check=True).launch(operations, 1, 96, a, out)
    for first in range(0, n, 32):
        warp = a[first : first + 32]
        expected = np.empty((warp.size, 8))
        expected[:, 0] = expected[:, 4] = warp[0]
        expected[:, 1] = (warp > 4).sum()
        expected[:, 2] = 1
        expected[:, 3] = (warp == 0).any()
        expected[:, 5] = [warp[0], *warp[:-1]]
        expected[:, 6] = [(warp % 3 == value % 3).sum() for value in warp]
        expected[:, 7] = warp.size
        np.testing.assert_array_equal(out[first : first + 32], expected)


@cuda.jit
def reads_above(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = cuda.shfl_xor_sync(FULL, a[i], 1)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_to_read_a_lane_that_has_returned_is_an_error(schedule):
    arrays = (np.zeros(5, int), np.zeros(5, int))
    with pytest.raises(ShuffleError, match=r"lane 4 reads lane 5 .* has returned") as caught:
        launch(reads_above, 1, 32, arrays, schedule=schedule)
    assert caught.value.line == line_of(reads_above, "shfl_xor_sync")


@cuda.jit
def returns_in_one_arm(out):
    if cuda.laneid < 20:
        cuda.syncwarp()
        out[cuda.laneid] = 1
    else:
        if cuda.laneid >= 25:
            return
        cuda.syncwarp()
        out[cuda.laneid] = 2


@cuda.jit
def returns_while_others_wait(flag, out):
    if cuda.laneid == 3:
        cuda.atomic.exch(flag, 0, 1)
        return
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    out[cuda.laneid] = cuda.popc(cuda.ballot_sync(FULL, 1))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_parted_lanes_do_not_wait_for_those_that_return(schedule, seed):
    out = np.zeros(32, int)
    launch(returns_in_one_arm, 1, 32, (out,), schedule=schedule, seed=seed)
    np.testing.assert_array_equal(out, np.repeat([1, 2, 0], [20, 5, 7]))


@pytest.mark.parametrize("seed", range(20))
def test_lanes_by_themselves_do_not_wait_for_those_that_return(seed):
    out = np.zeros(32, int)
    arrays = (np.zeros(1, np.int32), out)
    launch(returns_while_others_wait, 1, 32, arrays, schedule="random", seed=seed)
    np.testing.assert_array_equal(out, np.where(np.arange(32) == 3, 0, 31))


@cuda.jit
def some_return_and_some_stay_away(out):
    if cuda.laneid >= 24:
        return
    if cuda.laneid < 20:
        out[0] = cuda.popc(cuda.ballot_sync(FULL, 1))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_lane_on_another_path_is_still_missed(schedule):
    with pytest.raises(ShuffleError, match="names lane 20, which is not here"):
        launch(some_return_and_some_stay_away, 1, 32, (np.zeros(1, int),), schedule=schedule)
