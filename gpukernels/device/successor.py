"""Kernels of numba-cuda as its successor compiles them, numba-cuda-mlir.

numba-cuda is in maintenance and refuses NumPy 2.5. A kernel is written for ``numba.cuda`` and knows
no other compiler. For the successor its Python function is compiled again, with other globals. The
successor's names replace those of numba: the module ``cuda``, the types of numbers, and the device
functions that the kernel calls, each of them made in the same way.

The differences are here and in :mod:`.successor_code`. Version 0.6.0 lacks code for
``lanemask_lt``, fences, ``x.view(float32)``, ``min`` of three, ``atomic.cas`` with a constant, and
for named tuples that a kernel makes. Some of its code is wrong without a word (tried in November
2026):

- of two unsigned numbers ``min`` and ``max`` and the atomics of these names find the least and the
  largest as if they had a sign;
- an atomic widens a negative int32 by zeros where the array is of int64;
- an atomic takes a shared array that comes out of a tuple for one in global memory;
- a shuffle passes on the low half of an int64, and a float64 as a float32;
- dynamic shared memory lies on static arrays of the block, and a second view of it is empty;
- what it keeps on a disk of a kernel with a grid sync forgets that all blocks must be resident.

All that is put right. Not put right is an index that is a uint32 of 2^31 or more, which is taken
for a negative one, and a call with ``*arguments``, which is refused.
"""

from __future__ import annotations

import inspect
import os
import types
from typing import Any
from weakref import WeakKeyDictionary

import numba
from numba import cuda

from gpukernels.cores.kept_code import keep

from . import successor_code

COMPILERS = "numba-cuda", "numba-cuda-mlir"
#: The successor's counterpart of each of numba's functions.
_counterparts: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def is_chosen() -> bool:
    """Return whether ``GPUKERNELS_COMPILER`` asks for the successor.

    Raises
    ------
    ValueError
        If it names neither compiler.
    """
    wanted = os.environ.get("GPUKERNELS_COMPILER") or COMPILERS[0]
    if wanted not in COMPILERS:
        allowed = " and ".join(map(repr, COMPILERS))
        raise ValueError(f"GPUKERNELS_COMPILER={wanted!r}; allowed are {allowed}")
    return wanted == COMPILERS[1]


def of_successor(jitted: Any) -> Any:
    """Return a kernel, or a device function, as the successor compiles it.

    Parameters
    ----------
    jitted : Dispatcher
        The result of ``@cuda.jit``.

    Returns
    -------
    Dispatcher
        The successor's; for each call the same one.

    Raises
    ------
    MissingTool
        If the successor is not installed.
    """
    if jitted not in _counterparts:
        target_options, function = jitted.targetoptions, jitted.py_func
        names = ("device", "fastmath", "launch_bounds")
        options = {name: target_options[name] for name in names if target_options.get(name)}
        # Shared memory is refused in a function that is not inlined.
        if target_options.get("device") and _shares(function):
            options["inline"] = "always"
        its = successor_code.compiler()
        _counterparts[jitted] = its.cuda.jit(**options)(_renamed(function))
        if not target_options.get("device"):
            keep(_counterparts[jitted], its.cache)
    return _counterparts[jitted]


def _shares(function: Any) -> bool:
    """Return whether a Python function, or one that it calls, has shared memory."""
    names = inspect.getclosurevars(function)
    called = (value for known in (names.globals, names.nonlocals) for value in known.values())
    return "shared" in function.__code__.co_names or any(
        _shares(value.py_func) for value in called if hasattr(value, "targetoptions")
    )


def _renamed(function: Any) -> Any:
    """Return a copy of a Python function that knows the successor's names."""
    names = inspect.getclosurevars(function)
    known = {name: _its(value) for name, value in names.globals.items()}
    known["__name__"] = function.__module__
    inner = function.__code__.co_freevars
    cells = tuple(types.CellType(_its(names.nonlocals[name])) for name in inner)
    renamed = types.FunctionType(function.__code__, known, None, function.__defaults__, cells)
    renamed.__qualname__ = function.__qualname__
    return renamed


def _its(value: Any) -> Any:
    """Return the successor's counterpart of a value that a kernel names."""
    if value is cuda:
        return successor_code.compiler().cuda
    if isinstance(value, numba.types.Type):
        return successor_code.type_of(value)
    if hasattr(value, "targetoptions"):
        return of_successor(value)
    if hasattr(value, "instruction"):
        return successor_code.instruction(value.py_func.__name__, *value.instruction)
    if isinstance(value, type) and issubclass(value, tuple):
        successor_code.named_tuple(value)
    return value
