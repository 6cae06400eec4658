"""ScanView's rows are the values of lanes and cells, compared with a scalar model of each scan."""

import numpy as np
import pytest
from numba import cuda, int32

import gpukernels as gk
from gpukernels.primitives.block_scan import block_scan
from gpukernels.primitives.shared_scan import shared_scan
from gpukernels.primitives.warp_scan import warp_scan
from gpukernels.primitives.warp_sum import warp_sum
from gpukernels.trace import metrics
from gpukernels.views import ScanView
from gpukernels.views.scan.record import ADD, READ, TAKE, read_scan

VALUES = np.random.default_rng(3).integers(-9, 30, 64).astype(np.int32)


def traced(run, *args, **options):
    with gk.trace() as t:
        run(*args, **options)
    return t.trace


def launched(kernel, values):
    with gk.trace() as t:
        device = gk.default_device()
        device.launch(kernel, 1, 32, device.array(values), device.empty(32, values.dtype))
    return t.trace


def record_of(trace, block=0, warp=0, array=None):
    return read_scan(trace, 0, block, warp, array, "traces")


@pytest.mark.parametrize("warp", [0, 1])
def test_a_warp_scan_doubles_what_each_lane_has_added_up(warp):
    record = record_of(traced(warp_scan, VALUES, threads=64), warp=warp)
    mine = VALUES[32 * warp :][:32].tolist()
    assert len(record.rows) == 6
    for k, row in enumerate(record.rows):
        reach = 1 << k
        assert row.values.tolist() == [sum(mine[max(0, i - reach + 1) : i + 1]) for i in range(32)]
        if k:
            step = reach // 2
            assert row.arcs == [(i - step, i) for i in range(step, 32)]
            assert row.kinds == [ADD] * (32 - step)


def test_an_exclusive_scan_ends_with_a_step_in_which_lanes_take():
    record = record_of(traced(warp_scan, VALUES[:32], inclusive=False, threads=32))
    last = record.rows[-1]
    assert len(record.rows) == 7
    assert last.values.tolist() == [0, *np.cumsum(VALUES[:31]).tolist()]
    assert last.arcs == [(i - 1, i) for i in range(1, 32)]
    assert last.kinds == [TAKE] * 31
    # Lane 0 gets its 0 from no other lane.
    assert 0 in last.changed


def test_a_block_scan_shows_two_scans_and_no_sum_that_was_not_recorded():
    record = record_of(traced(block_scan, VALUES, threads=64))
    rows = record.rows
    assert [bool(row.arcs) for row in rows] == [False, *[True] * 5, False, *[True] * 5]
    after = rows[5].values
    assert after[31] == VALUES[:32].sum()
    assert np.isnan(after[:31]).all()
    assert rows[6].values[:3].tolist() == [VALUES[:32].sum(), VALUES[32:].sum(), 0]
    assert rows[-1].values[1:].tolist() == [VALUES.sum()] * 31
    view = ScanView(traced(block_scan, VALUES, threads=64), step=5)
    assert "it does not show 15 of the sums" in view.html


def sweep(values):
    """Model both sweeps with plain lists: the cells after every step, and its (of, to, kind)."""
    cells, n = list(values), len(values)
    yield list(cells), set()
    apart = 1
    while apart < n:
        moves = set()
        for right in range(2 * apart - 1, n, 2 * apart):
            cells[right] += cells[right - apart]
            moves.add((right - apart, right, ADD))
        yield list(cells), moves
        apart *= 2
    cells[-1] = 0
    yield list(cells), set()
    while apart > 1:
        apart //= 2
        moves = set()
        for right in range(2 * apart - 1, n, 2 * apart):
            left = right - apart
            cells[left], cells[right] = cells[right], cells[right] + cells[left]
            moves |= {(left, right, ADD), (right, left, TAKE)}
        yield list(cells), moves


@pytest.mark.parametrize("padding", [False, True])
def test_a_shared_scan_shows_both_sweeps(padding):
    trace = traced(shared_scan, VALUES, padding=padding, threads=32)
    record = record_of(trace)
    truth = list(sweep(VALUES.tolist()))
    assert record.array == "cells"
    assert len(record.rows) == len(truth) == 14

    def cell(i):
        return i + i // 32 if padding else i

    for row, (cells, moves) in zip(record.rows, truth, strict=True):
        assert [row.values[cell(i)] for i in range(64)] == cells
        arcs = {(of, to, kind) for (of, to), kind in zip(row.arcs, row.kinds, strict=True)}
        assert arcs == {(cell(of), cell(to), kind) for of, to, kind in moves}
    assert np.isnan(record.rows[0].values[32]) == padding
    # Only the reads of the result come after the last row.
    shared = trace.select(array="cells").requests
    assert sum(row.requests for row in record.rows) == len(shared) - 2
    conflicts = sum(row.conflicts for row in record.rows)
    assert conflicts == metrics.bank_conflicts(trace).sum()
    assert (conflicts > 0) != padding
    for row in record.rows:
        assert bool(row.crowded) == bool(row.conflicts)


@cuda.jit
def add_neighbors(values, out):
    cells = cuda.shared.array(32, int32)
    i = cuda.threadIdx.x
    cells[i] = values[i]
    step = 1
    while step < 32:
        cuda.syncthreads()
        below = int32(0)
        if i >= step:
            below = cells[i - step]
        cuda.syncthreads()
        cells[i] += below
        step *= 2
    out[i] = cells[i]


def test_what_was_loaded_before_a_barrier_joins_what_is_stored_after_it():
    values = VALUES[:32].copy()
    trace = launched(add_neighbors, values)
    record = record_of(trace)
    assert len(record.rows) == 6
    for k, row in enumerate(record.rows):
        assert row.values.tolist() == [
            sum(values[max(0, i - 2**k + 1) : i + 1].tolist()) for i in range(32)
        ]
        if k:
            assert row.arcs == [(i - 2 ** (k - 1), i) for i in range(2 ** (k - 1), 32)]
            assert set(row.kinds) == {ADD}


def test_values_that_are_neither_added_nor_taken_are_only_read():
    @cuda.jit
    def greatest(values, out):
        value = values[cuda.threadIdx.x]
        step = 16
        while step > 0:
            other = cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
            value = max(value, other + 1)
            step //= 2
        out[cuda.threadIdx.x] = value

    trace = launched(greatest, VALUES[:32])
    kinds = {kind for row in record_of(trace).rows for kind in row.kinds}
    assert kinds == {READ}


@cuda.jit
def sum_of_warp(values, out):
    out[cuda.threadIdx.x] = warp_sum(values[cuda.threadIdx.x])


def test_a_warp_sum_adds_up_partners():
    moves = [row for row in record_of(launched(sum_of_warp, VALUES[:32])).rows if row.arcs]
    assert len(moves) == 5
    assert {kind for row in moves for kind in row.kinds} == {ADD}
    assert moves[-1].values[0] == VALUES[:32].sum()


@cuda.jit
def add_floats(values, out):
    value = values[cuda.threadIdx.x]
    below = cuda.shfl_up_sync(0xFFFFFFFF, value, 1)
    if cuda.threadIdx.x > 0:
        value += below
    out[cuda.threadIdx.x] = value


def test_fractions_and_infinity_are_shown_with_four_digits():
    values = np.full(32, 1.23456)
    values[3] = np.inf
    view = ScanView(launched(add_floats, values))
    words = view.payload["traces"][0]["words"]
    assert words[0].split()[2:5] == ["1.235", "inf", "1.235"]
    assert words[1].split()[2:6] == ["2.469", "inf", "inf", "2.469"]
