"""A trace stays within its limit, in memory too, and says clearly when it would not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from launching import line_of
from numba import cuda

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import TraceLimit


@cuda.jit
def branches(a, out, rounds):
    i = cuda.grid(1)
    x = 0
    for r in range(rounds):
        if r % 2 == i % 2:
            x += a[i]
    out[i] = x


def arguments(threads, rounds):
    return np.ones(threads), np.zeros(threads), rounds


#: Bytes an entry, as Recorder promises.
PROMISED = 40


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (1, 33), (4, 256), (64, 1024)])
@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_memory_stays_within_the_promise_until_the_limit_is_reached(blocks, threads, schedule):
    limit = 200_000
    rounds = 1_000_000  # never reached
    # The first launch translates the kernel, which is not the trace's.
    first = arguments(blocks * threads, 1)
    launch(branches, blocks, threads, first, schedule=schedule, recorder=Recorder())
    a, out, _ = arguments(blocks * threads, rounds)
    recorder = Recorder(limit)
    tracemalloc.start()
    with pytest.raises(TraceLimit) as caught:
        launch(
            branches,
            blocks,
            threads,
            (a, out, rounds),
            schedule=schedule,
            recorder=recorder,
            check=False,
        )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The launch itself needs registers: some words a thread.
    assert peak < PROMISED * limit + 1_000 * blocks * threads
    message = str(caught.value)
    assert "the trace has grown past 200,000 entries" in message
    assert "trace a smaller launch, or make the recorder with a higher limit" in message
    assert line_of(branches, "for r in") <= caught.value.line <= line_of(branches, "x += a")
    assert not out.any(), "the launch ended there"


def test_a_finished_trace_stays_within_the_promise():
    arrays = arguments(1024, 50)
    launch(branches, 4, 256, arrays, recorder=Recorder(), check=False)
    recorder = Recorder()
    tracemalloc.start()
    launch(branches, 4, 256, arrays, recorder=recorder, check=False)
    trace = recorder.trace
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lanes = np.bitwise_count(trace.steps.mask).sum() + trace.requests.index.size
    assert lanes > 50_000
    assert peak < PROMISED * lanes


def test_what_was_recorded_before_stays_and_a_smaller_launch_still_fits():
    recorder = Recorder(limit=20_000)
    launch(branches, 1, 64, arguments(64, 10), recorder=recorder)
    before = recorder.trace
    with pytest.raises(TraceLimit):
        launch(branches, 1, 64, arguments(64, 1_000), recorder=recorder)
    after = recorder.trace
    assert len(after.launches) == 1
    assert len(after.steps) == len(before.steps) > 0
    np.testing.assert_array_equal(after.requests.index, before.requests.index)
    launch(branches, 1, 64, arguments(64, 10), recorder=recorder)
    assert len(recorder.trace.launches) == 2
    assert len(recorder.trace.steps) == 2 * len(before.steps)


def test_the_limit_counts_all_launches_together():
    recorder = Recorder(limit=20_000)
    for _ in range(6):
        launch(branches, 1, 64, arguments(64, 10), recorder=recorder)
    with pytest.raises(TraceLimit):
        launch(branches, 1, 64, arguments(64, 60), recorder=recorder)
    assert len(recorder.trace.launches) == 6
    launch(branches, 1, 64, arguments(64, 60), recorder=Recorder(limit=20_000))


def test_without_a_recorder_there_is_no_limit():
    arrays = arguments(64, 2_000)
    launch(branches, 1, 64, arrays)
    assert (arrays[1] == 1_000).all()
