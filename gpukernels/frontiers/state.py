"""Named tuples that kernels take: what belongs together is one argument.

numba and the SIMT machine hand the items over one by one, so a tuple costs a thread nothing; a
trace names an array by its field.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numba

from gpukernels.device.cuda_arguments import kind_of

_known: dict[tuple, Any] = {}


def kernel_argument(kind):
    """Have numba look through a NamedTuple class's instances once; a decorator.

    Every launch asks for the type of each argument, and numba makes that of a tuple each time:
    with three tuples of eight arrays a launch on an H100 took 156 microseconds, and 80 with these
    one by one. It looks for ``_numba_type_`` before, which a tuple with a ``__dict__`` can keep: 68
    beside 55, on an H200. What numba hands over for a tuple is kept beside: see `cuda_arguments`.
    """
    named = {
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "_numba_type_": functools.cached_property(_type_of),
        "_handed_over": functools.cached_property(lambda state: []),
    }
    return type(kind.__name__, (kind,), named)


def _type_of(state):
    key = (type(state), *map(kind_of, state))
    if key not in _known:
        _known[key] = numba.typeof(state)
    return _known[key]


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
