"""Loops over arrays, tuples, ranges with a name, ``enumerate`` and ``zip``; ``else`` of loops."""

from __future__ import annotations

import numpy as np
from launching import line_of
from numba import cuda
from thread_by_thread import alone

from gpukernels.simt import Recorder, launch

N = 45


RNG = np.random.default_rng(3)
ARRAYS = RNG.integers(0, 9, N), RNG.normal(size=N), RNG.integers(0, 99, (N, 4)), np.zeros((N, 8))
over_many = alone(*ARRAYS, blocks=3, threads=16, rtol=1e-14)


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
def over_ranges(a, b, m, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    numbers = range(a[i])
    for x in numbers:
        out[i, 0] += x
    down = range(20, a[i], -3)
    for k, x in enumerate(down):
        out[i, 1] += k * x
    for x, y in zip(range(a[i], 40, a[i] + 1), down):  # noqa: B905
        out[i, 2] += x * y
    out[i, 3] = len(down) + 100 * len(numbers)
    out[i, 4] = down.start + 10 * down.stop + 100 * down.step
    out[i, 5] = (a[i] in range(1, 9, 3)) + 2 * (i in down)
    for out[i, 6] in range(i):  # noqa: B020
        pass
    for x in range(10, -10, -(a[i] + 1)):
        out[i, 7] += x


@over_many
@cuda.jit
def over_tuples(a, b, m, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    own = (a[i], a[0], a[1])
    for x in own:
        if x > 6:
            break
        if x == 2:
            continue
        out[i, 0] += x
    for x, (k, y) in zip(own, enumerate(own, 3)):  # noqa: B905
        out[i, 1] += x * y * k
        if k == a[i]:
            break
    for x, y in zip(own, b):  # noqa: B905
        out[i, 2] += x * y
    for pair in ((a[i], 2), (3, a[0])):
        out[i, 3] += pair[0] * pair[1]
        if pair[0] > 4:
            break
    for part in (a, a[i:], a[:i]):
        out[i, 4] += part.size
        if part.size == 40:
            break


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
