"""Local warp search: a warp loads 32 items at once, where each lane finds its unit's item.

[davidson2014workefficient] with the offsets in shared memory, [busato2015bfs4k] with the offsets in
registers; [busato2017chapter], section 5.3.2. A search of 32 offsets takes 5 steps and touches no
global memory; neighboring lanes visit neighboring units. Work O(items + units). The lanes of a warp
are balanced, but the warps are not: 32 items may have any number of units together, and a warp goes
on until all are done.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

from gpukernels.checks import check_choice
from gpukernels.primitives import upper_owner, warp_inclusive_scan, warp_owner
from gpukernels.primitives.launch_shape import FULL_MASK, MAX_THREADS, THREADS, WARP_SIZE

from .visits import add_value, write_item
from .workload import Workload, grid

FORMS = ("register", "shared")


@cuda.jit(device=True)
def search_registers(visit, work, item, begin, end):
    """Visit the units of every lane's item, 32 at a time; the lanes' items may be any items.

    All lanes of the warp call, each with its own `item`, `begin` and `end` (int32); a lane without
    an item passes ``begin == end``.
    """
    size = int32(end - begin)
    inclusive = warp_inclusive_scan(size)
    before = int32(inclusive - size)
    ahead = int32(begin - before)
    total = cuda.shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1)
    for first in range(0, total, WARP_SIZE):
        position = int32(first + cuda.laneid)
        owner = warp_owner(before, position)
        its_item = cuda.shfl_sync(FULL_MASK, item, owner)
        its_ahead = cuda.shfl_sync(FULL_MASK, ahead, owner)
        if position < total:
            visit(work, its_item, its_ahead + position)


@cuda.jit(device=True)
def search_shared(visit, work, offsets, first):
    """Visit the units of the 32 items from `first` on; all lanes of the warp call."""
    chunks = cuda.shared.array(MAX_THREADS, int32)
    here = cuda.threadIdx.x // WARP_SIZE * WARP_SIZE
    count = min(offsets.size - 1 - first, WARP_SIZE)
    if cuda.laneid < count:
        chunks[here + cuda.laneid] = offsets[first + cuda.laneid]
    cuda.syncwarp()
    for unit in range(chunks[here] + cuda.laneid, offsets[first + count], WARP_SIZE):
        owner = upper_owner(chunks, here, here + count, unit)
        visit(work, first + owner - here, unit)
    cuda.syncwarp()


@cuda.jit
def write_by_registers(offsets, item):
    """Write the item of every unit; a warp holds 32 items in its registers."""
    for first in range(cuda.grid(1) - cuda.laneid, offsets.size - 1, cuda.gridsize(1)):
        i = int32(first + cuda.laneid)
        begin, end = int32(0), int32(0)
        if i < offsets.size - 1:
            begin, end = offsets[i], offsets[i + 1]
        search_registers(write_item, (item,), i, begin, end)


@cuda.jit
def add_by_registers(offsets, values, total):
    """Add up the values of every item; a warp holds 32 items in its registers."""
    for first in range(cuda.grid(1) - cuda.laneid, offsets.size - 1, cuda.gridsize(1)):
        i = int32(first + cuda.laneid)
        begin, end = int32(0), int32(0)
        if i < offsets.size - 1:
            begin, end = offsets[i], offsets[i + 1]
        search_registers(add_value, (values, total), i, begin, end)


@cuda.jit
def write_by_warp_search(offsets, item):
    """Write the item of every unit; a warp holds 32 offsets in shared memory."""
    for first in range(cuda.grid(1) - cuda.laneid, offsets.size - 1, cuda.gridsize(1)):
        search_shared(write_item, (item,), offsets, first)


@cuda.jit
def add_by_warp_search(offsets, values, total):
    """Add up the values of every item; a warp holds 32 offsets in shared memory."""
    for first in range(cuda.grid(1) - cuda.laneid, offsets.size - 1, cuda.gridsize(1)):
        search_shared(add_value, (values, total), offsets, first)


def expand(
    load: Workload, device, *, threads: int = THREADS, form: str = "register"
) -> dict[str, Any]:
    """Visit every unit of `load`, 32 items per warp.

    Parameters
    ----------
    threads : int
        Threads per block.
    form : {"register", "shared"}
        Where a warp keeps its 32 offsets.

    Returns
    -------
    dict
        ``launches``, ``blocks``, ``form`` and ``searches``: one per unit, of 5 steps.

    Raises
    ------
    InvalidArgument
        If `form` is neither.
    """
    check_choice("form", form, FORMS)
    if form == "register":
        kernel, arrays = load.direction(write_by_registers, add_by_registers)
    else:
        kernel, arrays = load.direction(write_by_warp_search, add_by_warp_search)
    blocks = grid(load.items, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays)
    return {
        "launches": 1 if blocks else 0,
        "blocks": blocks,
        "form": form,
        "searches": load.units,
    }
