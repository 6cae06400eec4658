"""A checked workload on the device: its offsets, and the arrays of one direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpukernels.checks import as_array
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument
from gpukernels.primitives.launch_shape import blocks_for
from gpukernels.primitives.offsets import check_offsets

#: Blocks of the largest grid; beyond it, a block takes several turns.
MAX_BLOCKS = 2**16

#: 4-byte words in the 48 KB of shared memory that any launch may use.
SHARED_WORDS = 48 * 1024 // 4

VALUE_TYPES = (np.int32, np.int64, np.float32, np.float64)


@dataclass(frozen=True, eq=False)
class Workload:
    """Offsets and arrays that a technique's driver passes to its kernels.

    Attributes
    ----------
    offsets : device array of int32, shape (items + 1,)
        Exclusive prefix sum of the items' sizes; the last element is the number of units.
    items, units : int
        The numbers of items and units.
    item : device array of int32, shape (units,), or None
        Write direction: the array that receives the item of every unit.
    values, total : device arrays of shape (units,) and (items,), or None
        Read direction: the values to read, and the totals that they are added to.
    """

    offsets: Any
    items: int
    units: int
    item: Any = None
    values: Any = None
    total: Any = None

    def direction(self, write_kernel: Any, add_kernel: Any) -> tuple[Any, tuple]:
        """Return the kernel of the workload's direction, and the arrays that it takes."""
        if self.values is None:
            return write_kernel, (self.item,)
        return add_kernel, (self.values, self.total)


def upload(offsets: ArrayLike, values: ArrayLike | None, device: Device) -> Workload:
    """Check a workload, then copy it to `device`.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        Offsets that begin at 0, never decrease, and are at most 2^31 - 1.
    values : array_like, shape (units,), or None
        int32, int64, float32 or float64; None for the write direction.
    device : SimtDevice or CudaDevice
        Where kernels run.

    Raises
    ------
    InvalidArgument
        If the arrays are not as described; nothing has been copied then.
    """
    offsets = check_offsets(offsets)
    items, units = offsets.size - 1, int(offsets[-1])
    if values is None:
        item = device.empty(units, np.int32)
        return Workload(device.array(offsets), items, units, item=item)
    values = np.ascontiguousarray(as_array("values", values))
    if values.shape != (units,):
        raise InvalidArgument("values.shape", values.shape, f"({units},), one value per unit")
    if values.dtype not in VALUE_TYPES:
        names = ", ".join(np.dtype(t).name for t in VALUE_TYPES)
        raise InvalidArgument("values.dtype", values.dtype.name, f"one of {names}")
    total = device.full(items, 0, np.int64 if values.dtype.kind == "i" else np.float64)
    return Workload(device.array(offsets), items, units, values=device.array(values), total=total)


def grid(workers: int, threads: int) -> int:
    """Return the blocks for `workers` threads, at most ``MAX_BLOCKS``."""
    return min(blocks_for(workers, threads), MAX_BLOCKS)
