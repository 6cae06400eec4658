"""Warp operations, against a loop over the lanes of each warp."""

from __future__ import annotations

import numpy as np
import pytest
from launching import launched, line_of
from numba import cuda, int32

from gpukernels.simt import launch
from gpukernels.simt.errors import ShuffleError

FULL = 0xFFFFFFFF
SIZES = [1, 31, 32, 33, 96, 100]


def warps(values, threads):
    """The values of each warp, block after block."""
    return [
        w for block in values.reshape(-1, threads) for w in np.split(block, range(32, threads, 32))
    ]


def over_warps(function, threads, *values):
    parts = zip(*(warps(v, threads) for v in values), strict=True)
    return np.concatenate([np.asarray(function(*part)) for part in parts])


# Shuffles ------------------------------------------------------------


@cuda.jit
def shuffles(a, k, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.shfl_sync(FULL, a[i], k[0])
    out[i, 1] = cuda.shfl_up_sync(FULL, a[i], k[0])
    out[i, 2] = cuda.shfl_down_sync(FULL, a[i], k[0])
    out[i, 3] = cuda.shfl_xor_sync(FULL, a[i], k[0])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("k", [0, 1, 2, 16, 31])
def test_shuffles_of_full_warps(scheduled_device, k, dtype):
    a = np.random.default_rng(k).integers(-100, 100, 2 * 96).astype(dtype)
    _, _, out = launched(
        scheduled_device, shuffles, 2, 96, a, np.full(1, k), np.zeros((192, 4), dtype)
    )
    sources = {
        0: lambda lane: k,
        1: lambda lane: lane - k if lane >= k else lane,
        2: lambda lane: lane + k if lane + k < 32 else lane,
        3: lambda lane: lane ^ k,
    }
    for column, source in sources.items():
        order = [source(lane) for lane in range(32)]
        expected = over_warps(lambda w, order=order: w[order], 96, a)
        np.testing.assert_array_equal(out[:, column], expected)


@cuda.jit
def shuffle_by(mode, a, k, out):
    i = cuda.grid(1)
    if mode == 0:
        out[i] = cuda.shfl_sync(FULL, a[i], k)
    elif mode == 1:
        out[i] = cuda.shfl_up_sync(FULL, a[i], k)
    elif mode == 2:
        out[i] = cuda.shfl_down_sync(FULL, a[i], k)
    else:
        out[i] = cuda.shfl_xor_sync(FULL, a[i], k)


MODES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
@pytest.mark.parametrize(
    ("mode", "k", "lane", "source"), [(0, 9, 0, 9), (2, 8, 0, 8), (2, 7, 1, 8), (3, 8, 0, 8)]
)
def test_a_shuffle_from_a_lane_that_was_never_launched_is_an_error(schedule, mode, k, lane, source):
    a, out = np.arange(80), np.zeros(80, int)
    message = f"lane {lane} reads lane {source} by {MODES[mode]}, which was never launched"
    with pytest.raises(ShuffleError, match=message) as caught:
        launch(shuffle_by, 2, 40, (mode, a, k, out), schedule=schedule)
    assert caught.value.line == line_of(shuffle_by, f"{MODES[mode]}(")
    assert caught.value.thread == (32 + lane, 0, 0)


@pytest.mark.parametrize(("mode", "k"), [(0, 7), (1, 1), (1, 9), (1, 31), (3, 7), (2, 32), (3, 32)])
def test_a_mask_may_name_lanes_that_were_never_launched(scheduled_device, mode, k):
    # There is no lane beyond 31 or below 0, so each lane keeps its own value there.
    a = np.random.default_rng(k).integers(0, 99, 80)
    sources = {
        0: lambda i: k,
        1: lambda i: i - k if i >= k else i,
        2: lambda i: i,
        3: lambda i: i ^ k if i ^ k < 32 else i,
    }
    _, _, _, out = launched(scheduled_device, shuffle_by, 2, 40, mode, a, k, np.zeros(80, int))
    expected = over_warps(lambda w: w[[sources[mode](i) for i in range(len(w))]], 40, a)
    np.testing.assert_array_equal(out, expected)


@cuda.jit
def shuffle_by_table(a, source, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_sync(FULL, a[i], source[i])


def test_every_lane_may_name_its_own_source(scheduled_device):
    rng = np.random.default_rng(7)
    a, source = rng.integers(0, 99, 64), rng.integers(0, 32, 64).astype(np.int32)
    _, _, out = launched(scheduled_device, shuffle_by_table, 1, 64, a, source, np.zeros(64, int))
    np.testing.assert_array_equal(out, over_warps(lambda w, s: w[s], 64, a, source))


# Votes and matches ------------------------------------------------------------


@cuda.jit
def votes(a, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.ballot_sync(FULL, a[i] > 0)
    out[i, 1] = cuda.any_sync(FULL, a[i] > 4)
    out[i, 2] = cuda.all_sync(FULL, a[i] > -3)
    out[i, 3] = cuda.eq_sync(FULL, a[i] > 0)
    out[i, 4] = cuda.activemask()
    out[i, 5] = cuda.lanemask_lt()
    out[i, 6] = cuda.popc(cuda.ballot_sync(FULL, a[i]) & cuda.lanemask_lt())


def bits(flags):
    return sum(1 << lane for lane, flag in enumerate(flags) if flag)


def signed(mask):
    return mask - (1 << 32) if mask >> 31 else mask


@pytest.mark.parametrize("threads", SIZES)
@pytest.mark.parametrize("low", [-4, 1])
def test_votes(scheduled_device, threads, low):
    a = np.random.default_rng(threads).integers(low, 6, 2 * threads)
    _, out = launched(scheduled_device, votes, 2, threads, a, np.zeros((2 * threads, 7), np.int64))

    def expected(w):
        n = len(w)
        common = [signed(bits(w > 0)), any(w > 4), all(w > -3), len({*(w > 0)}) == 1, (1 << n) - 1]
        return [[*common, (1 << i) - 1, np.count_nonzero(w[:i])] for i in range(n)]

    np.testing.assert_array_equal(out, over_warps(expected, threads, a))


@cuda.jit
def matches(a, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.match_any_sync(FULL, a[i])
    mask, same = cuda.match_all_sync(FULL, a[i])
    out[i, 1] = mask
    out[i, 2] = same


@pytest.mark.parametrize(
    "dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]
)
@pytest.mark.parametrize("values", [1, 3])
def test_matches(scheduled_device, dtype, values):
    a = np.random.default_rng(values).integers(0, values, 96).astype(dtype)
    _, out = launched(scheduled_device, matches, 1, 96, a, np.zeros((96, 3), np.int64))

    def expected(w):
        same = len(set(w)) == 1
        return [[signed(bits(w == x)), signed(FULL) if same else 0, same] for x in w]

    np.testing.assert_array_equal(out, over_warps(expected, 96, a))


# In part of a warp ------------------------------------------------------------


@cuda.jit
def in_branches(a, out):
    i = cuda.grid(1)
    if a[i] % 2:
        mask = cuda.activemask()
        out[i, 0] = mask
        out[i, 1] = cuda.ballot_sync(mask, a[i] > 4)
        out[i, 2] = cuda.shfl_sync(mask, a[i], cuda.ffs(mask) - 1)
    else:
        out[i, 0] = cuda.activemask()
        out[i, 1] = cuda.popc(cuda.lanemask_lt() & cuda.activemask())
    out[i, 3] = cuda.activemask()


@pytest.mark.parametrize("threads", SIZES)
def test_operations_among_the_lanes_of_a_branch(scheduled_device, threads):
    a = np.random.default_rng(threads).integers(0, 9, 2 * threads)
    shape = (2 * threads, 4)
    _, out = launched(scheduled_device, in_branches, 2, threads, a, np.zeros(shape, np.int64))

    def expected(w):
        odd = w % 2 == 1
        rows = []
        for lane, x in enumerate(w):
            if odd[lane]:
                row = [bits(odd), signed(bits(odd & (w > 4))), w[np.argmax(odd)]]
            else:
                row = [bits(~odd), np.count_nonzero(~odd[:lane]), 0]
            rows.append([*row, (1 << len(w)) - 1])
        return rows

    np.testing.assert_array_equal(out, over_warps(expected, threads, a))


@cuda.jit
def halves(a, out):
    i = cuda.grid(1)
    mask = 0xFFFF if cuda.laneid < 16 else 0xFFFF0000
    out[i, 0] = cuda.ballot_sync(mask, a[i] > 3)
    out[i, 1] = cuda.any_sync(mask, a[i] == 8)
    out[i, 2] = cuda.all_sync(mask, a[i] < 8)
    out[i, 3] = cuda.match_any_sync(mask, a[i])
    out[i, 4] = cuda.shfl_sync(mask, a[i], cuda.laneid ^ 5)
    cuda.syncwarp(mask)


def test_lanes_of_one_warp_may_name_two_masks(scheduled_device):
    a = np.random.default_rng(5).integers(0, 9, 64)
    _, out = launched(scheduled_device, halves, 1, 64, a, np.zeros((64, 5), np.int64))
    lane = np.arange(32)

    def expected(w):
        rows = []
        for i in lane:
            mine = (lane < 16) == (i < 16)
            rows.append(
                [
                    signed(bits(mine & (w > 3))),
                    bool(np.any(w[mine] == 8)),
                    bool(np.all(w[mine] < 8)),
                    signed(bits(mine & (w == w[i]))),
                    w[i ^ 5],
                ]
            )
        return rows

    np.testing.assert_array_equal(out, over_warps(expected, 64, a))


@cuda.jit
def masks_of_every_kind(out):
    i = cuda.grid(1)
    out[i, 0] = cuda.ballot_sync(-1, i % 2)
    out[i, 1] = cuda.ballot_sync(int32(-1), i % 2)
    out[i, 2] = cuda.ballot_sync(FULL, i % 2)


def test_a_full_mask_may_be_written_as_minus_one(scheduled_device):
    (out,) = launched(scheduled_device, masks_of_every_kind, 1, 32, np.zeros((32, 3), np.int64))
    assert set(out.ravel()) == {signed(0xAAAAAAAA)}


@cuda.jit
def under_two_masks(first, second, out):
    i = cuda.grid(1)
    if i < 16:
        out[i] = cuda.shfl_sync(first[i], i, 0)
        out[i] = cuda.shfl_sync(second[i], i, 0)


@cuda.jit
def under_two_common_masks(first, second, out):
    i = cuda.grid(1)
    if i < 16:
        out[i] = cuda.shfl_sync(first[0], i, 0)
        out[i] = cuda.shfl_sync(second[0], i, 0)


@pytest.mark.parametrize("kernel", [under_two_masks, under_two_common_masks])
@pytest.mark.parametrize(
    ("second", "says"), [(0x1FFFF, "names lane 16"), (0xFF, "lane 8 calls .* with a mask")]
)
def test_each_mask_is_checked_whatever_the_last_one_was(kernel, second, says):
    masks = np.full(32, 0xFFFF), np.full(32, second)
    with pytest.raises(ShuffleError, match=says):
        launch(kernel, 1, 32, (*masks, np.zeros(32, int)))
    launch(kernel, 1, 32, (masks[0], masks[0], np.zeros(32, int)))
