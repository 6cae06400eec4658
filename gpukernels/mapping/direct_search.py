"""Direct search: one thread per unit, each with a binary search over all offsets.

[busato2017chapter], section 5.3.1. Threads, warps and blocks are perfectly balanced, whatever the
sizes, and neighboring threads visit neighboring units. The price is a search for each unit:
log2(items) reads in global memory, which scatter as the search narrows. Work O(units log(items)).
"""

from __future__ import annotations

from typing import Any

from numba import cuda

from gpukernels.primitives import upper_owner
from gpukernels.primitives.launch_shape import THREADS

from .visits import add_value, write_item
from .workload import Workload, grid


@cuda.jit(device=True)
def direct_search(visit, work, offsets, unit):
    """Find the item of `unit` among all `offsets` and visit the unit."""
    visit(work, upper_owner(offsets, 0, offsets.size - 1, unit), unit)


@cuda.jit
def write_by_direct_search(offsets, item):
    """Write the item of every unit, one thread per unit."""
    for unit in range(cuda.grid(1), offsets[offsets.size - 1], cuda.gridsize(1)):
        direct_search(write_item, (item,), offsets, unit)


@cuda.jit
def add_by_direct_search(offsets, values, total):
    """Add up the values of every item, one thread per unit."""
    for unit in range(cuda.grid(1), offsets[offsets.size - 1], cuda.gridsize(1)):
        direct_search(add_value, (values, total), offsets, unit)


def expand(load: Workload, device, *, threads: int = THREADS) -> dict[str, Any]:
    """Visit every unit of `load`, with one thread and one search per unit.

    Parameters
    ----------
    threads : int
        Threads per block.

    Returns
    -------
    dict
        ``launches``, ``blocks`` and ``searches``: one per unit, in global memory.
    """
    kernel, arrays = load.direction(write_by_direct_search, add_by_direct_search)
    blocks = grid(load.units, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays)
    return {"launches": 1 if blocks else 0, "blocks": blocks, "searches": load.units}
