"""Named tuples that kernels take: arguments that belong together are one argument.

numba and the SIMT machine pass the items one by one, so a tuple costs a thread nothing; a trace
names an array by its field.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numba

from gpukernels.device.cuda_arguments import kind_of

_known: dict[tuple, Any] = {}


def kernel_argument(kind):
    """Decorate a NamedTuple class so that numba examines each of its instances only once.

    Every launch needs the type of each argument, and numba computes a tuple's type each time. On an
    H100, a launch with three tuples of eight arrays took 156 microseconds, and 80 without tuples.
    But numba first reads ``_numba_type_``, which a tuple with a ``__dict__`` can store: 68, and 55
    without tuples, on an H200. The values passed on are stored, too: see `cuda_arguments`.
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
    """The queue that a launch fills for the next one; items without room are only counted."""

    next_frontier: Any  #: its items: vertices, or other entries of a search
    next_size: Any  #: counters, int32 or int64; the first is the number of items: see `counts`


class Local(NamedTuple):
    """The items that a thread has found and not yet enqueued: its own arrays, made in a kernel."""

    found: Any  #: the items, at most `LOCAL`
    held: Any  #: first their number; a search may have further counts after it


@kernel_argument
class Writes(NamedTuple):
    """How a warp writes its lanes' queues: see `enqueue`."""

    coalesce_from: int  #: mean length from which lanes write side by side
    binary_scan: bool  #: whether a ballot is the scan if no lane holds more than one item
