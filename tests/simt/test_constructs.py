"""The machine's part of numba's language: each construct is tried with both.

``constructs.txt`` holds them. numba compiles each one to PTX, for which it needs no GPU, and the
machine runs it. So the file stays right, and with it the lists in ``book/simt.md``, which are made
from it.
"""

from __future__ import annotations

import enum
import math  # noqa: F401 - the constructs name it
import operator  # noqa: F401
import textwrap
from collections import namedtuple
from pathlib import Path

import numba
import numba_cuda
import numpy as np
import pytest
from effort import EFFORT, SOAK
from launching import function_from, numba_compiles
from numba import cuda
from thread_by_thread import thread_by_thread

from gpukernels.simt import launch
from gpukernels.simt.errors import KernelError

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "book" / "simt.md"
#: The language differs a little between versions of numba; the file is for this version.
NUMBA_CUDA = "0.30.4"
TYPES = (numba.int32[::1], numba.float64[::1], numba.float64[:, ::1], numba.float64[::1])

Point = namedtuple("Point", "x y")
CONST = np.arange(4)
TUP = (1, 2, 3)
LISTC = [1, 2, 3]


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Shade(enum.Enum):
    DARK = 1
    LIGHT = 2


class Bits(enum.IntFlag):
    A = 1
    B = 2


RED = Color.RED


def plain(x):
    return x + 1


LAM = lambda x: x + 1  # noqa: E731 - a construct under test


@cuda.jit(device=True)
def dev(x):
    return x + 1


@cuda.jit(device=True)
def app(f, x):
    return f(x)


@cuda.jit(device=True)
def defaulted(x, y=3):
    return x + y


@cuda.jit(device=True)
def varargs(*a):
    return a[0] + a[1]


@cuda.jit(device=True)
def mk(n):
    return range(n)


@cuda.jit(device=True)
def mkp(n):
    return Point(n, 2)


@cuda.jit(device=True)
def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)


@numba.njit
def nj(x):
    return x + 1


@cuda.jit
def kern(a):
    a[0] = 1


SPACE = {name: value for name, value in globals().items() if not name.startswith("_")}


def sections() -> dict[str, dict[str, str]]:
    """Return {section: {construct: its statements}}; a line with a dash is its own name.

    A line with an asterisk ends in names, each of which takes the place of ``NAME``; a further line
    of names begins with an asterisk alone.
    """
    texts, section, name, pattern = {}, None, None, None
    for line in (HERE / "constructs.txt").read_text().splitlines(keepends=True):
        mark, _, text = line.strip().partition(" ")
        if mark == "#":
            section = texts.setdefault(text, {})
        elif mark in ("##", "-"):
            name = text
            assert name not in section, f"{name} stands there twice"
            section[name] = "" if mark == "##" else text
        elif mark == "*":
            form, _, names = text.rpartition(":")
            pattern = form or pattern
            for word in names.split():
                name = pattern.replace("NAME", word)
                section[name] = name
        elif line.strip():
            section[name] += line
    return texts


SECTIONS = sections()
TAKEN, BY_NUMBA_ALONE = SECTIONS["taken by both"], SECTIONS["taken by numba alone"]
BY_MACHINE_ALONE, REFUSED = SECTIONS["taken by the machine alone"], SECTIONS["refused by both"]


def function_of(statements):
    """Return a function of `statements` whose source can be read."""
    head = "def kernel(a, b, m, out):\n    i = cuda.grid(1)\n    t = 0\n"
    return function_from(head + textwrap.indent(statements, "    "), "kernel", SPACE)


def arguments():
    a, b = np.array([3, 1, 2, 5], np.int32), np.arange(1, 5.0)
    return a, b, np.ones((2, 4)), np.zeros(8)


def run(function):
    """Run `function` on the machine; return the arrays afterwards."""
    arrays = arguments()
    launch(cuda.jit(function), 1, 2, arrays, check=False)
    return arrays


#: Python with NumPy has other results for these: NumPy does not add bools, objects have identities,
#: integers have no limit, and two threads that add to one element at once lose an addition.
NOT_PYTHONS = {"tuple le ge gt", "out[i] = (a[i] > 1) + (a[i] > 2)", "bool is true"}
NOT_PYTHONS |= {"out[i] = a[i] is a[0]", "out[i] = 2**70", "a[1:][0] += 2"}
pytestmark = pytest.mark.filterwarnings("ignore:.is. with a literal:SyntaxWarning")
asked_of_this_numba = pytest.mark.skipif(
    numba_cuda.__version__ != NUMBA_CUDA, reason="another numba-cuda takes other things"
)


#: Compilation is slow, and the language of one version of numba does not change. So every third
#: construct is tried, and all in which the two differ. `make soak` tries all.
ASKED = slice(None, None, 1 if EFFORT == SOAK else 3)


@asked_of_this_numba
@pytest.mark.parametrize("name", [*list(TAKEN)[ASKED], *BY_NUMBA_ALONE])
def test_numba_compiles_what_it_is_said_to_take(name):
    statements = TAKEN.get(name) or BY_NUMBA_ALONE[name]
    assert numba_compiles(function_of(statements), TYPES)


@asked_of_this_numba
@pytest.mark.parametrize("name", [*list(REFUSED)[ASKED], *BY_MACHINE_ALONE])
def test_numba_refuses_what_it_is_said_to_refuse(name):
    statements = REFUSED.get(name) or BY_MACHINE_ALONE[name]
    assert not numba_compiles(function_of(statements), TYPES)


@pytest.mark.parametrize("name", [*TAKEN, *BY_MACHINE_ALONE])
def test_the_machine_makes_of_it_what_python_makes(name):
    function = function_of(TAKEN.get(name) or BY_MACHINE_ALONE[name])
    result = run(function)
    if name not in NOT_PYTHONS:
        expected = thread_by_thread(cuda.jit(function), 1, 2, *arguments())
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-15)


@pytest.mark.parametrize("name", [*BY_NUMBA_ALONE, *REFUSED])
def test_the_machine_refuses_the_rest_by_name_with_its_line(name):
    statements = BY_NUMBA_ALONE.get(name) or REFUSED[name]
    with pytest.raises(KernelError) as caught:
        run(function_of(statements))
    assert caught.value.thread is None, "before the launch"
    assert caught.value.line >= 1


def listed(names) -> str:
    """Return the constructs in the form of the page's list."""
    return "\n".join(f"- {name}" for name in names)


def test_the_page_lists_what_numba_alone_takes_and_what_the_machine_alone_takes():
    page = PAGE.read_text()
    for mark, names in (("numba", BY_NUMBA_ALONE), ("machine", BY_MACHINE_ALONE)):
        begin, end = f"<!-- {mark} alone: begin -->\n", f"\n<!-- {mark} alone: end -->"
        assert page.split(begin)[1].split(end)[0] == listed(names), "write it anew from the file"
