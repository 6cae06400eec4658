"""Two-phase search: cut the units into equal chunks, one per block; then every thread searches.

[green2012gpu], [davidson2014workefficient] and [baxter2013moderngpu] have it in three forms; this
one follows [busato2017chapter], section 5.3.4. *Partition*: one thread per boundary searches all
offsets in global memory for the item in which a chunk begins. *Expansion*: a block loads the
offsets of its chunk into shared memory. There each thread finds the item of the first of its
`units_per_thread` consecutive units, and walks on. Threads, warps and blocks are balanced; but
neighboring threads touch units that are `units_per_thread` apart.

The paper calls the number of partition searches proportional to K. But a chunk holds threads x K
units, so there are fewer searches as K grows. Work O(items + units + chunks log(items)). Empty
items have no unit, but take room in shared memory. So a chunk's offsets may not fit: then they are
loaded in windows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32

from gpukernels.checks import check_whole
from gpukernels.primitives import upper_owner
from gpukernels.primitives.launch_shape import THREADS, blocks_for

from .block_search import load_chunk, visit_slot
from .visits import add_value, write_item
from .workload import SHARED_WORDS, Workload


@cuda.jit
def partition(offsets, boundary, chunk_units):
    """Find the items that own the first unit of every chunk and the last unit of all."""
    units = offsets[offsets.size - 1]
    for b in range(cuda.grid(1), boundary.size, cuda.gridsize(1)):
        unit = min(b * chunk_units, units - 1)
        boundary[b] = upper_owner(offsets, 0, offsets.size - 1, unit)


@cuda.jit(device=True)
def expand_chunk(visit, work, offsets, boundary, units_per_thread, window):
    """Visit the units of this block's chunk, `units_per_thread` consecutive ones per thread.

    `window` is shared memory, int32, of ``blockDim.x * units_per_thread + 1`` elements.
    """
    room = cuda.blockDim.x * units_per_thread
    mine = cuda.grid(1) * units_per_thread
    stop = boundary[cuda.blockIdx.x + 1] + 1
    for first in range(boundary[cuda.blockIdx.x], stop, room):
        count = min(room, stop - first)
        load_chunk(offsets, first, count, window)
        begin = max(mine, window[0])
        end = min(mine + units_per_thread, window[count])
        if begin < end:
            # A later window begins inside this thread's units, with its item 0: no search needed.
            owner = upper_owner(window, 0, count, mine) if begin == mine else 0
            visit_slot(visit, work, window, owner, first, begin, end)
        cuda.syncthreads()


@cuda.jit
def write_two_phase(offsets, boundary, item, units_per_thread):
    """Write the item of every unit, one block per chunk."""
    window = cuda.shared.array(0, int32)
    expand_chunk(write_item, (item,), offsets, boundary, units_per_thread, window)


@cuda.jit
def add_two_phase(offsets, boundary, values, total, units_per_thread):
    """Add up the values of every item, one block per chunk."""
    window = cuda.shared.array(0, int32)
    expand_chunk(add_value, (values, total), offsets, boundary, units_per_thread, window)


def expand(
    load: Workload, device, *, threads: int = THREADS, units_per_thread: int = 11
) -> dict[str, Any]:
    """Visit every unit of `load`, equally many per block and per thread.

    Parameters
    ----------
    threads : int
        Threads per block.
    units_per_thread : int
        Consecutive units per thread, K. A chunk's K x threads offsets must fit 48 KB.

    Returns
    -------
    dict
        ``launches``, ``blocks`` (chunks), ``units_per_thread``, ``shared_bytes`` (per block),
        ``partition_searches`` in global memory (one per boundary), and ``searches``: these and one
        per thread with units, in shared memory.

    Raises
    ------
    InvalidArgument
        If `units_per_thread` is less than 1 or does not fit.
    """
    check_whole("units_per_thread", units_per_thread, 1, (SHARED_WORDS - 1) // threads)
    chunk_units = threads * units_per_thread
    blocks = blocks_for(load.units, chunk_units)
    shared = 4 * (chunk_units + 1)
    boundaries = blocks + 1 if blocks else 0
    boundary = device.empty(boundaries, np.int32)
    device.launch(
        partition, blocks_for(boundaries, threads), threads, load.offsets, boundary, chunk_units
    )
    kernel, arrays = load.direction(write_two_phase, add_two_phase)
    device.launch(
        kernel, blocks, threads, load.offsets, boundary, *arrays, units_per_thread, shared=shared
    )
    return {
        "launches": 2 if blocks else 0,
        "blocks": blocks,
        "units_per_thread": units_per_thread,
        "shared_bytes": shared,
        "partition_searches": boundaries,
        "searches": boundaries + blocks_for(load.units, units_per_thread),
    }
