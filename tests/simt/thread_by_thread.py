"""Kernels with independent threads, and their results in plain Python.

`alone` puts a kernel and its arguments into `CASES`; ``test_thread_by_thread`` compares the machine
with Python on each of them. Python's integers do not overflow, so none may.
"""

from __future__ import annotations

import itertools
import types
from dataclasses import dataclass
from types import SimpleNamespace

import numba
import numpy as np


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and the allowed difference of its floats from Python's."""

    kernel: object
    blocks: object
    threads: object
    arguments: tuple
    near: dict


CASES: dict[str, Case] = {}


def alone(*arguments, blocks=1, threads=None, **near):
    """Return a decorator that puts a kernel into `CASES`, by default with one thread per row.

    The rows are those of the last array. `near` holds options of ``assert_allclose``.
    """

    def add(kernel):
        many = len(arguments[-1]) if threads is None else threads
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}".removeprefix("test_")
        name += f" {sum(key.split()[0] == name for key in CASES)}"
        CASES[name] = Case(kernel, blocks, many, arguments, near)
        return kernel

    return add


def thread_by_thread(kernel, blocks, threads, *arguments):
    """Return copies of `arguments` after all threads have run, one after another."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    function = kernel.py_func
    space = dict(function.__globals__)
    for name, value in space.items():
        if hasattr(value, "py_func"):
            space[name] = _within(space, value.py_func)
        elif isinstance(value, numba.types.Integer):
            space[name] = int
    function = _within(space, function)
    grid, block = ((*np.atleast_1d(shape).tolist(), 1, 1) for shape in (blocks, threads))
    with np.errstate(all="ignore"):
        for b in itertools.product(*(range(n) for n in grid[2::-1])):
            for t in itertools.product(*(range(n) for n in block[2::-1])):
                space["cuda"] = _cuda(b[::-1], t[::-1], grid[:3], block[:3])
                function(*copies)
    return copies


def _within(space, function):
    """Return `function` with the globals `space`."""
    name, defaults = function.__name__, function.__defaults__
    return types.FunctionType(function.__code__, space, name, defaults, function.__closure__)


def _cuda(block, thread, grid, threads):
    """Return the object that a thread sees as ``cuda``."""
    place = tuple(b * n + t for b, n, t in zip(block, threads, thread, strict=True))
    size = tuple(g * n for g, n in zip(grid, threads, strict=True))
    rank = thread[0] + threads[0] * (thread[1] + threads[1] * thread[2])

    def first(values):
        return lambda ndim: values[0] if ndim == 1 else values[:ndim]

    def axes(values):
        return SimpleNamespace(**dict(zip("xyz", values, strict=True)))

    def array(shape, dtype):
        return np.zeros(shape, getattr(dtype, "name", dtype))

    def bits(x):
        return f"{int(x):0{8 * x.itemsize}b}"

    return SimpleNamespace(
        grid=first(place),
        gridsize=first(size),
        threadIdx=axes(thread),
        blockIdx=axes(block),
        blockDim=axes(threads),
        gridDim=axes(grid),
        laneid=rank % 32,
        shared=SimpleNamespace(array=array),
        local=SimpleNamespace(array=array),
        const=SimpleNamespace(array_like=lambda a: a),
        atomic=SimpleNamespace(add=_atomic_add),
        fma=lambda x, y, z: x * y + z,
        cbrt=np.cbrt,
        popc=lambda x: bits(x).count("1"),
        clz=lambda x: len(bits(x)) - int(x).bit_length(),
        ffs=lambda x: len(bits(x)) - bits(x).rindex("1") if x else 0,
        brev=lambda x: int(bits(x)[::-1], 2),
        selp=lambda condition, x, y: x if condition else y,
    )


def _atomic_add(array, index, value):
    array[index] += value
