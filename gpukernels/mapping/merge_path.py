"""Merge path: items and units as one path, on which all threads walk equally many steps.

The load-balanced search of [davidson2014workefficient] and of Gunrock [wang2015gunrock], on the
merge path of [odeh2012merge] and [green2012gpu]. Put the ends of the items along one side of a
table, and the units along the other. Merging the two lists draws a path from corner to corner: one
step along one side for each unit, and one along the other for each item that ends there. Item i
begins at step ``offsets[i] + i``. If the first s steps close k items, they pass s - k units. So a
thread finds its place on the path, at its first step, by one binary search.

All blocks and threads take equally many *steps*, where `two_phase` gives them equally many units. A
run of empty items overloads no thread, as each is a step. A tile's offsets, together with the items
of its units, are no more than its steps, so both fit the same shared memory, whatever the sizes. In
the same launch, two threads of a block search the block's two corners in all offsets; the others
start from there in shared memory. They note the item of each unit. Then the block visits its units
side by side. Work O(items + units + tiles log(items)).
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

from gpukernels.checks import check_whole
from gpukernels.primitives import upper_owner
from gpukernels.primitives.launch_shape import THREADS, blocks_for

from .visits import add_value, write_item
from .workload import MAX_BLOCKS, SHARED_WORDS, Workload

#: Steps per thread. They are odd, so that lanes note the items of their units in different banks.
STEPS = 11


def tiles_of(items: int, units: int, threads: int, steps: int = STEPS) -> tuple[int, int]:
    """Return the number of tiles of a path, and the bytes of shared memory that a block takes."""
    return blocks_for(items + units, threads * steps), 4 * (threads * steps + 1)


@cuda.jit(device=True)
def path_item(offsets, items, step):
    """Return the last i below `items` that begins at or before `step` of the path.

    ``offsets[items]`` is not read.
    """
    left = 0
    while items > 1:
        half = items // 2
        if offsets[left + half] + left + half <= step:
            left += half
        items -= half
    return left


@cuda.jit(device=True)
def merge_path(visit, work, offsets, items, units, begin, steps_per_thread, path):
    """Visit the units on the block's tile of the path, which begins at step `begin`.

    All threads of the block call. The tile has `steps_per_thread` steps for each thread, or the
    steps that are left; a thread visits no more units than that. Only the first `items` of
    `offsets` are read, and there are `units` units in all. `path` is int32 in shared memory, with
    ``blockDim.x * steps_per_thread + 1`` elements.
    """
    corner = cuda.shared.array(2, int32)
    end = min(begin + cuda.blockDim.x * steps_per_thread, items + units)
    if cuda.threadIdx.x < 2:
        step = begin if cuda.threadIdx.x == 0 else end
        item = 0 if step == 0 else items
        if 0 < step < items + units:
            item = path_item(offsets, items, step)
        corner[cuda.threadIdx.x] = item
    cuda.syncthreads()
    first, closed, steps = corner[0], corner[1] - corner[0], end - begin
    # The steps of the tile where its items begin; the first item begins at step 0 or earlier.
    for k in range(cuda.threadIdx.x, closed + 1, cuda.blockDim.x):
        item = first + k
        before = units
        if item < items:
            before = offsets[item]
        path[k] = before + item - begin
    cuda.syncthreads()
    # After these come the items of the tile's units: one for each step that closes no item.
    noted = closed + 1
    mine = cuda.threadIdx.x * steps_per_thread
    if mine < steps:
        k = upper_owner(path, 0, closed + 1, mine)
        for step in range(mine, min(mine + steps_per_thread, steps)):
            if k < closed and path[k + 1] == step + 1:
                k += 1  # the last step of an item closes it
            else:
                path[noted + step - k] = k
    cuda.syncthreads()
    unit = begin - first
    for j in range(cuda.threadIdx.x, steps - closed, cuda.blockDim.x):
        visit(work, first + path[noted + j], unit + j)
    cuda.syncthreads()


@cuda.jit
def write_by_merge_path(offsets, item, steps_per_thread):
    """Write the item of every unit; a block takes a tile of the path at a time."""
    path = cuda.shared.array(0, int32)
    items, units = offsets.size - 1, offsets[offsets.size - 1]
    tile = cuda.blockDim.x * steps_per_thread
    for begin in range(cuda.blockIdx.x * tile, items + units, cuda.gridDim.x * tile):
        merge_path(
            write_item, (item,), offsets, items, units, begin, steps_per_thread, path
        )  # fmt: skip


@cuda.jit
def add_by_merge_path(offsets, values, total, steps_per_thread):
    """Add up the values of every item; a block takes a tile of the path at a time."""
    path = cuda.shared.array(0, int32)
    items, units = offsets.size - 1, offsets[offsets.size - 1]
    tile = cuda.blockDim.x * steps_per_thread
    for begin in range(cuda.blockIdx.x * tile, items + units, cuda.gridDim.x * tile):
        merge_path(
            add_value, (values, total), offsets, items, units, begin, steps_per_thread, path
        )  # fmt: skip


def expand(
    load: Workload, device, *, threads: int = THREADS, steps_per_thread: int = STEPS
) -> dict[str, Any]:
    """Visit every unit of `load`, equally many items and units per block and per thread.

    Parameters
    ----------
    threads : int
        Threads per block.
    steps_per_thread : int
        Steps per thread on the path of items and units. A tile has `threads` times as many, each
        with 4 bytes of the 48 KB of shared memory. If the number is odd, there are no bank
        conflicts.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``steps_per_thread``, ``shared_bytes`` (per block),
        ``partition_searches`` in global memory (one per corner of a tile, except the path's ends),
        and ``searches``: these and one per thread with steps, in shared memory.

    Raises
    ------
    InvalidArgument
        If `steps_per_thread` is less than 1 or does not fit.
    """
    check_whole("steps_per_thread", steps_per_thread, 1, (SHARED_WORDS - 3) // threads)
    steps = load.items + load.units if load.units else 0
    tiles, shared = tiles_of(steps, 0, threads, steps_per_thread)
    blocks = min(tiles, MAX_BLOCKS)
    corners = 2 * tiles - 2 if tiles else 0  # the path's begin and end are known
    kernel, arrays = load.direction(write_by_merge_path, add_by_merge_path)
    device.launch(kernel, blocks, threads, load.offsets, *arrays, steps_per_thread, shared=shared)
    return {
        "launches": 1 if blocks else 0,
        "blocks": blocks,
        "steps_per_thread": steps_per_thread,
        "shared_bytes": shared,
        "partition_searches": corners,
        "searches": corners + blocks_for(steps, steps_per_thread),
    }
