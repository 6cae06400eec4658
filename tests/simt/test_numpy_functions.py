"""NumPy's functions of numbers that numba compiles for a GPU, with numba's types."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numba_cuda
import numpy as np
import pytest
from effort import EFFORT, SOAK
from launching import function_from, launched
from numba import cuda, float32, int32
from test_typing import machines_type, numbas_type
from thread_by_thread import alone

from gpukernels.simt.translate import numpy_functions
from gpukernels.simt.translate.typing import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64

RNG = np.random.default_rng(8)
OPERANDS = [BOOL, np.dtype("int8"), np.dtype("uint16"), INT32, INT64, UINT32, UINT64]
OPERANDS += [FLOAT32, FLOAT64]


@pytest.mark.skipif(numba_cuda.__version__ != "0.30.4", reason="another numba-cuda has others")
@pytest.mark.parametrize("name", numpy_functions.NAMES)
def test_functions_have_numbas_type(name, monkeypatch):
    device = SimpleNamespace(compute_capability=(8, 0))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    if getattr(np, name).nin == 1:
        cases = [(a,) for a in OPERANDS]
    else:
        cases = [(INT32, b) for b in OPERANDS] + [(b, b) for b in OPERANDS]
        cases += [(FLOAT32, np.dtype("int8")), (FLOAT32, INT64), (UINT64, FLOAT64)]
    if EFFORT != SOAK:  # numba takes 50 ms for each: half of them, and the others of the next name
        cases = cases[numpy_functions.NAMES.index(name) % 2 :: 2]
    names = "xy"[: getattr(np, name).nin]
    text = f"def call({', '.join(names)}):\n    return np.{name}({', '.join(names)})\n"
    function = function_from(text, "call", {"np": np})
    types = {operands: machines_type(function, *operands) for operands in cases}
    assert types == {operands: numbas_type(function, *operands) for operands in cases}


@alone(
    np.array([*RNG.normal(size=19), np.nan]),
    np.array([np.nan, *RNG.normal(size=19)]),
    RNG.integers(-9, 9, 20).astype(np.int32),
    np.zeros((20, 9)),
    rtol=1e-6,
)
@cuda.jit
def of_numbers(a, b, k, out):
    i = cuda.grid(1)
    out[i, 0] = np.minimum(a[i], b[i])
    out[i, 1] = np.maximum(a[i], b[i])
    out[i, 2] = np.fmin(a[i], b[i])
    out[i, 3] = np.sin(k[i]) + np.log(abs(a[i]))
    out[i, 4] = np.hypot(a[i], k[i])
    out[i, 5] = np.bitwise_and(k[i], 6) + np.left_shift(k[i], 2) + np.invert(k[i])
    out[i, 6] = np.isnan(a[i]) + 2 * np.logical_and(k[i], i) + 4 * np.less(a[i], b[i])
    out[i, 7] = np.minimum(k[i], np.iinfo(np.int32).max) + np.iinfo(np.uint8).max
    if b[i] < np.finfo(np.float32).max:
        out[i, 8] = np.float32(b[i]) + np.int32(b[i]) + np.bool_(k[i]) + np.degrees(a[i])


@cuda.jit
def questions(a, b, k, out):
    i = cuda.grid(1)
    out[i, 0] = isinstance(k[i], int) + 2 * isinstance(k[i], np.int32) + 4 * isinstance(i, int)
    out[i, 1] = isinstance(a[i], float) + 2 * isinstance(k[i] > 0, (int, bool))
    out[i, 2] = isinstance((1, 2), tuple) + 2 * isinstance(float32(1), float)
    out[i, 3] = isinstance(int32(1), numba.int32) + 2 * isinstance(a, int)


def test_isinstance_asks_for_the_very_type(device):
    arguments = np.zeros(2), np.zeros(2), np.zeros(2, np.int32), np.zeros((2, 4))
    *_, out = launched(device, questions, 1, 2, *arguments)
    assert out.tolist() == [[6, 3, 1, 1]] * 2
