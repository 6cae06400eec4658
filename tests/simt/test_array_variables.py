"""Variables that hold arrays: swapped, chosen per thread, in tuples; values are read first."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from launching import launched, line_of
from numba import cuda, int64
from thread_by_thread import alone

from gpukernels.device import SimtDevice
from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import KernelError, OutOfBounds, RaceError

SCHEDULES = ("lockstep", "warp", "random")
N = 70


@pytest.fixture
def run(scheduled_device):
    """Launch on N threads under each schedule, or on a GPU; return the arguments afterwards."""
    return functools.partial(launched, scheduled_device)


A, B = np.arange(N), np.arange(N) * 100
OUT = np.zeros(N, np.int64)


@alone(A, B, 0, blocks=2, threads=N // 2)
@alone(A, B, 1, blocks=2, threads=N // 2)
@alone(A, B, 2, blocks=2, threads=N // 2)
@alone(A, B, 3, blocks=2, threads=N // 2)
@cuda.jit
def ping_pong(src, dst, rounds):
    t = cuda.grid(1)
    for _ in range(rounds):
        dst[t] = src[t] + 1
        src, dst = dst, src


@alone(A, B, OUT, 2, blocks=2, threads=N // 2)
@alone(A, B, OUT, 3, blocks=2, threads=N // 2)
@cuda.jit
def swapped_in_an_if(a, b, out, n):
    t = cuda.grid(1)
    if n > 2:
        a, b = b, a
    out[t] = a[t] - b[t]


@alone(OUT, 9, blocks=2, threads=N // 2)
@cuda.jit
def local_arrays(out, rounds):
    t = cuda.grid(1)
    one, other = cuda.local.array(2, int64), cuda.local.array(2, int64)
    one[0] = t
    one[1] = 1
    for k in range(rounds):
        if k % 3 == 2:
            continue
        other[0] = one[0] + one[1]
        other[1] = one[0]
        one, other = other, one
        if k > t:
            break
    out[t] = one[0]


@alone(A, B, OUT, 0, blocks=2, threads=N // 2)
@alone(A, B, OUT, 1, blocks=2, threads=N // 2)
@alone(A, B, OUT, 2, blocks=2, threads=N // 2)
@alone(A, B, OUT, 3, blocks=2, threads=N // 2)
@cuda.jit
def tuples_of_arrays(a, b, out, rounds):
    t = cuda.grid(1)
    pair = (a, b)
    for _ in range(rounds):
        pair = (pair[1], pair[0])
    x, y = pair
    back = (y, x)
    nested = (back, (x, 7))
    (p, q), (r, seven) = nested
    out[t] = p[t] + 3 * q[t] + 5 * r[t] + seven


@cuda.jit(device=True)
def turned(a, b, c):
    return b, c, a


@alone(*(np.full(3 + i, i + 1) for i in range(3)), OUT, 6, blocks=2, threads=N // 2)
@cuda.jit
def through_a_function(a, b, c, out, rounds):
    t = cuda.grid(1)
    n = 0
    for k in range(rounds):
        a, (b, n), c = b, (c, a.shape[0]), a
        a, b, c = turned(a, b, c)
        if k == t % 5:
            break
    out[t] = a[0] + 10 * b[0] + 100 * c[0] + 1000 * n


@cuda.jit
def loop_over_arrays(a, b, out):
    t = cuda.grid(1)
    x = t + 0
    for array in (a, b):
        out[t] = 10 * out[t] + array[t]
        if t % 2:
            a, b = b, a
    for number in (1, x):
        out[t] = 10 * out[t] + number
        if t % 2:
            x = 1000


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_loop_over_a_tuple_goes_over_what_was_in_it(schedule):  # numba cannot compile it
    a, b = A.copy(), B.copy()
    out = np.zeros(N, np.int64)
    launch(loop_over_arrays, 2, N // 2, (a, b, out), schedule=schedule)
    assert out.tolist() == [100 * (10 * t + 100 * t) + 10 + t for t in range(N)]


# Some threads only ------------------------------------------------------------


@cuda.jit
def odd_lanes_swap(a, b):
    t = cuda.grid(1)
    src, dst = a, b
    if t % 2:
        src, dst = dst, src
    dst[t] = 2 * src[t] + 1
    cuda.syncwarp()
    src[t] += cuda.atomic.add(dst, t, 5) + len(src)


def test_each_thread_may_hold_another_array(run):
    a, b = A.copy(), B.copy()
    arrays = run(odd_lanes_swap, 2, N // 2, a, b)
    for t in range(N):
        pair = [int(a[t]), int(b[t])]
        src = t % 2
        pair[1 - src] = 2 * pair[src] + 1
        pair[src] += pair[1 - src] + N
        pair[1 - src] += 5
        assert [arrays[0][t], arrays[1][t]] == pair


@cuda.jit(device=True)
def chosen(a, b, i):
    if i > 3:
        return a, b
    return b, a


@alone(A, B, OUT, blocks=2, threads=N // 2)
@cuda.jit
def by_a_function(a, b, out):
    t = cuda.grid(1)
    x, y = chosen(a, b, t)
    out[t] = x[t] - y[t]


@alone(A + 1j, A * 2 - 3j, np.zeros(N), blocks=2, threads=N // 2)
@cuda.jit
def parts_of_complex(a, b, out):
    t = cuda.grid(1)
    if t % 3 == 0:
        a = b
    out[t] = a.real[t] + 10 * a.imag[t]


@alone(A, B, OUT, blocks=2, threads=N // 2)
@cuda.jit
def parts_of_either(a, b, out):
    t = cuda.grid(1)
    if t % 3 == 0:
        a = b
    part = a[t // 2 :]
    out[t] = part[0] + len(part)


@cuda.jit
def records_of_two(a, b, out):
    t = cuda.grid(1)
    if t % 2:
        a = b
    out[t] = a[t].x


def test_records_of_two_arrays_are_refused_at_the_line():
    a = np.zeros(8, np.dtype([("x", np.int64)]))
    with pytest.raises(KernelError, match="another array of records for some threads") as caught:
        launch(records_of_two, 1, 8, (a, a.copy(), np.zeros(8, np.int64)))
    assert caught.value.line == line_of(records_of_two, "a = b")


@cuda.jit
def lost_in_one(a, b):
    t = cuda.grid(1)
    if t == 5:
        a = b
    a[t // 2] = t


def test_faults_name_the_array_that_the_thread_holds():
    with pytest.raises(OutOfBounds, match="out of bounds for `b`, which has 2") as caught:
        launch(lost_in_one, 1, 8, (np.zeros(8), np.zeros(2)), check=False)
    assert caught.value.thread == (5, 0, 0)
    with pytest.raises(RaceError, match=r"race on `a\[0\]`"):
        launch(lost_in_one, 1, 8, (np.zeros(8), np.zeros(8)))


def test_a_trace_has_a_request_for_each_array():
    a, b = A[:32].copy(), B[:32].copy()
    recorder = Recorder()
    launch(odd_lanes_swap, 1, 32, (a, b), recorder=recorder)
    trace = recorder.trace
    rows = trace.requests.line == line_of(odd_lanes_swap, "dst[t] = 2")
    names = [trace.arrays[i].name for i in trace.requests.array[rows]]
    masks = [hex(mask) for mask in trace.requests.mask[rows].tolist()]
    assert list(zip(names, masks, strict=True)) == [
        ("a", "0x55555555"),
        ("b", "0xaaaaaaaa"),
        ("b", "0x55555555"),
        ("a", "0xaaaaaaaa"),
    ]


def test_a_swap_of_all_threads_costs_no_choice():
    # One request per warp: the variable is an ordinary array again.
    device = SimtDevice(trace=True)
    a, b = device.array(np.arange(32)), device.array(np.arange(32))
    device.launch(ping_pong, 1, 32, a, b, 3)
    assert len(device.trace.requests) == 6
