"""Device functions with an explicit signature; plain functions, which numba does not call."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from launching import line_of
from numba import cuda

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError, UnsupportedConstruct


@pytest.fixture
def with_signature(monkeypatch):
    """Return ``cuda.jit`` for device functions with a signature, which else asks for a GPU."""
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

    with pytest.raises(KernelTypeError, match="no signature of `<lambda>` takes"):
        launch(kernel, 1, 1, (np.zeros(3),))


@cuda.jit
def calls_a_plain_function(a):
    a[0] = doubled(a[1])


@cuda.jit
def calls_libdevice(a):
    a[0] = cuda.libdevice.sqrt(a[1])


def test_a_plain_function_is_refused_as_numba_refuses_it():
    with pytest.raises(KernelTypeError, match="`doubled` is a plain Python function") as caught:
        launch(calls_a_plain_function, 1, 1, (np.zeros(3),))
    assert caught.value.line == line_of(calls_a_plain_function, "doubled")


def test_libdevice_is_refused_by_name():
    with pytest.raises(UnsupportedConstruct, match=r"`cuda\.libdevice\.sqrt` is none of the"):
        launch(calls_libdevice, 1, 1, (np.zeros(3),))
