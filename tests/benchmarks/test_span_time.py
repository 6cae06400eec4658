"""Launches that follow each other are timed as one, on a GPU kept busy until all are queued."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpukernels as gk
from benchmarks import span_time
from benchmarks.mapping import fill
from benchmarks.span_time import SpanTimer
from gpukernels.device import Elapsed
from gpukernels.notebook import kernel_time
from gpukernels.notebook.kernel_time import keep_busy


class Noting(gk.SimtDevice):
    """A device that notes what is done; its every time is 2 ms."""

    def __init__(self):
        super().__init__()
        self.done = []

    @contextlib.contextmanager
    def timer(self):
        self.done.append("begin")
        elapsed = Elapsed()
        yield elapsed
        self.done.append("end")
        elapsed.ms = 2.0

    def launch(self, kernel, blocks, threads, *args, **options):
        self.done.append((kernel, args[1]) if kernel is keep_busy else kernel)
        super().launch(kernel, blocks, threads, *args, **options)

    def read(self, array, into=None):
        self.done.append("read")
        return super().read(array, into)


@pytest.fixture
def noting():
    return Noting()


def test_a_row_of_launches_ends_where_the_host_does_anything_else(noting):
    timer = SpanTimer(noting)
    values = timer.empty(32, np.int32)
    for value in (1, 2, 3):
        timer.launch(fill, 1, 32, values, value)
    assert (timer.read(values) == 3).all()
    timer.launch(fill, 0, 32, values, 4)
    timer.launch(fill, (1, 0), 32, values, 4)
    assert timer.launches == 1
    timer.launch(fill, 1, 32, values, 5)
    timer.end()
    timer.end()
    busy = keep_busy, kernel_time.BUSY_ROUNDS
    row = [busy, "begin", fill, fill, fill, "end"]
    assert noting.done == [*row, "read", busy, "begin", fill, "end"]
    assert (timer.ms, timer.launches, timer.late) == (4.0, 2, 0)
    timer.reset()
    assert (timer.ms, timer.launches) == (0.0, 0)
    assert timer.kernels == {fill}


def test_no_row_is_longer_than_the_queue_of_a_gpu(noting, monkeypatch):
    monkeypatch.setattr(span_time, "MOST_LAUNCHES", 3)
    timer = SpanTimer(noting)
    values = timer.empty(32, np.int32)
    for value in range(7):
        timer.launch(fill, 1, 32, values, value)
    assert timer.launches == 2
    timer.end()
    assert timer.launches == 3
    assert noting.done.count(fill) == 7
    assert noting.done.count("begin") == noting.done.count("end") == 3


def test_a_row_that_is_under_way_when_all_begins_anew_is_not_counted(noting):
    timer = SpanTimer(noting)
    timer.launch(fill, 1, 32, timer.empty(32, np.int32), 1)
    timer.reset()
    assert (timer.ms, timer.launches) == (0.0, 0)
    assert noting.done[-1] == "end"
