"""Kernel times are of kernels alone, of right results, and the median of runs that start afresh."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from benchmarks.mapping import fill
from gpukernels.device import Elapsed
from gpukernels.notebook import kernel_time
from gpukernels.notebook.kernel_time import LaunchTimer, OutOfPatience, kernel_ms, wall_ms
from gpukernels.notebook.spread import median


@cuda.jit
def add_one(total):
    """Add 1, as a kernel does that adds to what is there."""
    cuda.atomic.add(total, 0, 1)


class Clock(gk.SimtDevice):
    """A device whose launches take the milliseconds given, the last one again and again."""

    def __init__(self, *times: float, late=()):
        super().__init__()
        self.times, self.late, self.timed = list(times), list(late), 0

    @contextlib.contextmanager
    def timer(self):
        elapsed = Elapsed()
        yield elapsed
        elapsed.ms = self.times.pop(0) if len(self.times) > 1 else self.times[0]
        elapsed.late = self.timed in self.late
        self.timed += 1


def test_a_launch_timer_adds_up_launches_and_passes_the_rest_on():
    device = gk.SimtDevice()
    timer = LaunchTimer(device, busy_rounds=3)
    values = timer.empty(70, np.int32)
    timer.launch(fill, 0, 32, values, 1)
    timer.launch(fill, (2, 0), 32, values, 1)
    assert timer.ms == timer.launches == 0
    timer.launch(fill, 2, 32, values, 7)
    once = timer.ms
    assert once > 0
    assert np.all(timer.read(values) == 7)
    timer.launch(fill, 2, 32, values, 8)
    assert timer.ms > once
    assert timer.launches == 2
    assert timer.resident_threads == device.resident_threads
    timer.reset()
    assert timer.ms == timer.launches == timer.late == 0


def test_the_gpu_is_kept_busy_before_every_launch_and_not_within_its_time(monkeypatch):
    order = []
    monkeypatch.setattr(
        gk.SimtDevice, "launch", lambda self, kernel, *_, **__: order.append(kernel)
    )

    @contextlib.contextmanager
    def timer(self):
        order.append("begin")
        yield Elapsed()
        order.append("end")

    monkeypatch.setattr(gk.SimtDevice, "timer", timer)
    timer = LaunchTimer(gk.SimtDevice(), busy_rounds=3)
    for _ in range(2):
        timer.launch(fill, 1, 32, None, 1)
    assert order == [kernel_time.keep_busy, "begin", fill, "end"] * 2


def test_the_gpu_is_let_go_when_all_is_queued_and_where_a_launch_fails(monkeypatch):
    seen = []

    @contextlib.contextmanager
    def timer(self):
        elapsed = Elapsed()
        yield elapsed
        seen.append(timed._word[0])
        elapsed.when_queued()
        seen.append(timed._word[0])

    monkeypatch.setattr(gk.SimtDevice, "timer", timer)
    timed = LaunchTimer(gk.SimtDevice(), busy_rounds=3)
    for _ in range(2):
        timed.launch(fill, 1, 32, timed.empty(32, np.int32), 1)
    assert seen == [0, 1, 0, 1]
    with pytest.raises(TypeError):
        timed.launch(fill, 1, 32)
    assert timed._word[0] == 1


@pytest.mark.parametrize(("word", "polls"), [(0, 4), (1, 1)])
def test_a_busy_gpu_polls_until_it_is_let_go_or_its_rounds_are_over(word, polls):
    with gk.trace() as trace:
        device = gk.default_device()
        device.launch(kernel_time.keep_busy, 1, 1, device.full(1, word, np.int32), 4)
    assert trace.summary()["keep_busy"]["global requests"] == polls


def test_a_launch_timer_stops_at_its_limit_but_not_for_launches_that_compile():
    timer = LaunchTimer(Clock(9.0, 3.0, late=[0]), limit_ms=5)
    total = timer.full(1, 0, np.int32)
    for _ in range(3):
        timer.launch(add_one, 1, 1, total)
    assert timer.ms == 9
    assert timer.late == 1
    with pytest.raises(OutOfPatience, match="6 ms of 3 launches"):
        timer.launch(add_one, 1, 1, total)


def test_a_late_launch_counts_as_the_others_of_its_kernel_and_never_as_more_than_it_took():
    # By hand: `add_one` takes 2, late 400, 4 and late 1 ms; `fill` late 7 ms, and never in time.
    timer = LaunchTimer(Clock(2.0, 400.0, 4.0, 1.0, 7.0, late=[1, 3, 4]))
    total = timer.full(1, 0, np.int32)
    for _ in range(4):
        timer.launch(add_one, 1, 1, total)
    timer.launch(fill, 1, 1, total, 1)
    assert timer.ms == 2 + 3 + 4 + 1 + 7
    assert (timer.launches, timer.late) == (5, 3)
    timer.reset()
    assert timer.ms == 0


def test_what_a_kernel_adds_to_is_cleared_before_every_run():
    device = gk.SimtDevice()
    total, seen = device.full(1, 0, np.int32), []

    def check():
        seen.append(int(device.read(total)[0]))
        assert seen[-1] == 1

    def run(d):
        d.launch(add_one, 1, 1, total)

    kernel_ms(device, run, 5, prepare=lambda: device.clear(total), check=check, busy_rounds=1)
    assert seen == [1, 1]
    with pytest.raises(AssertionError):
        kernel_ms(device, run, 5, check=check, busy_rounds=1)


def test_a_time_is_the_median_of_runs_that_did_not_wait_for_the_host():
    def run(d):
        d.launch(add_one, 1, 1, total)

    # The first of the times is that of the block that compiles `keep_busy`.
    device = Clock(0.0, 5.0, 1.0, 2.0, 90.0, 3.0, late=[1, 4])
    total = device.full(1, 0, np.int32)
    assert kernel_ms(device, run, 5, busy_rounds=1) == 2.0
    device = Clock(0.0, 5.0, 1.0, 7.0, late=[1, 2, 3])
    assert kernel_ms(device, run, 3, busy_rounds=1) == 5.0


def test_no_run_is_begun_after_patience_is_out():
    runs = []
    kernel_ms(gk.SimtDevice(), runs.append, 50, patience=0)
    wall_ms(lambda: runs.append(None), 50, patience=0)
    assert len(runs) == 2 + 2


def test_the_host_s_time_is_the_median_too():
    waits = iter([0.0, 0.05, 0.0, 0.0])
    assert wall_ms(lambda: time.sleep(next(waits)), 3) < 40
    assert median([3, 1, 2, 9]) == 2.5


def test_a_machine_is_never_late(device):
    with device.timer() as elapsed:
        pass
    assert elapsed.late in (True, False)
