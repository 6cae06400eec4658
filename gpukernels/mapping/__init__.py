"""Work mapping: the ways to give the units of items to threads, one technique per file.

A workload is a row of *items* (vertices of a frontier, rows of a matrix). Each item has a number of
*units* (its arcs, its nonzeros); the prefix sum of these sizes describes the workload. Every
technique is a device function that calls a *visit* once for each unit, so that other kernels can
build on it; `expand` runs one by its name.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from gpukernels.device import Device, chosen_device
from gpukernels.graphs.stats import Stats
from gpukernels.methods import Method, driver_of, help_text
from gpukernels.primitives.launch_shape import THREADS, check_threads

from . import (
    block_search,
    cta_warp_scan,
    direct_search,
    dynamic_virtual_warp,
    local_warp_search,
    max_scan,
    merge_path,
    multi_phase,
    two_phase,
    virtual_warp,
    work_item_to_thread,
)
from .result import Mapping
from .workload import upload

METHODS = {
    "work_item_to_thread": Method(
        work_item_to_thread.expand,
        "Work-item to thread: one thread per item, which takes the item's units in turn",
        paper="harish2007accelerating",
        work="O(items + units)",
    ),
    "virtual_warp": Method(
        virtual_warp.expand,
        "Virtual warps: a group of 1 to 32 threads per item, of a size that is fixed "
        "before the launch",
        paper="hong2011accelerating",
        work="O(items x warp_size + units)",
    ),
    "dynamic_virtual_warp": Method(
        dynamic_virtual_warp.expand,
        "Dynamic virtual warps: the group's size follows the workload; huge items go to a "
        "child kernel",
        paper="busato2015bfs4k",
        work="O(items x size + units)",
    ),
    "cta_warp_scan": Method(
        cta_warp_scan.expand,
        "CTA + warp + scan: the block takes huge items together, a warp large ones, a "
        "scan the rest",
        paper="merrill2012scalable",
        work="O(items + units)",
    ),
    "direct_search": Method(
        direct_search.expand,
        "Direct search: one thread per unit, each with a binary search over all offsets",
        paper="busato2017chapter",
        work="O(units log(items))",
    ),
    "local_warp_search": Method(
        local_warp_search.expand,
        "Local warp search: a warp loads 32 items at once, where each lane finds its unit's item",
        paper="davidson2014workefficient",
        work="O(items + units)",
    ),
    "block_search": Method(
        block_search.expand,
        "Block search: a block takes a row of items and splits their units evenly over its threads",
        paper="davidson2014workefficient",
        work="O(items + units)",
    ),
    "two_phase": Method(
        two_phase.expand,
        "Two-phase search: cut the units into equal chunks, one per block; then every "
        "thread searches",
        paper="green2012gpu",
        work="O(items + units + chunks log(items))",
    ),
    "multi_phase": Method(
        multi_phase.expand,
        "Multi-phase search: two-phase, with a hybrid partition and an expansion that "
        "writes in order",
        paper="busato2017dynamic",
        work="O(items + units + chunks log(items))",
    ),
    "merge_path": Method(
        merge_path.expand,
        "Merge path: items and units as one path, on which all threads walk equally many steps",
        paper="davidson2014workefficient",
        work="O(items + units + tiles log(items))",
    ),
    "max_scan": Method(
        max_scan.expand,
        "Max scan: items mark their first units in a tile; the last mark so far gives a "
        "unit's owner",
        paper="baxter2013moderngpu",
        work="O(items + units + blocks log(items))",
    ),
}


def expand(
    offsets: ArrayLike,
    method: str = "max_scan",
    *,
    values: ArrayLike | None = None,
    threads: int = THREADS,
    device: Device | None = None,
    **options: Any,
) -> Mapping:
    """Visit every unit of a workload once, by one of the mapping techniques.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        Exclusive prefix sum of the items' sizes with the number of units at its end: item i owns
        the units ``offsets[i]`` to ``offsets[i + 1] - 1``. Items may be empty.
    method : str
        One of the methods below; ``gk.methods("expand")`` returns a table of them. The default is
        the fastest one for writing items, whatever their sizes are.
    values : array_like of int32, int64, float32 or float64, shape (units,), optional
        If given, the values of each item's units are read and added up (the read direction);
        otherwise the item of each unit is written.
    threads : int
        Threads per block, a multiple of 32 up to 1024.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.
    **options
        Options of the method, such as ``warp_size=8`` of ``"virtual_warp"``; see below.

    Returns
    -------
    Mapping
        ``item`` or ``total``, and ``stats``.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If `offsets`, `values`, `threads`, `device` or an option has a value that is not allowed, or
        if there are 2^31 units or more. Nothing has been launched then.
    TypeError
        If the method does not take an option.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.expand([0, 2, 2, 5]).item
    array([0, 0, 2, 2, 2], dtype=int32)
    >>> gk.expand([0, 2, 2, 5], "virtual_warp", warp_size=4, values=[1, 2, 3, 4, 5]).total
    array([ 3,  0, 12])
    """
    technique, options = driver_of("expand", METHODS, method, {"threads": threads, **options})
    threads = check_threads(options["threads"])
    device = chosen_device(device)
    load = upload(offsets, values, device)
    done = technique(load, device, **options)
    stats = {"method": method, "threads": threads, "units": load.units, "items": load.items, **done}
    item, total = (None if a is None else device.read(a) for a in (load.item, load.total))
    return Mapping(item, total, Stats(stats))


expand.__doc__ = help_text(expand.__doc__, METHODS)

__all__ = ["METHODS", "Mapping", "expand"]
