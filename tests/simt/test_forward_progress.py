"""Waiting: loops that end only if other warps, or other lanes of their own, run in between."""

from __future__ import annotations

import numpy as np
import pytest
from launching import kernel_from, line_of
from numba import cuda, int32

from gpukernels.simt import Recorder, launch, machine
from gpukernels.simt.errors import EndlessLoop, ShuffleError
from gpukernels.simt.machine import _program

FULL = 0xFFFFFFFF

# For other warps ------------------------------------------------------------


@cuda.jit(device=True)
def everybody_is_here(arrived, goal):
    return cuda.atomic.add(arrived, 0, 0) >= goal


@cuda.jit
def meets_by_hand(arrived, values, out, rounds):
    i = cuda.grid(1)
    for k in range(rounds):
        cuda.atomic.exch(values, i, values.size * k + i)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(arrived, 0, 1)
            while not everybody_is_here(arrived, cuda.gridDim.x * (2 * k + 1)):
                cuda.nanosleep(int32(10))
        cuda.syncthreads()
        out[k, i] = cuda.atomic.add(values, values.size - 1 - i, 0)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(arrived, 0, 1)
            while cuda.ldcv(arrived, 0) < cuda.gridDim.x * (2 * k + 2):
                pass
        cuda.syncthreads()


def test_blocks_meet_at_a_barrier_of_their_own(schedule):
    n = 5 * 48
    arrays = (np.zeros(1, np.int32), np.zeros(n, np.int32), np.zeros((3, n), int), 3)
    # This barrier uses an atomic and ldcv on one element by design, which does not matter here.
    launch(meets_by_hand, 5, 48, arrays, schedule=schedule, check=False)
    np.testing.assert_array_equal(arrays[2], np.arange(3 * n).reshape(3, n)[:, ::-1])


@cuda.jit
def works_while_others_wait(done, values, out):
    if cuda.blockIdx.x == 0:
        for step in range(3):
            value = values[(cuda.threadIdx.x + 1) % values.size]
            cuda.syncthreads()
            values[cuda.threadIdx.x] = value
            cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(done, 0, 1)
    else:
        if cuda.threadIdx.x == 0:
            while cuda.atomic.add(done, 0, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[cuda.threadIdx.x] = values[cuda.threadIdx.x]


def test_a_block_passes_barriers_of_its_own_while_another_one_waits_for_it(schedule):
    arrays = (np.zeros(1, np.int32), np.arange(64), np.zeros(64, int))
    launch(works_while_others_wait, 2, 64, arrays, schedule=schedule, cooperative=True)
    np.testing.assert_array_equal(arrays[2], np.roll(np.arange(64), -3))


def test_more_blocks_than_are_resident_do_not_meet_by_hand(monkeypatch, schedule):
    monkeypatch.setattr(machine, "RESIDENT_THREADS", 96)
    arrays = (np.zeros(1, np.int32), np.zeros(128, np.int32), np.zeros((1, 128), int), 1)
    with pytest.raises(EndlessLoop, match="waits for ever"):
        launch(meets_by_hand, 4, 32, arrays, schedule=schedule, check=False)


# For lanes of the same warp ------------------------------------------------------------


@cuda.jit
def takes_a_lock(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    value = total[0]
    total[0] = value + 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def waits_for_its_neighbor(flag, out):
    if cuda.laneid == 0:
        while cuda.ldcv(flag, 0) == 0:
            pass
        out[0] = 1
    else:
        cuda.atomic.max(flag, 0, 1)
    cuda.syncwarp()
    out[1 + cuda.laneid] = cuda.shfl_down_sync(FULL, cuda.laneid, 1)
    out[33 + cuda.laneid] = cuda.popc(cuda.ballot_sync(FULL, cuda.laneid % 3 == 0))
    mask, same = cuda.match_all_sync(FULL, out[0])
    out[65 + cuda.laneid] = cuda.popc(mask) + same


def locked(schedule, seed=0, blocks=2, recorder=None):
    total = np.zeros(1, int)
    arrays = (np.zeros(1, np.int32), total)
    launch(
        takes_a_lock, blocks, 40, arrays, schedule=schedule, seed=seed, check=False,
        recorder=recorder,
    )  # fmt: skip
    return int(total[0])


@pytest.mark.parametrize("seed", range(5))
def test_all_lanes_of_a_warp_get_a_lock_in_turn_under_random(seed):
    assert locked("random", seed) == 80


@pytest.mark.parametrize("seed", range(5))
def test_a_lane_that_waits_for_a_lane_of_its_warp_goes_on_under_random(seed):
    arrays = (np.zeros(1, np.int32), np.zeros(97, np.int32))
    launch(waits_for_its_neighbor, 1, 32, arrays, schedule="random", seed=seed, check=False)
    lane = np.arange(32)
    expected = [[1], np.minimum(lane + 1, 31), np.full(32, 11), np.full(32, 33)]
    np.testing.assert_array_equal(arrays[1], np.concatenate(expected))


@pytest.mark.parametrize("schedule", ["lockstep", "warp"])
@pytest.mark.parametrize("kernel", [takes_a_lock, waits_for_its_neighbor], ids=["a lock", "a flag"])
def test_a_warp_in_lockstep_that_waits_for_itself_is_an_error_that_says_so(kernel, schedule):
    arrays = (np.zeros(1, np.int32), np.zeros(97, np.int32))
    with pytest.raises(EndlessLoop, match=r"for a lane of its own warp .* random") as caught:
        launch(kernel, 1, 32, arrays, schedule=schedule, check=False)
    assert caught.value.line == line_of(kernel, "while")


def test_lanes_by_themselves_are_recorded_under_their_warp_and_alike_each_time():
    def recorded():
        recorder = Recorder()
        assert locked("random", 3, recorder=recorder) == 80
        return recorder.trace

    steps, again = recorded().steps, recorded().steps
    for column in ("block", "warp", "step", "line", "mask"):
        np.testing.assert_array_equal(getattr(steps, column), getattr(again, column))
    assert set(zip(steps.block.tolist(), steps.warp.tolist(), strict=True)) == {
        (0, 0), (0, 1), (1, 0), (1, 1)
    }  # fmt: skip
    assert (np.bitwise_count(steps.mask) == 1).all()
    for warp, lanes in ((0, 32), (1, 8)):
        once = (steps.warp == warp) & (steps.line == line_of(takes_a_lock, "value = total[0]"))
        assert sorted(steps.mask[once].tolist()) == sorted([1 << i for i in range(lanes)] * 2)


@cuda.jit
def lanes_wait_at_two_calls(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    if cuda.laneid < 8:
        out[0] = cuda.ballot_sync(FULL, 1)
    else:
        out[1] = cuda.ballot_sync(FULL, 0)


def test_lanes_by_themselves_that_miss_one_another_are_an_error():
    arrays = (np.ones(1, np.int32), np.zeros(2, np.int32))
    with pytest.raises(ShuffleError) as caught:
        launch(lanes_wait_at_two_calls, 1, 32, arrays, schedule="random")
    lines = [line_of(lanes_wait_at_two_calls, f"FULL, {i}") for i in (1, 0)]
    assert caught.value.line in lines
    (other,) = set(lines) - {caught.value.line}
    assert f"it waits at ballot_sync at line {other}" in str(caught.value)
    parting = line_of(lanes_wait_at_two_calls, "if cuda.laneid < 8")
    assert f"the lanes parted at line {parting}" in str(caught.value)


# Without end ------------------------------------------------------------


@cuda.jit
def waits_for_nobody(flag, out):
    if cuda.threadIdx.x % 32 < 20:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.syncthreads()
    out[cuda.grid(1)] = 1


def test_a_wait_that_nobody_ends_is_found_at_once(schedule):
    arrays = (np.zeros(1, np.int32), np.zeros(192, int))
    with pytest.raises(EndlessLoop, match="every other thread waits as well") as caught:
        launch(waits_for_nobody, 3, 64, arrays, schedule=schedule)
    assert caught.value.line == line_of(waits_for_nobody, "while")


@cuda.jit
def gives_up(flag, out):
    tries = 0
    while cuda.atomic.add(flag, 0, 0) == 0 and tries < 3000:
        tries += 1
    out[cuda.grid(1)] = tries


def test_a_wait_that_counts_its_rounds_ends_by_itself_or_by_the_budget(schedule):
    out = np.zeros(2, int)
    launch(gives_up, 1, 2, (np.zeros(1, np.int32), out), schedule=schedule)
    assert out.tolist() == [3000, 3000]
    with pytest.raises(EndlessLoop, match="has run 1,000 times"):
        launch(gives_up, 1, 2, (np.zeros(1, np.int32), out), schedule=schedule, loop_budget=1000)


@cuda.jit
def two_take_turns(turn, out, rounds):
    me = cuda.threadIdx.x // 32
    if cuda.laneid == 0:
        for k in range(rounds):
            while cuda.atomic.add(turn, 0, 0) % 2 != me:
                pass
            out[k] = cuda.atomic.add(turn, 0, 1)


def test_waits_that_end_again_and_again_are_not_taken_for_endless(schedule):
    out = np.zeros(400, int)
    launch(two_take_turns, 1, 64, (np.zeros(1, np.int32), out, 400), schedule=schedule, check=False)
    assert (out // 2 == np.arange(400)).all()


# Which loops wait ------------------------------------------------------------

HEAD = """
from numba import cuda, int32

ZERO = 0

@cuda.jit(device=True)
def ready(a, i):
    return cuda.atomic.max(a, i, 0) > 0

@cuda.jit(device=True)
def taken(a, i):
    return cuda.atomic.add(a, i, 1)

@cuda.jit
def kernel(a, b, n):
    i = cuda.grid(1)
    k = 0
    v = 0
"""
WAITING = {
    "a flag": "while cuda.atomic.add(a, 0, 0) == 0:\n    pass",
    "a typed zero": "while cuda.atomic.or_(a, 0, int32(0)) == 0:\n    pass",
    "a lock": "while cuda.atomic.cas(a, 0, 0, 1) != 0:\n    pass",
    "test and set": "while cuda.atomic.exch(a, 0, 1) == 1:\n    pass",
    "an answer kept": (
        "v = cuda.atomic.add(a, i, 0)\nwhile v == 0:\n    v = cuda.atomic.add(a, i, 0)"
    ),
    "a break": "while True:\n    v = cuda.atomic.add(a, i, 0)\n    if v > 3:\n        break",
    "a return": "while True:\n    if cuda.atomic.add(a, i, 0):\n        return",
    "a lock in the body": (
        "done = False\nwhile not done:\n    if cuda.atomic.cas(a, 0, 0, 1) == 0:\n"
        "        b[0] += 1\n        cuda.atomic.exch(a, 0, 0)\n        done = True"
    ),
    "past the caches": "while cuda.ldcv(a, i) == 0:\n    pass",
    "sleep": "while b[0] == 0:\n    cuda.nanosleep(100)",
    "a fence": "while b[0] == 0:\n    cuda.threadfence()",
    "a device function": "while not ready(a, i):\n    pass",
    "a vote": (
        "v = cuda.atomic.add(a, i, 0)\nwhile cuda.any_sync(0xFFFFFFFF, v == 0):\n"
        "    v = cuda.atomic.add(a, i, 0)"
    ),
    "within another loop": (
        "for k in range(n):\n    while cuda.atomic.add(a, k, 0) == 0:\n        pass"
    ),
}
NOT_WAITING = {
    "a counter of tasks": (
        "while True:\n    v = cuda.atomic.add(a, 0, 1)\n    if v >= n:\n        break\n    b[v] = i"
    ),
    "tasks by a device function": "while taken(a, 0) < n:\n    pass",
    "probing a table": (
        "v = cuda.atomic.cas(a, k, -1, i)\nwhile v != -1 and v != i:\n    k = (k + 1) % n\n"
        "    v = cuda.atomic.cas(a, k, -1, i)"
    ),
    "trying again with what was there": (
        "v = 0\nk = a[0]\nwhile v != k:\n    v = k\n    k = cuda.atomic.cas(a, 0, v, v + 1)"
    ),
    "a claim that decides nothing": (
        "while k < n:\n    k += 1\n    if cuda.atomic.cas(a, i, 0, 1) == 0:\n        b[i] = 1"
    ),
    "a result that nobody uses": "while k < n:\n    k += 1\n    cuda.atomic.exch(a, 0, i)",
    "a plain load": "while b[0] < n:\n    b[0] += 1",
    "a loop over a range": (
        "for k in range(n):\n    if cuda.atomic.add(a, 0, 0) > 0:\n        break"
    ),
}


def program_of(body, folder, schedule="lockstep"):
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    kernel = kernel_from(text, folder)
    return _program(kernel, (np.zeros(4, np.int32), np.zeros(4), 3), False, schedule)


@pytest.mark.parametrize("case", WAITING)
def test_loops_that_wait_are_told(case, tmp_path):
    assert program_of(WAITING[case], tmp_path).polls
    assert not program_of(WAITING[case], tmp_path).lanes
    assert program_of(WAITING[case], tmp_path, "random").lanes


@pytest.mark.parametrize("case", NOT_WAITING)
def test_loops_that_end_by_themselves_are_told(case, tmp_path):
    program = program_of(NOT_WAITING[case], tmp_path)
    assert not program.polls
    assert not program.yielding, "all warps go together, as fast as ever"
    assert not program_of(NOT_WAITING[case], tmp_path, "random").lanes
