"""Device-wide scan: millions of sizes to offsets, by two kernels per level.

Reduce, then scan. A kernel adds up every tile, and the totals of the tiles are scanned in the same
way. A second kernel scans every tile, starting from the sum of the tiles before it. Values are read
twice and offsets written once, 3 n words in all. If every tile were scanned first and corrected
afterwards, it would be 4 n ([harris2007scan], [sengupta2008efficient]). Blocks wait for each other
only at the end of a launch, so the order of blocks does not matter. The single pass of
`lookback_scan` ([merrill2016single]) moves 2 n words, but its blocks wait for blocks before them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32, int64

from gpukernels.checks import as_array
from gpukernels.device import chosen_device
from gpukernels.errors import InvalidArgument
from gpukernels.methods import known_method

from .block_scan import block_exclusive_scan
from .launch_shape import THREADS, WARP_SIZE, blocks_for, check_threads
from .lookback_scan import scan_by_look_back
from .offsets import MAX_UNITS
from .pair_scan import scan_by_pairs
from .warp_sum import warp_sum

#: Values per tile for each thread of a block.
TURNS = 8


@cuda.jit
def add_tiles(values, tile_total):
    """Add up every tile of TURNS x blockDim.x `values`, in 64 bits."""
    warp_totals = cuda.shared.array(WARP_SIZE, int64)
    first = cuda.blockIdx.x * cuda.blockDim.x * TURNS + cuda.threadIdx.x
    mine = int64(0)
    for turn in range(TURNS):
        i = first + turn * cuda.blockDim.x
        if i < values.size:
            mine += values[i]
    mine = warp_sum(mine)
    if cuda.laneid == 0:
        warp_totals[cuda.threadIdx.x // WARP_SIZE] = mine
    cuda.syncthreads()
    if cuda.threadIdx.x < WARP_SIZE:
        total = int64(0)
        if cuda.laneid < cuda.blockDim.x // WARP_SIZE:
            total = warp_totals[cuda.laneid]
        total = warp_sum(total)
        if cuda.laneid == 0:
            tile_total[cuda.blockIdx.x] = total


@cuda.jit
def scan_tiles(values, tile_begin, offsets):
    """Scan every tile of TURNS x blockDim.x `values` from its `tile_begin` on.

    ``offsets[i]`` becomes the sum of all values before the i-th, and ``offsets[values.size]`` the
    sum of all values.
    """
    warp_totals = cuda.shared.array(WARP_SIZE, int32)
    first = cuda.blockIdx.x * cuda.blockDim.x * TURNS + cuda.threadIdx.x
    begin = int32(tile_begin[cuda.blockIdx.x])
    for turn in range(TURNS):
        i = first + turn * cuda.blockDim.x
        value = int32(0)
        if i < values.size:
            value = int32(values[i])
        before, total = block_exclusive_scan(value, warp_totals)
        if i < values.size:
            offsets[i] = begin + before
        if i == values.size - 1:
            offsets[i + 1] = begin + before + value
        begin = int32(begin + total)
        cuda.syncthreads()


def scan_sizes(values: Any, device, *, threads: int = THREADS, method: str = "launches") -> Any:
    """Scan sizes that are on the device already; the offsets stay there.

    Parameters
    ----------
    values : device array of int32, shape (n,)
        Sizes, none negative; this is not checked.
    device : SimtDevice or CudaDevice
        The device that holds them.
    threads : int
        Threads per block, a multiple of 32.
    method : {"launches", "look-back", "pairs"}
        Two kernels per level, or a single pass whose blocks look back at earlier blocks, with one
        value at a time or with two (`pair_scan`, which is made for speed).

    Returns
    -------
    device array of int32, shape (n + 1,)
        The sum before each value, and the total.

    Raises
    ------
    InvalidArgument
        If the total is more than 2^31 - 1; with ``"launches"``, no offsets have been written then.
    UnknownMethod
        If there is no such method.
    """
    return known_method("the scan of sizes", METHODS, method)(values, device, threads=threads)


def _scan_by_launches(values, device, *, threads):
    tile = check_threads(threads) * TURNS
    if values.size == 0:
        return device.full(1, 0, np.int32)
    levels = [values]
    while len(levels) == 1 or levels[-1].size > 1:
        blocks = blocks_for(levels[-1].size, tile)
        totals = device.empty(blocks, np.int64)
        device.launch(add_tiles, blocks, threads, levels[-1], totals)
        levels.append(totals)
    total = int(device.read(levels.pop())[0])
    if total > MAX_UNITS:
        raise InvalidArgument("the sum of values", total, f"at most {MAX_UNITS}")
    results = [device.empty(level.size + 1, np.int32) for level in levels]
    return _scan_levels(levels, results, device.full(1, 0, np.int32), device, threads)


#: The methods for scans of any number of sizes.
METHODS = {
    "launches": _scan_by_launches,
    "look-back": scan_by_look_back,
    "pairs": scan_by_pairs,
}


def _scan_levels(levels, results, begin, device, threads):
    """Scan each of `levels`, the last first, into its own array of `results`; return the first."""
    for values, offsets in zip(reversed(levels), reversed(results), strict=True):
        blocks = blocks_for(values.size, threads * TURNS)
        device.launch(scan_tiles, blocks, threads, values, begin, offsets)
        begin = offsets
    return begin


def level_sizes(capacity: int, tile: int) -> list[int]:
    """Return how many values each level of a scan has: `capacity`, its tiles, their tiles, ..."""
    sizes = [capacity]
    while sizes[-1] > tile:
        sizes.append(blocks_for(sizes[-1], tile))
    return sizes


class DeviceScan:
    """Scans of up to `capacity` sizes, one after another in the same memory, without a read-back.

    For a caller that knows that the sizes add up to at most 2^31 - 1: nothing is checked.

    Parameters
    ----------
    capacity : int
        The most sizes that a scan will have.
    device : SimtDevice or CudaDevice
        The device that will hold them.
    threads : int
        Threads per block, a multiple of 32.

    Attributes
    ----------
    launches : int
        Kernel launches so far.
    """

    def __init__(self, capacity: int, device, *, threads: int = THREADS):
        self.device, self.threads = device, check_threads(threads)
        self.tile = threads * TURNS
        self.launches = 0
        sizes = level_sizes(capacity, self.tile)
        self._totals = [device.empty(size, np.int64) for size in sizes[1:]]
        self._results = [device.empty(size + 1, np.int32) for size in sizes]
        self._zero = device.full(1, 0, np.int32)

    def __call__(self, values: Any) -> Any:
        """Return the offsets of `values`, a device array of int32, shape (n,).

        They have shape (n + 1,), with the total at the end, and stay valid until the next call.
        """
        if values.size == 0:
            return self._zero
        levels = [values]
        while levels[-1].size > self.tile:
            blocks = blocks_for(levels[-1].size, self.tile)
            totals = self._totals[len(levels) - 1][:blocks]
            self.device.launch(add_tiles, blocks, self.threads, levels[-1], totals)
            levels.append(totals)
        self.launches += 2 * len(levels) - 1
        results = [r[: v.size + 1] for r, v in zip(self._results, levels, strict=False)]
        return _scan_levels(levels, results, self._zero, self.device, self.threads)


def device_scan(
    values, *, threads: int = THREADS, method: str = "launches", device=None
) -> np.ndarray:
    """Scan sizes to offsets, for any number of sizes.

    Parameters
    ----------
    values : array_like of int, shape (n,)
        Sizes, from 0 to 2^31 - 1.
    threads : int
        Threads per block, a multiple of 32.
    method : {"launches", "look-back", "pairs"}
        Two kernels per level, or a single pass whose blocks look back at earlier blocks, with one
        value at a time or with two (`pair_scan`, which is made for speed).
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int32, shape (n + 1,)
        ``offsets[:-1]`` is the exclusive scan, ``offsets[1:]`` the inclusive one, and
        ``offsets[-1]`` the total.

    Raises
    ------
    InvalidArgument
        If `values` is not a 1-D array of such integers, or their sum is more than 2^31 - 1.
    UnknownMethod
        If there is no such method.
    """
    check_threads(threads)
    values = _check_sizes(values)
    device = chosen_device(device)
    return device.read(scan_sizes(device.array(values), device, threads=threads, method=method))


def _check_sizes(values) -> np.ndarray:
    values = as_array("values", values)
    if values.ndim != 1:
        raise InvalidArgument("values.shape", values.shape, "1-D")
    if values.size == 0:
        return np.zeros(0, np.int32)
    if values.dtype.kind not in "iu":
        raise InvalidArgument("values.dtype", values.dtype.name, "an integer type")
    wrong = np.flatnonzero((values < 0) | (values > MAX_UNITS))
    if wrong.size:
        i = int(wrong[0])
        raise InvalidArgument(f"values[{i}]", int(values[i]), f"from 0 to {MAX_UNITS}")
    return values.astype(np.int32)
