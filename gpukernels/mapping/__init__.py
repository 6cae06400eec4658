"""Work mapping: which threads take which units of which items, one technique a file.

A workload is a row of *items* (vertices of a frontier, rows of a matrix), each of a number of
*units* (its arcs, its nonzeros), given by the prefix sum of their sizes. Every technique is a
device function that calls a *visit* once for each unit, so that other kernels build on it; `expand`
runs one by name.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from gpukernels.device import Device, chosen_device
from gpukernels.graphs.stats import Stats
from gpukernels.methods import driver_of, help_text
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
    "work_item_to_thread": work_item_to_thread.expand,
    "virtual_warp": virtual_warp.expand,
    "dynamic_virtual_warp": dynamic_virtual_warp.expand,
    "cta_warp_scan": cta_warp_scan.expand,
    "direct_search": direct_search.expand,
    "local_warp_search": local_warp_search.expand,
    "block_search": block_search.expand,
    "two_phase": two_phase.expand,
    "multi_phase": multi_phase.expand,
    "merge_path": merge_path.expand,
    "max_scan": max_scan.expand,
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
        the units ``offsets[i]`` to ``offsets[i + 1] - 1``. Empty items are welcome.
    method : str
        One of those below; ``gk.methods("expand")`` is a table of them. The default is the fastest
        to write items, whatever their sizes.
    values : array_like of int32, int64, float32 or float64, shape (units,), optional
        If given, the values of each item's units are read and added up (the read direction);
        otherwise the item of each unit is written.
    threads : int
        Threads a block, a multiple of 32 up to 1024.
    device : SimtDevice or CudaDevice, optional
        Where to run; by default :func:`gpukernels.default_device`.
    **options
        What the method takes beside, such as ``warp_size=8`` of ``"virtual_warp"``; see below.

    Returns
    -------
    Mapping
        ``item`` or ``total``, and ``stats``.

    Raises
    ------
    UnknownMethod
        If there is no such method.
    InvalidArgument
        If `offsets`, `values`, `threads`, `device` or an option has a value that is not allowed;
        2^31 units and more are not. Nothing has been launched then.
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
