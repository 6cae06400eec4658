"""The race detector, and the fences and flags that order memory, against a model."""

from __future__ import annotations

import random

import numpy as np
import pytest
from effort import some
from happens_before import Model, drawn, races_found, scripts, text_of
from launching import SCHEDULES, failure, kernel_from, line_of
from numba import cuda, int32

import gpukernels as gk
from gpukernels.simt import launch
from gpukernels.simt.errors import RaceError, UninitializedRead
from gpukernels.simt.run import shadow


def test_a_race_is_found_exactly_where_two_accesses_race():
    actions = ("load", "atomic", "syncthreads", "syncwarp", "syncwarp", "grid")
    cases = [
        *scripts(100, (0, 0, 1, 1, 31, 32, 33, 48), actions),
        *scripts(100, (0, 48, 80, 80), ("load", "load", "load", "syncthreads")),
    ]
    expected = [Model().races(script) for script in cases]
    assert 60 < sum(expected) < 160, "both outcomes are common"
    for script, races in zip(cases, expected, strict=True):
        assert races_found(script) == [races] * 3, text_of(script)


def test_barriers_of_some_lanes_raise_no_false_alarm():
    actions = ("load", "store", "some", "some", "some", "syncwarp")
    cases = scripts(150, (0, 1, 2, 3), actions)
    expected = [Model().races(script) for script in cases]
    assert 40 < sum(expected) < 130, "both outcomes are common"
    for script, races in zip(cases, expected, strict=True):
        assert races_found(script) == [races] * 3, text_of(script)


@pytest.mark.parametrize("room", [0, 100])
def test_it_makes_no_difference_how_many_accesses_wait_to_be_compared(room, monkeypatch):
    monkeypatch.setattr(shadow, "ROOM", room)
    actions = ("load", "load", "atomic", "syncthreads", "syncwarp", "grid")
    for script in scripts(some(20, 200), (0, 0, 1, 31, 32, 48), actions):
        assert races_found(script) == [Model().races(script)] * 3, text_of(script)


@cuda.jit
def a_place_that_changes(a, out):
    i = cuda.grid(1)
    place = i + 0
    out[i] = a[place]
    if i < 2:
        place = place + 40
    out[i] += place
    if i == 5:
        a[0] = 1


def test_a_read_is_remembered_where_it_was(schedule):
    with pytest.raises(RaceError, match=r"`a\[0\]`: .* writes what .* thread \(0, 0, 0\) reads"):
        launch(a_place_that_changes, 1, 64, (np.zeros(64), np.zeros(64)), schedule=schedule)


@cuda.jit
def one_block_waits(which, out):
    part = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        part[0] = 1
        out[cuda.blockIdx.x] = part[0]
    if cuda.blockIdx.x != which:
        cuda.syncthreads()
    if cuda.threadIdx.x == 5:
        part[0] = 2


@pytest.mark.parametrize("which", [0, 1])
def test_a_barrier_orders_the_shared_array_of_no_other_block(which, schedule):
    with pytest.raises(RaceError) as caught:
        launch(one_block_waits, 2, 32, (which, np.zeros(2)), schedule=schedule)
    assert caught.value.block == (which, 0, 0)
    launch(one_block_waits, 2, 32, (2, np.zeros(2)), schedule=schedule)


@cuda.jit
def crowd_of_blocks(a, out):
    i = cuda.grid(1)
    out[i] = a[0]
    cuda.syncthreads()
    if i == 127:
        a[0] = 1


def test_a_reader_of_another_block_is_not_forgotten_for_later_ones(schedule):
    says = r"writes what .* reads in line .*: they are in different blocks, which no `syncthreads`"
    with pytest.raises(RaceError, match=says) as caught:
        launch(crowd_of_blocks, 2, 64, (np.zeros(1), np.zeros(128)), schedule=schedule)
    assert caught.value.within == "grid"
    launch(crowd_of_blocks, 1, 128, (np.zeros(1), np.zeros(128)), schedule=schedule)


@cuda.jit
def copy_neighbor(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i + 1]


def test_one_array_under_two_names(schedule):
    whole = np.arange(65)
    failure(RaceError, copy_neighbor, 1, 64, whole, whole[:64], schedule=schedule)
    failure(RaceError, copy_neighbor, 1, 64, whole[:40], whole[10:30], schedule=schedule)
    columns = np.arange(130).reshape(65, 2)
    launch(copy_neighbor, 1, 64, (columns[:, 0], columns[:64, 1]), schedule=schedule)
    launch(copy_neighbor, 1, 64, (whole[:33], whole[33:]), schedule=schedule)


@cuda.jit
def in_a_tile(out):
    tile = cuda.shared.array((4, 8), int32)
    t = cuda.threadIdx.x
    tile[t // 8, t % 8] = t
    out[cuda.grid(1)] = tile[3 - t // 8, t % 8]


@cuda.jit
def in_a_plane(a):
    i = cuda.grid(1)
    a[3, i // 11, 2] = i


def test_the_element_is_named_as_the_kernel_writes_it():
    with pytest.raises(RaceError, match=r"race on `tile\[3, 0\]`: .* block \(0, 0, 0\), thread"):
        launch(in_a_tile, 2, 32, (np.zeros(64),))
    plane = np.zeros((5, 6, 6), int)
    failure(RaceError, in_a_plane, 1, 32, plane[:, ::2, ::2], match=r"race on `a\[3, 0, 2\]`")
    assert not plane.any(), "the statement that races has not been carried out"


@cuda.jit
def several(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t]
    a[0] = t
    more = cuda.shared.array(64, int32)
    out[t] = more[t]


def test_findings_are_collected_and_the_launch_goes_on(schedule):
    a, out = np.arange(64), np.full(64, -1)
    findings = []
    launch(several, 1, 64, (a, out), schedule=schedule, findings=findings)
    assert {type(f) for f in findings} == {RaceError, UninitializedRead}
    assert {f.array for f in findings} == {"tile", "a", "more"}
    pair = {line_of(several, "tile[t] = a"), line_of(several, "= tile[63")}
    races = [f for f in findings if f.array == "tile" and isinstance(f, RaceError)]
    (tile,) = {frozenset((f.line, f.other_line)) for f in races}
    assert tile == pair
    assert len(findings) < 12, "one report for a pair of lines, not one for each element"
    assert (out == 0).all()
    assert a[0] != 0


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


def test_whoever_comes_last_may_reset_the_counter_by_a_plain_store(schedule):
    arrived, seen = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(last_block_resets, 5, 33, (arrived, seen), schedule=schedule, seed=2)
    assert arrived[0] == 0
    assert seen[0] == 5
    failure(RaceError, first_block_resets, 5, 33, arrived, schedule=schedule, seed=2)


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


def test_a_waiter_may_fence_in_its_loop(tmp_path):
    assert message_found(message(tmp_path, inside=FENCE)) == set()
    assert message_found(message(tmp_path, inside=FENCE, acquire=NOTHING)) == {"data"}


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
