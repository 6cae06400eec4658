"""Warp scan by shuffle: the prefix sums of 32 lanes in 5 steps, without shared memory.

Algorithm 2 of [busato2017chapter], from BFS-4K [busato2015bfs4k]. Each lane i adds the value of
lane i - 1, then of lanes i - 2, 4, 8 and 16: log2(32) = 5 steps. An up-sweep and a down-sweep in
shared memory take 2 log2(32). The exclusive scan shifts the result one lane to the right. As
printed, the algorithm loses the result of this last shuffle, which must be assigned back.

All 32 lanes must call these functions together: every lane's value is part of the result.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import as_int32, check_flag
from gpukernels.device import chosen_device

from .launch_shape import FULL_MASK, THREADS, WARP_SIZE, blocks_for, check_threads


@cuda.jit(device=True)
def warp_inclusive_scan(value):
    """Return the sum of `value` (int32) over this lane and all lanes below it."""
    lane = cuda.laneid
    step = 1
    while step < WARP_SIZE:
        below = cuda.shfl_up_sync(FULL_MASK, value, step)
        if lane >= step:
            value = int32(value + below)
        step *= 2
    return value


@cuda.jit(device=True)
def warp_exclusive_scan(value):
    """Return the sum of `value` (int32) over all lanes below this one; 0 in lane 0."""
    inclusive = warp_inclusive_scan(value)
    below = cuda.shfl_up_sync(FULL_MASK, inclusive, 1)
    if cuda.laneid == 0:
        below = int32(0)
    return below


@cuda.jit
def scan_warps_inclusive(values, scanned):
    """Scan every 32 consecutive `values` separately, one value per lane."""
    i = cuda.grid(1)
    value = int32(0)
    if i < values.size:
        value = values[i]
    total = warp_inclusive_scan(value)
    if i < values.size:
        scanned[i] = total


@cuda.jit
def scan_warps_exclusive(values, scanned):
    """Scan every 32 consecutive `values` separately, without the lane's own value."""
    i = cuda.grid(1)
    value = int32(0)
    if i < values.size:
        value = values[i]
    total = warp_exclusive_scan(value)
    if i < values.size:
        scanned[i] = total


def warp_scan(values, *, inclusive: bool = True, threads: int = THREADS, device=None) -> np.ndarray:
    """Scan each run of 32 consecutive values.

    Parameters
    ----------
    values : array_like of int32, shape (n,)
        Values to add up.
    inclusive : bool
        Whether a value is part of its own prefix sum.
    threads : int
        Threads per block.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int32, shape (n,)
        Prefix sums that start again from 0 at every multiple of 32.
    """
    inclusive = check_flag("inclusive", inclusive)
    check_threads(threads)
    values = as_int32("values", values)
    device = chosen_device(device)
    kernel = scan_warps_inclusive if inclusive else scan_warps_exclusive
    scanned = device.empty(values.size, np.int32)
    device.launch(kernel, blocks_for(values.size, threads), threads, device.array(values), scanned)
    return device.read(scanned)
