"""Every error names the cause, the line, the block and the thread, before harm is done."""

from __future__ import annotations

import numpy as np
import pytest
from launching import kernel_from, line_of
from numba import cuda, float32, int32

from gpukernels.simt import KernelError, Recorder, launch
from gpukernels.simt.errors import (
    KernelTypeError,
    LaunchError,
    OutOfBounds,
    ReadOnlyArray,
    ShuffleError,
    SourceNotFound,
    TraceLimit,
    UninitializedRead,
    UnsupportedConstruct,
)

FULL = 0xFFFFFFFF
SCHEDULES = ("lockstep", "warp", "random")


def failure(kind, kernel, blocks, threads, *arguments, **options):
    """The error of a launch, which must be of `kind` and show its line as a compiler does."""
    with pytest.raises(kind) as caught:
        launch(kernel, blocks, threads, arguments, **options)
    error = caught.value
    assert type(error) is kind
    if error.line:
        assert f"line {error.line}, in {error.kernel}" in str(error)
        assert f"{error.line} | {error.text.strip()}" in str(error)
    return error


# Bounds ------------------------------------------------------------


@cuda.jit
def in_a_plane(a):
    x, y = cuda.grid(2)
    if x == 4 and y == 5:
        a[x, y - 1, x] = 1


def test_bounds_of_each_axis():
    error = failure(OutOfBounds, in_a_plane, (2, 2), (3, 4), np.zeros((5, 5, 4), int))
    assert "index 4 is out of bounds for `a`, which has 4 elements along axis 2" in error.reason
    assert (error.block, error.thread) == ((1, 1, 0), (1, 1, 0))


@cuda.jit(device=True)
def fetch(a, i):
    return a[i]


@cuda.jit
def through_a_call(a, out):
    i = cuda.grid(1)
    if i % 2:
        out[i] = fetch(a, 2 * i)


def test_an_error_in_a_device_function_names_its_line():
    error = failure(OutOfBounds, through_a_call, 1, 40, np.arange(40), np.zeros(40, int))
    assert error.kernel == "fetch"
    assert error.line == line_of(fetch, "return a[i]")
    assert error.thread == (21, 0, 0)


@cuda.jit
def first_element(a, out):
    out[0] = a[0]


def test_an_empty_array_has_no_element():
    error = failure(OutOfBounds, first_element, 1, 1, np.zeros(0), np.ones(1))
    assert "0 elements; it is empty, so no index is allowed" in error.reason
    assert "-1" not in error.reason
    assert isinstance(error, IndexError)


# Unwritten memory, and read-only memory


@cuda.jit
def half_written(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 50:
        tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t]


def test_unwritten_memory_is_accepted_without_check():
    arrays = np.arange(64), np.zeros(64, int)
    launch(half_written, 1, 64, arrays, check=False)
    failure(UninitializedRead, half_written, 1, 64, *arrays)


TABLE = np.arange(8)


@cuda.jit
def store_in_table(a):
    TABLE[cuda.grid(1)] = 1


@cuda.jit
def store_one(a):
    a[cuda.grid(1)] = 1


def test_stores_to_read_only_arrays():
    a = np.zeros(8)
    a.flags.writeable = False
    assert "`a` is read-only" in failure(ReadOnlyArray, store_one, 1, 8, a).reason
    assert "`TABLE` is read-only" in failure(ReadOnlyArray, store_in_table, 1, 8, np.ones(8)).reason
    assert TABLE.tolist() == list(range(8))


# Warp operations ------------------------------------------------------------


@cuda.jit
def not_in_own_mask(a):
    cuda.ballot_sync(0xFFFF, a[cuda.grid(1)])


@cuda.jit
def names_a_lane_elsewhere(a):
    if cuda.laneid < 20:
        cuda.syncwarp()
    a[cuda.grid(1)] = 1


@cuda.jit
def reads_a_lane_elsewhere(a):
    if cuda.laneid < 20:
        a[cuda.grid(1)] = cuda.shfl_down_sync(cuda.activemask(), cuda.laneid, 8)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("kernel", "text", "lane"),
    [
        (not_in_own_mask, "lane 16 calls ballot_sync with a mask that does not contain it", 16),
        (names_a_lane_elsewhere, "the mask of syncwarp names lane 20, which is not here", 0),
        (reads_a_lane_elsewhere, "lane 12 reads lane 20 by shfl_down_sync", 12),
    ],
)
def test_warp_operations_without_all_their_lanes(kernel, text, lane, schedule):
    error = failure(ShuffleError, kernel, 1, 64, np.zeros(64, int), schedule=schedule)
    assert error.reason.startswith(text)
    assert error.thread[0] % 32 == lane
    assert error.line == line_of(kernel, "_sync(" if "syncwarp" not in text else "syncwarp")


def test_lanes_that_were_never_launched_may_be_named():
    a = np.zeros(10, int)

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        cuda.syncwarp()
        a[i] = cuda.shfl_xor_sync(FULL, i, 1) + 100 * cuda.ballot_sync(FULL, 1)

    launch(kernel, 1, 10, (a,))
    np.testing.assert_array_equal(a, (np.arange(10) ^ 1) + 100 * 1023)


# Launches ------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        (0, 32, "grid=0"),
        (1, 0, "block=0"),
        (1, 1025, "block=1025"),
        (1, (32, 33), "1056 threads"),
        (1, (1, 1, 65), "block=(1, 1, 65)"),
        ((1, 65536), 1, "grid=(1, 65536)"),
        (1.5, 32, "grid=1.5"),
        ((1, 1, 1, 1), 32, "one to three integers"),
        (-1, 32, "grid=-1"),
    ],
)
def test_launches_beyond_the_limits_of_a_device(grid, block, text):
    a = np.zeros(4)
    error = failure(LaunchError, store_one, grid, block, a)
    assert text in str(error)
    assert not a.any()


def test_the_limits_themselves_are_allowed():
    for block in ((1024,), (32, 32), (16, 1, 64)):
        launch(first_element, 1, block, (np.ones(1), np.ones(1)), check=False)


@cuda.jit
def much_shared(out):
    tile = cuda.shared.array((100, 100), float32)
    tile[0, 0] = 1
    more = cuda.shared.array(3000, float32)
    more[0] = 1


def test_shared_memory_beyond_the_limit():
    error = failure(LaunchError, much_shared, 1, 1, np.zeros(1))
    assert "52000 bytes" in error.reason
    assert error.line == line_of(much_shared, "more = ")
    assert "shared=50000" in str(
        failure(LaunchError, first_element, 1, 1, np.ones(1), shared=50000)
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((np.zeros(4),), "takes 2 arguments"),
        ((np.zeros(4), np.zeros(4), 3), "takes 2 arguments"),
        ((np.zeros(4), [1, 2]), "argument 1 is a list"),
        ((np.zeros(4), "text"), "argument 1 is a str"),
        ((np.zeros(4, "O"), np.zeros(4)), "argument 0 is an array of object"),
        ((np.zeros(4), np.zeros(4, ">i4")), "argument 1 is an array of >i4; >i4 has the other"),
        ((np.zeros(4, [("x", ">f4")]), np.zeros(4)), "other byte order than a GPU"),
        ((np.zeros(4), np.zeros(4, np.longdouble)), "wider than any number of a GPU; pass it as"),
        ((np.zeros(4), np.longdouble(1)), "argument 1 is a longdouble"),
        ((np.zeros(4), np.ma.zeros(4)), "argument 1 is a masked array, which numba cannot pass"),
        ((np.zeros(4), None), "argument 1 is None, which numba cannot pass to a kernel"),
        ((np.zeros(4), (1, None)), "argument 1 is None, which numba cannot pass to a kernel"),
    ],
)
def test_arguments_that_do_not_fit(arguments, text):
    assert text in str(failure(KernelTypeError, first_element, 1, 1, *arguments))


def test_what_is_no_kernel():
    assert "neither a @cuda.jit kernel nor a function" in str(failure(LaunchError, 7, 1, 1))


def test_a_kernel_without_source():
    space = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(a):\n    a[0] = 1\n", space)
    error = failure(SourceNotFound, space["kernel"], 1, 1, np.zeros(1))
    assert "define it in a file or a notebook cell" in error.reason
    assert error.kernel == "kernel"


def test_a_trace_beyond_its_limit():
    a = np.zeros(320, int)
    error = failure(TraceLimit, store_one, 10, 32, a, recorder=Recorder(limit=400))
    assert "400 entries" in error.reason
    assert error.line == line_of(store_one, "= 1")


# Unsupported parts of the language ------------------------------------------------------------

REFUSED = {
    "with open('x') as f:\n        pass": "with",
    "try:\n        pass\n    except ValueError:\n        pass": "try",
    "x = [i for i in range(3)]": "[i for i in range(3)]",
    "x = {1: 2}": "{1: 2}",
    "x = [1, 2]": "[1, 2]",
    "x = 'text' + 'more'": "numbers",
    "x = lambda y: y": "lambda",
    "def inner():\n        return 1": "def inner",
    "import math": "import math",
    "del a": "del a",
    "global y": "global y",
    "a[i] = open(i)": "open",
    "a[i] = np.linalg.norm(a)": "np.linalg.norm",
    "a[i] = unknown": "`unknown` is not defined",
    "a[i] = a.mean()": "a.mean",
    "a[i] = a[i:]": "only numbers can be stored",
    "a[i] = a[i, i]": "1 dimensions",
    "a[1.5] = 1": "integer",
    "if i:\n        a = 5\n    a[i] = 1": "two kinds",
    "x = a + 1": "numbers",
    "a[i] = 1.5 & 2": "float64",
    "a[i] = 1.5 << 2": "float64",
    "return 3": "cannot return a value",
    "a[i] = cuda.shfl_sync(-1, a[i] > 0, 1)": "shuffles take",
    "x = cuda.shared.array(i, int32)": "constant",
    "x = cuda.shared.array(SIZE + 1, int32)": "numba does not compute the shape",
    "x = cuda.local.array((4, 2 * SIZE), int32)": "give `(4, 2 * SIZE)` a name",
    "x = cuda.shared.array(3, 'nothing')": "not a dtype",
    "x = cuda.shared.array(3, int)": "is int, a type of Python, which numba does not take here",
    "x = cuda.local.array(3, dtype=float)": "is float, a type of Python",
    "x = cuda.local.array((2, 2), bool)": "is bool, a type of Python",
    "raise ValueError('no') from None": "raise ... from",
    "raise ValueError(i)": "the arguments of an exception must be constants",
    "raise i": "`i` is not a class of exceptions",
    "x, *y = 1, 2, 3": "a starred name cannot take items",
    "for k in enumerate(a, start=1):\n        pass": "enumerate() takes",
    "for k in zip(a, a, strict=True):\n        pass": "zip() takes",
    "for k in a[0]:\n        pass": "ranges, arrays and tuples",
    "x = a in a": "`in` takes a tuple or a range; `a` is an array of int64",
    "x = (1, 2)[3]": "index 3 is outside a tuple of 2; allowed are -2 to 1",
    "x = (1, 2)[0:i]": "must have constant ends",
    "a[True] = 1": "numba does not take a bool as an index",
    "a[i] = isinstance(a, list)": "isinstance() takes types of numbers and tuple",
    "a[i] = cuda.syncthreads()": "no value",
    "a[i] = cuda.syncthreads_count(i > 3)": "int32(",
    "x, y = 1, 2, 3": "tuple",
    "a[i] = min(i)": "two or more",
    "cuda.atomic.add(i, 0, 1)": "array",
    "a[i] = x\n    x = 1": "`x` is read before",
    "a[i] = math.sqrt(1, 2)": "takes 1 arguments",
    "a[i] = math.sqrt(x=2)": "none of them by keyword",
    "a[i] = cuda.grid()": "takes 1 arguments",
    "a[i] = cuda.grid(i)": "constant integer",
    "a[i] = abs()": "takes 1 arguments",
    "a[i] = round(1.5, 2, 3)": "takes 1 or 2 arguments",
    "a[i] = divmod(i)": "takes 2 arguments",
    "a[i] = int(i, 2)": "takes 0 or 1 arguments",
    "a[i] = int32()": "one number expected",
    "a[i] = min(i, key=3)": "two or more",
    "a[i] = cuda.ballot_sync(-1)": "takes (mask, predicate)",
    "a[i] = cuda.ballot_sync(-1, i, 3)": "takes (mask, predicate)",
    "a[i] = cuda.ballot_sync(-1, i, other=3)": "takes (mask, predicate)",
    "a[i] = cuda.atomic.add(a, 0)": "takes 3 arguments",
    "a[i] = cuda.atomic.cas(a, 0, 1)": "takes 4 arguments",
    "x = cuda.shared.array(3)": "takes (shape, dtype, alignment)",
    "x = cuda.local.array(shape=3, kind=int32)": "takes (shape, dtype, alignment)",
    "a[i] = cuda.selp(True, 1, 2.5)": "of one type",
    "a[i] = helped(1)": "`helped(1)`: missing a required argument: 'y'",
    "a[i] = helped(1, y=2, z=3)": "got an unexpected keyword argument 'z'",
    "a[i] = helped(1, 2, 3)": "too many positional arguments",
    "for k in range():\n        pass": "one to three",
    "for k in range(0.5):\n        pass": "integer",
    "for k, j in range(3):\n        pass": "must be a name",
    "a[i] = helper(i)": "helper",
    "a[i] = (yield)": "yield",
    "a[i] = i if a else 1": "`a` is not a number",
    "a[i] = f'{i}'": "f'{i}'",
    "a[i] = (n := 3)": "(n := 3)",
    "print(i, end='')": "print() takes at most 32 arguments in a kernel, none of them by keyword",
    "print(a)": "`a` cannot be printed",
    "print(1j)": "`1j` cannot be printed",
    "for k in range(0, 5, 0): i = k": "the step of range() must not be 0",
    "i = 1j < 2": "complex numbers have no order",
    "i = 1j // 2": "`//` does not take complex128 and int64",
    "a[0] = 1j": "complex128 does not become",
    "i = math.sqrt(1j)": "`math.sqrt` does not take complex numbers",
    "i = min(1j, 2)": "min() takes two or more numbers",
    "i = complex(1j, 2)": "the parts of a complex number must be real",
    "a[i] = doubled(i)": "`doubled` is a plain Python function",
    "a[i] = cuda.libdevice.sqrt(i)": "`cuda.libdevice.sqrt` is none of the",
    "a[::i][0] = 1": "step of a slice must be a constant",
    "m[0, :][0, 0] = 1": "needs as many indices",
    "m.view(np.int32)[0, 0] = 1": "types of 8 bytes only; int32 has 4",
    "m[0] = m[1]": "store the elements of an array in a loop",
    "m[m[0, 0] > 1, 0] = 1": "numba does not take a bool as an index",
    "for k in (1, 2.5): a[i] = k": "these are int64, float64",
    "for k in (): a[i] = k": "an empty tuple",
    "a[i] = a[0] + max((1, 2, 3), 4)": "max() takes two or more numbers",
    "a[i] = -(1, a[0])": "is not a number but a tuple of 2",
    "q = (1, 2)\n    if i: q = (1, 2, 3)\n    i = q[0]": "numba cannot unify them",
    "a[i] = (a[0], 2.5)[i]": "these are int64, float64",
    "q = (1, 2)\n    q += (3,)": "not by `+=`",
    "a[i] = State.NEW + 1": "both operands must be numbers",
    "a[i] = State.NEW == Direction.PUSH": "cannot be compared with int64",
    "a[i] = Edge(1, 2).source": "numba does not fill in the default of weight; give all items",
    "a[i] = Edge(1, 2, length=2).source": "unexpected keyword argument 'length'",
    "r[0].z = 1": "this record has no field `z`; it has x, y",
    "r['z'][0] = 1": "this record has no field `z`; it has x, y",
    "r[0] = 1": "a record can be assigned from a record of the same type",
    "r[0].x = r[0] + 1": "both operands must be numbers",
    "r[0] += 1": "a whole record cannot be used here",
}
MODULE = """\
import enum
import math
from collections import namedtuple
import numpy as np
from numba import cuda, int32

SIZE = 8
Edge = namedtuple("Edge", "source target weight", defaults=(1,))
State = enum.Enum("State", "NEW SEEN")
Direction = enum.IntEnum("Direction", "PUSH PULL")


def doubled(x):
    return 2 * x


@cuda.jit(device=True)
def helped(x, y):
    return x + y


@cuda.jit
def kernel(a, m, r):
    i = cuda.grid(1)
    a[i] = 7
    {statement}
"""


@pytest.mark.parametrize("statement", REFUSED)
def test_what_the_machine_does_not_run_is_refused_before_the_launch(statement, tmp_path):
    a, m, r = np.zeros(4, int), np.zeros((3, 4)), np.zeros(4, [("x", "f4"), ("y", "f4")])
    kernel = kernel_from(MODULE.format(statement=statement), tmp_path)
    with pytest.raises(KernelError) as caught:
        launch(kernel, 1, 4, (a, m, r))
    error = caught.value
    assert isinstance(error, (UnsupportedConstruct, KernelTypeError))
    assert REFUSED[statement] in str(error)
    first = MODULE[: MODULE.index("{statement}")].count("\n") + 1
    assert error.line == 0 or first <= error.line <= first + statement.count("\n")
    assert error.file == str(tmp_path / "kernel.py")
    assert not a.any(), "nothing has run"


RECURSIVE = """\
from numba import cuda


@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@cuda.jit
def kernel(a):
    a[0] = factorial(5)
"""


def test_recursion_is_refused(tmp_path):
    kernel = kernel_from(RECURSIVE, tmp_path)
    error = failure(UnsupportedConstruct, kernel, 1, 1, np.zeros(1))
    assert "recursion" in error.reason
    assert error.kernel == "factorial"


SIGNATURES = {"*parts": "args", "a, *, b=1": "keyword-only", "a, **rest": "kwargs"}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_parameters_of_other_kinds_are_refused(signature, tmp_path):
    text = f"from numba import cuda\n@cuda.jit\ndef kernel({signature}):\n    pass\n"
    kernel = kernel_from(text, tmp_path)
    assert SIGNATURES[signature] in str(failure(UnsupportedConstruct, kernel, 1, 1, np.zeros(1)))
