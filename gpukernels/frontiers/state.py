"""What kernels of several searches take together: a queue, and a thread's own queue before it.

A kernel takes what belongs together as one argument, a named tuple of arrays and numbers; numba and
the SIMT machine hand its items over one by one, so it costs a thread nothing. A trace names an
array by its field.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba

_known: dict[tuple, Any] = {}


def kernel_argument(kind):
    """Have numba find the types of `kind`, a NamedTuple class, quickly; a decorator.

    A launch asks for the type of each argument. Of a named tuple of arrays on a GPU numba makes it
    anew every time: three tuples of eight arrays took a launch on an H100 from 80 to 156
    microseconds. It looks for ``_numba_type_`` first, which here remembers.
    """
    kind._numba_type_ = property(_type_of)
    return kind


def _type_of(state):
    key = (type(state), *map(_kind_of, state))
    if key not in _known:
        _known[key] = numba.typeof(state)
    return _known[key]


def _kind_of(item):
    """Return what the type of `item` hangs on."""
    if hasattr(item, "is_c_contiguous") and item.is_c_contiguous():
        return item.dtype, item.ndim
    return item._numba_type_ if isinstance(item, tuple) else numba.typeof(item)


@kernel_argument
class Queue(NamedTuple):
    """The queue that a launch fills for the next one.

    Attributes
    ----------
    next_frontier : device array
        Its items: vertices, or what else a search enqueues. What has no room is counted only.
    next_size : device array of int32 or int64
        Counters, how many items there are first: see :mod:`.counts`.
    """

    next_frontier: Any
    next_size: Any


class Local(NamedTuple):
    """What a thread has found and not enqueued yet; made in a kernel.

    Attributes
    ----------
    found : local array
        The items; `LOCAL` of them have room.
    held : local array of int32
        How many there are, first; a search may count more behind it.
    """

    found: Any
    held: Any


@kernel_argument
class Writes(NamedTuple):
    """How a warp writes its lanes' queues: see :mod:`.enqueue`.

    Attributes
    ----------
    coalesce_from : int
        Mean length from which they are written side by side.
    binary_scan : bool
        Whether a ballot is the scan where no lane holds more than one item.
    """

    coalesce_from: int
    binary_scan: bool
