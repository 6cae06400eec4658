"""Numbers that may be None, against numba's compiler for the CPU."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from launching import function_from, launched
from numba import cuda

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError

COMMON = """
@jit
def half(x):
    if x < 0:
        return None
    return x * 2

@jit
def falls_through(x):
    if x > 0:
        return 5

@jit
def in_a_loop(x):
    while True:
        if x > 3:
            return x
        x += 2

@jit
def mixed(x):
    if x < 0:
        return None
    if x < 5:
        return 1
    return 2.5

@jit
def passes_on(x):
    return half(x - 2)

@jit
def none_is_zero(v):
    if v is None:
        return 0
    return v
"""
FUNCTIONS = {
    "tested": "    v = half(x)\n    if v is not None:\n        return v\n    return -1",
    "tested by an operator": "    v = half(x)\n    return -1 if v == None else v + 1",
    "both at once": "    v = half(x)\n    return v is not None and v > 3",
    "the number": "    return half(x) + 1",
    "a comparison": "    return half(x) == 4",
    "the end of a function": "    return falls_through(x) is None",
    "a loop without an end": "    return in_a_loop(x) * 2",
    "two types": "    v = mixed(x)\n    return -5.0 if v is None else v",
    "through a second function": "    v = passes_on(x)\n    return -1 if v is None else v",
    "as an argument": "    return none_is_zero(half(x)) + none_is_zero(None)",
    "a variable": (
        "    v = None\n    if x >= 0:\n        v = x * 2\n"
        "    if v is None:\n        return -1\n    return v"
    ),
    "None after a number": (
        "    v = x\n    if x < 2:\n        v = None\n    return 7 if v is None else v"
    ),
    "in a loop": (
        "    best = None\n    for i in range(x):\n        if best is None or i * i % 7 > best:\n"
        "            best = i * i % 7\n    return -1 if best is None else best"
    ),
    "a conditional expression": "    v = None if x < 0 else x\n    return v is None",
}
VALUES = np.array([-3, -1, 0, 1, 2, 3, 5, 8])


def functions(body):
    text = f"{COMMON}\n@jit\ndef f(x):\n{body}\n"
    return [function_from(text, "f", {"jit": jit}) for jit in (numba.njit, cuda.jit(device=True))]


def expected(function, x):
    try:
        return float(function(x))
    except TypeError:  # expected int64, got None
        return None


@pytest.mark.parametrize("body", FUNCTIONS.values(), ids=FUNCTIONS)
def test_results_are_those_of_the_compiler(body, scheduled_device):
    on_cpu, f = functions(body)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = f(a[i])

    wanted = [expected(on_cpu, int(x)) for x in VALUES]
    fine = VALUES[[w is not None for w in wanted]]
    _, out = launched(scheduled_device, kernel, 1, 32, fine, np.full(fine.size, -99.0))
    np.testing.assert_array_equal(out, [w for w in wanted if w is not None])
    for x in VALUES[[w is None for w in wanted]]:
        with pytest.raises(KernelTypeError, match="is None for this thread"):
            launch(kernel, 1, 1, (np.array([x]), np.zeros(1)))


@cuda.jit(device=True)
def array_or_none(a, x):
    if x < 0:
        return None
    return a


@cuda.jit
def takes_an_array_or_none(a):
    b = array_or_none(a, a[0])
    if b is not None:
        b[0] = 1


def test_arrays_that_may_be_none_are_refused_by_name():
    with pytest.raises(KernelTypeError, match="numbers that may be None, and neither arrays"):
        launch(takes_an_array_or_none, 1, 1, (np.zeros(2, int),))
