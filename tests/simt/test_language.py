"""The language of kernels: indices, control flow, calls, loops, tuples, functions, print."""

from __future__ import annotations

import enum
import linecache
import re
from collections import namedtuple

import numpy as np
import pytest
from launching import kernel_from, launched, line_of
from numba import cuda, int32, int64
from thread_by_thread import alone

import gpukernels as gk
from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import UnsetVariable
from gpukernels.simt.machine import _program
from gpukernels.simt.translate.source import load
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.values import ArrayType

N = 70
RNG = np.random.default_rng(0)
BOUNDS = np.array(
    [(a, b, s) for a in range(-3, 4) for b in range(-3, 4) for s in (-3, -2, -1, 1, 2, 3)]
)


# Indices ------------------------------------------------------------


# Branches and loops ------------------------------------------------------------


@alone(BOUNDS, np.zeros((len(BOUNDS), 3), np.int64), blocks=5, threads=64)
@cuda.jit
def ranges(bounds, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        last = -99
        for j in range(bounds[i, 0], bounds[i, 1], bounds[i, 2]):
            out[i, 0] += 1
            out[i, 1] += j
            last = j
            j += 1000  # changes only the copy of this round
        out[i, 2] = last


@alone(np.array([1, 9, 4, 2, 5]), np.zeros(40, np.int64))  # beyond `a`, all right-hand sides fail
@cuda.jit
def only_where_asked(a, out):
    i = cuda.grid(1)
    out[i] = a[i] if i < a.size else -1
    if i < a.size and a[i] > 3:
        out[i] += 100
    if i >= a.size or a[i] > 3:
        out[i] += 1000
    if not (i < a.size and 2 < a[i] <= 5):
        out[i] += 10_000


# Values known before the launch ------------------------------------------------------------

WEIGHTS = np.array([10, 20, 30], np.int32)
SIZES = (3, 5)
SCALE = 4


@cuda.jit(device=True)
def added(out, i, extra=None):
    if extra is not None:
        out[i] += extra[i]


def scaled(power, verbose, with_extra):
    offset = int32(2)

    @cuda.jit
    def kernel(out, extra):
        i = cuda.grid(1)
        if verbose:
            out[i] = 1
        if with_extra:
            added(out, i, extra)
        else:
            added(out, i)
        out[i] += SCALE**power + offset + WEIGHTS[i % WEIGHTS.size] + SIZES[1] * len(SIZES)

    return kernel


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("with_extra", [False, True])
def test_closures_and_globals_are_constants(scheduled_device, verbose, with_extra):
    kernel, extra = scaled(2, verbose, with_extra), np.arange(N)
    out, _ = launched(scheduled_device, kernel, 1, N, np.zeros(N, np.int64), extra)
    expected = 16 + 2 + WEIGHTS[np.arange(N) % 3] + 10 + verbose
    np.testing.assert_array_equal(out, expected + with_extra * extra)


def test_a_program_does_not_depend_on_what_was_translated_before():
    types = (ArrayType(np.dtype(np.int32), 1),)
    way = {"traced": True, "yielding": True, "step_yields": True}

    def text():
        # Functions are numbered in the order of the passes that find their types.
        return re.sub(r"\bf\d+_", "f_", Program(constant_shapes, types, **way).text)

    for function in (constant_shapes, rotated):
        load(function).results.clear()
    first = text()
    assert all(load(function).results for function in (constant_shapes, rotated))
    assert text() == first
    Program(constant_shapes, types, traced=False, yielding=False, step_yields=False)
    assert text() == first


@cuda.jit(device=True)
def rotated(value, size, doubled):
    buffer = cuda.shared.array(size, int64)
    buffer[cuda.threadIdx.x] = value
    cuda.syncthreads()
    if doubled:
        return 2 * buffer[(cuda.threadIdx.x + 1) % size]
    return buffer[(cuda.threadIdx.x + 1) % size]


@cuda.jit
def constant_shapes(out):
    width = 4
    i = cuda.grid(1)
    own = cuda.local.array((width, 2), "int16")
    own[width - 1, 1] = i
    out[i] = rotated(i, 40, True) + 1000 * own[3, 1] + own.shape[0]


def test_shapes_may_be_constants_under_a_name_or_handed_to_a_function(scheduled_device):
    (out,) = launched(scheduled_device, constant_shapes, 1, 40, np.zeros(40, np.int64))
    i = np.arange(40)
    np.testing.assert_array_equal(out, 2 * np.roll(i, -1) + 1000 * i + 4)


# Tuples, builtins, mathematics ------------------------------------------------------------


@cuda.jit(device=True)
def one_or_given(x, flag):
    if flag:
        x = int64(1)
    return x


@alone(np.arange(32))
@cuda.jit
def one_where_odd(a):
    i = cuda.grid(1)
    a[i] = one_or_given(a[i], a[i] % 2 == 1)


def test_a_kernel_from_a_notebook_cell(scheduled_device, tmp_path):
    # A notebook compiles a cell under a made-up file name and leaves its text in linecache.
    text = "@cuda.jit\ndef twice(a):\n    i = cuda.grid(1)\n    a[i] *= 2\n"
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"cuda": cuda}
    exec(compile(text, name, "exec"), space)
    (a,) = launched(scheduled_device, space["twice"], 1, 10, np.arange(10))
    assert a.tolist() == [2 * i for i in range(10)]


def test_an_edited_kernel_is_read_again(device, tmp_path):
    for factor in (2, 3):
        text = "from numba import cuda\n\n\n" + "#\n" * factor + "@cuda.jit\ndef times(a):\n"
        text += f"    i = cuda.grid(1)\n    a[i] *= {factor}\n"
        kernel = kernel_from(text, tmp_path, "times")
        (a,) = launched(device, kernel, 1, 10, np.arange(10))
        assert a.tolist() == [factor * i for i in range(10)]


ARRAYS = RNG.integers(0, 9, N), RNG.normal(size=N), RNG.integers(0, 99, (N, 4)), np.zeros((N, 8))
over_many = alone(*ARRAYS, blocks=5, threads=16, rtol=1e-14)


@over_many
@cuda.jit
def over_arrays(a, b, m, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    for x in a:
        out[i, 0] += x
    for x in a[i:]:
        if x == 8:
            break
        if x % 2:
            continue
        out[i, 1] += x
    for row in m[: a[i]]:
        for x in row:
            out[i, 2] += x
    for k, x in enumerate(b[: a[i]]):
        out[i, 3] += k * x
    for k, x in enumerate(a[::-2], a[i]):
        out[i, 4] += k * x
    for x, y in zip(a, b[i:]):  # noqa: B905 - numba has no `strict`
        out[i, 5] += x * y
    for k, (x, pair) in enumerate(zip(a[: a[i]], zip(range(3, 90, 7), b))):  # noqa: B905
        out[i, 6] += k * x + pair[0] * pair[1]
    for x in a:
        if x == a[i] and i % 3 == 0:
            return
        out[i, 7] += 1


@over_many
@cuda.jit
def with_else(a, b, m, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    for k in range(a[i]):
        if k == 5:
            break
    else:
        out[i, 0] = 1
    k = 0
    while k < a[i]:
        k += 1
        if k == 4:
            break
        if k == 2 and i % 5 == 0:
            out[i, 6] = 1
            return
    else:
        k = 77
    out[i, 1] = k
    for x in a[i:]:
        for y in m[i]:
            if y % 7 == x:
                break
        else:
            out[i, 2] += x
            continue
        for y in m[i]:
            if y == 50 - x:
                break
        else:
            break
    else:
        out[i, 3] = 1
    for x in range(3):
        out[i, 4] += x
    else:
        out[i, 4] += 10
    while False:
        out[i, 5] = 1
    else:
        out[i, 5] = 2
    for x in (1, a[i]):
        if x == 3:
            break
    else:
        if a[i] == 8:
            return
    out[i, 7] = 1


@over_many
@cuda.jit
def same_name(a, b, m, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    part = a
    for x in part:
        part = a[: x + 1]  # the loop still goes over the array with which it began
        out[i, 0] += part.size
    x = a[i]
    for x in range(x):  # noqa: B020 - the bounds are computed first
        out[i, 1] += x
    out[i, 2] = x


@alone(np.arange(5, 5), np.full(3, -1))
@alone(np.arange(5, 6), np.full(3, -1))
@alone(np.arange(5, 7), np.full(3, -1))
@cuda.jit
def of_length(a, out):
    for k, x in enumerate(a):
        out[cuda.grid(1)] = k + 10 * x


def test_a_loop_over_an_array_is_one_step_and_one_load_a_round():
    recorder = Recorder()
    launch(of_length, 1, 1, (np.arange(4), np.zeros(1)), recorder=recorder)
    trace = recorder.trace
    at = line_of(of_length, "for k")
    assert trace.steps.line.tolist().count(at) == 5  # four rounds, and one that finds the end
    assert trace.requests.index.tolist() == [0, 0, 1, 0, 2, 0, 3, 0]


Edge = namedtuple("Edge", "source target weight", defaults=(1,))
ORIGIN = Edge(3, 4)


class Direction(enum.IntEnum):
    PUSH = 1
    PULL = 2


class State(enum.Enum):
    NEW = 10
    SEEN = 20


A = np.random.default_rng(5).integers(0, 5, N)
with_a = alone(A, np.zeros((N, 8), np.int64), blocks=2, threads=35)


@with_a
@cuda.jit
def indexed(a, out):
    i = cuda.grid(1)
    own = (a[i], i, a[0])
    out[i, 0] = own[i % 3]
    out[i, 1] = own[1:][0] + 10 * own[::-1][0] + 100 * len(own[:-1]) + 1000 * own[-1]
    nested = ((i, 2), (a[i], 4))
    out[i, 2] = nested[i % 2][1] + nested[a[i] % 2][0]
    out[i, 3] = out.shape[i % 2]
    first, rest = a[:3], a[3:]
    both = (first, rest)
    out[i, 4] = both[i % 2].size + both[a[i] % 2][a[i] % 3]
    out[i, 5] = (*own, 7, *own[:1])[3] + len(own + (1, 2))  # noqa: RUF005
    k = 1
    out[i, 6] = own[k]


@cuda.jit(device=True)
def lighter(one, other):
    if one.weight < other.weight:
        return one
    return Edge(other.target, other.source, weight=other.weight)


@cuda.jit(device=True)
def sum_of(*parts):
    total = 0
    for part in parts:
        total += part
    return total + len(parts)


@alone(A, np.zeros((N, 8), np.int64), Edge(5, 6, 2), blocks=2, threads=35)
@cuda.jit
def named(a, out, given):
    i = cuda.grid(1)
    edge = Edge(i, target=a[i], weight=1)
    best = lighter(given, Edge(i, a[i], a[0] + i % 3))
    out[i, 0] = edge.source + 10 * edge.target + 100 * edge.weight
    out[i, 1] = best.source + 10 * best.target + 100 * best.weight
    source, target, weight = best
    out[i, 2] = source + target + weight + edge[i % 3]
    out[i, 3] = (edge == (i, a[i], 1)) + 2 * (edge < best) + ORIGIN.target
    chosen = edge if a[i] > 2 else given
    out[i, 4] = chosen.weight + chosen[0]
    if i % 2:
        chosen = best
    for part in chosen:
        out[i, 5] += part
    out[i, 6] = sum_of(a[i], i) + sum_of(i) + sum_of(*edge) + sum_of(1, *(i, 2))


@cuda.jit
def report(a):
    i = cuda.grid(1)
    if i % 2 == 1:
        print("100% of", i, a[i], a[i] > 2, (i, 0.5), (1,))


@pytest.mark.parametrize("schedule", ["lockstep", "warp"])
def test_active_threads_print_in_order(capsys, schedule):
    launch(report, 2, 33, (np.arange(66) / 4,), schedule=schedule)
    lines = capsys.readouterr().out.splitlines()
    expected = [f"100% of {i} {i / 4:f} {i / 4 > 2} ({i}, 0.500000) (1,)" for i in range(1, 66, 2)]
    assert lines == expected


@cuda.jit
def special(x, big):
    print()
    print(x[0], x[1], big[0])


def test_empty_lines_and_special_numbers(capsys):
    x, big = np.array([np.nan, -np.inf], np.float32), np.array([2**64 - 1], np.uint64)
    launch(special, 1, 2, (x, big))
    assert capsys.readouterr().out == "\n\n" + "nan -inf 18446744073709551615\n" * 2


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
