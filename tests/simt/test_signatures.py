"""Device functions with an explicit signature; plain functions, which numba does not call."""

from __future__ import annotations

import importlib
import itertools
import math
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from launching import failure
from numba import cuda

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import KernelError, KernelTypeError, UnsupportedConstruct


@pytest.fixture
def with_signature(monkeypatch):
    """Return ``cuda.jit`` for device functions with a signature, which otherwise needs a GPU."""
    device = SimpleNamespace(compute_capability=(8, 0))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    return lambda signature, function: cuda.jit(signature, device=True)(function)


def doubled(x):
    return x * 2


def test_arguments_and_result_are_cast_as_the_signature_has_them(with_signature):
    narrow = with_signature("int32(int32)", doubled)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = narrow(a[i])

    a = np.array([3, 2**30, 2**32 + 5])
    out = np.zeros(3, np.int64)
    launch(kernel, 1, 3, (a, out))
    assert out.tolist() == [6, -(2**31), 10]


def test_the_best_of_several_signatures_is_taken(with_signature):
    either = with_signature(["int64(int64)", "float32(float32)"], doubled)

    @cuda.jit
    def kernel(a, b, out):
        out[0] = either(a[0]) / 4
        out[1] = either(b[0]) / 4

    out = np.zeros(2)
    launch(kernel, 1, 1, (np.array([3], np.int16), np.array([1.3], np.float32), out))
    assert out.tolist() == [1.5, np.float32(2.6) / 4]


def test_an_array_must_be_of_the_declared_type(with_signature):
    first = with_signature("float32(float32[:])", lambda a: a[0])

    @cuda.jit
    def kernel(a):
        a[0] = first(a)

    failure(KernelTypeError, kernel, 1, 1, np.zeros(3), match="no signature of `<lambda>` takes")


RECURSIVE = """from numba import cuda, int64


@cuda.jit("int64(int64)", device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@cuda.jit("int64(int64, int64)", device=True)
def divisor(a, b):
    if b == 0:
        return a
    return divisor(b, a % b)


@cuda.jit
def kernel(a, out, common):
    i = cuda.grid(1)
    out[i] = factorial(i % 14)
    common[i] = divisor(a[i], 360)
"""

ENDLESS = """from numba import cuda


@cuda.jit("int64(int64)", device=True)
def falls(n):
    if n < 0:
        return 0
    return falls(n + 1)


@cuda.jit
def kernel(out):
    out[0] = falls(0)
"""

KEEPS = """from numba import cuda, int64


@cuda.jit("int64(int64)", device=True)
def keeps(n):
    kept = cuda.local.array(2, int64)
    kept[0] = n
    if n > 0:
        kept[0] += keeps(n - 1)
    return kept[0]


@cuda.jit
def kernel(out):
    out[0] = keeps(3)
"""


@pytest.fixture
def imported(with_signature, tmp_path, monkeypatch):
    """Return a function that imports the kernel of a text, as numba needs it for recursion."""
    names = itertools.count()

    def import_from(text):
        name = f"recursive_{tmp_path.name}_{next(names)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name).kernel

    return import_from


def test_a_function_with_a_signature_may_call_itself(imported, schedule):
    kernel = imported(RECURSIVE)
    a = np.arange(1, 71)
    out, common = np.zeros(70, np.int64), np.zeros(70, np.int64)
    recorder = Recorder()
    launch(kernel, 1, 70, (a, out, common), schedule=schedule, recorder=recorder)
    products = np.array([math.factorial(i % 14) for i in range(70)])
    np.testing.assert_array_equal(out, products)
    np.testing.assert_array_equal(common, np.gcd(a, 360))
    steps = recorder.trace.steps
    calls = steps.mask[steps.line == RECURSIVE.splitlines().index("    if n < 2:") + 1]
    assert len(calls) == 3 * 13  # per warp, one for every depth that one of its lanes reaches
    ptx, _ = cuda.compile_ptx(kernel.py_func, tuple(map(numba.typeof, (a, out, common))), cc=(8, 0))
    assert "factorial" in ptx


def test_recursion_without_an_end_is_an_error(imported):
    with pytest.raises(KernelError, match="until the stack was full"):
        launch(imported(ENDLESS), 1, 1, (np.zeros(1, np.int64),))


def test_a_local_array_of_a_function_that_calls_itself_is_refused(imported):
    failure(UnsupportedConstruct, imported(KEEPS), 1, 1, np.zeros(1, np.int64), match="local array")
