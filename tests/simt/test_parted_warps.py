"""Lanes of one warp that wait at different calls of ``syncwarp``, as they may since Volta."""

from __future__ import annotations

import numpy as np
import pytest
from effort import examples
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st
from launching import kernel_from, launched, line_of
from numba import cuda, int32

from gpukernels.simt import Recorder, launch
from gpukernels.simt.errors import BarrierDivergence, RaceError, ShuffleError

SCHEDULES = ("lockstep", "warp", "random")
FULL = 0xFFFFFFFF


@cuda.jit
def swaps_with_the_other_arm(a, out):
    cells = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t % 2:
        cells[t] = a[i] + 1
        cuda.syncwarp()
        x = cells[t - 1]
        cuda.syncwarp()
        cells[t] = x
    else:
        cells[t] = a[i] * 2
        cuda.syncwarp()
        x = cells[t + 1]
        cuda.syncwarp()
        cells[t] = 3 * x
    cuda.syncwarp()
    out[i] = cells[t ^ 1] + 1000 * x


@pytest.mark.parametrize("threads", [2, 32, 40, 96])
def test_each_arm_sees_what_the_other_wrote_before_its_syncwarp(scheduled_device, threads):
    a = np.random.default_rng(threads).integers(0, 99, 2 * threads)
    _, out = launched(
        scheduled_device, swaps_with_the_other_arm, 2, threads, a, np.zeros(a.size, np.int64)
    )
    i = np.arange(a.size)
    odd = i % 2 == 1
    x = np.where(odd, a[i ^ 1] * 2, a[i ^ 1] + 1)
    cells = np.where(odd, x, 3 * x)
    np.testing.assert_array_equal(out, cells[i ^ 1] + 1000 * x)


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


@cuda.jit
def leaves_a_loop_in_an_arm(a, out):
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(6):
        mask = cuda.ballot_sync(cuda.activemask(), 1)
        if (t + k) % 2:
            cells[t] = a[t] + k
            cuda.syncwarp(mask)
            if k == 2:
                total += 1000
                continue
            total += cells[t ^ 1]
        else:
            cells[t] = a[t] - k
            cuda.syncwarp(mask)
            if k == 4:
                break
            total += cells[t ^ 1]
        cuda.syncwarp(cuda.activemask())
    out[t] = total


def test_lanes_may_leave_an_arm_by_break_and_continue():
    a, out = np.arange(32) * 7, {}
    for schedule in SCHEDULES:
        out[schedule] = np.zeros(32, int)
        launch(leaves_a_loop_in_an_arm, 1, 32, (a, out[schedule]), schedule=schedule, check=False)
    t = np.arange(32)
    expected = np.zeros(32, int)
    gone = np.zeros(32, bool)
    for k in range(6):
        odd = (t + k) % 2 == 1
        cells = np.where(odd, a + k, a - k)
        add = cells[t ^ 1] if k < 5 else cells  # at the end each lane is alone and sees old cells
        if k == 2:
            add = np.where(odd, 1000, add)
        if k == 4:
            gone |= ~odd
            last = cells
        if k == 5:
            add = last[t ^ 1]
        expected += np.where(gone, 0, add)
    for schedule in SCHEDULES:
        np.testing.assert_array_equal(out[schedule], expected, err_msg=schedule)


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


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_arms_lie_within_arms_of_functions_and_beside_loops_that_wait(schedule):
    out = np.zeros(32, int)
    launch(arms_within_arms_of_a_function, 1, 32, (np.zeros(1, np.int32), out), schedule=schedule)
    cells = np.arange(32) + np.where(np.arange(32) & 16, 1, 2)
    np.testing.assert_array_equal(out, cells[np.arange(32) ^ 16] + 100 * cells[np.arange(32) ^ 1])


def test_traces_of_parted_warps_are_the_same_under_all_schedules():
    def per_warp(schedule, seed=0):
        recorder = Recorder()
        arrays = (np.zeros((128, 2), np.int64), 3)
        launch(turns_in_three_arms, 2, 64, arrays, schedule=schedule, seed=seed, recorder=recorder)
        steps = recorder.trace.steps
        columns = (steps.block, steps.warp, steps.step, steps.line, steps.mask, steps.taken)
        return sorted(zip(*(c.tolist() for c in columns), strict=True))

    assert per_warp("lockstep") == per_warp("warp") == per_warp("random") == per_warp("random", 9)


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


@pytest.mark.parametrize("schedule", SCHEDULES)
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


@pytest.mark.parametrize("schedule", SCHEDULES)
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


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_syncwarp_in_both_arms_orders_what_lies_before_it_alone(schedule):
    with pytest.raises(RaceError, match="cells") as caught:
        launch(forgets_one_syncwarp, 1, 32, (np.zeros(32, int),), schedule=schedule)
    assert caught.value.other_line == line_of(forgets_one_syncwarp, "# after the meeting")
