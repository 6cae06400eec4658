"""Keep numba's form of a kernel's arguments for the next launch.

At every launch numba converts each argument to the form that a kernel takes, for an array its
pointer, shape and strides. For six arrays that was half the time of a launch. But an array of a
device never changes these, nor does a named tuple of arrays. So they keep numba's form of
themselves in a list called ``_handed_over``, which is empty at first. A compiled kernel keeps the
form of its integers. All other arguments are left to numba.

numba has no public place for this. Its `_prepare_args` is the same in the versions 0.22 to 0.30;
where it is not there, or takes something else, nothing is kept, and a launch is as slow as it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numba

#: The parameters of numba's method.
PARAMETERS = ["ty", "val", "stream", "retr", "kernelargs"]
#: So many whole numbers are kept by a compiled kernel.
MOST_NUMBERS = 1000


class Launch:
    """A configured kernel whose compiled variants look at what arguments have kept.

    Parameters
    ----------
    kernel : Dispatcher
        A kernel made by ``@cuda.jit``.
    configured : callable
        ``kernel[blocks, threads, stream, shared]``.
    """

    def __init__(self, kernel: Any, configured: Callable[..., None]):
        self._configured, self._known = configured, 0
        self._variants = getattr(kernel, "overloads", {})

    def __call__(self, *args: Any) -> None:
        """Launch."""
        self._configured(*args)
        if len(self._variants) != self._known:  # to go through them takes half a launch
            self._known = len(self._variants)
            for variant in self._variants.values():
                remember(variant)


def remember(variant: Any) -> None:
    """Have a compiled kernel look at what arguments have kept, if numba's is as known."""
    if "_prepare_args" in variant.__dict__ or not _is_known(type(variant)):
        return
    make = variant._prepare_args
    numbers: dict[tuple[int, int], list] = {}

    def prepare(ty, val, stream, retr, kernelargs):
        if type(val) is int:
            if len(numbers) >= MOST_NUMBERS:
                numbers.clear()
            # The variant keeps its types alive; the id of one is a faster key than itself.
            remembered = numbers.setdefault((id(ty), val), [])
        else:
            remembered = getattr(val, "_handed_over", None)
        if remembered is None or variant.extensions:
            make(ty, val, stream, retr, kernelargs)
            return
        known, arguments = remembered[0] if remembered else (None, [])
        if known is not ty:
            later, arguments = len(retr), []
            make(ty, val, stream, retr, arguments)
            if len(retr) == later:  # else something is to be copied back after the launch
                remembered[:] = [(ty, arguments)]
        kernelargs.extend(arguments)

    variant._prepare_args = prepare


@cache
def _is_known(kind: type) -> bool:
    method = getattr(kind, "_prepare_args", None)
    return method is not None and list(inspect.signature(method).parameters)[1:] == PARAMETERS


def kind_of(argument: Any) -> Hashable:
    """Return the properties that decide numba's type of an argument, in less time than numba takes.

    Arguments of one kind are of one type.
    """
    kind = type(argument)
    if kind is bool or kind is float or (kind is int and abs(argument) < 1 << 31):
        return kind
    if hasattr(argument, "is_c_contiguous") and argument.is_c_contiguous():
        return argument.dtype, argument.ndim
    if hasattr(argument, "_handed_over"):
        return id(argument._numba_type_)  # which is kept for good: see `kernel_argument`
    return numba.typeof(argument)
