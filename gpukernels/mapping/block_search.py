"""Block search: a block takes a row of items and splits their units evenly over its threads.

[davidson2014workefficient]; [busato2017chapter], section 5.3.3. Work O(items + units). All blocks
take equally many items (a "maxi chunk"), as many as fit their shared memory. Each thread gets one
slot of consecutive units, finds the item of the slot's first unit in shared memory, and walks on
from there. The threads of a block are balanced, but the blocks are not: equally many items need not
have equally many units. Neighboring threads touch units that are one slot apart.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

from gpukernels.checks import check_whole
from gpukernels.primitives import upper_owner
from gpukernels.primitives.launch_shape import THREADS, blocks_for

from .visits import add_value, write_item
from .workload import MAX_BLOCKS, SHARED_WORDS, Workload


@cuda.jit(device=True)
def visit_slot(visit, work, chunk, owner, first, begin, end):
    """Visit the consecutive units from `begin` to `end` in the calling thread.

    ``chunk[i]`` is the offset of item ``first + i``; item ``first + owner`` owns `begin`, or
    comes before the item that does.
    """
    for unit in range(begin, end):
        while chunk[owner + 1] <= unit:
            owner += 1
        visit(work, first + owner, unit)


@cuda.jit(device=True)
def load_chunk(offsets, first, count, chunk):
    """Copy the offsets of `count` items from `first` on, and their end, to shared memory."""
    for i in range(cuda.threadIdx.x, count + 1, cuda.blockDim.x):
        chunk[i] = offsets[first + i]
    cuda.syncthreads()


@cuda.jit(device=True)
def block_search(visit, work, offsets, first, chunk_items, chunk):
    """Visit the units of the `chunk_items` items from `first` on; the whole block calls.

    `chunk` is shared memory, int32, of at least ``chunk_items + 1`` elements.
    """
    count = min(offsets.size - 1 - first, chunk_items)
    load_chunk(offsets, first, count, chunk)
    slot = (chunk[count] - chunk[0] + cuda.blockDim.x - 1) // cuda.blockDim.x
    begin = chunk[0] + cuda.threadIdx.x * slot
    end = min(begin + slot, chunk[count])
    owner = upper_owner(chunk, 0, count, begin)
    visit_slot(visit, work, chunk, owner, first, begin, end)
    cuda.syncthreads()


@cuda.jit
def write_by_block_search(offsets, item, chunk_items):
    """Write the item of every unit; a block takes `chunk_items` items at a time."""
    chunk = cuda.shared.array(0, int32)
    stride = cuda.gridDim.x * chunk_items
    for first in range(cuda.blockIdx.x * chunk_items, offsets.size - 1, stride):
        block_search(write_item, (item,), offsets, first, chunk_items, chunk)


@cuda.jit
def add_by_block_search(offsets, values, total, chunk_items):
    """Add up the values of every item; a block takes `chunk_items` items at a time."""
    chunk = cuda.shared.array(0, int32)
    stride = cuda.gridDim.x * chunk_items
    for first in range(cuda.blockIdx.x * chunk_items, offsets.size - 1, stride):
        block_search(add_value, (values, total), offsets, first, chunk_items, chunk)


def expand(
    load: Workload, device, *, threads: int = THREADS, chunk_items: int = 1024
) -> dict[str, Any]:
    """Visit every unit of `load`, `chunk_items` items per block.

    Parameters
    ----------
    threads : int
        Threads per block.
    chunk_items : int
        Items per block; each offset takes 4 bytes of shared memory.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``chunk_items``, ``shared_bytes`` (per block) and ``searches``:
        one per thread and chunk, in shared memory.

    Raises
    ------
    InvalidArgument
        If `chunk_items` is less than 1, or its offsets do not fit 48 KB of shared memory.
    """
    check_whole("chunk_items", chunk_items, 1, SHARED_WORDS - 1)
    kernel, arrays = load.direction(write_by_block_search, add_by_block_search)
    chunks = blocks_for(load.items, chunk_items)
    blocks = min(chunks, MAX_BLOCKS)
    shared = 4 * (chunk_items + 1)
    device.launch(kernel, blocks, threads, load.offsets, *arrays, chunk_items, shared=shared)
    return {
        "launches": 1 if blocks else 0,
        "blocks": blocks,
        "chunk_items": chunk_items,
        "shared_bytes": shared,
        "searches": chunks * threads,
    }
