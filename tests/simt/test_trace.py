"""The content of a trace: steps and requests written out by hand, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from launching import line_of
from numba import cuda, float32, int32

from gpukernels.simt import Recorder, launch
from gpukernels.trace import ATOMIC, BARRIER, BRANCH, LOAD, STATEMENT, STORE, metrics

FULL = 0xFFFFFFFF


def traced(kernel, blocks, threads, *arguments, **options):
    recorder = Recorder()
    launch(kernel, blocks, threads, arguments, recorder=recorder, **options)
    return recorder.trace


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


def test_the_steps_of_a_small_kernel():
    trace = traced(small, 1, 40, np.arange(36), np.zeros(3, int))
    at = {
        text: line_of(small, text)
        for text in ("i = ", "if i", "for k", "a[i] = ", "atomic", "sync")
    }
    inner = line_of(double, "return")
    odd = 0xAAAAAAAA
    # Warp 0 is full; warp 1 has lanes 0 to 7, of which 0 to 3 are inside.
    expected = {
        0: [
            (at["i = "], STATEMENT, FULL, 0),
            (at["if i"], BRANCH, FULL, FULL),
            (at["for k"], BRANCH, FULL, odd),
            (at["a[i] = "], STATEMENT, odd, 0),
            (inner, STATEMENT, odd, 0),
            (at["for k"], BRANCH, odd, 0),
            (at["atomic"], STATEMENT, FULL, 0),
            (at["sync"], BARRIER, FULL, 0),
        ],
        1: [
            (at["i = "], STATEMENT, 0xFF, 0),
            (at["if i"], BRANCH, 0xFF, 0xF),
            (at["for k"], BRANCH, 0xF, 0xA),
            (at["a[i] = "], STATEMENT, 0xA, 0),
            (inner, STATEMENT, 0xA, 0),
            (at["for k"], BRANCH, 0xA, 0),
            (at["atomic"], STATEMENT, 0xF, 0),
            (at["sync"], BARRIER, 0xFF, 0),
        ],
    }
    for warp, steps in expected.items():
        mine = trace.select(warp=warp).steps
        assert rows(mine, "line", "kind", "mask", "taken") == steps
        assert mine.step.tolist() == list(range(len(steps)))
        assert set(mine.block) == {0}
    functions = [trace.sources[s].function for s in trace.steps.source]
    assert functions.count("double") == 2
    assert trace.text(trace.launches[0].source, at["sync"]).strip() == "cuda.syncthreads()"


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


def test_strided_arrays_are_indexed_by_their_place_in_memory():
    whole = np.zeros((8, 6), np.int32)

    @cuda.jit
    def kernel(a):
        a[cuda.threadIdx.x, 1] = 1

    trace = traced(kernel, 1, 4, whole[::2, ::3])
    assert trace.requests.index.tolist() == [3, 15, 27, 39]


def test_a_recorder_collects_several_launches():
    recorder = Recorder()
    for n in (3, 5):
        launch(small, (2, 1), (n, 1), (np.arange(9), np.zeros(3, int)), recorder=recorder)
    recorder.label = "third"
    launch(spaces, 1, 32, (np.zeros(32, int), np.zeros((2, 2)), np.zeros(32)), recorder=recorder)
    trace = recorder.trace
    assert [(x.kernel, x.grid, x.block, x.label) for x in trace.launches] == [
        ("small", (2, 1, 1), (3, 1, 1), ""),
        ("small", (2, 1, 1), (5, 1, 1), ""),
        ("spaces", (1, 1, 1), (32, 1, 1), "third"),
    ]
    assert [x.threads_per_block for x in trace.launches] == [3, 5, 32]
    parts = [trace.select(launch=k) for k in range(3)]
    assert sum(len(p.steps) for p in parts) == len(trace.steps)
    assert sum(len(p.requests) for p in parts) == len(trace.requests)
    assert len(trace.select(kernel="small").steps) == len(parts[0].steps) + len(parts[1].steps)
    # The same part of the trace as if that launch had been the only one.
    alone = traced(small, (2, 1), (5, 1), np.arange(9), np.zeros(3, int))
    columns = ("block", "warp", "step", "line", "kind", "mask", "taken")
    assert rows(alone.steps, *columns) == rows(parts[1].steps, *columns)
    np.testing.assert_array_equal(alone.requests.index, parts[1].requests.index)
    np.testing.assert_array_equal(alone.requests.start, parts[1].requests.start)


def test_what_is_selected_by_kernel_has_the_launches_of_that_kernel_alone():
    recorder = Recorder()
    shapes = [(small, 1, 4), (spaces, 1, 32), (small, 2, 4)]
    for kernel, blocks, threads in shapes:
        args = (np.arange(9), np.zeros(3, int))
        if kernel is spaces:
            args = np.zeros(32, int), np.zeros((2, 2)), np.zeros(32)
        launch(kernel, blocks, threads, args, recorder=recorder)
    trace = recorder.trace
    inside = trace.select(kernel="small")
    assert [(x.index, x.kernel, x.blocks) for x in inside.launches] == [
        (0, "small", 1),
        (1, "small", 2),
    ]
    assert inside.steps.launch.dtype == trace.steps.launch.dtype
    for now, before in enumerate((0, 2)):
        of_one = trace.select(launch=before)
        assert (inside.steps.launch == now).sum() == len(of_one.steps)
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
    assert trace.select(launch=2).launches == trace.launches


def test_select_refuses_names_that_are_not_there():
    trace = traced(small, 1, 4, np.arange(4), np.zeros(3, int))
    with pytest.raises(KeyError, match=r"kernel='large'.*small"):
        trace.select(kernel="large")
    with pytest.raises(KeyError, match=r"array='b'.*a, total"):
        trace.select(array="b")


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


def test_an_empty_trace():
    trace = Recorder().trace
    assert (len(trace.launches), len(trace.steps), len(trace.requests)) == (0, 0, 0)
    assert trace.requests.start.tolist() == [0]


def test_a_failed_launch_leaves_the_earlier_ones():
    recorder = Recorder()
    launch(small, 1, 4, (np.arange(4), np.zeros(3, int)), recorder=recorder)
    before = len(recorder.trace.steps)
    with pytest.raises(IndexError):
        launch(small, 1, 4, (np.arange(4), np.zeros(1, int)), recorder=recorder)
    assert len(recorder.trace.steps) == before
    launch(small, 1, 4, (np.arange(4), np.zeros(3, int)), recorder=recorder)
    assert len(recorder.trace.steps) == 2 * before
    assert [x.index for x in recorder.trace.launches] == [0, 1]


def test_traces_are_the_same_every_time():
    def columns(schedule):
        trace = traced(small, 3, 70, np.arange(200), np.zeros(3, int), schedule=schedule, seed=3)
        tables = {**vars(trace.steps), **vars(trace.requests)}
        return {name: column.tolist() for name, column in tables.items()}

    for schedule in ("lockstep", "warp", "random"):
        assert columns(schedule) == columns(schedule)


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


def test_a_kernel_without_shuffles_records_none():
    assert len(traced(small, 1, 40, np.arange(36), np.zeros(3, int)).shuffles) == 0
