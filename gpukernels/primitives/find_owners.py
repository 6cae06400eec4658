"""Find the owners of many units, one thread per unit, by a given search.

One search alone, to be tested, studied and counted, as in the comparison of
[busato2017loadbalancing], section III-A. `gpukernels.mapping` uses the same searches.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from gpukernels.checks import as_array
from gpukernels.device import chosen_device
from gpukernels.errors import InvalidArgument

from .launch_shape import THREADS, WARP_SIZE, blocks_for, check_threads
from .offsets import check_offsets
from .searches import (
    binary_search_two_sided,
    guarded_interpolation_owner,
    interpolation_owner,
    upper_owner,
    warp_owner,
)


@cuda.jit
def find_two_sided(offsets, units, owner):
    """Find the owner of every one of `units` by the two-sided binary search."""
    i = cuda.grid(1)
    if i < units.size:
        owner[i] = binary_search_two_sided(offsets, 0, offsets.size - 1, units[i])


@cuda.jit
def find_one_sided(offsets, units, owner):
    """Find the owner of every one of `units` by binary search with one read per step."""
    i = cuda.grid(1)
    if i < units.size:
        owner[i] = upper_owner(offsets, 0, offsets.size - 1, units[i])


@cuda.jit
def find_interpolation(offsets, units, owner):
    """Find the owner of every one of `units` by interpolation."""
    i = cuda.grid(1)
    if i < units.size:
        owner[i] = interpolation_owner(offsets, 0, offsets.size - 1, units[i])


@cuda.jit
def find_guarded(offsets, units, owner):
    """Find the owner of every one of `units` by a few guesses, then by halving."""
    i = cuda.grid(1)
    if i < units.size:
        owner[i] = guarded_interpolation_owner(offsets, 0, offsets.size - 1, units[i])


@cuda.jit
def find_register(offsets, units, owner):
    """Find the owner of every one of `units` among at most 32 items, held in registers."""
    i, lane, items = cuda.grid(1), cuda.laneid, offsets.size - 1
    before, unit = offsets[min(lane, items)], int32(-1)
    if i < units.size:
        unit = units[i]
    # A lane without an item holds the total, which is more than any unit.
    found = warp_owner(before, unit)
    if i < units.size:
        owner[i] = found


SEARCHES = {
    "two_sided": find_two_sided,
    "one_sided": find_one_sided,
    "interpolation": find_interpolation,
    "guarded": find_guarded,
    "register": find_register,
}


def find_owners(
    offsets, units, search: str = "one_sided", *, threads: int = THREADS, device=None
) -> np.ndarray:
    """Find the item that owns each of `units`.

    Parameters
    ----------
    offsets : array_like of int, shape (items + 1,)
        Exclusive prefix sum of the items' sizes, with the number of units at the end.
    units : array_like of int, shape (k,)
        Units to look up, from 0 to ``offsets[-1] - 1``.
    search : {"two_sided", "one_sided", "interpolation", "guarded", "register"}
        The search. "guarded" is interpolation that stops guessing in time; "register" keeps the
        offsets of at most 32 items in a warp's registers.
    threads : int
        Threads per block, a multiple of 32.
    device : SimtDevice or CudaDevice, optional
        Where kernels run; by default :func:`gpukernels.default_device`.

    Returns
    -------
    ndarray of int32, shape (k,)
        For each unit, the last item i with ``offsets[i] <= unit``.

    Raises
    ------
    InvalidArgument
        If `offsets` is not such a sum, a unit does not exist, or `search` is not one of these.
    """
    check_threads(threads)
    if isinstance(search, str) and search == "lower_bound":
        search = "one_sided"  # its earlier name
    if not isinstance(search, str) or search not in SEARCHES:
        raise InvalidArgument("search", search, f"one of {tuple(SEARCHES)}")
    offsets = check_offsets(offsets)
    if search == "register" and offsets.size - 1 > WARP_SIZE:
        allowed = f"at most {WARP_SIZE} where search = 'register'"
        raise InvalidArgument("items", offsets.size - 1, allowed)
    units = _check_units(units, int(offsets[-1]))
    device = chosen_device(device)
    owner = device.empty(units.size, np.int32)
    arrays = device.array(offsets), device.array(units), owner
    device.launch(SEARCHES[search], blocks_for(units.size, threads), threads, *arrays)
    return device.read(owner)


def _check_units(units, end: int) -> np.ndarray:
    units = as_array("units", units)
    if units.size == 0:
        return np.zeros(0, np.int32)
    if units.ndim != 1:
        raise InvalidArgument("units.shape", units.shape, "1-D")
    if units.dtype.kind not in "iu":
        raise InvalidArgument("units.dtype", units.dtype.name, "an integer type")
    wrong = np.flatnonzero((units < 0) | (units >= end))
    if wrong.size:
        i = int(wrong[0])
        raise InvalidArgument(f"units[{i}]", int(units[i]), f"from 0 to {end - 1}")
    return units.astype(np.int32)
