"""Faults of one thread: each is found at its line, under all schedules, and no others are."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
from launching import function_from, line_of
from numba import cuda, int32
from record_kernels import PARTICLE, particle

from gpukernels.simt import launch
from gpukernels.simt.errors import (
    KernelAssertion,
    KernelError,
    KernelException,
    OutOfBounds,
    UninitializedRead,
    UnsetVariable,
)

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
    "q = cuda.shared.array(35, particle)\nq[t].x = 1\nif not bad: q[t].y = 1\n"
    "out[i] = q[t].x\nout[i] += q[t].y  # here": (UninitializedRead, r"shared array `q\.y`"),
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
@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize("statements", FAULTS)
def test_a_fault_is_an_error_with_its_line_block_and_thread(statements, schedule):
    kind, says = FAULTS[statements]
    space = {"cuda": cuda, "int32": int32, "particle": particle}
    kernel = cuda.jit(function_from(HEAD + textwrap.indent(statements, "    "), "kernel", space))
    a, out = np.ones(70, np.int64), np.zeros(70, np.int64)
    others = np.zeros((70, 6)), np.zeros(70, PARTICLE)
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
