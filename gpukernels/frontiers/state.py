"""Named tuples that kernels take: what belongs together is one argument.

numba and the SIMT machine hand the items over one by one, so a tuple costs a thread nothing; a
trace names an array by its field.
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
    """The queue that a launch fills for the next one; what has no room there is counted only."""

    next_frontier: Any  #: its items: vertices, or what else a search enqueues
    next_size: Any  #: counters, int32 or int64, how many items there are first: see `counts`


class Local(NamedTuple):
    """What a thread has found and not enqueued yet: arrays of its own, made in a kernel."""

    found: Any  #: the items; `LOCAL` of them have room
    held: Any  #: how many there are, first; a search may count more behind it


@kernel_argument
class Writes(NamedTuple):
    """How a warp writes its lanes' queues: see `enqueue`."""

    coalesce_from: int  #: mean length from which they are written side by side
    binary_scan: bool  #: whether a ballot is the scan where no lane holds more than one item
