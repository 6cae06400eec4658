"""All loops of a kernel together have a limit, and the error names the loop that does not end."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from gpukernels.simt import Pace
from gpukernels.simt.errors import EndlessLoop

SCHEDULES = ["lockstep", "warp", "random"]


@cuda.jit
def short_in_endless(a):
    i = cuda.grid(1)
    while a[i] == 0:
        k = 0
        while k < 100:
            k += 1


@cuda.jit
def endless_in_short(a):
    i = cuda.grid(1)
    for _ in range(100):
        while a[i] == 0:
            a[i] = 0


@cuda.jit
def long_range(a):
    i = cuda.grid(1)
    for _ in range(10**15):
        for _ in range(3):
            a[i] = 1


@cuda.jit(device=True)
def count_to(n):
    k = 0
    while k < n:
        k += 1
    return k


@cuda.jit
def endless_around_a_function(a):
    i = cuda.grid(1)
    while count_to(100) > a[i]:
        a[i] = 0


BLAMED = {
    short_in_endless: "while a[i] == 0:",
    endless_in_short: "while a[i] == 0:",
    long_range: "for _ in range(10**15):",
    endless_around_a_function: "while count_to(100) > a[i]:",
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", BLAMED, ids=lambda kernel: kernel.py_func.__name__)
def test_of_nested_loops_the_one_without_an_end_is_named(kernel, schedule):
    device = gk.SimtDevice(schedule, seed=3, loop_steps=2_000)
    with pytest.raises(EndlessLoop, match="2,000 steps, the limit") as caught:
        device.launch(kernel, 1, 64, np.zeros(64, np.int32))
    assert caught.value.text.strip() == BLAMED[kernel]
    assert 2_000 < device.pace.taken < 4_000


def test_many_launches_share_one_limit():
    @cuda.jit
    def ten_rounds(a):
        for _ in range(10):
            a[0] = 1

    device = gk.SimtDevice(loop_steps=1_000)
    for _ in range(90):  # eleven reads of the head, two steps each, are 22 steps per launch
        device.launch(ten_rounds, 1, 1, np.zeros(1, np.int32))
    assert device.pace.taken == 90 * 22
    with pytest.raises(EndlessLoop):
        device.launch(ten_rounds, 1, 1, np.zeros(1, np.int32))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steps_are_the_same_in_every_run_and_without_a_limit(schedule):
    @cuda.jit
    def triangle(a):
        i = cuda.grid(1)
        for k in range(i):
            a[i] += k

    taken = set()
    for limit in (None, 10_000, 10_000):
        device = gk.SimtDevice(schedule, loop_steps=limit)
        device.launch(triangle, 2, 64, np.zeros(128, np.int32))
        taken.add(device.pace.taken)
    # The longest thread of all, or of each of the four warps: its rounds, and a last test.
    longest = [127] if schedule == "lockstep" else [31, 63, 95, 127]
    assert taken == {sum(2 * (rounds + 1) for rounds in longest)}


def test_a_limit_that_is_none_is_refused():
    for wrong in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match=f"loop_steps={wrong!r}; allowed are integers"):
            gk.SimtDevice(loop_steps=wrong)
    assert not Pace().exceeded(10**12, 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_launch_that_failed_is_kept_up_to_the_step_that_failed(schedule):
    device = gk.SimtDevice(schedule, trace=True, loop_steps=500)
    with pytest.raises(EndlessLoop) as caught:
        device.launch(endless_in_short, 1, 32, np.zeros(32, np.int32))
    assert device.trace.launches == ()
    device.recorder.keep_failed()
    trace = device.trace
    assert [launch.kernel for launch in trace.launches] == ["endless_in_short"]
    assert caught.value.line in trace.steps.line[-2:]
    assert len(trace.steps) >= 250
    device.recorder.keep_failed()  # there is no launch open any more
    assert len(device.trace.launches) == 1
