"""What blocks do by atomics: meet, hand values over, and fill a queue, each value just once."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpukernels.device import SimtDevice
from gpukernels.primitives import blocks_for, grid_barrier, queue_append
from gpukernels.primitives.arrivals import acquire, arrivals, arrive
from gpukernels.primitives.grid_barrier import meet
from gpukernels.simt import launch
from gpukernels.simt.errors import EndlessLoop, RaceError


def zeros(n=1, dtype=np.int32):
    return np.zeros(n, dtype)


@cuda.jit
def hand_over(values, out, flag, acquires):
    """Thread 0 of block 0 writes and arrives; that of block 1 waits, acquires and reads."""
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            values[0] = 7
            arrive(flag)
        else:
            while arrivals(flag) < 1:
                pass
            if acquires:
                out[0] = acquire(flag)
            out[1] = values[0]


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
def test_who_acquires_has_what_those_brought_who_have_arrived(schedule):
    out, flag, device = zeros(2), zeros(), SimtDevice(schedule=schedule, check=True)
    device.launch(hand_over, 2, 32, zeros(), out, flag, True, cooperative=True)
    assert (out.tolist(), flag.tolist()) == ([1, 7], [1])
    with pytest.raises(RaceError, match="values"):  # a look alone brings nothing
        device.launch(hand_over, 2, 32, zeros(), out, zeros(), False, cooperative=True)


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
    arrays = (values, np.zeros_like(values), zeros(), 3)
    launch(pass_round, blocks, threads, arrays, schedule=schedule, cooperative=True, check=True)
    np.testing.assert_array_equal(arrays[1], np.roll(np.arange(values.size), -3)[::-1])


def test_no_block_goes_on_before_all_have_come(scheduled_device):
    arrived, met = scheduled_device.full(1, 0, np.int32), scheduled_device.full(128, 0, np.int32)
    scheduled_device.launch(meet, 4, 32, arrived, 5, met, cooperative=True)
    assert scheduled_device.read(met).tolist() == [5] * 128
    assert scheduled_device.read(arrived).tolist() == [20]


def test_a_block_that_forgets_one_round_is_found():
    @cuda.jit
    def forgets(arrived, rounds):
        for k in range(1, rounds + 1):
            if cuda.blockIdx.x != 1 or k != 2:
                grid_barrier(arrived, k)

    with pytest.raises(EndlessLoop, match="waits for ever"):
        SimtDevice().launch(forgets, 3, 64, zeros(), 3, cooperative=True)


@cuda.jit
def append_even(values, queue, size):
    """Enqueue the even values."""
    i = cuda.grid(1)
    if i < values.size and values[i] % 2 == 0:
        queue_append(queue, size, values[i])


@pytest.mark.parametrize(("n", "capacity"), [(1, 1), (32, 32), (100, 100), (1000, 1000), (100, 10)])
def test_every_item_arrives_once_and_is_counted_where_it_has_no_room(n, capacity, scheduled_device):
    device, values = scheduled_device, np.random.default_rng(n).permutation(n).astype(np.int32)
    queue, size = device.full(capacity, -1, np.int32), device.full(1, 0, np.int32)
    device.launch(append_even, blocks_for(n, 64), 64, device.array(values), queue, size)
    queue, even = device.read(queue), (n + 1) // 2
    assert device.read(size)[0] == even
    kept = queue[:even]
    assert np.unique(kept).size == kept.size
    assert (kept % 2 == 0).all()
    assert (queue[even:] == -1).all()
