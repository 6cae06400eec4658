"""Each version of a variable has a type of its own; the expected versions are written by hand."""

from __future__ import annotations

import ast
import textwrap

import numpy as np
import pytest
from numba import cuda, float32, int32, njit

from gpukernels.simt.translate.versions import plain, split_variables

#: The body of a function of `a`, and the same body with numbered versions of its variables.
LIVES = {
    "a new type": ("x = a\nx = x / 2\na = x", "x = a\nx·1 = x / 2\na·1 = x·1"),
    "augmented": ("x = 1\nx += a\na = x", "x = 1\nx·1 = x + a\na·1 = x·1"),
    "swapped": (
        "x, y = (1, 2)\nx, y = (y, x)\na = x",
        "x, y = (1, 2)\nx·1, y·1 = (y, x)\na·1 = x·1",
    ),
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
    "apart within a loop": (
        """
        for i in range(a):
            x = 1
            a = x
            x = 2.5
            a = x
        """,
        """
        for i in range(a):
            x = 1
            a·1 = x
            x·1 = 2.5
            a·2 = x·1
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
    "through a continue": (
        """
        x = 0
        while a > 3:
            if x:
                x = 1
                continue
            x = 2
            b = x
        """,
        """
        x = 0
        while a > 3:
            if x:
                x = 1
                continue
            x = 2
            b = x
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
