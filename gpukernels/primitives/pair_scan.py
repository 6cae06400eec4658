"""The single pass of `lookback_scan` in another shape: two values per load, 3 barriers per tile.

Decoupled look-back of [merrill2016single], with the same tickets, states and look-back. The
differences, and their reasons:

- Each warp has its own run of the tile and scans it 64 values at a time, only by shuffles. The
  block meets three times per tile: for its ticket, to add up its warps, and to read where its tile
  begins. `lookback_scan` scans block-wide eight times, with 27 barriers.
- A lane loads and stores two neighboring values as one word of 64 bits: half the loads and stores,
  and half the shuffles. A thread starts all its loads before it needs the first value.
- Every value is scanned before the block looks back, so only an addition and the stores have to
  wait.

The words are the same memory, read as int64, so values must begin at a multiple of 8 bytes. An odd
value at the end, and the total after it, are written one by one.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda, int32, int64, uint32

from gpukernels.checks import check_flag, check_whole

from .cache_hints import load_once, store_once
from .launch_shape import FULL_MASK, WARP_SIZE, blocks_for, check_threads
from .lookback_scan import PREFIX, ROOM, TILE, check_total, look_back, scan_by_look_back
from .warp_scan import warp_inclusive_scan
from .warp_sum import warp_sum

#: Threads per block by default.
BLOCK = 256
#: The most words per thread: more would not stay in registers.
MOST_PAIRS = 16


@cuda.jit(device=True)
def low_half(word):
    """Return the first of the two values (int32) in a word."""
    return int32(word & 0xFFFFFFFF)


@cuda.jit(device=True)
def high_half(word):
    """Return the second of the two values (int32) in a word."""
    return int32(word >> 32)


@cuda.jit(device=True)
def word_of(low, high):
    """Return two values (int32, the first not negative) as a word."""
    return int64(high) << 32 | int64(low)


@cuda.jit(device=True)
def scan_warp_totals(warp_sums, before, state, tile, tile_begin):
    """Compute the sums before each warp, and publish the sum of this tile; warp 0 calls.

    ``before[w]`` becomes the sum of the warps before w in the tile, and ``tile_begin[0]`` the sum
    of all tiles before.
    """
    total = int64(0)
    if cuda.laneid < cuda.blockDim.x // WARP_SIZE:
        total = warp_sums[cuda.laneid]
    mine = int32(total)
    before[cuda.laneid] = warp_inclusive_scan(mine) - mine
    total = warp_sum(total)
    if cuda.laneid == 0 and tile > 0:
        cuda.atomic.exch(state, tile, total * ROOM + TILE)
    begin = look_back(state, tile)
    if cuda.laneid == 0:
        cuda.atomic.exch(state, tile, (begin + total) * ROOM + PREFIX)
        tile_begin[0] = begin


@functools.cache
def scan_of(pairs, hints):
    """Return the kernel with `pairs` words per thread, with `hints` to the caches or without."""

    @cuda.jit
    def scan_pairs(values, words, tickets, state, offsets, offset_words):
        """Scan `values`, one block per tile of 2 x pairs x blockDim.x of them.

        `words` holds the whole pairs of `values`, `offset_words` those of `offsets`, as int64.
        ``tickets[0]`` and all of `state` are 0 before. Only the last tiles check where words end.
        """
        warp_sums = cuda.shared.array(WARP_SIZE, int64)
        before_warp = cuda.shared.array(WARP_SIZE, int32)
        tile_and_begin = cuda.shared.array(2, int64)
        mine = cuda.local.array(pairs, int64)
        before = cuda.local.array(pairs, int32)
        if cuda.threadIdx.x == 0:
            tile_and_begin[1] = cuda.atomic.add(tickets, 0, 1)
        cuda.syncthreads()
        tile = tile_and_begin[1]
        warp = cuda.threadIdx.x // WARP_SIZE
        # Unsigned, so that the compiled code does not test whether an index is negative.
        first = uint32((tile * cuda.blockDim.x + warp * WARP_SIZE) * pairs + cuda.laneid)
        whole = (tile + 1) * cuda.blockDim.x * pairs <= words.size
        if whole:
            for turn in range(pairs):
                mine[turn] = load_once(words, first + turn * WARP_SIZE, hints)
        else:
            for turn in range(pairs):
                i = first + turn * WARP_SIZE
                mine[turn] = 0
                if i < words.size:
                    mine[turn] = words[i]
                elif 2 * i < values.size:
                    mine[turn] = values[2 * i]
        total, carry = int64(0), int32(0)
        for turn in range(pairs):
            low, high = low_half(mine[turn]), high_half(mine[turn])
            total += int64(low) + int64(high)
            both = int32(low + high)
            inclusive = warp_inclusive_scan(both)
            before[turn] = carry + inclusive - both
            carry = int32(carry + cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1))
        total = warp_sum(total)
        if cuda.laneid == 0:
            warp_sums[warp] = total
        cuda.syncthreads()
        if warp == 0:
            scan_warp_totals(warp_sums, before_warp, state, tile, tile_and_begin)
        cuda.syncthreads()
        begin = int32(int32(tile_and_begin[0]) + before_warp[warp])
        for turn in range(pairs):
            i = first + turn * WARP_SIZE
            low = int32(begin + before[turn])
            high = int32(low + low_half(mine[turn]))
            if whole:
                store_once(offset_words, i, word_of(low, high), hints)
            elif i < words.size:
                offset_words[i] = word_of(low, high)
            elif i == words.size:
                offsets[2 * i] = low
                if 2 * i < values.size:
                    offsets[2 * i + 1] = high

    return scan_pairs


def address_of(array: Any) -> int:
    """Return the address of the first element of an array, on any device."""
    interface = getattr(array, "__cuda_array_interface__", None) or array.__array_interface__
    return interface["data"][0]


def scan_by_pairs(
    values: Any, device, *, threads: int = BLOCK, pairs: int = 8, hints: bool = True
) -> Any:
    """Scan sizes that are on the device already, in one launch; the offsets stay there.

    Parameters
    ----------
    values : device array of int32, shape (n,)
        Sizes, none negative; this is not checked. A part of an array that does not begin at a
        multiple of 8 bytes is scanned by `scan_by_look_back`.
    device : SimtDevice or CudaDevice
        The device that holds them.
    threads : int
        Threads per block, a multiple of 32.
    pairs : int
        Words per thread, with two values each, from 1 to 16.
    hints : bool
        Whether to hint to caches that every word is touched once.

    Returns
    -------
    device array of int32, shape (n + 1,)
        The sum before each value, and the total.

    Raises
    ------
    InvalidArgument
        If the total is more than 2^31 - 1, or an option has a value that is not allowed.
    """
    check_threads(threads)
    check_whole("pairs", pairs, 1, MOST_PAIRS)
    hints = check_flag("hints", hints)
    if values.size == 0:
        return device.full(1, 0, np.int32)
    if address_of(values) % 8:
        return scan_by_look_back(values, device, threads=threads)
    whole = values.size // 2
    tiles = blocks_for(whole + 1, threads * pairs)
    tickets, state = device.full(1, 0, np.int32), device.full(tiles, 0, np.int64)
    offsets = device.empty(values.size + 1, np.int32)
    words, offset_words = (a[: 2 * whole].view(np.int64) for a in (values, offsets))
    args = values, words, tickets, state, offsets, offset_words
    device.launch(scan_of(int(pairs), hints), tiles, threads, *args)
    check_total(device, state)
    return offsets
