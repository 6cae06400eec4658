"""Scans equal NumPy's cumulative sums, at every size, of warps, blocks and the whole device."""

from __future__ import annotations

import numpy as np
import pytest
from effort import SCHEDULES, every_pair, examples
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32

from gpukernels import InvalidArgument, UnknownMethod
from gpukernels.device import SimtDevice
from gpukernels.primitives import (
    DeviceScan,
    PaddedScan,
    block_scan,
    device_scan,
    padded_cell,
    plain_cell,
    scan_sizes,
    shared_scan,
    sweep_scan,
    warp_rank,
    warp_scan,
)
from gpukernels.primitives.lookback_scan import PREFIX, ROOM, look_back
from gpukernels.primitives.lookback_scan import TILE as TILE_KNOWN
from gpukernels.primitives.pair_scan import scan_by_pairs
from gpukernels.simt import machine
from gpukernels.trace import metrics

TILE = 32 * 8
MILLION = 1_000_000
SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65, 128, 129, 1023, 1024, 1025, 20 * TILE - 1, 20 * TILE + 1]


def exclusive(values) -> np.ndarray:
    """Return the exclusive prefix sum with the total at the end: the oracle."""
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def in_runs(values: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the exclusive prefix sums of each `run` values, and each run's sum: the oracle."""
    parts = [exclusive(values[i : i + run]) for i in range(0, values.size, run)]
    scanned = np.concatenate([np.zeros(0, int), *(p[:-1] for p in parts)])
    return scanned, np.array([p[-1] for p in parts], dtype=int)


def of_device(**options):
    return lambda v, t, d: (device_scan(v, threads=t, device=d, **options), exclusive(v))


#: The arrays that a scan of values returns with some threads on a device, and the oracle's.
SCANS = {
    "warp": lambda v, t, d: (warp_scan(v, threads=t, device=d), in_runs(v, 32)[0] + v),
    "warp, exclusive": lambda v, t, d: (
        warp_scan(v, inclusive=False, threads=t, device=d),
        in_runs(v, 32)[0],
    ),
    "rank": lambda v, t, d: (warp_rank(v > 3, threads=t, device=d), in_runs((v > 3) * 1, 32)[0]),
    "block": lambda v, t, d: (block_scan(v, threads=t, device=d), in_runs(v, t)),
    "shared": lambda v, t, d: (shared_scan(v, threads=t, device=d), in_runs(v, 2 * t)),
    "shared, plain": lambda v, t, d: (
        shared_scan(v, padding=False, threads=t, device=d),
        in_runs(v, 2 * t),
    ),
    "device": of_device(),
    "look-back": of_device(method="look-back"),
    "pairs": of_device(method="pairs"),
}


def check(scan, size, threads, device):
    values = np.random.default_rng(size).integers(0, 9, size).astype(np.int32)
    scanned, expected = SCANS[scan](values, threads, device)
    if isinstance(scanned, np.ndarray):
        scanned, expected = (scanned,), (expected,)
    for array, wanted in zip(scanned, expected, strict=True):
        assert array.dtype == np.int32
        np.testing.assert_array_equal(array, wanted)


#: Their blocks wait for each other, which the machine runs warp by warp: it takes its time.
WAITING = ("look-back", "pairs")


@pytest.mark.parametrize(
    ("scan", "size", "threads", "scheduled_device"),
    every_pair(
        SCANS,
        SIZES,
        (32, 128, 512),
        SCHEDULES,
        allowed=lambda scan, size, threads, schedule: scan not in WAITING or threads == 32,
        always=True,
    ),
    indirect=["scheduled_device"],
)
def test_a_scan_of_any_size(scan, size, threads, scheduled_device):
    check(scan, size, threads, scheduled_device)


@pytest.mark.parametrize("scan", SCANS)
def test_a_million_values(scan, device):
    waits = scan in WAITING and isinstance(device, SimtDevice)
    check(scan, 50_000 if waits else MILLION, 128, device)


@examples(40, soak=800)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=300), st.booleans())
def test_scans_of_warps_and_blocks_wrap_as_int32_does(values, padding):
    values, device = np.array(values, np.int32), SimtDevice(check=True)
    expected = in_runs(values.astype(np.int64), 64)
    for scanned in (
        shared_scan(values, padding=padding, threads=32, device=device),
        block_scan(values, threads=64, device=device),
    ):
        for array, wanted in zip(scanned, expected, strict=True):
            np.testing.assert_array_equal(array, wanted.astype(np.int32))
    in_warps = in_runs(values.astype(np.int64), 32)[0] + values
    np.testing.assert_array_equal(warp_scan(values, device=device), in_warps.astype(np.int32))


@examples(40, soak=800)
@given(
    st.lists(st.lists(st.one_of(st.just(0), st.integers(0, 2**20)), max_size=700), max_size=3),
    st.sampled_from([DeviceScan, PaddedScan]),
)
def test_scans_in_the_same_memory_of_any_sizes(lists, scan):
    device = SimtDevice(check=True)
    again = scan(700, device, threads=32)
    for sizes in lists:
        offsets = again(device.array(np.array(sizes, np.int32)))
        assert offsets.size == len(sizes) + 1
        np.testing.assert_array_equal(offsets, exclusive(sizes))


@pytest.mark.parametrize("scan", [DeviceScan, PaddedScan])
def test_one_scan_after_another_is_right_and_its_launches_are_counted(scan, scheduled_device):
    device, rng = scheduled_device, np.random.default_rng(3)
    capacity = 9000  # three levels of runs of 64, two of tiles of 256
    again = scan(capacity, device, threads=32)
    for size in (capacity, 0, 1, 63, 64, 65, 255, 256, 257, 1, 4097):
        values = rng.integers(0, 9, size).astype(np.int32)
        np.testing.assert_array_equal(device.read(again(device.array(values))), exclusive(values))
    device = SimtDevice(trace=True)
    again = scan(capacity, device, threads=32)
    for size in (capacity, 3, 300):
        again(device.array(np.ones(size, np.int32)))
    assert again.launches == len(device.trace.launches)


@pytest.mark.parametrize("size", [TILE**2 - 1, TILE**2, TILE**2 + 1])
def test_device_scan_where_a_third_level_begins(size):
    device = SimtDevice(trace=True)
    check("device", size, 32, device)
    levels = 2 if size <= TILE**2 else 3
    kernels = levels * ["add_tiles"] + levels * ["scan_tiles"]
    assert [x.kernel for x in device.trace.launches] == kernels


@pytest.mark.parametrize("schedule", ["lockstep", "warp"])
@pytest.mark.parametrize(("tiles", "threads"), [(33, 32), (70, 32), (3, 256), (2, 1024)])
def test_a_look_back_over_more_tiles_than_a_warp_asks_at_once(tiles, threads, schedule):
    for scan, tile in (("look-back", threads * 8), ("pairs", threads * 16)):
        device = SimtDevice(schedule=schedule, check=threads == 32)
        check(scan, (tiles - 1) * tile + 5, threads, device)


def test_a_look_back_where_only_some_blocks_are_resident(monkeypatch):
    monkeypatch.setattr(machine, "RESIDENT_THREADS", 128)
    for schedule in ("lockstep", "warp"):
        check("look-back", 15 * TILE - 7, 32, SimtDevice(schedule=schedule, check=True))


@cuda.jit
def ask_before(state, tile, found):
    found[cuda.threadIdx.x] = look_back(state, tile)


@examples(60, soak=1200)
@given(
    st.lists(st.tuples(st.integers(0, 2**55), st.booleans()), max_size=100),
    st.sampled_from(["lockstep", "random"]),
)
def test_a_look_back_ends_at_the_nearest_complete_sum(tiles, schedule):
    sums = np.array([total for total, _ in tiles], np.int64)
    before = exclusive(sums)
    known = np.array([known for _, known in tiles], bool)
    state = np.where(known, before[1:] * ROOM + PREFIX, sums * ROOM + TILE_KNOWN)
    device = SimtDevice(schedule=schedule, check=True)
    output = device.full(32, -1, np.int64)
    device.launch(ask_before, 1, 32, device.array(state), len(tiles), output)
    assert device.read(output).tolist() == [before[-1]] * 32


@pytest.mark.parametrize("method", ["launches", "look-back", "pairs"])
def test_sums_add_up_in_64_bits_and_reach_the_largest_that_int32_holds(method, device):
    sizes = np.array([0, 2**30, 2**30 - 1, 0])
    offsets = device_scan(sizes, method=method, device=device)
    np.testing.assert_array_equal(offsets, exclusive(sizes))
    with pytest.raises(InvalidArgument, match=f"the sum of values = {3000 * (2**31 - 1)}: must be"):
        device_scan(np.full(3000, 2**31 - 1), method=method, device=device)


def test_a_total_beyond_int32_is_refused_before_offsets_are_written():
    device = SimtDevice(trace=True)
    sizes = np.zeros(5000, np.int64)
    sizes[[0, 1500, 4999]] = 2**30, 2**30 - 1, 1
    with pytest.raises(InvalidArgument, match="the sum of values = 2147483648"):
        device_scan(sizes, device=device)
    assert {launch.kernel for launch in device.trace.launches} == {"add_tiles"}


@pytest.mark.parametrize(
    ("size", "pairs", "hints"),
    [(0, 8, True), (1, 1, True), (2, 8, False), (63, 1, False), (64, 1, True), (65, 1, True),
     (127, 2, True), (128, 2, False), (1025, 16, True), (700, 4, False), (511, 8, True)],
)  # fmt: skip
def test_device_scan_by_pairs(size, pairs, hints, scheduled_device):
    sizes = np.random.default_rng(size).integers(0, 9, size)
    values = scheduled_device.array(sizes.astype(np.int32))
    offsets = scan_by_pairs(values, scheduled_device, threads=32, pairs=pairs, hints=hints)
    np.testing.assert_array_equal(scheduled_device.read(offsets), exclusive(sizes))


def test_pairs_of_a_part_that_begins_between_two_words(device):
    values = device.array(np.arange(200, dtype=np.int32))
    for first in (0, 1, 2, 3):
        offsets = scan_by_pairs(values[first:], device)
        np.testing.assert_array_equal(device.read(offsets), exclusive(np.arange(first, 200)))


def test_sizes_that_stay_on_the_device(scheduled_device):
    sizes = np.random.default_rng(0).integers(0, 9, 300).astype(np.int32)
    offsets = scan_sizes(scheduled_device.array(sizes), scheduled_device, threads=32)
    np.testing.assert_array_equal(scheduled_device.read(offsets), exclusive(sizes))


@cuda.jit
def sweep_twice(values, once, twice):
    """Scan 64 values in shared memory, then scan the result, without a barrier in between."""
    cells = cuda.shared.array(64, int32)
    thread = cuda.threadIdx.x
    for i in range(thread, 64, 32):
        cells[i] = values[i]
    total = sweep_scan(plain_cell, cells)
    for i in range(thread, 64, 32):
        once[i] = cells[i]
    total_of_sums = sweep_scan(plain_cell, cells)
    for i in range(thread, 64, 32):
        twice[i] = cells[i]
    if thread == 31:
        once[64], twice[64] = total, total_of_sums


def test_one_sweep_may_follow_another(scheduled_device):
    values = np.arange(64, dtype=np.int32)
    once, twice = (scheduled_device.full(65, -1, np.int32) for _ in range(2))
    scheduled_device.launch(sweep_twice, 1, 32, scheduled_device.array(values), once, twice)
    first = exclusive(values)
    np.testing.assert_array_equal(scheduled_device.read(once), first)
    np.testing.assert_array_equal(scheduled_device.read(twice), exclusive(first[:-1]))


# Memory and barriers ------------------------------------------------------------


def test_padding_gives_every_value_a_cell_of_its_own():
    cells = [padded_cell.py_func(i) for i in range(2048)]
    assert len(set(cells)) == 2048
    assert max(cells) < 2048 + 2048 // 32
    assert all(cell % 33 != 32 for cell in cells)


def conflicts(threads: int, padding: bool) -> np.ndarray:
    """Return the extra passes of each request to the shared memory of one block."""
    device = SimtDevice(trace=True)
    shared_scan(np.ones(2 * threads, int), padding=padding, threads=threads, device=device)
    return metrics.bank_conflicts(device.trace)


@pytest.mark.parametrize("threads", [32, 128, 512, 1024])
def test_padding_removes_most_bank_conflicts(threads):
    plain, padded = conflicts(threads, padding=False), conflicts(threads, padding=True)
    assert plain.size == padded.size
    assert padded.sum() < plain.sum() / 4
    assert padded.max() < plain.max()


def test_the_conflicts_of_a_tree_are_those_that_one_can_count_by_hand():
    # 32 threads, 64 values: at the step whose pairs lie s cells apart there are 32 / s pairs, the
    # cells of one kind are 2 s apart, and those 2 s * k for all k share a bank every 32 / (2 s).
    by_hand = 0
    for apart in (1, 2, 4, 8, 16, 32):
        lanes = 32 // apart
        banks = min(lanes, max(1, 32 // (2 * apart)))
        by_hand += lanes // banks - 1
    # Up: two loads and a store a step. Down: three loads and two stores, cells[right] += below.
    assert conflicts(32, padding=False).sum() == 8 * by_hand


@pytest.mark.parametrize(("method", "words", "launches"), [("launches", 3, 4), ("look-back", 2, 1)])
def test_the_words_that_a_scan_moves(method, words, launches):
    device, size = SimtDevice(trace=True), 8 * 128 * 20
    device_scan(np.ones(size, int), method=method, device=device)
    moved = device.trace.select(array=["values", "offsets"])
    sectors = int(metrics.sectors(moved).sum())
    assert words * size / 8 <= sectors < (words + 0.1) * size / 8
    assert len(device.trace.launches) == launches


def test_pairs_take_half_the_loads_and_three_barriers_a_tile():
    counts = {}
    for method, array, tile in (("look-back", "values", 2048), ("pairs", "words", 4096)):
        device = SimtDevice(trace=True)
        device_scan(np.ones(3 * tile - 2, int), threads=256, method=method, device=device)
        loads = metrics.requests(device.trace.select(array=array))
        counts[method] = loads * 32 / (3 * tile), metrics.barriers(device.trace) / (3 * 8)
    assert counts == {"look-back": (1, 3 + 3 * 8), "pairs": (1 / 2, 3)}


# Refusals ------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -1], r"values\[1\] = -1: must be from 0 to 2147483647"),
        ([2**31], r"values\[0\] = 2147483648"),
        ([0.5], "values.dtype = 'float64'"),
        ([[1]], r"values.shape = \(1, 1\)"),
    ],
)
def test_what_is_no_size_is_refused(values, message, device):
    with pytest.raises(InvalidArgument, match=message):
        device_scan(values, device=device)


@pytest.mark.parametrize(("option", "value"), [("pairs", 0), ("pairs", 17), ("hints", 1)])
def test_pairs_refuse_a_wrong_option(option, value, device):
    with pytest.raises(InvalidArgument, match=option):
        scan_by_pairs(device.array(np.ones(3, np.int32)), device, **{option: value})


@pytest.mark.parametrize("threads", [0, 16, 100, 2048])
@pytest.mark.parametrize("scan", [warp_scan, warp_rank, block_scan, shared_scan, device_scan])
def test_block_size_is_whole_warps(scan, threads, device):
    with pytest.raises(InvalidArgument, match="threads"):
        scan([1, 2, 3], threads=threads, device=device)


def test_a_tree_and_a_scan_by_an_unknown_method_are_refused(device):
    with pytest.raises(InvalidArgument, match="threads = 96: must be a power of two"):
        shared_scan([1, 2, 3], threads=96, device=device)
    with pytest.raises(UnknownMethod, match="'lookback'; it has launches, look-back, pairs"):
        device_scan([1, 2], method="lookback", device=device)
