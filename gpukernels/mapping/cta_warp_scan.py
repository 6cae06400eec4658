"""CTA + warp + scan: the block takes huge items together, a warp large ones, a scan the rest.

Merrill et al. [merrill2012scalable]; [busato2017chapter], section 5.2.2. Every thread has an item.
Work O(items + units). There are three steps:

1. Strip-mined gathering by the block: as long as any item exceeds `cta_threshold`, one is chosen
   and all threads of the block share its units (Algorithm 9). As printed, the algorithm never ends:
   the winner must mark its own work as done before the next vote.
2. The same by each warp, for items above `warp_threshold`.
3. A block scan gives each remaining unit a place in shared memory; all threads of the block take
   the units from there. If they do not all fit, the rest waits for another turn.

In Merrill's code, all candidates store their id plainly and the last store wins. That is a race in
CUDA's memory model, so here it is an atomic exchange. The warp needs neither: a ballot shows all
candidates, and shuffles give all lanes the winner's item.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

from gpukernels.checks import check_whole
from gpukernels.primitives.block_scan import block_exclusive_scan
from gpukernels.primitives.launch_shape import FULL_MASK, THREADS, WARP_SIZE
from gpukernels.primitives.offsets import MAX_UNITS

from .virtual_warp import virtual_warp
from .visits import add_value, write_item
from .workload import Workload, grid

#: Units that the third step gathers in shared memory at a time.
SLOTS = 1024


@cuda.jit(device=True)
def gather_by_block(visit, work, item, begin, end, threshold):
    """Let the block visit every item above `threshold`; return the new begin of the caller's item.

    All threads of the block call, each with its own item.
    """
    winner = cuda.shared.array(4, int32)
    if cuda.threadIdx.x == 0:
        winner[0] = -1
    while cuda.syncthreads_or(int32(end - begin > threshold)):
        if end - begin > threshold:
            cuda.atomic.exch(winner, 0, cuda.threadIdx.x)
        cuda.syncthreads()
        if winner[0] == cuda.threadIdx.x:
            winner[1] = item
            winner[2] = begin
            winner[3] = end
            begin = end  # done: the next vote finds no unit left here
        cuda.syncthreads()
        virtual_warp(
            visit, work, winner[1], winner[2], winner[3], cuda.threadIdx.x, cuda.blockDim.x
        )
    return begin


@cuda.jit(device=True)
def gather_by_warp(visit, work, item, begin, end, threshold):
    """Let the warp visit every item above `threshold`; return the new begin of the caller's item.

    All lanes of the warp call, each with its own item.
    """
    votes = cuda.ballot_sync(FULL_MASK, end - begin > threshold)
    while votes != 0:
        winner = cuda.ffs(votes) - 1
        its_item = cuda.shfl_sync(FULL_MASK, item, winner)
        its_begin = cuda.shfl_sync(FULL_MASK, begin, winner)
        its_end = cuda.shfl_sync(FULL_MASK, end, winner)
        virtual_warp(visit, work, its_item, its_begin, its_end, cuda.laneid, WARP_SIZE)
        if cuda.laneid == winner:
            begin = end
        votes = cuda.ballot_sync(FULL_MASK, end - begin > threshold)
    return begin


@cuda.jit(device=True)
def gather_by_scan(visit, work, item, begin, end):
    """Visit the units of every thread's item, spread evenly over the block.

    All threads of the block call, each with its own item.
    """
    warp_totals = cuda.shared.array(WARP_SIZE, int32)
    slot_item = cuda.shared.array(SLOTS, int32)
    slot_unit = cuda.shared.array(SLOTS, int32)
    before, total = block_exclusive_scan(int32(end - begin), warp_totals)
    for first in range(0, total, SLOTS):
        ahead = before - first
        for slot in range(max(ahead, 0), min(ahead + end - begin, SLOTS)):
            slot_item[slot] = item
            slot_unit[slot] = begin + slot - ahead
        cuda.syncthreads()
        for slot in range(cuda.threadIdx.x, min(total - first, SLOTS), cuda.blockDim.x):
            visit(work, slot_item[slot], slot_unit[slot])
        cuda.syncthreads()


@cuda.jit(device=True)
def cta_warp_scan(visit, work, item, begin, end, cta_threshold, warp_threshold):
    """Visit the units from `begin` to `end` of every thread's `item`, all int32.

    All threads of the block call, in whole warps; without an item, pass ``begin == end``.
    """
    begin = gather_by_block(visit, work, item, begin, end, cta_threshold)
    begin = gather_by_warp(visit, work, item, begin, end, warp_threshold)
    gather_by_scan(visit, work, item, begin, end)


@cuda.jit
def write_by_cta_warp_scan(offsets, item, cta_threshold, warp_threshold):
    """Write the item of every unit; a block takes as many items at a time as it has threads."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, offsets.size - 1, cuda.gridsize(1)):
        i = int32(first + cuda.threadIdx.x)
        begin, end = int32(0), int32(0)
        if i < offsets.size - 1:
            begin, end = offsets[i], offsets[i + 1]
        cta_warp_scan(write_item, (item,), i, begin, end, cta_threshold, warp_threshold)


@cuda.jit
def add_by_cta_warp_scan(offsets, values, total, cta_threshold, warp_threshold):
    """Add up the values of every item; a block takes as many items as it has threads."""
    for first in range(cuda.blockIdx.x * cuda.blockDim.x, offsets.size - 1, cuda.gridsize(1)):
        i = int32(first + cuda.threadIdx.x)
        begin, end = int32(0), int32(0)
        if i < offsets.size - 1:
            begin, end = offsets[i], offsets[i + 1]
        cta_warp_scan(add_value, (values, total), i, begin, end, cta_threshold, warp_threshold)


def expand(
    load: Workload,
    device,
    *,
    threads: int = THREADS,
    cta_threshold: int | None = None,
    warp_threshold: int = WARP_SIZE,
) -> dict[str, Any]:
    """Visit every unit of `load` by blocks, warps and scans.

    Parameters
    ----------
    threads : int
        Threads per block.
    cta_threshold : int, optional
        The whole block takes items of more units; by default `threads`.
    warp_threshold : int
        A warp takes items of more units, up to `cta_threshold`; by default 32.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``cta_threshold`` and ``warp_threshold``.

    Raises
    ------
    InvalidArgument
        If a threshold is below 1, or `warp_threshold` above `cta_threshold`.
    """
    check_whole("warp_threshold", warp_threshold, 1, MAX_UNITS)
    if cta_threshold is None:
        cta_threshold = max(threads, warp_threshold)
    check_whole("cta_threshold", cta_threshold, 1, MAX_UNITS)
    check_whole("warp_threshold", warp_threshold, 1, cta_threshold)
    kernel, arrays = load.direction(write_by_cta_warp_scan, add_by_cta_warp_scan)
    blocks = grid(load.items, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays, cta_threshold, warp_threshold)
    return {
        "launches": 1 if blocks else 0,
        "blocks": blocks,
        "cta_threshold": cta_threshold,
        "warp_threshold": warp_threshold,
    }
