"""Virtual warps: a group of 1 to 32 threads per item, of a size that is fixed before the launch.

Hong et al. [hong2011accelerating]; Algorithm 8 of [busato2017chapter], section 5.1.2. Work O(items
x warp_size + units). The lanes of a group take the units of their item in turn, so they touch
adjacent addresses and share a long item. As printed, the algorithm's loop includes the first unit
of the *next* item; here the bound is exclusive. The launch needs items x size threads: beyond the
largest grid, threads take several turns.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int32

from gpukernels.checks import is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.primitives.launch_shape import THREADS

from .visits import add_value, write_item
from .workload import Workload, grid

WARP_SIZES = (1, 2, 4, 8, 16, 32)


@cuda.jit(device=True)
def virtual_warp(visit, work, item, begin, end, lane, warp_size):
    """Visit the units of `item` from `begin` to `end` that belong to `lane` of a group.

    The `warp_size` threads of the group call it with the same item and with lanes 0, 1, 2, ...
    They need not call it at the same time.
    """
    # numba computes the length of a range first, by a division. With a lane or step of int64, the
    # division and the counter have 64 bits: on an H200, the kernel took a quarter to a half longer.
    for unit in range(int32(begin + lane), int32(end), int32(warp_size)):
        visit(work, item, unit)


@cuda.jit
def write_by_virtual_warp(offsets, item, warp_size):
    """Write the item of every unit, `warp_size` threads per item."""
    lane = cuda.grid(1) % warp_size
    for i in range(cuda.grid(1) // warp_size, offsets.size - 1, cuda.gridsize(1) // warp_size):
        virtual_warp(write_item, (item,), i, offsets[i], offsets[i + 1], lane, warp_size)


@cuda.jit
def add_by_virtual_warp(offsets, values, total, warp_size):
    """Add up the values of every item, `warp_size` threads per item."""
    lane = cuda.grid(1) % warp_size
    for i in range(cuda.grid(1) // warp_size, offsets.size - 1, cuda.gridsize(1) // warp_size):
        virtual_warp(add_value, (values, total), i, offsets[i], offsets[i + 1], lane, warp_size)


def check_warp_size(warp_size: int, argument: str = "warp_size") -> None:
    """Raise InvalidArgument for `argument`, unless `warp_size` is a power of two from 1 to 32."""
    if not is_whole(warp_size) or warp_size not in WARP_SIZES:
        raise InvalidArgument(argument, warp_size, f"one of {WARP_SIZES}")


def expand(load: Workload, device, *, threads: int = THREADS, warp_size: int = 8) -> dict[str, Any]:
    """Visit every unit of `load`, `warp_size` threads per item.

    Parameters
    ----------
    threads : int
        Threads per block.
    warp_size : {1, 2, 4, 8, 16, 32}
        Threads of a virtual warp.

    Returns
    -------
    dict
        ``launches``, ``blocks`` and ``warp_size``.

    Raises
    ------
    InvalidArgument
        If `warp_size` is not one of these.
    """
    check_warp_size(warp_size)
    kernel, arrays = load.direction(write_by_virtual_warp, add_by_virtual_warp)
    blocks = grid(load.items * warp_size, threads)
    device.launch(kernel, blocks, threads, load.offsets, *arrays, warp_size)
    return {"launches": 1 if blocks else 0, "blocks": blocks, "warp_size": warp_size}
