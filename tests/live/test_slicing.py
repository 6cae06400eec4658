"""A program has the statements on which its figure depends, and no others."""

from __future__ import annotations

import pytest
from live.slicing import program_of

CASES = {
    "only what is read": (
        ["a = 1\nb = 2", "c = a + 1\nassert c == 2\nc"],
        "a = 1\nc = a + 1\nc\n",
    ),
    "the last of two bindings": (["a = 1", "a = 2", "a"], "a = 2\na\n"),
    "a binding that reads the one before": (["a = 1", "a = a + 1", "a"], "a = 1\na = a + 1\na\n"),
    "names of an import": (
        ["from numpy import arange, zeros", "zeros(3)"],
        "from numpy import zeros\n\nzeros(3)\n",
    ),
    "a list that a method changes": (
        ["a, b = [], []", "a.append(1)\nb.append(2)\n1", "a"],
        "a, b = [], []\na.append(1)\na\n",
    ),
    "an array that a launch fills": (
        ["def k(out):\n    out[0] = 1", "out = [0]\nrun(k, out)\n0", "out"],
        "def k(out):\n    out[0] = 1\n\n\nout = [0]\nrun(k, out)\nout\n",
    ),
    "a function's own names": (
        ["size = 2", "def double(x):\n    return size * x", "y = 3", "double(4)"],
        "size = 2\n\n\ndef double(x):\n    return size * x\n\n\ndouble(4)\n",
    ),
    "a name that a function reads when it is called": (
        ["def f():\n    return late", "late = 1", "f()"],
        "def f():\n    return late\n\n\nlate = 1\nf()\n",
    ),
    "a loop and its own variables": (
        ["k = 7", "total = []\nfor k in range(3):\n    total.append(k)", "total"],
        "total = []\n\nfor k in range(3):\n    total.append(k)\ntotal\n",
    ),
    "elements that a loop changes": (
        ["both = {1: []}\nfor name, each in both.items():\n    each.append(name)", "both"],
        "both = {1: []}\n\nfor name, each in both.items():\n    each.append(name)\nboth\n",
    ),
    "no other figure": (["a = 1\nshow(a)", "b = 2\nshow(b)"], "b = 2\nshow(b)\n"),
    "a comment above a statement": (["# Why.\na = 1\n# Else.\nb = 2", "a"], "# Why.\na = 1\na\n"),
}


@pytest.mark.parametrize(("cells", "program"), CASES.values(), ids=CASES)
def test_a_program_has_what_its_figure_depends_on(cells, program):
    assert program_of(cells) == program
