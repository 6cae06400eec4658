"""Dynamic virtual warps: the group's size follows the workload; huge items go to a child kernel.

BFS-4K [busato2015bfs4k], sections 5.2 and 5.3; [busato2017chapter], section 5.2.1. BFS-4K takes the
largest power of two below resident threads / items, so that few items get wide groups. In the
chapter, the size also follows the items' mean. Here the wider of both is taken, from `min_size` to
32. Work O(items x size + units).

Items of more than `threshold` units are put aside. With dynamic parallelism, each would start its
own kernel from the device, which numba.cuda cannot do. Here they are queued in pieces of at most
`threshold` units. The host reads their number and launches a child kernel, one block per piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from gpukernels.checks import check_whole
from gpukernels.primitives.launch_shape import THREADS
from gpukernels.primitives.offsets import MAX_UNITS

from .virtual_warp import WARP_SIZES, check_warp_size, virtual_warp
from .visits import add_value, write_item
from .workload import MAX_BLOCKS, Workload, grid


@cuda.jit(device=True)
def virtual_warp_or_queue(visit, work, item, begin, end, lane, warp_size, threshold, queue):
    """Visit the units of `item` that belong to `lane`, or queue the item's pieces if it is large.

    `queue` is (piece_item, piece_begin, count): arrays of int32, where ``count[0]`` counts pieces
    and ``count[1]`` large items.
    """
    piece_item, piece_begin, count = queue
    if end - begin <= threshold:
        virtual_warp(visit, work, item, begin, end, lane, warp_size)
    else:
        if lane == 0:
            cuda.atomic.add(count, 1, 1)
        for piece in range(begin + lane * threshold, end, warp_size * threshold):
            slot = cuda.atomic.add(count, 0, 1)
            piece_item[slot] = item
            piece_begin[slot] = piece


@cuda.jit(device=True)
def visit_pieces(visit, work, offsets, threshold, queue):
    """Visit the units of every queued piece, one block per piece."""
    piece_item, piece_begin, count = queue
    for p in range(cuda.blockIdx.x, count[0], cuda.gridDim.x):
        i, begin = piece_item[p], piece_begin[p]
        end = min(begin + threshold, offsets[i + 1])
        virtual_warp(visit, work, i, begin, end, cuda.threadIdx.x, cuda.blockDim.x)


@cuda.jit
def write_or_queue(offsets, item, warp_size, threshold, piece_item, piece_begin, count):
    """Write the item of every unit of the small items; queue the large ones."""
    queue = piece_item, piece_begin, count
    lane = cuda.grid(1) % warp_size
    for i in range(cuda.grid(1) // warp_size, offsets.size - 1, cuda.gridsize(1) // warp_size):
        begin, end = offsets[i], offsets[i + 1]
        virtual_warp_or_queue(write_item, (item,), i, begin, end, lane, warp_size, threshold, queue)


@cuda.jit
def add_or_queue(offsets, values, total, warp_size, threshold, piece_item, piece_begin, count):
    """Add up the values of the small items; queue the large ones."""
    queue = piece_item, piece_begin, count
    lane = cuda.grid(1) % warp_size
    for i in range(cuda.grid(1) // warp_size, offsets.size - 1, cuda.gridsize(1) // warp_size):
        begin, end = offsets[i], offsets[i + 1]
        virtual_warp_or_queue(
            add_value, (values, total), i, begin, end, lane, warp_size, threshold, queue
        )


@cuda.jit
def write_pieces(offsets, item, threshold, piece_item, piece_begin, count):
    """Child kernel: write the item of every unit of the queued pieces."""
    visit_pieces(write_item, (item,), offsets, threshold, (piece_item, piece_begin, count))


@cuda.jit
def add_pieces(offsets, values, total, threshold, piece_item, piece_begin, count):
    """Child kernel: add up the values of the queued pieces."""
    visit_pieces(add_value, (values, total), offsets, threshold, (piece_item, piece_begin, count))


def choose_warp_size(items: int, units: int, resident_threads: int, min_size: int) -> int:
    """Return the threads per virtual warp for a workload.

    Parameters
    ----------
    items, units : int
        The numbers of items and units in the workload.
    resident_threads : int
        Threads that the device holds at once.
    min_size : int
        The smallest size to return.

    Returns
    -------
    int
        The larger of two powers of two, from `min_size` to 32: resident threads / items (rounded
        down), and the mean item size (rounded up).
    """
    items = max(items, 1)
    by_room = [size for size in WARP_SIZES if size * items <= resident_threads]
    by_mean = [size for size in WARP_SIZES if size < 2 * units / items]
    return max([min_size, *by_room, *by_mean])


def expand(
    load: Workload,
    device,
    *,
    threads: int = THREADS,
    min_size: int = 4,
    threshold: int = 4096,
    resident_threads: int | None = None,
) -> dict[str, Any]:
    """Visit every unit of `load` by groups of a size chosen now, large items by a child kernel.

    Parameters
    ----------
    threads : int
        Threads per block.
    min_size : {1, 2, 4, 8, 16, 32}
        The narrowest group, K1 of BFS-4K.
    threshold : int
        The most units of an item that a group takes itself; H-BF's T_DP.
    resident_threads : int, optional
        Threads that may run at once; by default what `device` holds. A workload that is scaled down
        needs a device that is scaled down as well.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``warp_size``, ``child_items`` (items above the threshold) and
        ``child_blocks``.

    Raises
    ------
    InvalidArgument
        If `min_size` is not one of these, or another knob is not a whole number from 1 up.
    """
    check_warp_size(min_size, "min_size")
    check_whole("threshold", threshold, 1, MAX_UNITS)
    if resident_threads is None:
        resident_threads = device.resident_threads
    check_whole("resident_threads", resident_threads, 1, MAX_UNITS)
    warp_size = choose_warp_size(load.items, load.units, resident_threads, min_size)
    # An item of more than `threshold` units has at most twice as many pieces as whole thresholds.
    room = 2 * (load.units // threshold)
    queue = (*(device.empty(room, np.int32) for _ in range(2)), device.full(2, 0, np.int32))
    kernel, arrays = load.direction(write_or_queue, add_or_queue)
    blocks = grid(load.items * warp_size, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays, warp_size, threshold, *queue)
    pieces, child_items = (int(n) for n in device.read(queue[-1])) if room else (0, 0)
    child, arrays = load.direction(write_pieces, add_pieces)
    child_blocks = min(pieces, MAX_BLOCKS)
    if pieces:
        device.launch(child, child_blocks, threads, load.offsets, *arrays, threshold, *queue)
    return {
        "launches": (blocks > 0) + (child_blocks > 0),
        "blocks": blocks,
        "warp_size": warp_size,
        "child_items": child_items,
        "child_blocks": child_blocks,
    }
