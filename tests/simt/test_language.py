"""The language of kernels: indices, control flow, calls, tuples, captured values."""

from __future__ import annotations

import linecache
import math
import re

import numpy as np
import pytest
from launching import kernel_from, launched
from numba import cuda, int32, int64
from thread_by_thread import alone

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate.source import load
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.values import ArrayType

N = 70
RNG = np.random.default_rng(0)
BOUNDS = np.array(
    [(a, b, s) for a in range(-3, 4) for b in range(-3, 4) for s in (-3, -2, -1, 1, 2, 3)]
)
BITS = RNG.integers(0, 2**64, 200, np.uint64) >> RNG.integers(0, 64, 200).astype(np.uint64)


# Indices ------------------------------------------------------------


@alone(np.zeros((1, 6), np.int32), blocks=1, threads=1)
@alone(np.zeros((3, 6), np.int32), blocks=3, threads=1)
@alone(np.zeros((31, 6), np.int32), blocks=1, threads=31)
@alone(np.zeros((96, 6), np.int32), blocks=3, threads=32)
@alone(np.zeros((33, 6), np.int32), blocks=1, threads=33)
@alone(np.zeros((288, 6), np.int32), blocks=3, threads=96)
@alone(np.zeros((100, 6), np.int32), blocks=1, threads=100)
@alone(np.zeros((300, 6), np.int32), blocks=3, threads=100)
@cuda.jit
def own_place(out):
    i = cuda.grid(1)
    out[i, 0] = cuda.threadIdx.x
    out[i, 1] = cuda.blockIdx.x
    out[i, 2] = cuda.blockDim.x
    out[i, 3] = cuda.gridDim.x
    out[i, 4] = cuda.gridsize(1)
    out[i, 5] = cuda.laneid


@alone(np.zeros((15, 14)), np.zeros(2, np.int32), blocks=(3, 2), threads=(5, 7))
@cuda.jit
def place_in_a_plane(out, size):
    x, y = cuda.grid(2)
    if x == 0 and y == 0:
        size[0], size[1] = cuda.gridsize(2)
    out[x, y] = cuda.threadIdx.x + 100 * cuda.threadIdx.y + 10_000 * cuda.blockIdx.x


@alone(np.zeros((8, 9, 10)), np.zeros(3, np.int32), blocks=(2, 3, 2), threads=(4, 3, 5))
@cuda.jit
def place_in_space(out, size):
    x, y, z = cuda.grid(3)
    if x + y + z == 0:
        size[0], size[1], size[2] = cuda.gridsize(3)
    threads = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    blocks = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    dims = cuda.blockDim.x * 100 + cuda.blockDim.y * 10 + cuda.blockDim.z
    out[x, y, z] = threads + 1000 * blocks + 1_000_000 * dims


@alone(np.zeros(60, np.int32), threads=(5, 4, 3))
@cuda.jit
def order_of_threads(out):
    rank = cuda.threadIdx.x + cuda.blockDim.x * (
        cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    )
    out[rank] = cuda.laneid


@alone(np.zeros(0, np.int64), blocks=2, threads=32)
@alone(np.zeros(1, np.int64), blocks=2, threads=32)
@alone(np.zeros(63, np.int64), blocks=2, threads=32)
@alone(np.zeros(64, np.int64), blocks=2, threads=32)
@alone(np.zeros(65, np.int64), blocks=2, threads=32)
@alone(np.zeros(1000, np.int64), blocks=2, threads=32)
@cuda.jit
def grid_stride(out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] += i


# Branches and loops ------------------------------------------------------------


@alone(BOUNDS, np.zeros((len(BOUNDS), 3), np.int64), blocks=5, threads=64)
@cuda.jit
def ranges(bounds, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        last = -99
        for j in range(bounds[i, 0], bounds[i, 1], bounds[i, 2]):
            out[i, 0] += 1
            out[i, 1] += j
            last = j
            j += 1000  # changes only the copy of this round
        out[i, 2] = last


@alone(np.array([1, 9, 4, 2, 5]), np.zeros(40, np.int64))  # beyond `a`, all right-hand sides fail
@cuda.jit
def only_where_asked(a, out):
    i = cuda.grid(1)
    out[i] = a[i] if i < a.size else -1
    if i < a.size and a[i] > 3:
        out[i] += 100
    if i >= a.size or a[i] > 3:
        out[i] += 1000
    if not (i < a.size and 2 < a[i] <= 5):
        out[i] += 10_000


@alone(np.zeros(N, np.int64))
@cuda.jit
def set_in_one_branch(out):
    i = cuda.grid(1)
    if i % 2:
        x = 10 * i
    if i % 2:
        out[i] = x
    for j in range(i % 3):
        y = j
    if i % 3:
        out[i] += 1000 * y


# Device functions ------------------------------------------------------------


@cuda.jit(device=True)
def sign(x):
    if x < 0:
        return -1
    if x > 0:
        return 1
    return 0


@cuda.jit(device=True)
def first_above(a, start, limit=3):
    for j in range(start, a.size):
        if a[j] > limit:
            return j
    return -1


@cuda.jit(device=True)
def ordered(x, y):
    if x > y:
        x, y = y, x
    return x, y


@cuda.jit(device=True)
def bump(a, i):
    a[i] += 1
    return a[i] % 2 == 0


@cuda.jit(device=True)
def spread(pair):
    low, high = ordered(pair[0], pair[1])
    return high - low


@alone(RNG.integers(-5, 9, N), np.zeros(N, np.int32), np.zeros((N, 6), np.int64))
@cuda.jit
def calls(a, counts, out):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[i, 0] = sign(x) + 10 * sign(sign(x) * x)
        out[i, 1] = first_above(a, i)
        out[i, 2] = first_above(a, limit=6, start=0)
        low, high = ordered(x, 2)
        out[i, 3] = 100 * low + high
        out[i, 4] = spread((x, i))
        if x > 0 and bump(counts, i):
            out[i, 5] = 1
        elif x > 5 or bump(counts, i):
            out[i, 5] = 2


# Values known before the launch ------------------------------------------------------------

WEIGHTS = np.array([10, 20, 30], np.int32)
SIZES = (3, 5)
SCALE = 4


@cuda.jit(device=True)
def added(out, i, extra=None):
    if extra is not None:
        out[i] += extra[i]


def scaled(power, verbose, with_extra):
    offset = int32(2)

    @cuda.jit
    def kernel(out, extra):
        i = cuda.grid(1)
        if verbose:
            out[i] = 1
        if with_extra:
            added(out, i, extra)
        else:
            added(out, i)
        out[i] += SCALE**power + offset + WEIGHTS[i % WEIGHTS.size] + SIZES[1] * len(SIZES)

    return kernel


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("with_extra", [False, True])
def test_closures_and_globals_are_constants(scheduled_device, verbose, with_extra):
    kernel, extra = scaled(2, verbose, with_extra), np.arange(N)
    out, _ = launched(scheduled_device, kernel, 1, N, np.zeros(N, np.int64), extra)
    expected = 16 + 2 + WEIGHTS[np.arange(N) % 3] + 10 + verbose
    np.testing.assert_array_equal(out, expected + with_extra * extra)


def test_none_is_no_argument_as_in_numba():
    out = np.zeros(N, np.int64)
    with pytest.raises(KernelTypeError, match=r"argument 1 is None, which numba cannot pass"):
        launch(scaled(2, True, False), 1, N, (out, None))
    assert not out.any()


def test_a_kernel_is_translated_once_for_each_set_of_types(scheduled_device):
    @cuda.jit
    def half(a, out):
        i = cuda.grid(1)
        out[i] = a[i] // 2

    for dtype in (np.int32, np.float64, np.int32):
        _, out = launched(scheduled_device, half, 1, 5, np.arange(5).astype(dtype), np.zeros(5))
        assert out.tolist() == [0, 0, 1, 1, 2]


def test_a_program_does_not_depend_on_what_was_translated_before():
    types = (ArrayType(np.dtype(np.int32), 1),)
    way = {"traced": True, "yielding": True, "step_yields": True}

    def text():
        # Functions are numbered in the order of the passes that find their types.
        return re.sub(r"\bf\d+_", "f_", Program(constant_shapes, types, **way).text)

    for function in (constant_shapes, rotated):
        load(function).results.clear()
    first = text()
    assert all(load(function).results for function in (constant_shapes, rotated))
    assert text() == first
    Program(constant_shapes, types, traced=False, yielding=False, step_yields=False)
    assert text() == first


@cuda.jit(device=True)
def rotated(value, size, doubled):
    buffer = cuda.shared.array(size, int64)
    buffer[cuda.threadIdx.x] = value
    cuda.syncthreads()
    if doubled:
        return 2 * buffer[(cuda.threadIdx.x + 1) % size]
    return buffer[(cuda.threadIdx.x + 1) % size]


@cuda.jit
def constant_shapes(out):
    width = 4
    i = cuda.grid(1)
    own = cuda.local.array((width, 2), "int16")
    own[width - 1, 1] = i
    out[i] = rotated(i, 40, True) + 1000 * own[3, 1] + own.shape[0]


def test_shapes_may_be_constants_under_a_name_or_handed_to_a_function(scheduled_device):
    (out,) = launched(scheduled_device, constant_shapes, 1, 40, np.zeros(40, np.int64))
    i = np.arange(40)
    np.testing.assert_array_equal(out, 2 * np.roll(i, -1) + 1000 * i + 4)


# Tuples, builtins, mathematics ------------------------------------------------------------


@alone(np.array([0.0, 0.5, 1.5, 2.5, -0.5, -2.26, 3.999, -7.0]), np.zeros((8, 8)), rtol=1e-15)
@cuda.jit
def builtins(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[i, 0] = abs(x)
    out[i, 1] = round(x)
    out[i, 2] = round(x, 1)
    out[i, 3] = int(x)
    out[i, 4] = float(int32(x)) / 2
    out[i, 5] = bool(x)
    out[i, 6] = pow(x, 2)
    out[i, 7] = min(x, 2, -3.5)


FUNCTIONS = [
    *(math.sqrt, math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh),
    *(math.tanh, math.asinh, math.acosh, math.atanh, math.erf, math.erfc, math.gamma),
    *(math.lgamma, math.floor, math.ceil, math.trunc, math.fabs, math.radians, math.degrees),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_mathematics(device, function):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = function(a[i])

    low = 1.0 if function is math.acosh else 0.05
    for dtype, tolerance in ((np.float32, 3e-6), (np.float64, 1e-12)):
        a = np.linspace(low, low + 0.9, 33).astype(dtype)
        _, out = launched(device, kernel, 1, 33, a, np.zeros(33, dtype))
        np.testing.assert_allclose(out, [function(float(x)) for x in a], rtol=tolerance)


@alone(
    np.array([1.5, -2.5, 7.0, -0.5, np.nan, np.inf]),
    np.array([2.0, 0.75, -3.0, -1.0, 1.0, 2.0]),
    np.zeros((6, 8)),
    rtol=1e-14,
)
@cuda.jit
def mathematics_of_two(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[i, 0] = math.atan2(x, y)
    out[i, 1] = math.hypot(x, y)
    out[i, 2] = math.fmod(y, x)
    out[i, 3] = math.copysign(x, y)
    out[i, 4] = math.pow(abs(x), y)
    out[i, 5] = cuda.fma(x, y, 1.0)
    out[i, 6] = cuda.cbrt(x)
    out[i, 7] = math.isnan(x) + 2 * math.isinf(x) + 4 * math.isfinite(y) + math.pi + math.inf * 0


@alone(
    np.array([*RNG.normal(0, 20, 30), 2.5, 3.5, -2.5, 0.0, 1.0]),
    np.array([*RNG.normal(0, 3, 30), 1.0, 1.0, 1.0, 1.0, np.inf]),
    np.zeros((35, 8)),
    rtol=1e-15,
)
@cuda.jit
def mathematics_of_parts(a, b, out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = math.modf(a[i])
    out[i, 2], out[i, 3] = math.frexp(a[i])
    out[i, 4] = math.ldexp(a[i], int32(i))
    out[i, 5] = math.remainder(a[i], b[i])
    out[i, 6] = math.nextafter(a[i], b[i])
    out[i, 7] = math.exp2(a[i])


# Numbers of magnitude below 32 are 2**-6 apart at the most.
@alone(np.linspace(-3, 8, 40, dtype=np.float16), np.zeros((40, 5), np.float16), atol=2**-6)
@cuda.jit
def half_precision(a, out):
    i = cuda.grid(1)
    x, y = a[i], a[0]
    out[i, 0] = x * y + x
    out[i, 1] = x / y - y
    out[i, 2] = -x if x < y else abs(x)
    out[i, 3] = max(x, y)
    out[i, 4] = math.sqrt(abs(x))


@alone(BITS, np.zeros((200, 5), np.uint64))
@alone(BITS.astype(np.uint32), np.zeros((200, 5), np.uint64))
@cuda.jit
def bit_operations(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[i, 0] = cuda.popc(x)
    out[i, 1] = cuda.clz(x)
    out[i, 2] = cuda.ffs(x)
    out[i, 3] = cuda.brev(x)
    out[i, 4] = cuda.selp(x > 7, x, a[0])


ANNOTATED = """\
from numba import cuda, float32, int64


@cuda.jit
def annotated(a, out):
    '''A docstring is no statement.'''
    i: int = cuda.grid(1)
    x: int
    x = a[i]
    assert x >= 0, "a is never negative"
    out[i] = float32(x) + int64(1)
"""


def test_docstrings_annotations_and_assertions(scheduled_device, tmp_path):
    # From a file of its own, because pytest rewrites the assertions of this one.
    kernel = kernel_from(ANNOTATED, tmp_path, "annotated")
    _, out = launched(scheduled_device, kernel, 1, 32, np.arange(32), np.zeros(32))
    np.testing.assert_array_equal(out, np.arange(32) + 1)


@cuda.jit(device=True)
def one_or_given(x, flag):
    if flag:
        x = int64(1)
    return x


@alone(np.arange(32))
@cuda.jit
def one_where_odd(a):
    i = cuda.grid(1)
    a[i] = one_or_given(a[i], a[i] % 2 == 1)


def test_a_kernel_from_a_notebook_cell(scheduled_device, tmp_path):
    # A notebook compiles a cell under a made-up file name and leaves its text in linecache.
    text = "@cuda.jit\ndef twice(a):\n    i = cuda.grid(1)\n    a[i] *= 2\n"
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"cuda": cuda}
    exec(compile(text, name, "exec"), space)
    (a,) = launched(scheduled_device, space["twice"], 1, 10, np.arange(10))
    assert a.tolist() == [2 * i for i in range(10)]


def test_an_edited_kernel_is_read_again(device, tmp_path):
    for factor in (2, 3):
        text = "from numba import cuda\n\n\n" + "#\n" * factor + "@cuda.jit\ndef times(a):\n"
        text += f"    i = cuda.grid(1)\n    a[i] *= {factor}\n"
        kernel = kernel_from(text, tmp_path, "times")
        (a,) = launched(device, kernel, 1, 10, np.arange(10))
        assert a.tolist() == [factor * i for i in range(10)]
