"""Values from outside of a kernel are fixed by its first launch, as by numba's compilation."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numpy as np
import pytest
from launching import function_from
from numba import cuda

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import LaunchError

SCHEDULES = ("lockstep", "warp", "random")
#: Expressions of a value that a kernel takes from outside, and what is in its namespace.
SOURCES = {
    "array": "values[i]",
    "tuple of arrays": "pair[1][i]",
    "attribute": "space.values[i]",
    "number": "number + i",
    "device function": "through(i)",
}
TEXT = """
@jit
def through(i):
    return values[i] * 2

@jit
def f(x, i):
    return {source} + x
"""


def compiled(source, jit):
    values, other = np.array([10, 25, 5]), np.array([1, 2, 3])
    space = {
        "jit": jit,
        "values": values,
        "pair": (other, values),
        "space": SimpleNamespace(values=values) if jit is not numba.njit else None,
        "number": 7,
    }
    return function_from(TEXT.format(source=source), "f", space), space


def kernel_of(f):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = f(a[i], i)

    return kernel


def changed(function, space):
    space["values"][:] = [20, 50, 10]
    function.py_func.__globals__["number"] = 100


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_changes_after_the_first_launch_are_not_seen(source):
    f, space = compiled(source, cuda.jit(device=True))
    kernel, a, first = kernel_of(f), np.arange(3), np.zeros(3, int)
    launch(kernel, 1, 32, (a, first))
    changed(f, space)
    for schedule in SCHEDULES:
        for recorder in (None, Recorder()):
            out = np.zeros(3, int)
            launch(kernel, 1, 32, (a, out), schedule=schedule, recorder=recorder)
            np.testing.assert_array_equal(out, first)
    if source != SOURCES["attribute"]:  # numba's compiler for the CPU takes no such object
        on_cpu, space = compiled(source, numba.njit)
        wanted = [on_cpu(int(x), i) for i, x in enumerate(a)]
        changed(on_cpu, space)
        assert wanted == [on_cpu(int(x), i) for i, x in enumerate(a)] == first.tolist()


def test_arguments_of_other_types_are_a_compilation_of_their_own():
    results = []
    for jit in (cuda.jit(device=True), numba.njit):
        f, space = compiled(SOURCES["array"], jit)
        kernel = kernel_of(f)
        for a in (np.zeros(3, int), np.zeros(3), np.zeros(3, int)):
            if jit is numba.njit:
                results.append([f(a[i], i) for i in range(3)])
            else:
                out = np.zeros(3)
                launch(kernel, 1, 32, (a, out))
                results.append(out.tolist())
            changed(f, space)
    assert results[:3] == results[3:] == [[10, 25, 5], [20, 50, 10], [10, 25, 5]]


TABLE = np.array([1.0, 2.0, 3.0])


@cuda.jit
def reads_constant_memory(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[i]


def test_constant_memory_is_filled_once():
    for _ in range(2):
        out = np.zeros(3)
        launch(reads_constant_memory, 1, 32, (out,))
        assert out.tolist() == [1, 2, 3]
        TABLE[:] = 9


@pytest.mark.parametrize("size", [8_192, 8_193])
def test_constant_memory_has_64_kilobytes(size):
    large = np.ones(size)

    @cuda.jit
    def kernel(out):
        out[0] = large[out.size - 1]

    if size == 8_192:
        launch(kernel, 1, 1, (np.zeros(1),))
        return
    with pytest.raises(LaunchError, match=r"65,544 bytes; constant memory.* has 65,536"):
        launch(kernel, 1, 1, (np.zeros(1),))
