"""Scan in shared memory: an up-sweep and a down-sweep over a tree, without and with padding.

The work-efficient scan of [blelloch1990prefix], which [harris2007scan] brought to GPUs and
[padamata2013graph] uses. Up: pairs of cells 1, 2, 4, ... apart are added until the last cell holds
the sum of all. Down: the last cell becomes 0. Then, from the root to the leaves, each left child
gets its parent's value, and each right child the sum of this and the left child's old value. Work
O(n), 2 log2(n) steps with one barrier each.

The cells of a step are 2, 4, 8, ... apart, so up to 32 lanes meet in one of the 32 banks. Padding
moves cell i to i + i // 32, with one unused cell after every 32. Then cells whose distance is a
multiple of 32 are in different banks.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import as_int32, check_flag
from gpukernels.device import chosen_device
from gpukernels.errors import InvalidArgument

from .launch_shape import THREADS, blocks_for, check_threads

BANKS = 32
LOG_BANKS = 5


@cuda.jit(device=True)
def plain_cell(i):
    """Return the cell of the i-th value: i."""
    return i


@cuda.jit(device=True)
def padded_cell(i):
    """Return the cell of the i-th value if one cell in 33 is left unused."""
    return i + (i >> LOG_BANKS)


@cuda.jit(device=True)
def sweep_scan(cell, cells):
    """Replace each of 2 x blockDim.x values in shared memory by the sum of the values before it.

    All threads of the block call; their number is a power of two. `cells` (int32) holds the i-th
    value at ``cell(i)``, where `cell` is `plain_cell` or `padded_cell`. No barrier is needed
    between filling `cells` and the call, or between the call and reading them.

    Returns
    -------
    int32
        The sum of all values, in every thread.
    """
    thread = cuda.threadIdx.x
    root = cell(2 * cuda.blockDim.x - 1)
    apart, pairs = 1, cuda.blockDim.x
    while pairs > 0:
        cuda.syncthreads()
        if thread < pairs:
            left, right = cell(apart * (2 * thread + 1) - 1), cell(apart * (2 * thread + 2) - 1)
            cells[right] += cells[left]
        apart *= 2
        pairs >>= 1
    cuda.syncthreads()
    total = cells[root]
    cuda.syncthreads()
    if thread == 0:
        cells[root] = 0
    pairs = 1
    while pairs <= cuda.blockDim.x:
        apart >>= 1
        cuda.syncthreads()
        if thread < pairs:
            left, right = cell(apart * (2 * thread + 1) - 1), cell(apart * (2 * thread + 2) - 1)
            below = cells[left]
            cells[left] = cells[right]
            cells[right] += below
        pairs *= 2
    cuda.syncthreads()
    return total


@cuda.jit(device=True)
def sweep_block(cell, values, scanned, block_totals, cells):
    """Scan this block's 2 x blockDim.x `values`, two per thread; values beyond the end count 0."""
    size = cuda.blockDim.x
    first = 2 * size * cuda.blockIdx.x
    for i in range(cuda.threadIdx.x, 2 * size, size):
        value = int32(0)
        if first + i < values.size:
            value = values[first + i]
        cells[cell(i)] = value
    total = sweep_scan(cell, cells)
    for i in range(cuda.threadIdx.x, 2 * size, size):
        if first + i < values.size:
            scanned[first + i] = cells[cell(i)]
    if cuda.threadIdx.x == 0:
        block_totals[cuda.blockIdx.x] = total


@cuda.jit
def sweep_plain(values, scanned, block_totals):
    """Scan every block's `values` separately, the i-th in shared cell i."""
    cells = cuda.shared.array(0, int32)
    sweep_block(plain_cell, values, scanned, block_totals, cells)


@cuda.jit
def sweep_padded(values, scanned, block_totals):
    """Scan every block's `values` separately, the i-th in shared cell i + i // 32."""
    cells = cuda.shared.array(0, int32)
    sweep_block(padded_cell, values, scanned, block_totals, cells)


def shared_scan(
    values, *, padding: bool = True, threads: int = THREADS, device=None
) -> tuple[np.ndarray, np.ndarray]:
    """Scan each run of 2 x `threads` consecutive values in shared memory, one block per run.

    Parameters
    ----------
    values : array_like of int32, shape (n,)
        Values to add up.
    padding : bool
        Whether one cell of shared memory in 33 is left unused, so that fewer lanes meet in a bank.
    threads : int
        Threads per block: 32, 64, 128, 256, 512 or 1024.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    scanned : ndarray of int32, shape (n,)
        Exclusive prefix sums that start again from 0 at every multiple of 2 x `threads`.
    block_totals : ndarray of int32, shape (blocks,)
        The sum of each run.

    Raises
    ------
    InvalidArgument
        If `threads` is not one of these: the number of leaves of a block's tree is a power of two.
    """
    padding = check_flag("padding", padding)
    check_threads(threads)
    if threads & (threads - 1):
        raise InvalidArgument("threads", threads, "a power of two from 32 to 1024")
    values = as_int32("values", values)
    device = chosen_device(device)
    run = 2 * threads
    blocks = blocks_for(values.size, run)
    scanned, totals = device.empty(values.size, np.int32), device.empty(blocks, np.int32)
    kernel = sweep_padded if padding else sweep_plain
    cells = run + run // BANKS if padding else run
    arrays = device.array(values), scanned, totals
    device.launch(kernel, blocks, threads, *arrays, shared=4 * cells)
    return device.read(scanned), device.read(totals)
