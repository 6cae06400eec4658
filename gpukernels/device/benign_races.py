"""Declarations of races that are benign by design, next to their kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gpukernels import simt

Kernel = TypeVar("Kernel")


def benign_race(*arrays: str) -> Callable[[Kernel], Kernel]:
    """Declare that races on these arrays are benign; goes above ``@cuda.jit``.

    The kernel's docstring says why. The declaration changes nothing about how the kernel runs.

    Parameters
    ----------
    *arrays : str
        Names of the kernel's parameters or of its shared arrays; of an array in a named tuple, the
        field of the class by which the parameter is annotated.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> import gpukernels as gk
    >>> @gk.benign_race("found")
    ... @cuda.jit
    ... def find(a, wanted, found):
    ...     # Every thread that finds it stores the same 1: their order does not matter.
    ...     i = cuda.grid(1)
    ...     if i < a.size and a[i] == wanted:
    ...         found[0] = 1
    >>> found = np.zeros(1, np.int32)
    >>> gk.SimtDevice(check=True).launch(find, 1, 32, np.array([4, 7, 7]), 7, found)
    >>> found
    array([1], dtype=int32)
    """

    def declare(kernel: Kernel) -> Kernel:
        function = simt.python_function(kernel)
        kinds = [function.__globals__.get(k, k) for k in function.__annotations__.values()]
        fields = {field for kind in kinds for field in getattr(kind, "_fields", ())}
        unknown = set(arrays) - set(function.__code__.co_varnames) - fields
        if unknown:
            raise ValueError(f"benign_race: {function.__name__} has no array {sorted(unknown)}")
        function.__benign_races__ = frozenset(arrays)
        return kernel

    return declare
