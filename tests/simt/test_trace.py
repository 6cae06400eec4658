"""The content of a trace, written out by hand, its promises, and its limit."""

from __future__ import annotations

import functools
import tracemalloc

import numpy as np
import pytest
from launching import failure, line_of, traced
from numba import cuda, float32, int32

import gpukernels as gk
from gpukernels.device import SimtDevice
from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import OutOfBounds, TraceLimit
from gpukernels.simt.run.recorder import LIMIT
from gpukernels.trace import ATOMIC, BARRIER, LOAD, STATEMENT, STORE, metrics
from gpukernels.trace.summary import summarize

FULL = 0xFFFFFFFF


def rows(table, *columns):
    return list(zip(*(getattr(table, c).tolist() for c in columns), strict=True))


@cuda.jit(device=True)
def double(x):
    return x + x


@cuda.jit
def small(a, total):
    i = cuda.grid(1)
    if i < a.size:
        for k in range(i % 2):
            a[i] = double(a[i])
        cuda.atomic.add(total, i % 3, a[i])
    cuda.syncthreads()


def test_the_requests_of_a_small_kernel():
    trace = traced(small, 1, 40, np.arange(36), np.zeros(3, int))
    table = trace.select(warp=1).requests
    names = [trace.arrays[a].name for a in table.array]
    assert names == ["a", "a", "a", "total"]
    assert table.kind.tolist() == [LOAD, STORE, LOAD, ATOMIC]
    assert table.mask.tolist() == [0xA, 0xA, 0xF, 0xF]
    assert table.step.tolist() == [3, 3, 6, 6]
    assert np.split(table.index, table.start[1:-1])[0].tolist() == [33, 35]
    assert table.index.tolist() == [33, 35, 33, 35, 32, 33, 34, 35, 2, 0, 1, 2]
    assert table.value.tolist() == [33, 35, 66, 70, 32, 66, 34, 70, 32, 66, 34, 70]
    assert table.lanes(0).tolist() == [1, 3]
    assert table.lane_id().tolist() == [1, 3, 1, 3, 0, 1, 2, 3, 0, 1, 2, 3]
    assert table.lane_row().tolist() == [0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]


@cuda.jit
def spaces(a, matrix, out):
    tile = cuda.shared.array((2, 32), int32)
    own = cuda.local.array(3, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[1, t] = a[t]
    own[2] = t
    cuda.syncthreads()
    out[i] = tile[1, 31 - t] + own[2] + TABLE[t % 4] + matrix[t % 2, 1]


TABLE = np.arange(4, dtype=np.int16)


def test_arrays_have_names_spaces_types_and_shapes():
    arrays = np.arange(32, dtype=np.int8), np.zeros((2, 3)), np.zeros(64, np.float32)
    trace = traced(spaces, 2, 32, *arrays)
    infos = {a.name: (a.space, a.dtype.name, a.shape, a.itemsize) for a in trace.arrays}
    assert infos == {
        "a": ("global", "int8", (32,), 1),
        "matrix": ("global", "float64", (2, 3), 8),
        "out": ("global", "float32", (64,), 4),
        "tile": ("shared", "int32", (2, 32), 4),
        "own": ("local", "float32", (3,), 4),
        "TABLE": ("const", "int16", (4,), 2),
    }
    # Indices are flat, and each block's and thread's copy counts from zero.
    tile = trace.select(array="tile", block=1).requests
    np.testing.assert_array_equal(tile.index, [*range(32, 64), *range(63, 31, -1)])
    assert set(trace.select(array="own").requests.index) == {2}
    assert set(trace.select(array="matrix").requests.index) == {1, 4}


def test_what_is_selected_by_kernel_has_the_launches_of_that_kernel_alone():
    recorder = Recorder()
    of_spaces = np.zeros(32, int), np.zeros((2, 2)), np.zeros(32)
    for kernel, blocks, threads in [(small, 1, 4), (spaces, 1, 32), (small, 2, 4)]:
        args = of_spaces if kernel is spaces else (np.arange(9), np.zeros(3, int))
        launch(kernel, blocks, threads, args, recorder=recorder)
    trace = recorder.trace
    inside = trace.select(kernel="small")
    assert [(x.index, x.blocks) for x in inside.launches] == [(0, 1), (1, 2)]
    assert inside.steps.launch.dtype == trace.steps.launch.dtype
    for now, before in enumerate((0, 2)):
        one, other = inside.launches[now], trace.launches[before]
        for table in ("steps", "requests"):
            np.testing.assert_array_equal(
                metrics.per_warp(getattr(inside, table), one),
                metrics.per_warp(getattr(trace, table), other),
            )
    # Columns over all launches then go over the selected launches only.
    only = trace.select(kernel="spaces")
    assert metrics.work_per_thread(only, "matrix").size == 32
    assert set(only.requests.launch) == {0}
    assert trace.select(kernel=["small", "spaces"]).launches == trace.launches
    # A launch that is selected by its number keeps this number.
    assert trace.select(kernel="small", launch=2).launches == inside.launches
    assert set(trace.select(kernel="small", launch=2).steps.launch) == {1}


def test_requests_belong_to_the_step_that_made_them():
    trace = traced(small, 3, 70, np.arange(200), np.zeros(3, int))
    steps = {
        (b, w, s): (line, mask)
        for b, w, s, line, mask in rows(trace.steps, "block", "warp", "step", "line", "mask")
    }
    for block, warp, step, line, mask in rows(
        trace.requests, "block", "warp", "step", "line", "mask"
    ):
        assert steps[block, warp, step] == (line, mask)


@cuda.jit
def bounds_from_memory(a, out):
    i = cuda.grid(1)
    for _ in range(2):
        for k in range(a[i], double(a[i + 1])):
            out[i] += k
        while out[i] > a[i]:
            out[i] -= 1
        out[i] += cuda.syncthreads_count(a[i])


def test_requests_of_loop_headers_and_barriers_belong_to_their_steps():
    trace = traced(bounds_from_memory, 1, 2, np.array([1, 2, 3]), np.zeros(2, int))
    table = trace.requests
    steps = {row[0]: row[1:] for row in rows(trace.steps, "step", "line", "kind", "mask")}
    header = line_of(bounds_from_memory, "for k in")
    first = min(step for step, row in steps.items() if row[0] == header)
    loads = [i for i, line in enumerate(table.line.tolist()) if line == header]
    assert [table.step[i] for i in loads[:2]] == [first, first]
    for line, step in rows(table, "line", "step"):
        assert steps[step][0] == line
    barrier = line_of(bounds_from_memory, "syncthreads_count")
    kinds = [steps[s][1] for s, line in rows(table, "step", "line") if line == barrier]
    assert kinds == [STATEMENT, BARRIER, BARRIER] * 2


def test_nothing_is_paid_without_a_recorder():
    from gpukernels.simt.machine import _program

    arguments = np.arange(64), np.zeros(3, int)
    plain = _program(small, arguments, False, "lockstep")
    assert "recorder" not in plain.text
    assert "recorder" in _program(small, arguments, True, "lockstep").text


@cuda.jit
def shuffled(a, out):
    i = cuda.grid(1)
    if i < a.size:
        x = cuda.shfl_up_sync(FULL, a[i], 2)
        for k in range(2):
            x += cuda.shfl_sync(FULL, x, 5)
        out[i] = x


def test_a_shuffle_keeps_who_read_whom_and_what_each_lane_gave():
    a, out = np.arange(100, 164, dtype=np.int32), np.zeros(64, np.int32)
    trace = traced(shuffled, 1, 64, a, out)
    table = trace.shuffles
    up, to_five = line_of(shuffled, "shfl_up"), line_of(shuffled, "shfl_sync")
    assert sorted(rows(table, "warp", "line", "mask")) == sorted(
        (warp, line, FULL) for warp in (0, 1) for line in (up, to_five, to_five)
    )
    lanes = np.arange(32)
    for warp in (0, 1):
        mine = trace.select(warp=warp).shuffles
        assert mine.start.tolist() == [0, 32, 64, 96]
        given = a[32 * warp : 32 * warp + 32].astype(np.int64)
        reads = np.where(lanes < 2, lanes, lanes - 2), np.full(32, 5), np.full(32, 5)
        for row, read in enumerate(reads):
            assert mine.lane[32 * row : 32 * row + 32].tolist() == read.tolist()
            assert mine.value[32 * row : 32 * row + 32].tolist() == given.tolist()
            given = given[read] + (given if row else 0)
        assert out[32 * warp : 32 * warp + 32].tolist() == given.tolist()
        steps = trace.select(warp=warp).steps
        assert steps.line[mine.step].tolist() == mine.line.tolist()
    assert len(trace.select(line=up).shuffles) == 2


def test_a_partial_warp_shuffles_with_the_lanes_it_has():
    a = np.arange(6, dtype=np.int32)
    table = traced(shuffled, 1, 6, a, np.zeros(6, np.int32)).shuffles
    assert table.mask.tolist() == [0b111111] * 3
    assert table.lane[:6].tolist() == [0, 1, 0, 1, 2, 3]
    assert table.lane[6:12].tolist() == [5] * 6


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
    options = {"schedule": schedule, "recorder": recorder, "check": False}
    with pytest.raises(TraceLimit) as caught:
        launch(branches, blocks, threads, (a, out, rounds), **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The launch itself needs registers: some words per thread.
    assert peak < PROMISED * limit + 1_000 * blocks * threads
    message = str(caught.value)
    assert "the trace has grown past limit=200,000 entries" in message
    assert line_of(branches, "for r in") <= caught.value.line <= line_of(branches, "x += a")
    assert not out.any(), "the launch ended there"


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
    failure(TraceLimit, branches, 1, 64, *arguments(64, 1_000), recorder=recorder)
    failure(OutOfBounds, branches, 1, 64, np.ones(3), np.ones(64), 100, recorder=recorder)
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


def test_a_limit_that_is_none_or_without_a_trace_is_refused():
    for limit in (0, -1, 2.5, "many", True):
        for record in (Recorder, functools.partial(SimtDevice, trace=True)):
            with pytest.raises(ValueError, match=r"limit=.*; allowed are integers of 1 and more"):
                record(limit=limit)
    with pytest.raises(ValueError, match=r"limit=7 goes with trace=True"):
        SimtDevice(limit=7)
