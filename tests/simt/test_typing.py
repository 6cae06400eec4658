"""Types and values of expressions, against numba's own resolver and numba's own compiled code.

NumPy is no oracle here: it keeps int32 where numba computes in 64 bits, and the machine is NumPy
underneath. Compiled for the CPU under its NumPy error model, numba has the device's semantics for
everything below.
"""

from __future__ import annotations

import math
import operator
from itertools import product

import numpy as np
import pytest
from numba import cuda, njit, types
from numba.core.errors import NumbaError
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.values import TupleType

SCALARS = [
    np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    )
]
PAIRS = list(product(SCALARS, SCALARS))
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
#: Pairs with a complex number; these take part in fewer operations.
COMPLEX_PAIRS = [
    p for p in product(SCALARS + COMPLEX, SCALARS + COMPLEX) if "c" in (p[0].kind, p[1].kind)
]
#: The types that kernels of graphs use; float16 and the small ones have tests of their own.
COMMON = [np.dtype(n) for n in "bool int32 int64 uint32 uint64 float32 float64".split()]

# Operators ------------------------------------------------------------

BINARY = {
    operator.add: typing.arithmetic,
    operator.sub: typing.arithmetic,
    operator.mul: typing.arithmetic,
    operator.truediv: typing.divide,
    operator.floordiv: typing.floor_divide,
    operator.mod: typing.floor_divide,
    operator.pow: typing.power,
    operator.and_: typing.bitwise,
    operator.or_: typing.bitwise,
    operator.xor: typing.bitwise,
    operator.lshift: typing.shift,
    operator.rshift: typing.shift,
}
UNARY = {
    operator.neg: typing.negate,
    operator.pos: typing.negate,
    operator.invert: typing.invert,
}


@pytest.fixture(scope="module")
def resolve():
    context = cuda_target.typing_context
    context.refresh()

    def resolve(function, *operands):
        try:
            return context.resolve_function_type(function, tuple(map(from_dtype, operands)), {})
        except (NumbaError, NotImplementedError):
            return None

    return resolve


def result(signature):
    return None if signature is None else as_dtype(signature.return_type)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary_operators_have_numbas_type(function, resolve):
    rule, pairs = BINARY[function], PAIRS + COMPLEX_PAIRS
    assert {p: rule(*p) for p in pairs} == {p: result(resolve(function, *p)) for p in pairs}


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary_operators_have_numbas_type(function, resolve):
    rule, types_ = UNARY[function], SCALARS + COMPLEX
    assert {t: rule(t) for t in types_} == {t: result(resolve(function, t)) for t in types_}


def test_integers_compare_in_numbas_type(resolve):
    # Beside a float both sides are exact in either type, so only integers can tell.
    integers = [p for p in PAIRS if all(typing.is_integer(t) for t in p)]
    for function in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt):
        for pair in integers:
            left, right = (as_dtype(t) for t in resolve(function, *pair).args)
            assert left == right == typing.unify(*pair), (function, pair)


def test_complex_numbers_compare_in_numbas_type_and_have_no_order(resolve):
    for pair in COMPLEX_PAIRS:
        for function in (operator.eq, operator.ne):
            left, right = (as_dtype(t) for t in resolve(function, *pair).args)
            assert left == right == typing.arithmetic(*pair), (function, pair)
        assert resolve(operator.lt, *pair) is None


def test_parts_of_complex_numbers_have_numbas_type(resolve):
    for dtype in COMPLEX:
        assert typing.part(dtype) == result(resolve(abs, dtype))


def test_variables_unify_to_numbas_type():
    context = cuda_target.typing_context
    for pair in PAIRS + COMPLEX_PAIRS:
        assert typing.unify(*pair) == as_dtype(context.unify_types(*map(from_dtype, pair))), pair


@pytest.mark.parametrize("function", [min, max])
def test_min_and_max_have_numbas_type(function, resolve):
    # numba-cuda 0.22, which Colab has, compares no truth value with an int32.
    with_bool = resolve(function, np.dtype(bool), np.dtype("int32")) is not None
    for pair in product(COMMON, COMMON):
        if with_bool or np.dtype(bool) not in pair:
            assert result(resolve(function, *pair)) == typing.unify(*pair), pair


def test_range_counts_in_numbas_type(resolve):
    integers = [t for t in SCALARS if typing.is_integer(t)]
    for count in (1, 2, 3):
        for bounds in product(integers, repeat=count):
            state = resolve(range, *bounds).return_type
            assert typing.counter(bounds) == as_dtype(state.dtype), bounds


# Calls ------------------------------------------------------------


def popc(x):
    return cuda.popc(x)


def clz(x):
    return cuda.clz(x)


def ffs(x):
    return cuda.ffs(x)


def brev(x):
    return cuda.brev(x)


def selp(x):
    return cuda.selp(x > 0, x, x)


def selp_with_a_literal(x):
    return cuda.selp(x > 0, x, 0)


def fma(x):
    return cuda.fma(x, x, x)


def cbrt(x):
    return cuda.cbrt(x)


def shuffle(x):
    return cuda.shfl_sync(0xFFFFFFFF, x, 0)


def match_any(x):
    return cuda.match_any_sync(0xFFFFFFFF, x)


def match_all(x):
    return cuda.match_all_sync(0xFFFFFFFF, x)


def ballot(x):
    return cuda.ballot_sync(0xFFFFFFFF, x)


def vote(x):
    return cuda.any_sync(0xFFFFFFFF, x)


def active_mask(x):
    return cuda.activemask()


def lanes_below(x):
    return cuda.lanemask_lt()


def block_count(x):
    return cuda.syncthreads_count(x)


def block_and(x):
    return cuda.syncthreads_and(x)


def absolute(x):
    return abs(x)


def rounded(x):
    return round(x)


def rounded_to(x):
    return round(x, 2)


def as_int(x):
    return int(x)


def as_float(x):
    return float(x)


def as_bool(x):
    return bool(x)


def quotient_and_rest(x):
    return divmod(x, x)


def conditional(x):
    return x if x else 1.5


def both(x):
    return x and 3


def either(x):
    return x or 2.5


def negated(x):
    return not x


def chained(x):
    return x < 3 < x


def halved(x):
    return x / 2


def counted(x):
    last = 0
    for i in range(x):
        last = i
    return last


def position(x):
    return cuda.grid(1)


def stride(x):
    return cuda.gridsize(1)


def thread(x):
    return cuda.threadIdx.x + cuda.blockIdx.x


def thread_alone(x):
    return cuda.threadIdx.x


def width(x):
    return cuda.blockDim.x


def lane(x):
    return cuda.laneid


def rows(x):
    return cuda.shared.array(3, types.int32).shape[0]


def squared_root(x):
    return math.sqrt(x)


def floor(x):
    return math.floor(x)


def logarithm(x):
    return math.log(x)


def is_nan(x):
    return math.isnan(x)


def raised(x):
    return math.pow(x, x)


def angle(x):
    return math.atan2(x, x)


def length(x):
    return math.hypot(x, x)


def rest(x):
    return math.fmod(x, x)


CALLS = [
    *(popc, clz, ffs, brev, selp, selp_with_a_literal, fma, cbrt, shuffle, match_any, match_all),
    *(ballot, vote, block_count, block_and, absolute, rounded),
    *(rounded_to, as_int, as_float, as_bool, quotient_and_rest, conditional, both, either),
    *(negated, chained, halved, counted, squared_root, floor, logarithm, is_nan, raised),
    *(angle, length, rest),
]
#: Calls whose type does not depend on `x`.
PLACES = [position, stride, thread, thread_alone, width, lane, rows, active_mask, lanes_below]


def numbas_type(function, operand):
    """The type that numba infers for ``function(operand)``, None where it refuses it."""
    try:
        _, found = cuda.compile(
            function, (from_dtype(operand),), device=True, abi="numba", cc=(8, 0)
        )
    except (NumbaError, NotImplementedError):
        return None
    return tuple(map(as_dtype, found)) if isinstance(found, types.BaseTuple) else as_dtype(found)


def machines_type(function, operand):
    """The type that the machine infers for it."""
    function = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(x):
        function(x)

    try:
        program = Program(kernel, (operand,), traced=False, yielding=False, step_yields=False)
    except KernelTypeError:
        return None
    _, found = program.function(function, (operand,))
    return found.items if isinstance(found, TupleType) else found


@pytest.mark.parametrize("function", CALLS, ids=lambda f: f.__name__)
def test_calls_have_numbas_type(function):
    # numba rounds a float to an integer for an operation on bits and for range(), which is never
    # meant; the machine refuses it.
    integers_only = function in (popc, clz, ffs, brev, counted)
    operands = [t for t in COMMON if not integers_only or t.kind in "iu"]
    found = {t: machines_type(function, t) for t in operands}
    assert found == {t: numbas_type(function, t) for t in operands}


@pytest.mark.parametrize("function", PLACES, ids=lambda f: f.__name__)
def test_places_have_numbas_type(function):
    assert machines_type(function, np.dtype(np.int32)) == numbas_type(function, np.dtype(np.int32))


# Values ------------------------------------------------------------

INTERESTING = {
    "b": [False, True],
    "i": [0, 1, -1, 2, -7, 7, 31, 33, 63, 65, "min", "max", 2**53 + 1],
    "u": [0, 1, 2, 7, 31, 33, 63, 65, "max", 2**53, 2**53 + 1],
    "f": [0.0, -0.0, 1.0, -1.5, 7.25, -7.0, 3.0, 1e30, math.inf, -math.inf, math.nan],
}


def interesting(dtype):
    """Values of `dtype` at which arithmetic goes wrong."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    values = [getattr(limits, v) if isinstance(v, str) else v for v in INTERESTING[dtype.kind]]
    return np.array([v for v in values if limits is None or v <= limits.max], dtype)


def arithmetic(a, b, out, i):
    out[i, 0] = a + b
    out[i, 1] = a - b
    out[i, 2] = a * b
    out[i, 3] = -a


def divisions(a, b, out, i):
    out[i, 0] = a / b
    out[i, 1] = a // b
    out[i, 2] = a % b


def bits(a, b, out, i):
    out[i, 0] = a & b
    out[i, 1] = a | b
    out[i, 2] = a ^ b
    out[i, 3] = ~a


def shifts(a, b, out, i):
    out[i, 0] = a << (b & 63)
    out[i, 1] = a >> (b & 63)


def comparisons(a, b, out, i):
    out[i, 0] = a < b
    out[i, 1] = a <= b
    out[i, 2] = a == b
    out[i, 3] = a != b
    out[i, 4] = a >= b
    out[i, 5] = a > b


def extremes(a, b, out, i):
    out[i, 0] = min(a, b)
    out[i, 1] = max(a, b)


def truths(a, b, out, i):
    out[i, 0] = not a
    out[i, 1] = a and b
    out[i, 2] = a or b
    out[i, 3] = a if b else b


def _pairs(*names):
    return [tuple(np.dtype(n) for n in pair.split(",")) for pair in names]


INTEGERS = _pairs("int32,int32", "int32,uint32", "uint32,uint32", "int64,uint64", "bool,bool")
FLOATS = _pairs("float32,float32", "int32,float32", "float32,float64", "uint64,float64")
VALUES = [
    *((arithmetic, *p, "wide") for p in INTEGERS + FLOATS),
    *((divisions, *p, "wide") for p in [*INTEGERS[:4], *FLOATS]),
    *((bits, *p, "wide") for p in INTEGERS),
    *((shifts, *p, "wide") for p in INTEGERS[:4]),
    *((comparisons, *p, "bool") for p in INTEGERS + FLOATS),
    *((extremes, *p, "wide") for p in [*INTEGERS[1:4:2], *FLOATS[1:]]),
    *((truths, *p, "wide") for p in INTEGERS + FLOATS),
    (arithmetic, *_pairs("int8,uint8")[0], "wide"),
    (arithmetic, *_pairs("int32,int64")[0], "int32"),
    (arithmetic, *_pairs("uint32,uint32")[0], "uint32"),
    (arithmetic, *_pairs("int32,int32")[0], "int8"),
    (arithmetic, *_pairs("float64,float64")[0], "float32"),
]


@pytest.mark.parametrize(
    ("function", "left", "right", "stored"),
    VALUES,
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_values_are_numbas(function, left, right, stored, device):
    # A wide array holds what its values need and no more, so that no store hides a wrong type.
    if stored == "wide":
        stored = typing.divide(left, right) if function is divisions else typing.unify(left, right)
        if function is not extremes and typing.is_integer(stored):
            stored = typing.arithmetic(left, right)
    a, b = (np.ravel(v) for v in np.meshgrid(interesting(left), interesting(right)))
    if function is extremes:  # NaN has a test of its own, and of min(0.0, -0.0) either will do
        keep = ~(np.isnan(a) | np.isnan(b) | ((a == 0) & (b == 0)))
        a, b = a[keep], b[keep]
    if (
        function is divisions
    ):  # where a device rounds the quotient, see test_division_is_the_devices
        small = [np.abs(v.astype(np.float64)) < 2**22 for v in (a, b)]
        keep = (small[0] & small[1]) | ~np.isin("f", [left.kind, right.kind])
        a, b = a[keep], b[keep]
    if function is divisions and np.int64 in (left, right):  # what -2**63 // -1 is, nobody says
        keep = (a != np.iinfo(np.int64).min) | (b != np.iinfo(np.uint64).max)
        a, b = a[keep], b[keep]
    device_function = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            device_function(a[i], b[i], out, i)

    reference = njit(error_model="numpy")(function)
    expected = np.zeros((a.size, 6), stored)
    for i in range(a.size):
        reference(a[i], b[i], expected, i)
    out = device.array(np.zeros((a.size, 6), stored))
    device.launch(kernel, -(-a.size // 64), 64, device.array(a), device.array(b), out)
    np.testing.assert_array_equal(device.read(out), expected)


#: What an NVIDIA H200 gave on 2026-11-20 (numba-cuda 0.30.4): type, x, y, x // y, x % y.
MEASURED = [
    ("float32", 1.0, np.inf, np.nan, np.nan),
    ("float32", -7.0, -np.inf, np.nan, np.nan),
    ("float32", 1.0, 3e-40, np.inf, -np.inf),
    ("float32", 1e30, 7.0, 1e30 / 7, -2.83342e22),
    ("float32", -1e30, 7.0, -1e30 / 7, 2.83342e22),
    ("float32", np.inf, 7.0, np.nan, np.nan),
    ("float64", 0.0, -np.inf, np.nan, np.nan),
    ("float64", 1e30, 7.0, 1e30 / 7, 52776558133248.0),
    ("float64", 1e30, -7.0, -1e30 / 7, 52776558133241.0),
    ("float64", 1e30, 2.5, 4e29, -70368744177661.5),
    ("float64", -1e30, 2.5, -4e29, 70368744177664.0),
    ("float64", 7.0, 3e-40, 7 / 3e-40, 1.7694079644905872e-16),
    ("float64", -2.5, 3e-40, -2.5 / 3e-40, -6.319314158894954e-17),
]


@cuda.jit
def divide(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = x[i] // y[i]
        out[i, 1] = x[i] % y[i]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_division_is_the_devices(dtype, device):
    x, y, quotient, remainder = np.array([m[1:] for m in MEASURED if m[0] == dtype], dtype).T
    out = device.array(np.zeros((x.size, 2), dtype))
    device.launch(divide, 1, 32, device.array(x.copy()), device.array(y.copy()), out)
    found = device.read(out)
    np.testing.assert_allclose(found[:, 1], remainder, rtol=1e-6)
    np.testing.assert_allclose(found[:, 0], quotient, rtol=1e-6)


# Casts ------------------------------------------------------------

REALS = [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 127.9, 128.0, -129.0, 255.5, 256.0, 300.0, -300.0]
REALS += [32767.5, 40000.0, -40000.0, 65535.9, 70000.0, 2.0**31, -(2.0**31), 2.0**32, 3e9, -3e9]
REALS += [2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, math.inf, -math.inf, math.nan]


def converted(x, from_double, dtype):
    """What PTX's ``cvt.rzi`` makes of the float `x`, by its definition."""
    bits, signed = max(8 * dtype.itemsize, 16), dtype.kind == "i"
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if math.isnan(x):
        wide = 2 ** (bits - 1) if from_double or bits == 64 else 0
    elif math.isinf(x):
        wide = high if x > 0 else low
    else:
        wide = min(max(math.trunc(x), low), high)
    bits = 8 * dtype.itemsize
    wide %= 2**bits
    return wide - 2**bits if signed and wide >= 2 ** (bits - 1) else wide


@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("target", "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
def test_floats_become_integers_as_on_the_device(device, source, target):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[i]

    a, target = np.array(REALS, source), np.dtype(target)
    out = device.array(np.zeros(a.size, target))
    device.launch(kernel, 1, a.size, device.array(a), out)
    expected = [converted(float(x), source is np.float64, target) for x in a]
    assert device.read(out).tolist() == expected


def test_constants_become_integers_in_the_same_way():
    # What a compiler makes of such constants is open; the machine makes what it makes of values.
    @cuda.jit
    def kernel(out):
        out[0] = types.int32(3e9)
        out[1] = types.int32(math.nan)
        out[2] = types.uint32(-1.5)
        out[3] = types.int8(300.0)

    out = np.zeros(4, np.int64)
    launch(kernel, 1, 1, (out,))
    assert out.tolist() == [2**31 - 1, -(2**31), 0, 44]
