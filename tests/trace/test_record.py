"""The rows that `select` chooses, and the room's name beside the function's."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, int32

import gpukernels as gk
from gpukernels.simt import Recorder, launch
from gpukernels.trace import ATOMIC, LOAD, STORE, Trace, metrics


@cuda.jit(device=True)
def doubled(a, i):
    return 2 * a[i]


@cuda.jit
def add_up(a, total):
    tile = cuda.shared.array(64, int32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = doubled(a, i)
    cuda.syncthreads()
    if i % 2 == 0:
        cuda.atomic.add(total, 0, tile[cuda.threadIdx.x])


@cuda.jit
def copy(a, b):
    b[cuda.grid(1)] = a[cuda.grid(1)]


@pytest.fixture(scope="module")
def trace() -> Trace:
    recorder = Recorder()
    a = np.arange(128)
    launch(add_up, 2, 64, (a, np.zeros(1, int)), recorder=recorder)
    launch(copy, 2, 64, (a, a.copy()), recorder=recorder)
    return recorder.trace


def kept(part: Trace) -> list[tuple]:
    """Return array, kind, launch and lanes of each request."""
    r = part.requests
    names = [part.arrays[k].name for k in r.array]
    return list(zip(names, r.kind, r.launch, np.diff(r.start), strict=True))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"function": "doubled"}, {("a", LOAD, 0, 32)}),
        ({"function": ["doubled", "none"]}, {("a", LOAD, 0, 32)}),
        ({"function": ["copy", "none"]}, {("a", LOAD, 1, 32), ("b", STORE, 1, 32)}),
        ({"statement": "cuda.atomic"}, {("tile", LOAD, 0, 16), ("total", ATOMIC, 0, 16)}),
        ({"statement": "2 * a["}, {("a", LOAD, 0, 32)}),
        ({"space": "shared"}, {("tile", STORE, 0, 32), ("tile", LOAD, 0, 16)}),
        ({"kind": STORE}, {("tile", STORE, 0, 32), ("b", STORE, 1, 32)}),
        ({"kind": (ATOMIC, LOAD), "launch": 1}, {("a", LOAD, 1, 32)}),
        ({"array": ["b", "nothing", "total"]}, {("b", STORE, 1, 32), ("total", ATOMIC, 0, 16)}),
        ({"array": []}, set()),
        # Alone, the second launch is the first.
        ({"kernel": "copy", "array": "a", "kind": LOAD}, {("a", LOAD, 0, 32)}),
        ({"function": "doubled", "statement": "atomic"}, set()),
    ],
)  # fmt: skip
def test_select_keeps_the_rows_that_match_everything(trace, chosen, expected):
    part = trace.select(**chosen)
    assert set(kept(part)) == expected
    assert len(kept(part)) == 4 * len(expected)  # four warps do each of it
    assert part.requests.start[-1] == len(part.requests.index) == len(part.requests.value)


def test_function_and_statement_choose_steps_and_the_rest_leaves_them(trace):
    inside = trace.select(function="doubled")
    assert {trace.sources[s].function for s in inside.steps.source} == {"doubled"}
    assert {trace.text(0, n).strip() for n in trace.select(statement="tile[").steps.line} == {
        "tile[cuda.threadIdx.x] = doubled(a, i)",
        "cuda.atomic.add(total, 0, tile[cuda.threadIdx.x])",
    }
    for only in ({"array": "tile"}, {"space": "shared"}, {"kind": LOAD}):
        assert len(trace.select(**only).steps) == len(trace.steps)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"function": "halved"}, r"function='halved'.*add_up, copy, doubled"),
        ({"statement": "halved("}, r"statement='halved\('"),
        ({"array": "c"}, r"array='c'.*a, b, tile, total"),
        ({"kernel": "paste"}, r"kernel='paste'.*add_up, copy"),
    ],
)
def test_one_name_that_is_not_there_is_refused_with_those_that_are(trace, wrong, message):
    with pytest.raises(KeyError, match=message):
        trace.select(**wrong)


def test_a_selection_leaves_the_whole_as_it_was(trace):
    before = [column.copy() for column in vars(trace.requests).values()]
    trace.select(array="a", kind=LOAD).requests.index[:] = -1
    for was, now in zip(before, vars(trace.requests).values(), strict=True):
        np.testing.assert_array_equal(was, now)


def test_accesses_count_lanes_and_requests_count_warps(trace):
    assert metrics.accesses(trace) == 4 * (32 + 32 + 16 + 16) + 4 * 64
    assert metrics.accesses(trace, "shared") == 4 * 48
    assert metrics.accesses(trace, kinds=ATOMIC) == 64
    assert metrics.requests(trace, None) == 4 * 4 + 4 * 2


def test_rows_of_each_warp_and_thread_against_a_loop(trace):
    for item in trace.launches:
        for table in (trace.steps, trace.requests, trace.shuffles):
            warps = np.zeros((item.blocks, item.warps_per_block), int)
            threads = np.zeros((*warps.shape, 32), int)
            weights = np.arange(len(table)) + 1
            for row in np.flatnonzero(table.launch == item.index):
                place = table.block[row], table.warp[row]
                warps[place] += weights[row]
                threads[place] += (int(table.mask[row]) >> np.arange(32)) & 1
            np.testing.assert_array_equal(metrics.per_warp(table, item, weights), warps)
            np.testing.assert_array_equal(metrics.per_thread(table, item), threads)
            rows = metrics.per_warp(table, item)
            assert rows.sum() == np.count_nonzero(table.launch == item.index)


def test_lanes_that_were_not_launched_do_nothing():
    recorder = Recorder()
    launch(copy, 3, 40, (np.arange(120), np.zeros(120, int)), recorder=recorder)
    (item,) = recorder.trace.launches
    counts = metrics.per_thread(recorder.trace.requests, item).reshape(3, 64)
    assert counts.tolist() == [[2] * 40 + [0] * 24] * 3


@pytest.mark.parametrize(
    "first",
    ["import gpukernels", "from gpukernels.trace import costs", "import gpukernels.trace.summary"],
)
def test_gk_trace_stays_the_function_whatever_is_imported_first(first):
    program = f"{first}\nfrom gpukernels.trace import metrics, record\nimport gpukernels as gk\n"
    program += "with gk.trace() as t: gk.expand([0, 2], 'virtual_warp')\nt.summary()\n"
    program += "assert isinstance(t.trace, record.Record) and metrics.requests(t.trace)"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert callable(gk.trace)
