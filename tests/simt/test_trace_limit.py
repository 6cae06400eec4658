"""A trace stays within its limit, in memory too, and says clearly when it would not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from launching import line_of
from numba import cuda

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import OutOfBounds, TraceLimit
from gpukernels.simt.run.recorder import LIMIT
from gpukernels.trace.summary import summarize


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


#: Bytes per entry, as Recorder promises.
PROMISED = 40


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (1, 33), (4, 256), (64, 1024)])
@pytest.mark.parametrize("schedule", ["lockstep", "random"])
def test_memory_stays_within_the_promise_until_the_limit_is_reached(blocks, threads, schedule):
    limit = 200_000
    rounds = 1_000_000  # never reached
    # The first launch translates the kernel, which does not count for the trace.
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
    # The launch itself needs registers: some words per thread.
    assert peak < PROMISED * limit + 1_000 * blocks * threads
    message = str(caught.value)
    assert "the trace has grown past limit=200,000 entries" in message
    assert "trace a smaller launch, or give a higher one, as in gk.trace(limit=400_000)" in message
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


@cuda.jit(device=True)
def loud(a, i):
    total = 0
    for k in range(i % 5):
        if a[k] > 0:
            total += k
    return total


@cuda.jit
def nested(a, out):
    i = cuda.grid(1)
    x = 0
    for r in range(6):
        if loud(a, i + r) > r or (a[i] > 0 and loud(a, i) > 1):
            x += a[loud(a, i)]
        a[i] += cuda.shfl_xor_sync(-1, x, 1)
        cuda.syncthreads()
    if i % 3 == 0:
        out[i] = x


def columns_of(trace):
    tables = trace.steps, trace.requests, trace.shuffles
    return [(name, column) for table in tables for name, column in vars(table).items()]


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize(("pending", "in_memory"), [(300, 1 << 23), (5_000, 1 << 10), (40, 1)])
def test_a_trace_that_is_stored_piece_by_piece_is_the_same(
    monkeypatch, schedule, pending, in_memory
):
    def recorded():
        recorder = Recorder()
        for threads in (64, 96):  # the second launch follows on the first
            a = np.arange(2 * threads) % 3
            arrays = a, np.zeros(2 * threads, np.int64)
            launch(nested, 2, threads, arrays, recorder=recorder, check=False, schedule=schedule)
        return recorder

    whole = recorded().trace
    monkeypatch.setattr("gpukernels.simt.run.recorder.PENDING", pending)
    monkeypatch.setattr("gpukernels.simt.run.columns.IN_MEMORY", in_memory)
    recorder = recorded()
    pieces = recorder.trace
    assert len(whole.shuffles) > 0
    for (name, wanted), (_, column) in zip(columns_of(whole), columns_of(pieces), strict=True):
        assert column.dtype == wanted.dtype, name
        np.testing.assert_array_equal(column, wanted, err_msg=name)
    # A reader's columns are copies: changes do no harm, and they outlive the recorder.
    pieces.steps.mask[:] = 0
    again = recorder.trace
    del recorder
    np.testing.assert_array_equal(again.steps.mask, whole.steps.mask)
    assert repr(summarize(again, by="line")) == repr(summarize(whole, by="line"))


@pytest.mark.parametrize("in_memory", [1, 1 << 23])
def test_a_launch_that_fails_half_way_leaves_nothing_in_files(monkeypatch, in_memory):
    monkeypatch.setattr("gpukernels.simt.run.recorder.PENDING", 1_000)
    monkeypatch.setattr("gpukernels.simt.run.columns.IN_MEMORY", in_memory)
    recorder = Recorder(limit=40_000)
    launch(branches, 1, 64, arguments(64, 10), recorder=recorder)
    before = recorder.trace
    with pytest.raises(TraceLimit):
        launch(branches, 1, 64, arguments(64, 1_000), recorder=recorder)
    with pytest.raises(OutOfBounds):
        launch(branches, 1, 64, (np.ones(3), np.ones(64), 100), recorder=recorder)
    launch(branches, 1, 64, arguments(64, 10), recorder=recorder)
    after = recorder.trace
    assert len(after.launches) == 2
    for (name, first), (_, both) in zip(columns_of(before), columns_of(after), strict=True):
        n = len(first)
        np.testing.assert_array_equal(both[:n], first, err_msg=name)
        if name not in ("launch", "start"):
            np.testing.assert_array_equal(both[n:], first, err_msg=name)


def test_a_trace_takes_no_more_memory_the_longer_it_is(monkeypatch):
    monkeypatch.setattr("gpukernels.simt.run.recorder.PENDING", 20_000)
    monkeypatch.setattr("gpukernels.simt.run.columns.IN_MEMORY", 10_000)

    def peak(rounds):
        tracemalloc.start()
        recorder = Recorder()
        launch(branches, 4, 256, arguments(1024, rounds), recorder=recorder, check=False)
        trace = recorder.trace
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest, trace.requests.index.nbytes

    peak(1)  # translates
    short, long = peak(100), peak(1_000)
    assert long[1] > 9 * short[1]
    assert long[0] < 1.2 * short[0]


def test_gk_trace_and_the_device_take_the_limit():
    def search(device):
        gk.bfs(gk.example(), root=0, method="frontier", device=device)

    with gk.trace(limit=3_000), pytest.raises(TraceLimit, match=r"past limit=3,000 entries"):
        search(None)
    with pytest.raises(TraceLimit, match=r"past limit=3,000 entries.*gk.trace\(limit=6_000\)"):
        search(SimtDevice(trace=True, limit=3_000))
    with gk.trace(limit=300_000) as t:
        search(None)
    device = SimtDevice(trace=True, limit=300_000)
    search(device)
    assert len(t.trace.steps) == len(device.trace.steps) > 0


@pytest.mark.parametrize("method", ["frontier", "virtual_warp"])
def test_the_default_limit_is_enough_for_a_search_of_a_million_vertices(method):
    scale = 12
    graph = gk.rmat(scale, 8, seed=1)
    root = int(np.argmax(np.diff(graph.offsets)))
    fits = LIMIT // 2 ** (20 - scale)  # entries grow with the graph
    with gk.trace(limit=fits) as t:
        gk.bfs(graph, root=root, method=method)
    assert len(t.trace.steps) > 0
    # The limit is not much higher, so an endless launch is found before it fills the disk.
    with gk.trace(limit=fits // 200), pytest.raises(TraceLimit):
        gk.bfs(graph, root=root, method=method)


@pytest.mark.parametrize("limit", [0, -1, 2.5, "many", True])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(ValueError, match=r"limit=.*; allowed are integers of 1 and more"):
        Recorder(limit)
    with pytest.raises(ValueError, match=r"limit=.*; allowed are integers of 1 and more"):
        SimtDevice(trace=True, limit=limit)


def test_a_limit_without_a_trace_is_refused():
    with pytest.raises(ValueError, match=r"limit=7 goes with trace=True"):
        SimtDevice(limit=7)
