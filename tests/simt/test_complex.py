"""Complex numbers: values against NumPy at numba's types, and against ``cmath``."""

from __future__ import annotations

import cmath

import numpy as np
import pytest
from numba import cuda
from thread_by_thread import alone

from gpukernels.simt import Recorder, launch, uninitialized
from gpukernels.simt.errors import RaceError, UninitializedRead

RNG = np.random.default_rng(3)
SCHEDULES = ("lockstep", "warp", "random")


def numbers(n, dtype):
    return (RNG.normal(0, 2, n) + 1j * RNG.normal(0, 2, n)).astype(dtype)


@cuda.jit
def operators(z, w, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i, 0] = z[i] + w[i]
        out[i, 1] = z[i] - w[i]
        out[i, 2] = z[i] * w[i]
        out[i, 3] = z[i] / w[i]
        out[i, 4] = z[i] ** w[i]
        out[i, 5] = -z[i]
        out[i, 6] = z[i].conjugate()
        out[i, 7] = complex(z[i].real, w[i].imag)
        out[i, 8] = abs(z[i])
        if z[i]:
            out[i, 9] = (z[i] == w[i]) + 2 * (z[i] != w[i])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("other", [np.complex64, np.complex128, np.float32, np.int32])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_operators(schedule, dtype, other):
    z = numbers(37, dtype)
    w = numbers(37, other) if np.dtype(other).kind == "c" else RNG.integers(1, 4, 37).astype(other)
    z[3] = w[3]
    out = np.zeros((37, 10), np.complex128)
    launch(operators, 2, 32, (z, w, out), schedule=schedule)
    narrow = np.result_type(dtype, other) == np.complex64
    tolerance = 3e-6 if narrow else 1e-13  # a product of nearly equal parts loses digits
    expected = [
        z + w,
        z - w,
        z * w,
        z / w,
        z.astype(complex) ** w,
        -z,
        z.conj(),
        z.real + 1j * w.imag,
    ]
    expected += [abs(z), 1 + (z != w)]
    for column, values in enumerate(expected):
        np.testing.assert_allclose(out[:, column], values, rtol=tolerance, err_msg=str(column))


def test_complex64_is_rounded_where_numba_rounds_it():
    @cuda.jit
    def kernel(z, r, out):
        out[0] = z[0] * r[0]
        out[1] = z[0] * r[0] * 1

    z, r = np.array([1 / 3 + 1j], np.complex64), np.array([1 / 3], np.float32)
    out = np.zeros(2, np.complex128)
    launch(kernel, 1, 1, (z, r, out))
    assert out[0] == np.complex128(z[0] * r[0]) != np.complex128(z[0]) * np.float64(r[0])
    assert out[1] == out[0]


@alone(numbers(20, np.complex128), np.zeros((20, 10), np.complex128), rtol=1e-12)
@cuda.jit
def functions(z, out):
    i = cuda.grid(1)
    x = z[i]
    out[i, 0] = cmath.exp(x)
    out[i, 1] = cmath.log(x)
    out[i, 2] = cmath.log(x, 3)
    out[i, 3] = cmath.sqrt(x)
    out[i, 4] = cmath.sin(x) + cmath.cos(x) + cmath.tan(x)
    out[i, 5] = cmath.asin(x) + cmath.acos(x) + cmath.atan(x)
    out[i, 6] = cmath.sinh(x) + cmath.cosh(x) + cmath.tanh(x)
    out[i, 7] = cmath.rect(*cmath.polar(x))
    out[i, 8] = cmath.phase(x)
    out[i, 9] = cmath.isnan(x) + cmath.isfinite(x)


@alone(2 - 1j, np.zeros(8, np.complex128))
@alone(np.complex64(2 - 1j), np.zeros(8, np.complex128))
@cuda.jit
def scalar_argument(z, out):
    i = cuda.grid(1)
    total = 0j
    for k in range(i):
        total += z * k
    out[i] = total


@alone(np.zeros(40, np.complex64), np.arange(40.0), blocks=2, threads=20)
@cuda.jit
def parts(z, out):
    i = cuda.grid(1)
    z.imag[i] = out[i]
    cuda.atomic.add(z.real, 0, 1)
    out[i] = z[i].imag * 2


@cuda.jit
def unwritten(z, out):
    i = cuda.grid(1)
    if i > 0:
        z[i] = 1j
    out[i] = z[i]


def test_unwritten_complex_numbers():
    for dtype in (np.complex64, np.complex128):
        with pytest.raises(UninitializedRead) as caught:
            launch(unwritten, 1, 8, (uninitialized(8, dtype), np.zeros(8, dtype)))
        assert caught.value.thread == (0, 0, 0)
        z = uninitialized(8, dtype)
        z[0] = 5
        launch(unwritten, 1, 8, (z, np.zeros(8, dtype)))


@cuda.jit
def same_place(z):
    z[0] = cuda.grid(1) * 1j


def test_races_on_complex_numbers():
    with pytest.raises(RaceError, match=r"race on `z\[0\]`"):
        launch(same_place, 1, 8, (np.zeros(1, complex),))


def test_a_trace_holds_real_parts():
    recorder, z = Recorder(), np.zeros(40, np.complex64)
    launch(parts, 1, 32, (z, np.arange(40.0)), recorder=recorder)
    trace = recorder.trace.select(array="z.imag")
    # Elements are eight bytes apart, and these are their second halves: every odd unit of four.
    assert trace.requests.index.tolist() == (2 * np.arange(32) + 1).tolist()
    assert recorder.trace.select(array="z").arrays[trace.requests.array[0]].itemsize == 4
