"""Fences with an atomic flag order memory: both fences are needed, and nothing less is enough."""

from __future__ import annotations

import random

import numpy as np
import pytest
from happens_before import Model, drawn, races_found, text_of
from launching import kernel_from, line_of
from numba import cuda, int32

import gpukernels as gk
from gpukernels.simt import launch
from gpukernels.simt.errors import RaceError

SCHEDULES = ("lockstep", "warp", "random")

# The last block ------------------------------------------------------------

LAST_BLOCK = """\
from numba import cuda, int32


@cuda.jit
def kernel(a, partial, arrived, total):
    last = cuda.shared.array(1, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
{write}
    if t == 0:
        {before}
        last[0] = cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1
        {after}
    cuda.syncthreads()
    if last[0]:
        {later}
        for k in range(t, partial.size, cuda.blockDim.x):
            cuda.atomic.add(total, 0, partial[k])  # read
"""
FENCE, NOTHING = "cuda.threadfence()", "pass"
#: Ways to store the partial sums, one per thread or per block, before the fence of thread 0.
WRITES = {
    "by thread 0": ("    if t == 0:\n        partial[cuda.blockIdx.x] = a[i]  # write", FENCE),
    "before a barrier": ("    partial[i] = a[i]  # write\n    cuda.syncthreads()", FENCE),
    "fenced by each before a barrier": (
        "    partial[i] = a[i]  # write\n    cuda.threadfence()\n    cuda.syncthreads()",
        NOTHING,
    ),
}
READS = {"fenced by thread 0": (FENCE, NOTHING), "fenced by each": (NOTHING, FENCE)}
BLOCKS, THREADS = 5, 48


def last_block(folder, write, before, after, later):
    text = LAST_BLOCK.format(write=write, before=before, after=after, later=later)
    return kernel_from(text, folder)


def arguments(write):
    a = np.arange(BLOCKS * THREADS, dtype=np.int32)
    size = BLOCKS if "blockIdx" in write else a.size
    return [a, np.zeros(size, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int64)]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("written", WRITES)
def test_the_last_block_reads_what_all_have_released(written, read, tmp_path):
    (write, before), (after, later) = WRITES[written], READS[read]
    kernel = last_block(tmp_path, write, before, after, later)
    for schedule in SCHEDULES:
        args = arguments(write)
        launch(kernel, BLOCKS, THREADS, args, schedule=schedule, seed=1)
        a, partial, arrived, total = args
        assert total[0] == (a[::THREADS] if partial.size == BLOCKS else a).sum()
        assert arrived[0] == BLOCKS
    assert gk.check(kernel, BLOCKS, THREADS, *arguments(write)).ok


def race_found(kernel, args, schedule="lockstep", blocks=BLOCKS, threads=THREADS):
    races = []
    launch(kernel, blocks, threads, args, schedule=schedule, findings=races)
    assert {type(f) for f in races} <= {RaceError}
    return {frozenset((f.line, f.other_line)) for f in races}


@pytest.mark.parametrize("written", WRITES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("missing", ["release", "release, there too early", "acquire", "both"])
def test_a_missing_fence_is_found_at_the_write_and_the_read(written, schedule, missing, tmp_path):
    write, before = WRITES[written]
    after = FENCE if "release" in missing else NOTHING
    if missing != "acquire":
        write, before = write.replace(FENCE, NOTHING), NOTHING
    if "early" in missing:
        write = f"    {FENCE}\n{write}"
    kernel = last_block(tmp_path, write, before, after, NOTHING)
    lines = {line_of(kernel, "# write"), line_of(kernel, "# read")}
    assert race_found(kernel, arguments(write), schedule) == {frozenset(lines)}


def test_the_report_names_the_fence_that_is_missing(tmp_path):
    write, _ = WRITES["by thread 0"]
    for before, after, says, remedy in (
        (NOTHING, FENCE, "was set with no fence after the access", "and the atomic that sets the"),
        (FENCE, NOTHING, "has seen its flag, but has called no fence since", "that sees the flag"),
    ):
        kernel = last_block(tmp_path, write, before, after, NOTHING)
        (error,) = gk.check(kernel, BLOCKS, THREADS, *arguments(write)).errors
        assert says in error.message
        assert remedy in error.remedy


def test_a_fence_of_the_block_does_not_reach_other_blocks(tmp_path):
    near = "cuda.threadfence_block()"
    write, _ = WRITES["by thread 0"]
    for before, after in ((near, FENCE), (FENCE, near), (near, near)):
        kernel = last_block(tmp_path, write, before, after, NOTHING)
        assert race_found(kernel, arguments(write))
    for wide in (FENCE, "cuda.threadfence_system()"):
        kernel = last_block(tmp_path, write, wide, f"{near}; {wide}", NOTHING)
        assert not race_found(kernel, arguments(write))


@cuda.jit
def last_block_resets(arrived, seen):
    last = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        last[0] = cuda.atomic.add(arrived, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 1 and last[0]:
        seen[0] = arrived[0]
        arrived[0] = 0


@cuda.jit
def first_block_resets(arrived):
    if cuda.threadIdx.x == 0:
        first = cuda.atomic.add(arrived, 0, 1) == 0
        cuda.threadfence()
        if first:
            arrived[0] = 0


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_whoever_comes_last_may_reset_the_counter_by_a_plain_store(schedule):
    arrived, seen = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(last_block_resets, 5, 33, (arrived, seen), schedule=schedule, seed=2)
    assert arrived[0] == 0
    assert seen[0] == 5
    with pytest.raises(RaceError):
        launch(first_block_resets, 5, 33, (arrived,), schedule=schedule, seed=2)


# Waiting for a flag ------------------------------------------------------------

MESSAGE = """\
from numba import cuda


@cuda.jit
def kernel(flag, data, out):
    i = cuda.grid(1)
    if i == {sender}:
        data[0] = 7  # write
        {release}
        {set_flag}
    elif i == 0:
        while {look} == 0:
            {inside}
        {acquire}
        out[0] = data[0]  # read
"""
SET, LOOK = "cuda.atomic.exch(flag, 0, 1)", "cuda.atomic.add(flag, 0, 0)"


def message(folder, release=FENCE, acquire=FENCE, **other):
    parts = {"set_flag": SET, "look": LOOK, "inside": NOTHING, "sender": 64, **other}
    return kernel_from(MESSAGE.format(release=release, acquire=acquire, **parts), folder)


def message_found(kernel):
    """Return the arrays on which a message from another warp races, under three schedules."""
    races = set()
    for seed in range(3):
        errors, out = [], np.zeros(1, np.int32)
        args = np.zeros(1, np.int32), np.zeros(1, np.int32), out
        launch(kernel, 2, 64, args, schedule="random", seed=seed, findings=errors)
        assert out[0] == 7
        races |= {f.array for f in errors}
    return races


def test_a_message_with_a_flag_needs_both_fences(tmp_path):
    assert message_found(message(tmp_path)) == set()
    assert message_found(message(tmp_path, release=NOTHING)) == {"data"}
    assert message_found(message(tmp_path, acquire=NOTHING)) == {"data"}
    assert message_found(message(tmp_path, look="cuda.atomic.cas(flag, 0, 1, 2)")) == set()
    assert message_found(message(tmp_path, acquire=NOTHING, release=NOTHING)) == {"data"}


def test_a_flag_is_set_and_read_by_atomics(tmp_path):
    plain = message(tmp_path, set_flag="flag[0] = 1")
    assert message_found(plain) == {"flag", "data"}
    assert message_found(message(tmp_path, look="flag[0]")) == {"flag", "data"}


@pytest.mark.skipif(not hasattr(cuda, "ldcv"), reason="this numba-cuda has no cache hints")
def test_cache_hints_make_no_access_atomic(tmp_path):
    for look in ("cuda.ldcv(flag, 0)", "cuda.ldcg(flag, 0)"):
        assert message_found(message(tmp_path, look=look)) == {"flag", "data"}, look
    assert "flag" in message_found(message(tmp_path, set_flag="cuda.stwt(flag, 0, 1)"))


def test_a_fence_of_the_block_serves_between_its_warps(tmp_path):
    near = "cuda.threadfence_block()"
    assert message_found(message(tmp_path, near, near, sender=40)) == set()
    assert message_found(message(tmp_path, near, FENCE, sender=40)) == set()
    assert message_found(message(tmp_path, near, near, sender=64)) == {"data"}


def test_a_compare_and_swap_that_fails_releases_nothing(tmp_path):
    # The flag is set without a fence; after the fence it is only read.
    late = f"{SET}; {FENCE}; cuda.atomic.cas(flag, 0, 5, 9)"
    assert message_found(message(tmp_path, release=NOTHING, set_flag=late)) == {"data"}


def test_a_waiter_may_fence_in_its_loop(tmp_path):
    assert message_found(message(tmp_path, inside=FENCE)) == set()
    assert message_found(message(tmp_path, inside=FENCE, acquire=NOTHING)) == {"data"}


@cuda.jit
def six_in_turn(flag, data, out):
    i = cuda.grid(1)
    if i % 32 == 0:
        turn = i // 32
        while cuda.atomic.add(flag, 0, 0) != turn:
            cuda.threadfence()
        cuda.threadfence()
        out[turn] = data[0]
        data[0] = turn + 1
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)


def test_threads_that_hand_on_a_lock_do_not_race():
    for seed in range(3):
        flag, data, out = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(6, np.int32)
        launch(six_in_turn, 3, 64, (flag, data, out), schedule="random", seed=seed)
        assert out.tolist() == list(range(6))


@cuda.jit
def handed_down(flags, values, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
        values[b] = b + 1
        for k in range(b):  # all blocks before this one, not only the neighbor
            values[b] += values[k]
        cuda.threadfence()
        cuda.atomic.exch(flags, b, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = values[b]


def test_what_was_acquired_is_released_with_the_rest():
    flags, values, out = (np.zeros(n, np.int32) for n in (6, 6, 6 * 33))
    for seed in range(3):
        flags[:] = values[:] = 0
        launch(handed_down, 6, 33, (flags, values, out), schedule="random", seed=seed)
        expected = []
        for b in range(6):
            expected.append(b + 1 + sum(expected))
        assert values.tolist() == expected
        assert (out.reshape(6, 33) == values[:, None]).all()


# Against a model ------------------------------------------------------------


def compared(cases):
    """Return the numbers of racing cases and of missed races; assert that no race is invented."""
    racing = missed = 0
    for script in cases:
        (race,), expected = races_found(script, ["lockstep"]), Model().races(script)
        assert expected or not race, text_of(script)
        racing += expected
        missed += expected and not race
    return racing, missed


def longer_scripts(count, threads, actions):
    """Return random scripts that begin with an access and end with a store of the first thread."""
    rng = random.Random(11)
    for _ in range(count):
        script = [drawn(rng, threads, actions) for _ in range(rng.randint(5, 14))]
        first = rng.choice(("store", "load")), rng.choice(threads)
        yield [first, *script, ("store", threads[0])]


FLAGS = 5 * ("fence", "flag 0") + ("flag 1",)


@pytest.mark.parametrize("threads", [(0, 48), (0, 32), (0, 1)])
def test_between_two_threads_the_detector_agrees_with_a_model(threads):
    actions = (*FLAGS, "load", "store", "atomic", "near fence", "near fence", "failed", "syncwarp")
    racing, missed = compared(longer_scripts(150, threads, actions))
    assert 30 < racing < 140, "both outcomes are common"
    assert missed == 0


@pytest.mark.parametrize("more", [(), ("syncthreads",), ("syncwarp", "some", "near fence")])
def test_among_many_threads_it_raises_no_false_alarm(more):
    threads = (0, 0, 1, 2, 33, 48, 48, 80)
    actions = (*FLAGS, "load", *more, *more)
    racing, missed = compared(longer_scripts(200, threads, actions))
    assert 30 < racing < 180, "both outcomes are common"
    assert missed <= 3


SETS = [("fence", 0), ("flag 0", 0)]
ACQUIRED = [("flag 0", 48), ("fence", 48), ("load", 48)]
CHOSEN = {
    "a fence of another lane, passed on by a syncwarp of two": (
        [("store", 1), ("fence", 1), ("some", 0b11), ("flag 0", 0), *ACQUIRED],
        False,
    ),
    "a fence of another lane, passed on by a syncwarp": (
        [("store", 1), ("fence", 1), ("syncwarp", 0), ("flag 0", 0), *ACQUIRED],
        False,
    ),
    "a fence of another lane, not passed on": (
        [("store", 1), ("fence", 1), ("flag 0", 0), *ACQUIRED],
        True,
    ),
    "a swap that fails": ([("store", 0), ("fence", 0), ("failed", 0), *ACQUIRED], True),
    "a second release after the flag was seen": (
        [("store", 0), *SETS, ("flag 0", 48), *SETS, *ACQUIRED[1:]],
        False,
    ),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_orders(name):
    script, races = CHOSEN[name]
    assert Model().races(script) == races
    assert compared([script]) == (races, 0)
