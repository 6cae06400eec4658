"""The chain of calls that leads to an error in a device function."""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda

import gpukernels as gk
from gpukernels.simt import launch
from gpukernels.simt.errors import KernelTypeError, OutOfBounds


@cuda.jit(device=True)
def innermost(a, i):
    return a[i]


@cuda.jit(device=True)
def between(a, i):
    return innermost(a, i + 1)  # from between


@cuda.jit
def calls_once(a, out):
    i = cuda.grid(1)
    out[i] = between(a, i)  # from the kernel


@cuda.jit
def calls_twice(a, out):
    i = cuda.grid(1)
    out[i] = innermost(a, i)  # the first
    out[i] += innermost(a, i + 4)  # the second


@cuda.jit
def calls_nothing(a, out):
    out[cuda.grid(1)] = a[8]


def calls(kernel, schedule="lockstep"):
    with pytest.raises(OutOfBounds) as caught:
        launch(kernel, 1, 4, (np.zeros(4), np.zeros(8)), schedule=schedule)
    return caught.value.calls


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
def test_calls_are_named_from_the_innermost_to_the_kernel(schedule):
    inner, outer = calls(calls_once, schedule)
    assert (inner.function, outer.function) == ("between", "calls_once")
    assert inner.line == line_of(between, "# from between")
    assert outer.line == line_of(calls_once, "# from the kernel")
    assert inner.text.strip() == "return innermost(a, i + 1)  # from between"
    assert inner.others == outer.others == 0


def test_other_lines_that_call_are_counted():
    (call,) = calls(calls_twice)
    assert call.line == line_of(calls_twice, "# the first")
    assert call.others == 1


def test_an_error_in_the_kernel_itself_has_no_calls():
    assert calls(calls_nothing) == ()


def test_a_report_shows_them():
    report = gk.check(calls_once, 1, 4, np.zeros(4), np.zeros(8))
    lines = [line.strip() for line in repr(report).splitlines()]
    first = f"called at line {line_of(between, '# from between')} of between, in test_calls.py"
    assert any(line.startswith(first) for line in lines)


def test_a_refusal_has_none():
    with pytest.raises(KernelTypeError) as caught:
        launch(calls_once, 1, 4, (None, np.zeros(8)))
    assert caught.value.calls == ()
