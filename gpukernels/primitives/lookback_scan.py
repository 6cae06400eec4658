"""Device-wide scan in a single pass: every tile looks back for the sum of the tiles before it.

Decoupled look-back of [merrill2016single]. A block adds up its tile and publishes the sum. Then it
looks back over the tiles before its own, the nearest first, and adds up their sums. It stops at a
tile that knows the sum of all values up to its own end. The block adds its own sum to these,
publishes the result, and scans its tile from there. Values are read once and offsets written once,
2 n words in one launch.

A tile's state is one word of 64 bits: 4 times a sum, plus the kind of the sum. Only atomics touch
it. Kind and sum arrive together, so no fence is needed between them.

    NOTHING   0   nothing is known yet
    TILE      1   the sum of the tile
    PREFIX    2   the sum of the tile and of all before it

A block that looks back waits for other blocks. Tickets make sure that these have begun: a block
takes the next tile when it begins, so earlier tiles belong to blocks that already run, whatever the
order in which the GPU starts them. For the rest, a GPU promises that a running block goes on
running. The lanes of a warp wait together, by a vote, so Volta's promise about lanes that wait for
each other is not needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32, int64

from gpukernels.errors import InvalidArgument

from .block_scan import block_exclusive_scan
from .launch_shape import FULL_MASK, THREADS, WARP_SIZE, blocks_for, check_threads
from .offsets import MAX_UNITS
from .warp_sum import warp_sum

#: Values per tile for each thread of a block.
TURNS = 8

NOTHING, TILE, PREFIX = 0, 1, 2
#: A sum is multiplied by this to make room for the kind; it has 61 bits and is never negative.
ROOM = 4


@cuda.jit(device=True)
def look_back(state, tile):
    """Return the sum (int64) of all tiles before `tile`, in every lane of the warp that calls.

    Lane 0 reads the nearest tile's state, lane 1 the one before it, and so on, 32 at a time.
    """
    before = int64(0)
    asked = tile - 1 - cuda.laneid
    while True:
        # Before the first tile the sum is 0, and this is known.
        word = int64(PREFIX)
        if asked >= 0:
            word = cuda.atomic.add(state, asked, 0)
        while cuda.any_sync(FULL_MASK, word == NOTHING):
            if asked >= 0:
                word = cuda.atomic.add(state, asked, 0)
        complete = cuda.ballot_sync(FULL_MASK, word % ROOM == PREFIX)
        part = word // ROOM
        if complete != 0 and cuda.laneid >= cuda.ffs(complete):
            part = int64(0)  # the nearest complete sum already includes it
        before += warp_sum(part)
        if complete != 0:
            return before
        asked -= WARP_SIZE


@cuda.jit
def scan_with_look_back(values, tickets, state, offsets):
    """Scan `values`, one block per tile of TURNS x blockDim.x of them.

    ``tickets[0]`` and all of `state` (int64, one per tile) are 0 before. ``offsets[i]`` becomes the
    sum of all values before the i-th, and ``offsets[values.size]`` the sum of all. The last state
    becomes four times this sum in 64 bits, plus PREFIX.
    """
    warp_sums = cuda.shared.array(WARP_SIZE, int64)
    warp_totals = cuda.shared.array(WARP_SIZE, int32)
    tile_and_begin = cuda.shared.array(2, int64)
    mine = cuda.local.array(TURNS, int32)
    if cuda.threadIdx.x == 0:
        tile_and_begin[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    tile = tile_and_begin[0]
    first = tile * cuda.blockDim.x * TURNS + cuda.threadIdx.x
    total = int64(0)
    for turn in range(TURNS):
        i = first + turn * cuda.blockDim.x
        mine[turn] = 0
        if i < values.size:
            mine[turn] = values[i]
        total += mine[turn]
    total = warp_sum(total)
    if cuda.laneid == 0:
        warp_sums[cuda.threadIdx.x // WARP_SIZE] = total
    cuda.syncthreads()
    if cuda.threadIdx.x < WARP_SIZE:
        total = int64(0)
        if cuda.laneid < cuda.blockDim.x // WARP_SIZE:
            total = warp_sums[cuda.laneid]
        total = warp_sum(total)
        if cuda.laneid == 0 and tile > 0:
            cuda.atomic.exch(state, tile, total * ROOM + TILE)
        before = look_back(state, tile)
        if cuda.laneid == 0:
            cuda.atomic.exch(state, tile, (before + total) * ROOM + PREFIX)
            tile_and_begin[1] = before
    cuda.syncthreads()
    begin = int32(tile_and_begin[1])
    for turn in range(TURNS):
        i = first + turn * cuda.blockDim.x
        before, added = block_exclusive_scan(mine[turn], warp_totals)
        if i < values.size:
            offsets[i] = begin + before
        if i == values.size - 1:
            offsets[i + 1] = begin + before + mine[turn]
        begin = int32(begin + added)
        cuda.syncthreads()


def scan_by_look_back(values: Any, device, *, threads: int = THREADS) -> Any:
    """Scan sizes that are on the device already, in one launch; the offsets stay there.

    Parameters
    ----------
    values : device array of int32, shape (n,)
        Sizes, none negative; this is not checked.
    device : SimtDevice or CudaDevice
        The device that holds them.
    threads : int
        Threads per block, a multiple of 32.

    Returns
    -------
    device array of int32, shape (n + 1,)
        The sum before each value, and the total.

    Raises
    ------
    InvalidArgument
        If the total is more than 2^31 - 1.
    """
    tiles = blocks_for(values.size, check_threads(threads) * TURNS)
    if tiles == 0:
        return device.full(1, 0, np.int32)
    tickets, state = device.full(1, 0, np.int32), device.full(tiles, 0, np.int64)
    offsets = device.empty(values.size + 1, np.int32)
    device.launch(scan_with_look_back, tiles, threads, values, tickets, state, offsets)
    check_total(device, state)
    return offsets


def check_total(device, state: Any) -> None:
    """Raise InvalidArgument if the sum in the last tile's `state` does not fit int32."""
    total = int(device.read(state[state.size - 1 :])[0]) // ROOM
    if total > MAX_UNITS:
        raise InvalidArgument("the sum of values", total, f"at most {MAX_UNITS}")
