"""The barrier made by hand: no block goes on before all have come, and values cross it."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives import grid_barrier
from gpukernels.primitives.grid_barrier import meet
from gpukernels.simt import launch
from gpukernels.simt.errors import EndlessLoop, RaceError


@cuda.jit
def pass_round(values, moved, arrived, rounds):
    i = cuda.grid(1)
    for k in range(rounds):
        value = values[(i + 1) % values.size]
        grid_barrier(arrived, 2 * k + 1)
        values[i] = value
        grid_barrier(arrived, 2 * k + 2)
    moved[i] = values[values.size - 1 - i]


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (3, 40), (5, 64)])
def test_what_was_written_before_is_read_behind(blocks, threads, schedule):
    values = np.arange(blocks * threads)
    arrays = (values, np.zeros_like(values), np.zeros(1, np.int32), 3)
    launch(pass_round, blocks, threads, arrays, schedule=schedule, cooperative=True, check=True)
    np.testing.assert_array_equal(arrays[1], np.roll(np.arange(values.size), -3)[::-1])


def test_no_block_goes_on_before_all_have_come(scheduled_device):
    arrived, met = scheduled_device.full(1, 0, np.int32), scheduled_device.full(128, 0, np.int32)
    scheduled_device.launch(meet, 4, 32, arrived, 5, met, cooperative=True)
    assert scheduled_device.read(met).tolist() == [5] * 128
    assert scheduled_device.read(arrived).tolist() == [20]


def test_a_barrier_without_fences_orders_nothing():
    @cuda.jit
    def without_fences(values, out, arrived):
        i = cuda.grid(1)
        values[i] = i
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
                pass
        cuda.syncthreads()
        out[i] = values[values.size - 1 - i]

    arrays = np.zeros(96, int), np.zeros(96, int), np.zeros(1, np.int32)
    with pytest.raises(RaceError, match="values"):
        SimtDevice(check=True).launch(without_fences, 3, 32, *arrays, cooperative=True)


def test_a_block_that_forgets_one_round_is_found():
    @cuda.jit
    def forgets(arrived, rounds):
        for k in range(1, rounds + 1):
            if cuda.blockIdx.x != 1 or k != 2:
                grid_barrier(arrived, k)

    with pytest.raises(EndlessLoop, match="waits for ever"):
        SimtDevice().launch(forgets, 3, 64, np.zeros(1, np.int32), 3, cooperative=True)


def test_a_block_that_stays_away_is_found():
    @cuda.jit
    def one_block_leaves(arrived):
        if cuda.blockIdx.x == 1:
            return
        grid_barrier(arrived, 1)

    with pytest.raises(EndlessLoop, match="waits for ever"):
        SimtDevice().launch(one_block_leaves, 3, 32, np.zeros(1, np.int32))
