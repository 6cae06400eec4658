"""A queue keeps every item once while it has room, and counts what it could not keep."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpukernels.primitives import blocks_for, queue_append


@cuda.jit
def append_even(values, queue, size):
    """Enqueue the even values."""
    i = cuda.grid(1)
    if i < values.size and values[i] % 2 == 0:
        queue_append(queue, size, values[i])


@pytest.mark.parametrize("n", [1, 32, 100, 1000])
def test_every_item_arrives_once(n, scheduled_device):
    values = np.random.default_rng(n).permutation(n).astype(np.int32)
    queue, size = fill(values, n, scheduled_device)
    assert size == (n + 1) // 2
    np.testing.assert_array_equal(np.sort(queue[:size]), np.arange(0, n, 2))
    assert (queue[size:] == -1).all()


def test_what_does_not_fit_is_counted_and_not_written(scheduled_device):
    queue, size = fill(np.arange(100, dtype=np.int32), 10, scheduled_device)
    assert size == 50
    assert np.unique(queue).size == 10
    assert (queue % 2 == 0).all()


def fill(values, capacity, device):
    queue, size = device.full(capacity, -1, np.int32), device.full(1, 0, np.int32)
    blocks = blocks_for(values.size, 64)
    device.launch(append_even, blocks, 64, device.array(values), queue, size)
    return device.read(queue), int(device.read(size)[0])
