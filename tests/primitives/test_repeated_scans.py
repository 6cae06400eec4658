"""Scans that are made again and again in the same memory equal NumPy's, every time."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from gpukernels.device import SimtDevice
from gpukernels.primitives import DeviceScan, PaddedScan

SCANS = pytest.mark.parametrize("scan", [DeviceScan, PaddedScan])
CAPACITY = 9000  # three levels of runs of 64, two of tiles of 256


def exclusive(values) -> np.ndarray:
    """Return the exclusive prefix sum with the total at the end: the oracle."""
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


@SCANS
def test_one_scan_after_another_is_right(scan, scheduled_device):
    device, rng = scheduled_device, np.random.default_rng(3)
    again = scan(CAPACITY, device, threads=32)
    for size in (CAPACITY, 0, 1, 63, 64, 65, 255, 256, 257, 1, 4097):
        values = rng.integers(0, 9, size).astype(np.int32)
        offsets = again(device.array(values))
        assert offsets.size == size + 1
        np.testing.assert_array_equal(device.read(offsets), exclusive(values))


@examples(30, soak=600)
@given(st.lists(st.lists(st.integers(0, 2**20), max_size=700), max_size=3), st.booleans())
def test_scans_of_any_sizes(lists, padded):
    device = SimtDevice(check=True)
    again = (PaddedScan if padded else DeviceScan)(700, device, threads=32)
    for sizes in lists:
        values = np.array(sizes, np.int32)
        np.testing.assert_array_equal(again(device.array(values)), exclusive(sizes))


@SCANS
def test_launches_are_counted(scan):
    device = SimtDevice(trace=True)
    again = scan(CAPACITY, device, threads=32)
    for size in (CAPACITY, 3, 300):
        again(device.array(np.ones(size, np.int32)))
    assert again.launches == len(device.trace.launches)
