"""A variable that a thread has not set is an error under `check`; only this check takes time."""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda, int64
from thread_by_thread import alone

import gpukernels as gk
from gpukernels.simt import launch
from gpukernels.simt.errors import UnsetVariable
from gpukernels.simt.machine import _program


@cuda.jit
def in_a_branch(a, out):
    t = cuda.grid(1)
    if a[t] > 0:
        best = a[t]
    out[t] = best


@cuda.jit
def an_array(a, out):
    t = cuda.grid(1)
    if a[t] > 0:
        part = a[t:]
    out[t] = part[0]


@cuda.jit(device=True)
def biggest(a, t):
    if a[t] > 0:
        value = a[t]
    return value


@cuda.jit
def in_a_function(a, out):
    t = cuda.grid(1)
    out[t] = biggest(a, t)


def test_one_in_a_device_function_is_named_there():
    with pytest.raises(UnsetVariable, match="`value` is read") as caught:
        launch(in_a_function, 1, 4, (np.array([1, 2, 0, 4]), np.zeros(4, np.int64)))
    assert caught.value.kernel == "biggest"
    assert caught.value.line == line_of(biggest, "return value")
    assert caught.value.thread == (2, 0, 0)


def test_without_check_it_reads_as_zero():
    out = np.full(4, 9)
    launch(in_a_branch, 1, 4, (np.array([1, 2, 0, 4]), out), check=False)
    assert out.tolist() == [1, 2, 0, 4]


@pytest.mark.parametrize("value", [0, 1])
def test_an_array_has_no_zero_and_is_an_error_without_check_too(value):
    a = np.array([value, 2, 0, 4])
    with pytest.raises(UnsetVariable, match="`part` is read"):
        launch(an_array, 1, 4, (a, np.zeros(4, np.int64)), check=False)


def test_gk_check_lists_it_once_with_a_remedy_and_goes_on():
    a = np.array([0, 2, 0, -1])
    report = gk.check(in_a_branch, 1, 4, a, np.zeros(4, np.int64))
    (finding,) = report.errors
    assert finding.rule == "unset-variable"
    assert finding.array == "best"
    assert finding.line == line_of(in_a_branch, "out[t] =")
    assert finding.thread == (0, 0, 0)
    assert "before the branch or loop" in finding.remedy
    assert len(finding.schedules) == len(report.schedules)


# No errors: threads that set their variables first, and conditions that avoid the read.
@alone(np.arange(70) - 30, np.zeros(70, np.int64), 1, blocks=3, threads=32)
@cuda.jit
def always_set(a, out, rounds):
    t = cuda.grid(1)
    if t < out.shape[0]:
        if a[t] > 0:
            x = 1
        elif a[t] < 0:
            x = 2
        else:
            return
        while True:
            y = x + 1
            if y > 1:
                break
        for _ in range(4):
            z = y
        if rounds > 0:
            w = z
        for v in (x, y):
            u = v
        if rounds > 0:
            out[t] = w + u


@alone(np.arange(8) % 4, np.zeros(8, np.int64))
@cuda.jit
def asked_first(a, out):
    t = cuda.grid(1)
    known = a[t] > 0
    if known:
        x = a[t]
        part = a[t:]
    if known and x > 1:
        out[t] = 1
    if not known or x > 2:
        out[t] += 2
    if 0 < t * known < x:
        out[t] += 0
    out[t] += (x if known else 10) + (100 if known and part.shape[0] > 3 else 0)


@cuda.jit
def ordinary(a, out):
    t = cuda.grid(1)
    best = int64(0)
    for k in range(a[t]):
        if k % 3 == 0:
            best = k
        else:
            other = best + k
            best = max(best, other)
    out[t] = best


def test_a_kernel_that_always_sets_its_variables_pays_nothing():
    program = _program(ordinary, (np.ones(4, np.int64), np.ones(4, np.int64)), False, "lockstep")
    assert "is_set" not in program.text
    assert "checked" not in program.text
    program = _program(in_a_branch, (np.ones(4, np.int64),) * 2, False, "lockstep")
    assert program.text.count("is_set") == 1
