"""Every error names the cause, the line, the block and the thread, before harm is done."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
from launching import failure, function_from, kernel_from, line_of
from numba import cuda, float32, int32

from gpukernels.simt import launch
from gpukernels.simt.errors import (
    KernelAssertion,
    KernelError,
    KernelException,
    KernelTypeError,
    LaunchError,
    OutOfBounds,
    ReadOnlyArray,
    ShuffleError,
    SourceNotFound,
    UninitializedRead,
    UnsetVariable,
    UnsupportedConstruct,
)

FULL = 0xFFFFFFFF


# Bounds ------------------------------------------------------------


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
    failure(ReadOnlyArray, store_one, 1, 8, a, match="`a` is read-only")
    failure(ReadOnlyArray, store_in_table, 1, 8, np.ones(8), match="`TABLE` is read-only")
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


# Launches ------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        (0, 32, "grid=0"),
        (1, 0, "block=0"),
        (1, 1025, "block=1025"),
        (1, (32, 33), "1056 threads"),
        (1, (1, 1, 65), r"block=\(1, 1, 65\)"),
        ((1, 65536), 1, r"grid=\(1, 65536\)"),
        (1.5, 32, "grid=1.5"),
        ((1, 1, 1, 1), 32, "one to three integers"),
        (-1, 32, "grid=-1"),
    ],
)
def test_launches_beyond_the_limits_of_a_device(grid, block, text):
    a = np.zeros(4)
    failure(LaunchError, store_one, grid, block, a, match=text)
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
    failure(LaunchError, much_shared, 1, 1, np.zeros(1), match="52000 bytes", at="more = ")
    failure(LaunchError, first_element, 1, 1, np.ones(1), shared=50000, match="shared=50000")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((np.zeros(4),), "takes 2 arguments"),
        ((np.zeros(4), np.zeros(4), 3), "takes 2 arguments"),
        ((np.zeros(4), [1, 2]), "argument 1 is a list"),
        ((np.zeros(4), "text"), "argument 1 is a str"),
        ((np.zeros(4, "O"), np.zeros(4)), "argument 0 is an array of object"),
        ((np.zeros(4), np.zeros(4, "U4")), "argument 1 is an array of"),
        ((np.zeros(4), np.zeros(4, [("x", "O")])), "argument 1 is an array of"),
        ((np.zeros(4), np.zeros(4, [("when", "M8[s]")])), "argument 1 is an array of"),
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
    failure(KernelTypeError, first_element, 1, 1, *arguments, match=text)


def test_what_is_no_kernel_or_has_no_source():
    failure(LaunchError, 7, 1, 1, match="neither a @cuda.jit kernel nor a function")
    space = {"cuda": cuda}
    exec("@cuda.jit\ndef kernel(a):\n    a[0] = 1\n", space)
    error = failure(SourceNotFound, space["kernel"], 1, 1, np.zeros(1))
    assert error.kernel == "kernel"


# Unsupported parts of the language ------------------------------------------------------------

REFUSED = {
    "with open('x') as f:\n        pass": "with",
    "x = 'text' + 'more'": "numbers",
    "def inner():\n        return 1": "def inner",
    "global y": "global y",
    "a[i] = unknown": "`unknown` is not defined",
    "a[i] = a[i:]": "only numbers can be stored",
    "a[i] = a[i, i]": "1 dimensions",
    "if i:\n        a = 5\n    a[i] = 1": "two kinds",
    "a[i] = 1.5 & 2": "float64",
    "return 3": "cannot return a value",
    "a[i] = cuda.shfl_sync(-1, a[i] > 0, 1)": "shuffles take",
    "x = cuda.shared.array(i, int32)": "constant",
    "x = cuda.shared.array(SIZE + 1, int32)": "numba does not compute the shape",
    "x = cuda.shared.array(3, 'nothing')": "not a dtype",
    "raise i": "`i` is not a class of exceptions",
    "for k in a[0]:\n        pass": "ranges, arrays and tuples",
    "x = (1, 2)[3]": "index 3 is outside a tuple of 2; allowed are -2 to 1",
    "a[i] = isinstance(a, list)": "isinstance() takes types of numbers and tuple",
    "a[i] = cuda.syncthreads()": "no value",
    "a[i] = cuda.syncthreads_count(i > 3)": "int32(",
    "x, y = 1, 2, 3": "tuple",
    "a[i] = min(i)": "two or more",
    "cuda.atomic.add(i, 0, 1)": "array",
    "a[i] = x\n    x = 1": "`x` is read before",
    "a[i] = math.sqrt(1, 2)": "takes 1 arguments",
    "a[i] = cuda.grid()": "takes 1 arguments",
    "a[i] = cuda.grid(i)": "constant integer",
    "a[i] = cuda.ballot_sync(-1)": "takes (mask, predicate)",
    "a[i] = cuda.atomic.add(a, 0)": "takes 3 arguments",
    "x = cuda.shared.array(3)": "takes (shape, dtype, alignment)",
    "a[i] = cuda.selp(True, 1, 2.5)": "of one type",
    "a[i] = helped(1, 2, 3)": "too many positional arguments",
    "for k in range():\n        pass": "one to three",
    "for k in range(0.5):\n        pass": "integer",
    "for k, j in range(3):\n        pass": "must be a name",
    "a[i] = helper(i)": "helper",
    "a[i] = (yield)": "yield",
    "a[i] = (n := 3)": "(n := 3)",
    "print(i, end='')": "print() takes at most 32 arguments in a kernel, none of them by keyword",
    "print(1j)": "`1j` cannot be printed",
    "for k in range(0, 5, 0): i = k": "the step of range() must not be 0",
    "i = 1j < 2": "complex numbers have no order",
    "i = 1j // 2": "`//` does not take complex128 and int64",
    "a[0] = 1j": "complex128 does not become",
    "i = math.sqrt(1j)": "`math.sqrt` does not take complex numbers",
    "i = min(1j, 2)": "min() takes two or more numbers",
    "i = complex(1j, 2)": "the parts of a complex number must be real",
    "a[::i][0] = 1": "step of a slice must be a constant",
    "m[0, :][0, 0] = 1": "needs as many indices",
    "a[i] = State.NEW == Direction.PUSH": "cannot be compared with int64",
    "a[i] = Edge(1, 2).source": "numba does not fill in the default of weight; give all items",
    "a[i] = Edge(1, 2, length=2).source": "unexpected keyword argument 'length'",
    "r[0].z = 1": "this record has no field `z`; it has x, y",
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


SIGNATURES = {"*parts": "args", "a, *, b=1": "keyword-only", "a, **rest": "kwargs"}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_parameters_of_other_kinds_are_refused(signature, tmp_path):
    text = f"from numba import cuda\n@cuda.jit\ndef kernel({signature}):\n    pass\n"
    kernel = kernel_from(text, tmp_path)
    assert SIGNATURES[signature] in str(failure(UnsupportedConstruct, kernel, 1, 1, np.zeros(1)))


HEAD = """\
def kernel(a, m, r, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    bad = a[i] == 0
"""
UNSET = "is read by a thread that has not set it"
#: Statements of a kernel with a fault of the thread with ``a[i] == 0``; if there are several lines,
#: ``# here`` marks the faulty one. Then the error and its message.
FAULTS = {
    "out[i] = a[i + 100 * bad]": (
        OutOfBounds,
        "index 141 is out of bounds for `a`, which has 70 elements.*0 to 69",
    ),
    "out[i - 100 * bad] = a[i]": (OutOfBounds, "index -59 is out of bounds for `out`"),
    "cuda.atomic.add(out, i + 29 * bad, 1)": (OutOfBounds, "index 70 is out of bounds for `out`"),
    "m[i, 2 + 4 * bad] = 1": (OutOfBounds, "for `m`, which has 6 elements along axis 1"),
    "r[i + 29 * bad].x = 1": (OutOfBounds, "index 70 is out of bounds for `r`.*70 elements"),
    "out[i] = (1, 2, 3)[3 * bad]": (OutOfBounds, "3 is out of bounds for the tuple"),
    "q = a[: i + 1]\nout[i] = q[i + bad]  # here": (
        OutOfBounds,
        "index 42 is out of bounds for a slice of `a`.* 42 ",
    ),
    "q = cuda.shared.array((35, 4), int32)\nq[t, 4 * bad] = 1  # here": (
        OutOfBounds,
        "for `q`, which has 4 elements along axis 1",
    ),
    "q = cuda.local.array(3, int32)\nfor k in range(3 + bad):\n    q[k] = k  # here": (
        OutOfBounds,
        "index 3 is out of bounds for `q`",
    ),
    "q = cuda.shared.array(35, int32)\nif not bad: q[t] = 1\nout[i] = q[t]  # here": (
        UninitializedRead,
        "shared array `q`",
    ),
    "q = cuda.local.array(2, int32)\nif not bad: q[1] = 1\nout[i] = q[1]  # here": (
        UninitializedRead,
        "local array `q`",
    ),
    "q = cuda.shared.array(35, int32)\nif not bad: q[t] = 1\ncuda.atomic.add(q, t, 1)  # here": (
        UninitializedRead,
        "shared array `q`",
    ),
    "if not bad: x = a[i]\nout[i] = x  # here": (UnsetVariable, f"`x` {UNSET}"),
    "for k in range(a[i]): x = k\nout[i] = x  # here": (UnsetVariable, f"`x` {UNSET}"),
    "while True:\n    if bad: break\n    x = t\n    break\nout[i] = x + 1  # here": (
        UnsetVariable,
        f"`x` {UNSET}",
    ),
    "if not bad: x = 1\nif x == 1: out[i] = 5  # here": (UnsetVariable, f"`x` {UNSET}"),
    "if not bad: x = (t, 2 * t)\nout[i] = x[1]  # here": (UnsetVariable, f"`x` {UNSET}"),
    "if not bad: x = 0\nx += 1  # here\nout[i] = x": (UnsetVariable, f"`x` {UNSET}"),
    "if not bad: x = a[t:]\nout[i] = x[0]  # here": (UnsetVariable, f"`x` {UNSET}"),
    "for k in range(0, 12, a[i]):  # here\n    out[i] += k": (
        KernelError,
        r"the step of range\(\) is 0",
    ),
    "assert not bad, 'a is small'": (KernelAssertion, "assertion failed: a is small$"),
    "assert not bad": (KernelAssertion, "assertion failed$"),
    "if bad:\n    raise ValueError('not positive', 7)  # here": (
        KernelException,
        "ValueError: not positive, 7$",
    ),
    "if bad:\n    raise IndexError  # here": (KernelException, "IndexError$"),
}


@pytest.mark.crossed
@pytest.mark.parametrize("statements", FAULTS)
def test_a_fault_is_an_error_with_its_line_block_and_thread(statements, schedule):
    kind, says = FAULTS[statements]
    space = {"cuda": cuda, "int32": int32}
    kernel = cuda.jit(function_from(HEAD + textwrap.indent(statements, "    "), "kernel", space))
    a, out = np.ones(70, np.int64), np.zeros(70, np.int64)
    others = np.zeros((70, 6)), np.zeros(70, [("x", "f4"), ("y", "f4")])
    launch(kernel, 2, 35, (a, *others, out), schedule=schedule)
    a[41] = 0
    with pytest.raises(KernelError) as caught:
        launch(kernel, 2, 35, (a, *others, out), schedule=schedule)
    error = caught.value
    assert type(error) is kind
    assert re.search(says, error.reason)
    assert error.line == line_of(kernel, "# here" if "\n" in statements else statements)
    assert (error.block, error.thread) == ((1, 0, 0), (6, 0, 0))
    for part in (
        f"line {error.line}, in kernel",
        f"{error.line} | {error.text.strip()}",
        "block (1, 0, 0), thread (6, 0, 0)",
    ):
        assert part in str(error)
