"""Block scan in two levels: each warp scans its lanes, then one warp scans the warps' totals.

The two-level exclusive prefix sum of [busato2015bfs4k], section 5.1, at block level: a block has at
most 32 warps, so one more warp scan adds up all their totals. It takes two barriers and 32 words of
shared memory.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import as_int32
from gpukernels.device import chosen_device

from .launch_shape import THREADS, WARP_SIZE, blocks_for, check_threads
from .warp_scan import warp_inclusive_scan


@cuda.jit(device=True)
def block_exclusive_scan(value, warp_totals):
    """Return (sum of `value` over all threads of the block below this one, sum over the block).

    `warp_totals` is a shared int32 array of 32 elements. All threads of the block must call, the
    block must hold whole warps, and the caller needs a ``syncthreads`` before `warp_totals` is used
    again.
    """
    lane, warp = cuda.laneid, cuda.threadIdx.x // WARP_SIZE
    inclusive = warp_inclusive_scan(value)
    if lane == WARP_SIZE - 1:
        warp_totals[warp] = inclusive
    cuda.syncthreads()
    if warp == 0:
        total = int32(0)
        if lane < cuda.blockDim.x // WARP_SIZE:
            total = warp_totals[lane]
        warp_totals[lane] = warp_inclusive_scan(total)
    cuda.syncthreads()
    before = int32(0)
    if warp > 0:
        before = warp_totals[warp - 1]
    return int32(before + inclusive - value), warp_totals[WARP_SIZE - 1]


@cuda.jit
def scan_blocks(values, scanned, block_totals):
    """Scan every block's `values` separately, and write the total of each block."""
    warp_totals = cuda.shared.array(WARP_SIZE, int32)
    i = cuda.grid(1)
    value = int32(0)
    if i < values.size:
        value = values[i]
    before, total = block_exclusive_scan(value, warp_totals)
    if i < values.size:
        scanned[i] = before
    if cuda.threadIdx.x == 0:
        block_totals[cuda.blockIdx.x] = total


def block_scan(values, *, threads: int = THREADS, device=None) -> tuple[np.ndarray, np.ndarray]:
    """Scan each run of `threads` consecutive values, one block per run.

    Parameters
    ----------
    values : array_like of int32, shape (n,)
        Values to add up.
    threads : int
        Threads per block, a multiple of 32.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    scanned : ndarray of int32, shape (n,)
        Exclusive prefix sums that start again from 0 at every multiple of `threads`.
    block_totals : ndarray of int32, shape (blocks,)
        The sum of each run.
    """
    check_threads(threads)
    values = as_int32("values", values)
    device = chosen_device(device)
    blocks = blocks_for(values.size, threads)
    scanned, totals = device.empty(values.size, np.int32), device.empty(blocks, np.int32)
    device.launch(scan_blocks, blocks, threads, device.array(values), scanned, totals)
    return device.read(scanned), device.read(totals)
