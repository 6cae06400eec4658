"""Types and values of expressions, against numba's own resolver and numba's own compiled code."""

from __future__ import annotations

import ast
import math
import operator
import textwrap
from itertools import product
from types import SimpleNamespace

import numba_cuda
import numpy as np
import pytest
from effort import EFFORT, SOAK
from launching import function_from, launched
from numba import cuda, float32, int32, njit, types
from numba.core.errors import NumbaError
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.translate import numpy_functions, typing
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.typing import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from gpukernels.simt.translate.values import TupleType
from gpukernels.simt.translate.versions import plain, split_variables

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
    # With a float operand both types are exact, so only integers show a difference.
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


CALLS = [
    *("cuda.popc(x)", "cuda.clz(x)", "cuda.ffs(x)", "cuda.brev(x)", "counted"),
    *("cuda.selp(x > 0, x, x)", "cuda.selp(x > 0, x, 0)", "cuda.fma(x, x, x)", "cuda.cbrt(x)"),
    *("cuda.shfl_sync(-1, x, 0)", "cuda.match_any_sync(-1, x)", "cuda.match_all_sync(-1, x)"),
    *("cuda.ballot_sync(-1, x)", "cuda.any_sync(-1, x)"),
    *("cuda.syncthreads_count(x)", "cuda.syncthreads_and(x)", "abs(x)", "round(x)", "round(x, 2)"),
    *("int(x)", "float(x)", "bool(x)", "divmod(x, x)", "x if x else 1.5", "x and 3", "x or 2.5"),
    *("not x", "x < 3 < x", "x / 2", "math.sqrt(x)", "math.floor(x)", "math.log(x)"),
    *("math.isnan(x)", "math.pow(x, x)", "math.atan2(x, x)", "math.hypot(x, x)", "math.fmod(x, x)"),
]
COUNTED = ("last = 0", "for i in range(x):", "    last = i", "return last")
#: numba rounds a float to an integer for these, which is never intended; the machine refuses it.
OF_INTEGERS = CALLS[:5]
#: Calls whose type does not depend on `x`.
PLACES = ["cuda.grid(1)", "cuda.gridsize(1)", "cuda.threadIdx.x + cuda.blockIdx.x", "cuda.laneid"]
PLACES += ["cuda.threadIdx.x", "cuda.blockDim.x", "cuda.shared.array(3, types.int32).shape[0]"]
PLACES += ["cuda.activemask()", "cuda.lanemask_lt()"]


def function_of(expression):
    value = "\n    ".join(COUNTED) if expression == "counted" else f"return {expression}"
    return function_from(f"def call(x):\n    {value}\n", "call", globals())


def numbas_type(function, *operands):
    """The type that numba infers for ``function(*operands)``, None where it refuses it."""
    types_ = tuple(map(from_dtype, operands))
    try:
        _, kind = cuda.compile(function, types_, device=True, abi="numba", cc=(8, 0))
    except (NumbaError, NotImplementedError):
        return None
    return tuple(map(as_dtype, kind)) if isinstance(kind, types.BaseTuple) else as_dtype(kind)


def machines_type(function, *operands):
    """The type that the machine infers for it."""
    function = cuda.jit(device=True)(function)
    names = ", ".join("xy"[: len(operands)])
    text = f"def kernel({names}):\n    function({names})\n"
    kernel = cuda.jit(function_from(text, "kernel", {"function": function}))
    try:
        program = Program(kernel, operands, traced=False, yielding=False, step_yields=False)
    except KernelTypeError:
        return None
    _, kind = program.function(function, operands)
    return kind.items if isinstance(kind, TupleType) else kind


@pytest.mark.parametrize("call", CALLS)
def test_calls_have_numbas_type(call):
    function = function_of(call)
    operands = [t for t in COMMON if call not in OF_INTEGERS or t.kind in "iu"]
    type_of = {t: machines_type(function, t) for t in operands}
    assert type_of == {t: numbas_type(function, t) for t in operands}


@pytest.mark.parametrize("call", PLACES)
def test_places_have_numbas_type(call):
    function, int32 = function_of(call), np.dtype(np.int32)
    assert machines_type(function, int32) == numbas_type(function, int32)


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


#: Expressions of `a` and `b`, with one column for each.
COLUMNS = {
    "arithmetic": ("a + b", "a - b", "a * b", "-a"),
    "divisions": ("a / b", "a // b", "a % b"),
    "bits": ("a & b", "a | b", "a ^ b", "~a"),
    "shifts": ("a << (b & 63)", "a >> (b & 63)"),
    "comparisons": ("a < b", "a <= b", "a == b", "a != b", "a >= b", "a > b"),
    "extremes": ("min(a, b)", "max(a, b)"),
    "truths": ("not a", "a and b", "a or b", "a if b else b"),
}


def _pairs(*names):
    return [tuple(np.dtype(n) for n in pair.split(",")) for pair in names]


INTEGERS = _pairs("int32,int32", "int32,uint32", "uint32,uint32", "int64,uint64", "bool,bool")
FLOATS = _pairs("float32,float32", "int32,float32", "float32,float64", "uint64,float64")
VALUES = [
    *(("arithmetic", *p, "wide") for p in INTEGERS + FLOATS),
    *(("divisions", *p, "wide") for p in [*INTEGERS[:4], *FLOATS]),
    *(("bits", *p, "wide") for p in INTEGERS),
    *(("shifts", *p, "wide") for p in INTEGERS[:4]),
    *(("comparisons", *p, "bool") for p in INTEGERS + FLOATS),
    *(("extremes", *p, "wide") for p in [*INTEGERS[1:4:2], *FLOATS[1:]]),
    *(("truths", *p, "wide") for p in INTEGERS + FLOATS),
    ("arithmetic", *_pairs("int8,uint8")[0], "wide"),
    ("arithmetic", *_pairs("int32,int64")[0], "int32"),
    ("arithmetic", *_pairs("uint32,uint32")[0], "uint32"),
    ("arithmetic", *_pairs("int32,int32")[0], "int8"),
    ("arithmetic", *_pairs("float64,float64")[0], "float32"),
]


@pytest.mark.parametrize(("name", "left", "right", "stored"), VALUES, ids=str)
def test_values_are_numbas(name, left, right, stored, device):
    # A wide array has the type that its values need, so that no store hides a wrong type.
    if stored == "wide":
        stored = typing.divide(left, right) if name == "divisions" else typing.unify(left, right)
        if name != "extremes" and typing.is_integer(stored):
            stored = typing.arithmetic(left, right)
    a, b = (np.ravel(v) for v in np.meshgrid(interesting(left), interesting(right)))
    if name == "extremes":  # NaN has a test of its own, and min(0.0, -0.0) may be either zero
        keep = ~(np.isnan(a) | np.isnan(b) | ((a == 0) & (b == 0)))
        a, b = a[keep], b[keep]
    if name == "divisions":  # where a device rounds the quotient, see test_division_is_the_devices
        small = [np.abs(v.astype(np.float64)) < 2**22 for v in (a, b)]
        keep = (small[0] & small[1]) | ~np.isin("f", [left.kind, right.kind])
        a, b = a[keep], b[keep]
    if name == "divisions" and np.int64 in (left, right):  # -2**63 // -1 is not defined
        keep = (a != np.iinfo(np.int64).min) | (b != np.iinfo(np.uint64).max)
        a, b = a[keep], b[keep]
    lines = [f"    out[i, {k}] = {value}\n" for k, value in enumerate(COLUMNS[name])]
    function = function_from(f"def {name}(a, b, out, i):\n{''.join(lines)}", name, {})
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


#: Results of an NVIDIA H200 on 2026-11-20 (numba-cuda 0.30.4): type, x, y, x // y, x % y.
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
    quotients = device.read(out)
    np.testing.assert_allclose(quotients[:, 1], remainder, rtol=1e-6)
    np.testing.assert_allclose(quotients[:, 0], quotient, rtol=1e-6)


# Casts ------------------------------------------------------------

REALS = [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 127.9, 128.0, -129.0, 255.5, 256.0, 300.0, -300.0]
REALS += [32767.5, 40000.0, -40000.0, 65535.9, 70000.0, 2.0**31, -(2.0**31), 2.0**32, 3e9, -3e9]
REALS += [2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, math.inf, -math.inf, math.nan]


def converted(x, from_double, dtype):
    """Return the result of PTX's ``cvt.rzi`` for the float `x`, by its definition."""
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
    # A compiler may treat such constants in any way; the machine treats them like values.
    @cuda.jit
    def kernel(out):
        out[0] = types.int32(3e9)
        out[1] = types.int32(math.nan)
        out[2] = types.uint32(-1.5)
        out[3] = types.int8(300.0)

    out = np.zeros(4, np.int64)
    launch(kernel, 1, 1, (out,))
    assert out.tolist() == [2**31 - 1, -(2**31), 0, 44]


#: The body of a function of `a`, and the same body with numbered versions of its variables.
LIVES = {
    "joined by a branch": (
        """
        x = 1
        if a:
            x = 2.5
        a = x
        """,
        """
        x = 1
        if a:
            x = 2.5
        a·1 = x
        """,
    ),
    "apart in two branches": (
        """
        if a:
            x = 1
            a = x
        else:
            x = 2.5
            a = x
        """,
        """
        if a:
            x = 1
            a·1 = x
        else:
            x·1 = 2.5
            a·2 = x·1
        """,
    ),
    "joined by a loop": (
        """
        x = 0
        for i in range(a):
            x += i
        x = x / 2
        a = x
        """,
        """
        x = 0
        for i in range(a):
            x = x + i
        x·1 = x / 2
        a·1 = x·1
        """,
    ),
    "after a break": (
        """
        x = 0
        while True:
            if x > a:
                x = 9
                break
            x = x + 1
        a = x
        """,
        """
        x = 0
        while True:
            if x > a:
                x·1 = 9
                break
            x = x + 1
        a·1 = x·1
        """,
    ),
    "after a return": (
        """
        x = 1
        if a:
            x = 2.5
            return
        a = x
        """,
        """
        x = 1
        if a:
            x·1 = 2.5
            return
        a·1 = x
        """,
    ),
}


@pytest.mark.parametrize("case", LIVES)
def test_lives_are_told_apart(case):
    before, after = (textwrap.indent(textwrap.dedent(t).strip(), "    ") for t in LIVES[case])
    tree = ast.parse(f"def f(a):\n{before}").body[0]
    split_variables(tree)
    assert ast.unparse(tree) == f"def f(a):\n{after}"
    assert plain(ast.unparse(tree)).count("·") == 0


def retyped(a, out):
    x = a[0]
    out[0] = x + x
    x = x / 2
    out[1] = x
    x = int32(x)
    out[2] = a[x]
    x = float32(x) / 3
    out[3] = x
    n = 0
    for i in range(4):
        n += a[i]
    out[4] = n // 4
    n = n / 4
    out[5] = n


def test_a_name_may_change_its_type(device):
    a = np.array([3, 5, 7, 9], np.int32)
    expected, out = np.zeros(6), device.array(np.zeros(6))
    njit(retyped)(a, expected)
    device.launch(cuda.jit(retyped), 1, 1, device.array(a), out)
    np.testing.assert_array_equal(device.read(out), expected)


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


@cuda.jit
def questions(a, k, out):
    i = cuda.grid(1)
    out[i, 0] = isinstance(k[i], int) + 2 * isinstance(k[i], np.int32) + 4 * isinstance(i, int)
    out[i, 1] = isinstance(a[i], float) + 2 * isinstance(k[i] > 0, (int, bool))
    out[i, 2] = isinstance(types.int32(1), types.int32) + 2 * isinstance((1, 2), tuple)


def test_isinstance_asks_for_the_very_type(device):
    *_, out = launched(
        device, questions, 1, 2, np.zeros(2), np.zeros(2, np.int32), np.zeros((2, 3))
    )
    assert out.tolist() == [[6, 3, 3]] * 2
