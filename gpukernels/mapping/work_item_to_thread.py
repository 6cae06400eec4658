"""Work-item to thread: one thread per item, which takes the item's units in turn.

The simplest static mapping, of [harish2007accelerating]; [busato2017chapter], section 5.1.1. Work
O(items + units). No search and no communication. The threads of a warp wait for the longest of 32
items, the warps of a block for the longest of all. Neighboring threads touch units that are as far
apart as their items are long.
"""

from __future__ import annotations

from typing import Any

from numba import cuda

from gpukernels.primitives.launch_shape import THREADS

from .visits import add_value, write_item
from .workload import Workload, grid


@cuda.jit(device=True)
def one_thread(visit, work, item, begin, end):
    """Visit the units from `begin` to `end` of `item` in the calling thread, in order."""
    for unit in range(begin, end):
        visit(work, item, unit)


@cuda.jit
def write_by_thread(offsets, item):
    """Write the item of every unit, one thread per item."""
    for i in range(cuda.grid(1), offsets.size - 1, cuda.gridsize(1)):
        one_thread(write_item, (item,), i, offsets[i], offsets[i + 1])


@cuda.jit
def add_by_thread(offsets, values, total):
    """Add up the values of every item, one thread per item."""
    for i in range(cuda.grid(1), offsets.size - 1, cuda.gridsize(1)):
        one_thread(add_value, (values, total), i, offsets[i], offsets[i + 1])


def expand(load: Workload, device, *, threads: int = THREADS) -> dict[str, Any]:
    """Visit every unit of `load`, with one thread per item.

    Parameters
    ----------
    threads : int
        Threads per block.

    Returns
    -------
    dict
        ``launches`` and ``blocks``.
    """
    kernel, arrays = load.direction(write_by_thread, add_by_thread)
    blocks = grid(load.items, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays)
    return {"launches": 1 if blocks else 0, "blocks": blocks}
