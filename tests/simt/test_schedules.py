"""Schedules: each is deterministic, and loops have a limit under all of them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, int32

import gpukernels as gk
from gpukernels.simt import Pace, Recorder, launch, machine
from gpukernels.simt.errors import EndlessLoop, LaunchError
from gpukernels.simt.run import schedules


@cuda.jit
def order(counter, place):
    i = cuda.grid(1)
    place[i, 0] = cuda.atomic.add(counter, 0, 1)
    place[i, 1] = cuda.atomic.add(counter, 0, 1)


def warp_order(schedule, seed=0, blocks=2, threads=64):
    """The warps (number within the grid) in the order of their first and second statement."""
    place = np.zeros((blocks * threads, 2), int)
    launch(order, blocks, threads, (np.zeros(1, np.int32), place), schedule=schedule, seed=seed)
    # The lanes of a warp draw neighboring tickets at each statement, in any order.
    lanes = np.sort(place.reshape(-1, 32, 2), axis=1)
    firsts = lanes[:, 0]
    np.testing.assert_array_equal(lanes, firsts[:, None] + np.arange(32)[:, None])
    events = sorted((int(t), warp) for warp, pair in enumerate(firsts) for t in pair)
    return [warp for _, warp in events]


def test_lockstep_takes_all_warps_through_each_statement_and_warp_each_to_its_end():
    assert warp_order("lockstep") == [0, 1, 2, 3, 0, 1, 2, 3]
    assert warp_order("warp") == [0, 0, 1, 1, 2, 2, 3, 3]


def test_random_mixes_warps_and_blocks_as_its_seed_says():
    orders = [tuple(warp_order("random", seed)) for seed in range(20)]
    assert orders == [tuple(warp_order("random", seed)) for seed in range(20)]
    assert len(set(orders)) > 15
    assert all(sorted(o) == [0, 0, 1, 1, 2, 2, 3, 3] for o in orders)


@pytest.mark.parametrize("seed", [0, 1, 2, 9, 12345])
def test_random_draws_what_numpy_draws_so_that_a_seed_keeps_its_order(seed):
    bounds = np.random.default_rng(seed).integers(1, [3, 40, 10**4, 2**31], (800, 4)).ravel()
    # Just above 2^31 half of all words are drawn again.
    bounds = [*bounds.tolist(), 1, 2, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1] * 2
    ours, numpys = schedules._draws(np.random.default_rng(seed)), np.random.default_rng(seed)
    assert [ours(bound) for bound in bounds] == [int(numpys.integers(b)) for b in bounds]


@cuda.jit
def lost_updates(counter):
    value = counter[0]
    counter[0] = value + 1


def test_random_shows_what_a_race_can_do():
    results = set()
    for seed in range(10):
        counter = np.zeros(1, int)
        launch(lost_updates, 1, 128, (counter,), schedule="random", seed=seed, check=False)
        results.add(int(counter[0]))
    assert len(results) > 1
    assert results <= {1, 2, 3, 4}  # one lane per warp counts, because all read before they write


def test_an_endless_loop_is_an_error(schedule):
    @cuda.jit
    def endless(a):
        i = cuda.grid(1)
        while a[i] < 10:
            a[i] = 5

    with pytest.raises(EndlessLoop, match="while a") as caught:
        launch(endless, 2, 40, (np.arange(80),), schedule=schedule, loop_budget=1000)
    assert "has run 1,000 times, the step budget" in caught.value.reason
    assert caught.value.line == endless.py_func.__code__.co_firstlineno + 3
    assert caught.value.block == (0, 0, 0)
    # A loop that ends within its budget is no endless loop, and each launch has its own budget.
    launch(endless, 2, 40, (np.full(80, 10),), schedule=schedule, loop_budget=1)
    with pytest.raises(LaunchError, match="loop_budget=0; allowed are 1 and more"):
        launch(endless, 2, 40, (np.arange(80),), schedule=schedule, loop_budget=0)


@cuda.jit
def block_sums(a, out):
    total = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, a[cuda.grid(1)])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total[0]


def test_a_launch_in_several_waves(monkeypatch, schedule):
    monkeypatch.setattr(machine, "WAVE_THREADS", 100)
    blocks = 7 if schedule != "random" else 100  # random makes its own waves of 4096 threads
    a = np.random.default_rng(0).integers(0, 9, blocks * 48)
    out = np.zeros(blocks, int)
    recorder = Recorder()
    launch(block_sums, blocks, 48, (a, out), schedule=schedule, recorder=recorder)
    np.testing.assert_array_equal(out, a.reshape(-1, 48).sum(axis=1))
    assert set(recorder.trace.steps.block) == set(range(blocks))


def test_an_unknown_schedule_names_the_known_ones():
    with pytest.raises(LaunchError, match=r"'chaos'.*'lockstep', 'warp', 'random'"):
        launch(order, 1, 1, (np.zeros(1), np.zeros((1, 2))), schedule="chaos")


@cuda.jit
def short_in_endless(a):
    i = cuda.grid(1)
    while a[i] == 0:
        k = 0
        while k < 100:
            k += 1


@cuda.jit
def endless_in_short(a):
    i = cuda.grid(1)
    for _ in range(100):
        while a[i] == 0:
            a[i] = 0


@cuda.jit
def long_range(a):
    i = cuda.grid(1)
    for _ in range(10**15):
        for _ in range(3):
            a[i] = 1


@cuda.jit(device=True)
def count_to(n):
    k = 0
    while k < n:
        k += 1
    return k


@cuda.jit
def endless_around_a_function(a):
    i = cuda.grid(1)
    while count_to(100) > a[i]:
        a[i] = 0


BLAMED = {
    short_in_endless: "while a[i] == 0:",
    endless_in_short: "while a[i] == 0:",
    long_range: "for _ in range(10**15):",
    endless_around_a_function: "while count_to(100) > a[i]:",
}


@pytest.mark.parametrize("kernel", BLAMED, ids=lambda kernel: kernel.py_func.__name__)
def test_of_nested_loops_the_one_without_an_end_is_named(kernel, schedule):
    device = gk.SimtDevice(schedule, seed=3, loop_steps=2_000)
    with pytest.raises(EndlessLoop, match="2,000 steps, the limit") as caught:
        device.launch(kernel, 1, 64, np.zeros(64, np.int32))
    assert caught.value.text.strip() == BLAMED[kernel]
    assert 2_000 < device.pace.taken < 4_000


def test_many_launches_share_one_limit():
    @cuda.jit
    def ten_rounds(a):
        for _ in range(10):
            a[0] = 1

    device = gk.SimtDevice(loop_steps=1_000)
    for _ in range(90):  # eleven reads of the head, two steps each, are 22 steps per launch
        device.launch(ten_rounds, 1, 1, np.zeros(1, np.int32))
    assert device.pace.taken == 90 * 22
    with pytest.raises(EndlessLoop):
        device.launch(ten_rounds, 1, 1, np.zeros(1, np.int32))


def test_steps_are_the_same_in_every_run_and_without_a_limit(schedule):
    @cuda.jit
    def triangle(a):
        i = cuda.grid(1)
        for k in range(i):
            a[i] += k

    taken = set()
    for limit in (None, 10_000, 10_000):
        device = gk.SimtDevice(schedule, loop_steps=limit)
        device.launch(triangle, 2, 64, np.zeros(128, np.int32))
        taken.add(device.pace.taken)
    # The longest thread of all, or of each of the four warps: its rounds, and a last test.
    longest = [127] if schedule == "lockstep" else [31, 63, 95, 127]
    assert taken == {sum(2 * (rounds + 1) for rounds in longest)}


def test_a_limit_that_is_none_is_refused():
    for wrong in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match=f"loop_steps={wrong!r}; allowed are integers"):
            gk.SimtDevice(loop_steps=wrong)
    assert not Pace().exceeded(10**12, 0)


def test_a_launch_that_failed_is_kept_up_to_the_step_that_failed(schedule):
    device = gk.SimtDevice(schedule, trace=True, loop_steps=500)
    with pytest.raises(EndlessLoop) as caught:
        device.launch(endless_in_short, 1, 32, np.zeros(32, np.int32))
    assert device.trace.launches == ()
    device.recorder.keep_failed()
    trace = device.trace
    assert [launch.kernel for launch in trace.launches] == ["endless_in_short"]
    assert caught.value.line in trace.steps.line[-2:]
    assert len(trace.steps) >= 250
    device.recorder.keep_failed()  # there is no launch open any more
    assert len(device.trace.launches) == 1
