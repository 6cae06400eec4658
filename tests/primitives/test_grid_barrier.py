"""The barrier made by hand: no block goes on before all have come, and values cross it."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives import grid_barrier
from gpukernels.primitives.grid_barrier import meet
from gpukernels.simt import launch
from gpukernels.simt.errors import EndlessLoop


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
    launch(pass_round, blocks, threads, arrays, schedule=schedule, cooperative=True, check=False)
    np.testing.assert_array_equal(arrays[1], np.roll(np.arange(values.size), -3)[::-1])


def test_no_block_goes_on_before_all_have_come(scheduled_device):
    arrived, met = scheduled_device.full(1, 0, np.int32), scheduled_device.full(128, 0, np.int32)
    scheduled_device.launch(meet, 4, 32, arrived, 5, met, cooperative=True)
    assert scheduled_device.read(met).tolist() == [5] * 128
    assert scheduled_device.read(arrived).tolist() == [20]


def test_a_block_that_stays_away_is_found():
    @cuda.jit
    def one_block_leaves(arrived):
        if cuda.blockIdx.x == 1:
            return
        grid_barrier(arrived, 1)

    with pytest.raises(EndlessLoop, match="waits for ever"):
        SimtDevice().launch(one_block_leaves, 3, 32, np.zeros(1, np.int32))
