"""Scans equal NumPy's cumulative sums, for sizes that fill no warp and no block."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair, examples
from hypothesis import given
from hypothesis import strategies as st

from gpukernels.device import default_device
from gpukernels.primitives import block_scan, warp_rank, warp_scan

SIZES = [0, 1, 2, 31, 32, 33, 64, 100, 128, 129, 1023, 1024, 1025]


def scan_runs(values: np.ndarray, run: int, *, inclusive: bool) -> np.ndarray:
    """Scan each `run` consecutive values: the oracle."""
    parts = [values[i : i + run] for i in range(0, values.size, run)]
    scanned = [np.cumsum(p) - (0 if inclusive else p) for p in parts]
    return np.concatenate(scanned) if scanned else np.zeros(0, dtype=np.int64)


def some_values(size: int) -> np.ndarray:
    return np.random.default_rng(size).integers(-1000, 1000, size).astype(np.int32)


@pytest.mark.parametrize(
    ("size", "inclusive", "scheduled_device"),
    every_pair(SIZES, (True, False), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_warp_scan(size, inclusive, scheduled_device):
    values = some_values(size)
    scanned = warp_scan(values, inclusive=inclusive, device=scheduled_device)
    assert scanned.dtype == np.int32
    np.testing.assert_array_equal(scanned, scan_runs(values, 32, inclusive=inclusive))


@pytest.mark.parametrize("size", SIZES)
def test_warp_rank(size, scheduled_device):
    flags = some_values(size) > 0
    rank = warp_rank(flags, device=scheduled_device)
    assert rank.dtype == np.int32
    np.testing.assert_array_equal(rank, scan_runs(flags.astype(int), 32, inclusive=False))


@pytest.mark.parametrize(
    ("size", "threads", "scheduled_device"),
    every_pair(SIZES, (32, 128, 1024), SCHEDULES),
    indirect=["scheduled_device"],
)
def test_block_scan(size, threads, scheduled_device):
    values = some_values(size)
    scanned, totals = block_scan(values, threads=threads, device=scheduled_device)
    np.testing.assert_array_equal(scanned, scan_runs(values, threads, inclusive=False))
    runs = [values[i : i + threads].sum() for i in range(0, size, threads)]
    np.testing.assert_array_equal(totals, runs)


def test_scan_wraps_as_int32_does(device):
    values = np.full(3, 2**30, dtype=np.int32)
    np.testing.assert_array_equal(
        warp_scan(values, device=device), np.cumsum(values, dtype=np.int32)
    )


@examples(20, soak=500)
@given(st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=300))
def test_warp_scan_of_any_values(values):
    values = np.array(values, dtype=np.int32)
    scanned = warp_scan(values, device=default_device())
    np.testing.assert_array_equal(scanned, scan_runs(values, 32, inclusive=True))
