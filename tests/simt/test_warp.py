"""Warp operations, and lanes of one warp that wait at different calls of syncwarp."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st
from launching import SCHEDULES, failure, kernel_from, launched, line_of
from numba import cuda, int32

from gpukernels.simt import launch
from gpukernels.simt.errors import BarrierDivergence, RaceError, ShuffleError

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


# In part of a warp ------------------------------------------------------------


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
    failure(ShuffleError, kernel, 1, 32, *masks, np.zeros(32, int), match=says)
    launch(kernel, 1, 32, (masks[0], masks[0], np.zeros(32, int)))


@cuda.jit(device=True)
def exchange(cells, t, first, wide):
    value = cells[first + (t + 10) % 32]
    cuda.syncwarp()
    cells[t] = value + wide
    cuda.syncwarp()
    return value


@cuda.jit
def turns_in_three_arms(out, rounds):
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    first = t // 32 * 32
    cells[t] = t
    seen = 0
    cuda.syncwarp()
    if t % 32 < 10:
        for _ in range(rounds):
            seen += exchange(cells, t, first, 1)
    elif t % 32 < 20:
        k = 0
        while True:
            if k >= rounds:
                break
            k += 1
            if t % 32 == 13 and k == 2:
                seen += 100
            value = cells[first + (t + 10) % 32]
            cuda.syncwarp()
            cells[t] = value + 1
            cuda.syncwarp()
            seen += value
    else:
        value = 0
        for k in range(2 * rounds):
            if k % 2 == 0:
                value = cells[first + (t + 10) % 32]
                seen += value
            else:
                cells[t] = value + 1
            cuda.syncwarp()
    out[cuda.grid(1), 0] = cells[t]
    out[cuda.grid(1), 1] = seen


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_arms_meet_round_after_round_in_loops_and_functions(scheduled_device, rounds):
    (out, _) = launched(
        scheduled_device, turns_in_three_arms, 2, 64, np.zeros((128, 2), np.int64), rounds
    )
    cells, seen = np.arange(64).reshape(2, 32), np.zeros((2, 32), int)
    for _ in range(rounds):
        cells = np.roll(cells, -10, axis=1)
        seen += cells
        cells = cells + 1
    seen[:, 13] += 100 * (rounds >= 2)
    np.testing.assert_array_equal(out[:, 0].reshape(2, 2, 32), [cells, cells])
    np.testing.assert_array_equal(out[:, 1].reshape(2, 2, 32), [seen, seen])


@cuda.jit
def quarters(out):
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    if t < 16:
        if t < 8:
            cuda.syncwarp(0xFFFF)  # with the other quarter of its half
            cells[t] += 100
            cuda.syncwarp(FULL)
        else:
            x = cells[t]
            cuda.syncwarp(0xFFFF)
            cells[t] = x + 200
            cuda.syncwarp(FULL)
    else:
        for k in range(t // 24):  # the last quarter meets among itself first
            cuda.syncwarp(0xFF000000)
            cells[t] += 300
        cuda.syncwarp(FULL)
    out[t] = cells[31 - t]


def test_masks_of_parts_of_a_warp_meet_on_their_own(scheduled_device):
    (out,) = launched(scheduled_device, quarters, 1, 32, np.zeros(32, int))
    t = np.arange(32)
    np.testing.assert_array_equal(out[::-1], t + np.array([100, 200, 0, 300])[t // 8])


@cuda.jit(device=True)
def swap_by_halves(cells, t):
    if t & 16:
        cells[t] += 1
        cuda.syncwarp()
        value = cells[t ^ 16]
    else:
        cells[t] += 2
        cuda.syncwarp()
        value = cells[t ^ 16]
    return value


@cuda.jit
def arms_within_arms_of_a_function(flag, out):
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    cells[t] = t
    if t == 5:
        cuda.atomic.exch(flag, 0, 1)
    if t % 2:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[t] = swap_by_halves(cells, t)
    else:
        out[t] = swap_by_halves(cells, t)
    cuda.syncwarp()
    out[t] += 100 * cells[t ^ 1]


def test_arms_lie_within_arms_of_functions_and_beside_loops_that_wait(schedule):
    out = np.zeros(32, int)
    launch(arms_within_arms_of_a_function, 1, 32, (np.zeros(1, np.int32), out), schedule=schedule)
    cells = np.arange(32) + np.where(np.arange(32) & 16, 1, 2)
    np.testing.assert_array_equal(out, cells[np.arange(32) ^ 16] + 100 * cells[np.arange(32) ^ 1])


# Random arms ------------------------------------------------------------

PHASES = 6


@st.composite
def arms(draw, phases=PHASES, depth=0):
    """Draw a tree of ifs and loops in which every lane comes to `phases` syncwarps.

    Returns (lines, phases of a lane): in a phase a lane writes its own cell, in the next one it
    reads another's.
    """
    kinds = ["if", "if", "loop", "plain"] if depth < 3 else ["plain"]
    kind = draw(st.sampled_from(kinds)) if phases else "end"
    if kind == "end":
        return [], lambda t: []
    if kind == "if":
        bit = draw(st.sampled_from([1, 2, 4, 8, 16]))
        (yes, on_yes), (no, on_no) = (draw(arms(phases, depth + 1)) for _ in "ab")
        lines = [f"if t & {bit}:", *indented(yes), "else:", *indented(no)]
        return lines, lambda t: on_yes(t) if t & bit else on_no(t)
    times = draw(st.integers(1, phases // 2)) if kind == "loop" else 1
    a, by = draw(st.integers(1, 5)), draw(st.integers(1, 31))
    body = [
        f"cells[t] = x * {a} + 1",
        "cuda.syncwarp()",
        f"x = x + cells[(t + {by}) % 32]",
        "cuda.syncwarp()",
    ]
    rest, of_rest = draw(arms(phases - 2 * times, depth))
    lines = [f"for k in range({times}):", *indented(body), *rest] if kind == "loop" else body + rest
    return lines, lambda t: [(a, by)] * times + of_rest(t)


def indented(lines):
    return ["    " + line for line in lines]


@examples(25, soak=500, suppress_health_check=list(HealthCheck))
@given(arms())
def test_random_arms_meet_as_if_each_lane_ran_by_itself(tmp_path_factory, drawn):
    lines, phases_of = drawn
    head = ["from numba import cuda, int64", "@cuda.jit", "def kernel(out):"]
    start = ["cells = cuda.shared.array(32, int64)", "t = cuda.threadIdx.x", "x = int64(t)"]
    text = "\n".join([*head, *indented([*start, *lines, "out[t] = x"])])
    note(text)
    kernel = kernel_from(text, tmp_path_factory.getbasetemp())
    lanes = range(32)
    x, phases = list(lanes), [phases_of(t) for t in lanes]
    for k in range(PHASES // 2):
        cells = [x[t] * phases[t][k][0] + 1 for t in lanes]
        x = [x[t] + cells[(t + phases[t][k][1]) % 32] for t in lanes]
    for schedule in SCHEDULES:
        out = np.zeros(32, int)
        launch(kernel, 1, 32, (out,), schedule=schedule)
        assert out.tolist() == x, schedule


# Remaining errors ------------------------------------------------------------


@cuda.jit
def meets_twice_and_once(out):
    if cuda.laneid < 20:
        cuda.syncwarp()
        out[0] = 1
        cuda.syncwarp()  # too much
    else:
        cuda.syncwarp()


def test_a_lane_that_never_comes_is_an_error_with_both_lines(schedule):
    message = "the mask of syncwarp names lane 20, which is not here"
    with pytest.raises(ShuffleError, match=message) as caught:
        launch(meets_twice_and_once, 1, 32, (np.zeros(1, int),), schedule=schedule, check=False)
    assert caught.value.line == line_of(meets_twice_and_once, "# too much")
    parting = line_of(meets_twice_and_once, "if cuda.laneid < 20")
    assert f"the lanes parted at line {parting}: if cuda.laneid < 20:" in str(caught.value)
    assert caught.value.thread == (0, 0, 0)


@cuda.jit
def goes_to_another_barrier(out):
    if cuda.laneid < 16:
        cuda.syncwarp()
    else:
        cuda.syncthreads()
        cuda.syncwarp()


@cuda.jit
def outside_its_mask(out):
    if cuda.laneid < 16:
        cuda.syncwarp(0xFF)
    else:
        cuda.syncwarp(0xFFFF0000)


@cuda.jit
def shuffles_in_both_arms(out):
    if cuda.laneid < 16:
        x = cuda.shfl_sync(FULL, cuda.laneid, 20)
        cuda.syncwarp()
    else:
        x = cuda.shfl_sync(FULL, cuda.laneid, 2)
        cuda.syncwarp()
    out[0] = x


def test_other_calls_do_not_meet_across_arms(schedule):
    with pytest.raises(ShuffleError, match="mask of shfl_sync names lane 16, which is not here"):
        launch(shuffles_in_both_arms, 1, 32, (np.zeros(1, int),), schedule=schedule)
    with pytest.raises(ShuffleError, match="lane 8 calls syncwarp with a mask that does not"):
        launch(outside_its_mask, 1, 32, (np.zeros(1, int),), schedule=schedule)
    with pytest.raises(BarrierDivergence, match="by 16 of the 32 live threads"):
        launch(goes_to_another_barrier, 1, 32, (np.zeros(1, int),), schedule=schedule)


@cuda.jit
def forgets_one_syncwarp(out):
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t % 2:
        cells[t] = t
        cuda.syncwarp()
    else:
        cuda.syncwarp()
        cells[t] = t  # after the meeting
    out[t] = cells[t ^ 1]


def test_a_syncwarp_in_both_arms_orders_what_lies_before_it_alone(schedule):
    with pytest.raises(RaceError, match="cells") as caught:
        launch(forgets_one_syncwarp, 1, 32, (np.zeros(32, int),), schedule=schedule)
    assert caught.value.other_line == line_of(forgets_one_syncwarp, "# after the meeting")
