"""Multi-phase search: two-phase, with a hybrid partition and an expansion that writes in order.

[busato2017dynamic]; [busato2017chapter], sections 5.4 to 5.6; [busato2017loadbalancing], section
III-A. *Hybrid partition*: a boundary is searched by interpolation if the items' sizes have a
standard deviation of at most 5 and a mean of at most 3. Otherwise, binary search finds it, with one
read per step. The device computes both numbers. A long run of empty items can pass this test and
still mislead every guess, so the interpolation is the guarded one. *Coalesced expansion*: a thread
notes the items of its consecutive units in registers, and the block moves them to shared memory.
Then each warp visits its units in order: neighboring lanes, neighboring units. *Iterated search*: a
chunk is `iterations` times as large; each thread does so many searches, and fills so many
registers, before it needs a barrier. Work O(items + units + chunks log(items)).

The partition makes one search per boundary, and a chunk holds threads x K x IS units. So there are
blocks + 1 searches in global memory: their number is inversely proportional to K and to IS.
(Section 5.3.4 prints "proportional to the K parameter", a slip, and counts one search per block.
The end of the last chunk needs no search, but is searched here like the others.)

The registers are a local array. The compiler does not know its indices, so on a GPU they are in the
first-level cache rather than in the register file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float64, int32, int64

from gpukernels.checks import check_choice, check_whole
from gpukernels.primitives import guarded_interpolation_owner, upper_owner, warp_sum
from gpukernels.primitives.launch_shape import THREADS, WARP_SIZE, blocks_for

from .block_search import load_chunk
from .visits import add_value, write_item
from .workload import SHARED_WORDS, Workload, grid

#: Units whose items a thread can note before it passes them on: `units_per_thread` x `iterations`.
REGISTERS = 64

#: The values of `search` that are passed to the kernel.
CHOICES = {"auto": -1, "binary": 0, "interpolation": 1}

#: Blocks that add up the squares of sizes: enough to fill a GPU, but few atomics at the end.
SUM_BLOCKS = 1024

#: Interpolation pays if sizes deviate at most this much, and are at most this large on average.
STANDARD_DEVIATION = 5.0
MEAN = 3.0


@cuda.jit
def add_squares(offsets, squares):
    """Add the square of every item's size to ``squares[0]``, an int64."""
    partial = int64(0)
    for i in range(cuda.grid(1), offsets.size - 1, cuda.gridsize(1)):
        size = int64(offsets[i + 1]) - int64(offsets[i])
        partial += size * size
    partial = warp_sum(partial)
    if cuda.laneid == 0:
        cuda.atomic.add(squares, 0, partial)


@cuda.jit(device=True)
def is_regular(offsets, squares):
    """Return whether the sizes' mean and standard deviation are small enough to interpolate."""
    items = float64(offsets.size - 1)
    mean = offsets[offsets.size - 1] / items
    variance = squares[0] / items - mean * mean
    return mean <= MEAN and variance <= STANDARD_DEVIATION * STANDARD_DEVIATION


@cuda.jit
def hybrid_partition(offsets, squares, boundary, chunk_units, search, interpolated):
    """Find the first item of every chunk; write to ``interpolated[0]`` which search was used.

    `search` is 1 for interpolation, 0 for binary search, -1 to choose by the workload.
    """
    interpolate = search == 1 or (search == -1 and is_regular(offsets, squares))
    units = offsets[offsets.size - 1]
    for b in range(cuda.grid(1), boundary.size, cuda.gridsize(1)):
        unit = min(b * chunk_units, units - 1)
        if interpolate:
            boundary[b] = guarded_interpolation_owner(offsets, 0, offsets.size - 1, unit)
        else:
            boundary[b] = upper_owner(offsets, 0, offsets.size - 1, unit)
        if b == 0:
            interpolated[0] = interpolate


@cuda.jit(device=True)
def note_items(window, count, first, mine, units_per_thread, noted, at):
    """Note in ``noted[at]``, ``noted[at + 1]``, ... the items of the caller's units in `window`.

    The caller owns `units_per_thread` units from `mine` on. The item of the first is searched for;
    a later window begins within these units, with its item 0.
    """
    begin = max(mine, window[0])
    end = min(mine + units_per_thread, window[count])
    if begin < end:
        owner = upper_owner(window, 0, count, mine) if begin == mine else 0
        for unit in range(begin, end):
            while window[owner + 1] <= unit:
                owner += 1
            noted[at + unit - mine] = first + owner


@cuda.jit(device=True)
def expand_coalesced(visit, work, offsets, boundary, units_per_thread, iterations, shared):
    """Visit the units of this block's chunk so that neighboring lanes visit neighboring units.

    `shared` is int32, with ``blockDim.x * units_per_thread + 1`` elements. The chunk has
    `iterations` portions of ``blockDim.x * units_per_thread`` units. Before any unit is
    visited, a thread notes the items of its `units_per_thread` units in each portion.
    """
    noted = cuda.local.array(REGISTERS, int32)
    portion = cuda.blockDim.x * units_per_thread
    begin = cuda.blockIdx.x * portion * iterations
    units = offsets[offsets.size - 1]
    stop = boundary[cuda.blockIdx.x + 1] + 1
    for first in range(boundary[cuda.blockIdx.x], stop, portion):
        count = min(portion, stop - first)
        load_chunk(offsets, first, count, shared)
        for turn in range(iterations):
            mine = begin + turn * portion + cuda.threadIdx.x * units_per_thread
            at = turn * units_per_thread
            note_items(shared, count, first, mine, units_per_thread, noted, at)
        cuda.syncthreads()
    # From here on, a warp uses only its own part of the shared memory, and waits for no other warp.
    part = (cuda.threadIdx.x - cuda.laneid) * units_per_thread
    own = part + cuda.laneid * units_per_thread
    for turn in range(iterations):
        start = begin + turn * portion + part
        for k in range(min(units_per_thread, units - (start + own - part))):
            shared[own + k] = noted[turn * units_per_thread + k]
        cuda.syncwarp()
        for k in range(cuda.laneid, min(WARP_SIZE * units_per_thread, units - start), WARP_SIZE):
            visit(work, shared[part + k], start + k)
        cuda.syncwarp()


@cuda.jit
def write_multi_phase(offsets, boundary, item, units_per_thread, iterations):
    """Write the item of every unit, one block per chunk."""
    shared = cuda.shared.array(0, int32)
    expand_coalesced(write_item, (item,), offsets, boundary, units_per_thread, iterations, shared)


@cuda.jit
def add_multi_phase(offsets, boundary, values, total, units_per_thread, iterations):
    """Add up the values of every item, one block per chunk."""
    shared = cuda.shared.array(0, int32)
    expand_coalesced(
        add_value, (values, total), offsets, boundary, units_per_thread, iterations, shared
    )


def expand(
    load: Workload,
    device,
    *,
    threads: int = THREADS,
    units_per_thread: int = 11,
    iterations: int = 1,
    search: str = "auto",
) -> dict[str, Any]:
    """Visit every unit of `load`, equally many per block and per thread, in coalesced order.

    Parameters
    ----------
    threads : int
        Threads per block.
    units_per_thread : int
        Consecutive units whose items a thread finds at a time, K. K x threads offsets must fit 48
        KB. If K is odd, lanes that pass on their units have no bank conflict.
    iterations : int
        IS of the papers: portions of K x threads units per chunk. K x IS is at most 64.
    search : {"auto", "binary", "interpolation"}
        How the partition searches; by default, the rule chooses by the workload.

    Returns
    -------
    dict
        ``launches``, ``blocks`` (chunks), ``units_per_thread``, ``iterations``, ``shared_bytes``
        (per block), ``search`` (of the partition), ``partition_searches`` in global memory (one per
        boundary), and ``searches``: these and one per thread and portion with units. If the rule
        has chosen, ``search`` is a function that reads the choice from the device.

    Raises
    ------
    InvalidArgument
        If a knob has a value that is not allowed.
    """
    most = min(REGISTERS, (SHARED_WORDS - 1) // threads)
    check_whole("units_per_thread", units_per_thread, 1, most)
    check_whole("iterations", iterations, 1, REGISTERS // units_per_thread)
    check_choice("search", search, CHOICES)
    chunk_units = threads * units_per_thread * iterations
    blocks = blocks_for(load.units, chunk_units)
    shared = 4 * (threads * units_per_thread + 1)
    boundaries = blocks + 1 if blocks else 0
    boundary = device.empty(boundaries, np.int32)
    squares, interpolated = device.full(1, 0, np.int64), device.full(1, 0, np.int32)
    if search == "auto" and blocks:
        device.launch(
            add_squares, min(grid(load.items, threads), SUM_BLOCKS), threads, load.offsets, squares
        )
    device.launch(
        hybrid_partition, blocks_for(boundaries, threads), threads,
        load.offsets, squares, boundary, chunk_units, CHOICES[search], interpolated,
    )  # fmt: skip
    kernel, arrays = load.direction(write_multi_phase, add_multi_phase)
    device.launch(
        kernel, blocks, threads,
        load.offsets, boundary, *arrays, units_per_thread, iterations, shared=shared,
    )  # fmt: skip
    by_rule = search == "auto"

    def chosen() -> str:
        return "interpolation" if device.read(interpolated)[0] else "binary"

    return {
        "launches": 2 + by_rule if blocks else 0,
        "blocks": blocks,
        "units_per_thread": units_per_thread,
        "iterations": iterations,
        "shared_bytes": shared,
        "search": chosen if by_rule else search,
        "partition_searches": boundaries,
        "searches": boundaries + blocks_for(load.units, units_per_thread),
    }
