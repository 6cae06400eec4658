"""The filters of duplicates, each compared with a scalar model."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32, int64

import gpukernels as gk
from gpukernels.device import CudaDevice, SimtDevice, benign_race, default_device
from gpukernels.frontiers.duplicates import (
    BITMAP,
    COMPARE_AND_SWAP,
    DUPLICATES,
    HASH64,
    HISTORY_CULLING,
    MERRILL,
    NONE,
    WARP_CULLING,
    check_duplicates,
    forget,
    is_repeated,
    shared_bytes,
)
from gpukernels.frontiers.duplicates.history_culling import HISTORY_SLOTS
from gpukernels.frontiers.duplicates.warp_culling import WARP_SLOTS
from gpukernels.frontiers.local_queue import LOCAL, cull
from gpukernels.traversal.claim import bitmask_bytes, claim, is_marked

CULLS = {name: how for name, how in DUPLICATES.items() if how <= MERRILL}
culls = pytest.mark.parametrize("how", CULLS.values(), ids=CULLS)
THREADS = 64
#: Slots of the table of hash64 in these tests: few, so that vertices conflict.
SLOTS = 8
#: Vertices of one slot in every table.
FAR = max(HISTORY_SLOTS, WARP_SLOTS, SLOTS)
#: A lane without a vertex.
NOBODY = -1


@benign_race("hash_table", "table")
@cuda.jit
def tell_repeated(how, held, repeated):
    """Apply the cull `how` to row after row of `held`, with one thread per column."""
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    forget_is_due = how == HISTORY_CULLING or how == MERRILL
    if forget_is_due:
        forget(table)
    cuda.syncthreads()
    i = cuda.grid(1)
    for row in range(held.shape[0]):
        v = held[row, i]
        repeated[row, i] = is_repeated(how, v, v >= 0, hash_table, table)


@benign_race("hash_table", "table")
@cuda.jit
def cull_queues(how, held, kept, dropped):
    """Put the column of `held` of each thread into its queue and cull; -1 ends a column."""
    hash_table = cuda.shared.array(0, int64)
    table = cuda.shared.array(0, int32)
    if how == HISTORY_CULLING or how == MERRILL:
        forget(table)
    cuda.syncthreads()
    i = cuda.grid(1)
    found = cuda.local.array(LOCAL, int32)
    size = cuda.local.array(1, int32)
    size[0] = 0
    for row in range(held.shape[0]):
        if held[row, i] >= 0:
            found[size[0]] = held[row, i]
            size[0] += 1
    dropped[i] = cull(how, found, size, hash_table, table)
    for row in range(size[0]):
        kept[row, i] = found[row]


@benign_race("distance")
@cuda.jit
def claim_all(how, held, distance, bitmap, won, level):
    """Claim the vertex of every thread."""
    i = cuda.grid(1)
    if held[i] >= 0:
        won[i] = claim(how, distance, bitmap, held[i], level)


@benign_race("bitmask")
@cuda.jit
def mark_all(held, bitmask, marked):
    """Read the bit of every thread's vertex, and set it."""
    i = cuda.grid(1)
    if held[i] >= 0:
        marked[i] = is_marked(bitmask, held[i])


def ask(device, how, held, threads=THREADS):
    """Return for every element of `held` whether the cull `how` drops it."""
    held = np.array(held, dtype=np.int32, ndmin=2)
    repeated = device.full(held.shape, False, np.bool_)
    device.launch(
        tell_repeated, held.shape[1] // threads, threads, how, device.array(held), repeated,
        shared=shared_bytes(how, threads, SLOTS),
    )  # fmt: skip
    return device.read(repeated)


def put(shape, entries):
    """Return an array in which only the given {index: vertex} hold a vertex."""
    held = np.full(shape, NOBODY, dtype=np.int32)
    for index, v in entries.items():
        held[index] = v
    return held


def chosen_device(data):
    """A device under a drawn schedule."""
    chosen = default_device()
    if isinstance(chosen, CudaDevice):
        return chosen
    schedule = data.draw(st.sampled_from(["lockstep", "warp", "random"]), "schedule")
    return SimtDevice(schedule=schedule, seed=data.draw(st.integers(0, 9), "seed"), check=True)


def draw_held(data, rows, columns):
    """Vertices of few values, some of which share a slot, and threads without a vertex."""
    few = [0, 1, 2, 3, FAR, FAR + 1, 2 * FAR, NOBODY]
    values = st.sampled_from(data.draw(st.lists(st.sampled_from(few), min_size=1), "values"))
    size = rows * columns
    held = data.draw(st.lists(values, min_size=size, max_size=size), "held")
    return np.array(held, dtype=np.int32).reshape(rows, columns)


# --- what holds of every cull -------------------------------------------------------------------


@culls
@examples(25, soak=500)
@given(data=st.data())
def test_of_those_that_hold_a_vertex_one_keeps_it(how, data):
    held = draw_held(data, data.draw(st.integers(1, 3), "rows"), 2 * THREADS)
    repeated = ask(chosen_device(data), how, held)
    assert not repeated[held == NOBODY].any()
    for block in range(2):
        columns = slice(block * THREADS, (block + 1) * THREADS)
        mine, dropped = held[:, columns], repeated[:, columns]
        for v in set(mine[mine >= 0].tolist()):
            assert (mine == v)[~dropped].any(), "somebody keeps it"
        if how == NONE:
            assert not dropped.any()


@culls
@examples(15, soak=500)
@given(data=st.data())
def test_a_vertex_that_is_held_once_is_never_dropped(how, data):
    order = data.draw(st.permutations(range(0, THREADS * SLOTS, SLOTS)), "vertices")
    assert not ask(chosen_device(data), how, order).any()


@culls
@examples(15, soak=500)
@given(data=st.data())
def test_queues_keep_what_is_not_dropped(how, data):
    device, held = chosen_device(data), draw_held(data, 3, THREADS)
    for column in held.T:  # a thread holds each vertex once
        values = np.unique(column[column >= 0])
        column[:] = NOBODY
        column[: values.size] = values
    kept, dropped = device.full(held.shape, NOBODY, np.int32), device.full(THREADS, -1, np.int32)
    device.launch(
        cull_queues, 1, THREADS, how, device.array(held), kept, dropped,
        shared=shared_bytes(how, THREADS, SLOTS),
    )  # fmt: skip
    kept, dropped = device.read(kept), device.read(dropped)
    np.testing.assert_array_equal((held >= 0).sum(axis=0), (kept >= 0).sum(axis=0) + dropped)
    assert set(kept[kept >= 0]) == set(held[held >= 0])
    for before, after in zip(held.T, kept.T, strict=True):
        assert not Counter(after[after >= 0].tolist()) - Counter(before[before >= 0].tolist())


# --- warp culling -------------------------------------------------------------------------------


@examples(40, soak=800)
@given(data=st.data())
def test_warp_culling_finds_the_duplicates_of_its_warp_that_no_conflict_hides(data):
    """One vertex of a slot stays; all its lanes except one are dropped, and no other lanes."""
    held = draw_held(data, 1, THREADS)[0]
    repeated = ask(chosen_device(data), WARP_CULLING, held)[0]
    for warp in range(THREADS // 32):
        lanes = slice(32 * warp, 32 * warp + 32)
        mine, dropped = held[lanes], repeated[lanes]
        for slot in range(WARP_SLOTS):
            in_slot = (mine >= 0) & (mine % WARP_SLOTS == slot)
            times = Counter(mine[in_slot].tolist())
            lost = Counter(mine[in_slot & dropped].tolist())
            allowed = [Counter({v: n - 1} if n > 1 else {}) for v, n in times.items()]
            assert lost in allowed if times else not lost


# --- hash64 -------------------------------------------------------------------------------------


@examples(40, soak=800)
@given(data=st.data())
def test_hash64_follows_the_model(data):
    """In lockstep all warps write before any reads; in turn, each warp reads its own writes.

    The last writer of a slot is kept, and so are all threads that hold another vertex.
    """
    schedule, together = data.draw(st.sampled_from([("lockstep", 64), ("warp", 32)]), "schedule")
    held = draw_held(data, 1, THREADS)[0]
    repeated = ask(SimtDevice(schedule=schedule, check=True), HASH64, held)[0]
    for first in range(0, THREADS, together):
        mine, dropped = held[first : first + together], repeated[first : first + together]
        for slot in range(SLOTS):
            in_slot = np.flatnonzero((mine >= 0) & (mine % SLOTS == slot))
            times = Counter(mine[in_slot].tolist())
            lost = Counter(mine[in_slot][dropped[in_slot]].tolist())
            allowed = [Counter({v: n - 1} if n > 1 else {}) for v, n in times.items()]
            assert lost in allowed if times else not lost


def test_hash64_does_not_see_other_blocks(scheduled_device):
    held = put(2 * THREADS, {3: 7, THREADS + 3: 7})
    assert not ask(scheduled_device, HASH64, held).any()


def test_hash64_does_not_take_a_thread_for_another(scheduled_device):
    """A thread that holds a vertex again finds its own word, and keeps the vertex."""
    held = put((2, THREADS), {(0, 3): 7, (1, 3): 7})
    assert not ask(scheduled_device, HASH64, held).any()


# --- history culling ----------------------------------------------------------------------------


@examples(40, soak=800)
@given(data=st.data())
def test_history_culling_is_a_cache_of_one_vertex_a_slot(data):
    """With one lane per warp, one warp after another, the table is a dictionary of slots."""
    rows = data.draw(st.integers(1, 5), "rows")
    lanes = draw_held(data, rows, THREADS // 32)
    held = np.full((rows, THREADS), NOBODY, dtype=np.int32)
    held[:, ::32] = lanes
    repeated = ask(SimtDevice(schedule="warp", check=True), HISTORY_CULLING, held)
    seen = {}
    for warp in range(THREADS // 32):
        for row, v in enumerate(lanes[:, warp].tolist()):
            expected = v >= 0 and seen.get(v % HISTORY_SLOTS) == v
            assert repeated[row, 32 * warp] == expected
            if v >= 0:
                seen[v % HISTORY_SLOTS] = v


def test_history_culling_sees_what_came_earlier_and_not_what_comes_at_once():
    held = put((2, THREADS), {(0, 0): 7, (0, 1): 7, (1, 5): 7})
    repeated = ask(SimtDevice(schedule="lockstep", check=True), HISTORY_CULLING, held)
    assert not repeated[0].any()
    assert repeated[1, 5]


def test_merrill_culls_by_both(scheduled_device):
    """Warp culling finds a pair in one warp; history culling finds a lane of a later row."""
    held = put((2, THREADS), {(0, 0): 7, (0, 1): 7, (1, 5): 7})
    assert ask(scheduled_device, MERRILL, held).sum() == 2
    assert ask(scheduled_device, WARP_CULLING, held).sum() == 1


def test_history_does_not_outlive_a_launch(scheduled_device):
    held = put(THREADS, {0: 0, 1: 7})
    for _ in range(2):
        assert not ask(scheduled_device, HISTORY_CULLING, held).any()


# --- claims -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [NONE, COMPARE_AND_SWAP, BITMAP])
@examples(25, soak=500)
@given(data=st.data())
def test_claims(how, data):
    """Exact claims give an unvisited vertex to one thread, plain stores to one or more."""
    n, level, device = 70, 4, chosen_device(data)
    vertices = st.integers(-1, data.draw(st.sampled_from([1, 5, n - 1]), "largest"))
    size = 2 * THREADS
    held = np.array(data.draw(st.lists(vertices, min_size=size, max_size=size)), dtype=np.int32)
    before = np.full(n, -1, dtype=np.int32)
    before[data.draw(st.lists(st.integers(0, n - 1), max_size=8), "visited")] = level
    distance, won = device.array(before), device.full(size, False, np.bool_)
    bitmap = device.full(-(-n // 32), 0, np.int32)
    device.launch(claim_all, 2, THREADS, how, device.array(held), distance, bitmap, won, level)
    won, after = device.read(won), device.read(distance)
    winners = Counter(held[won].tolist())
    fresh = {v for v in held.tolist() if v >= 0 and before[v] == -1}
    assert set(winners) == fresh
    if how != NONE:
        assert set(winners.values()) <= {1}
    expected = before.copy()
    expected[list(fresh)] = level + 1
    np.testing.assert_array_equal(after, expected)


def test_plain_stores_let_all_claim_that_look_at_once():
    device, won = SimtDevice(check=True), np.zeros(THREADS, dtype=bool)
    held = np.zeros(THREADS, dtype=np.int32)
    distance, bitmap = np.full(1, -1, np.int32), np.zeros(1, np.int32)
    device.launch(claim_all, 1, THREADS, NONE, held, distance, bitmap, won, 0)
    assert won.all()


# --- the bitmask --------------------------------------------------------------------------------


def mark(device, held, bitmask):
    """Return for every thread whether the bit of its vertex was set."""
    held = np.asarray(held, dtype=np.int32)
    marked = device.full(held.size, False, np.bool_)
    device.launch(mark_all, held.size // 32, 32, device.array(held), bitmask, marked)
    return device.read(marked)


@examples(40, soak=800)
@given(data=st.data())
def test_a_bit_that_is_set_is_right(data):
    """At least one thread passes per vertex, and no vertex is marked that no thread held."""
    n, device = 37, chosen_device(data)
    bitmask = device.full(bitmask_bytes(n), 0, np.uint8)
    seen = set()
    for _ in range(2):
        vertices = st.lists(st.integers(-1, n - 1), min_size=THREADS, max_size=THREADS)
        held = np.array(data.draw(vertices, "held"), dtype=np.int32)
        marked = mark(device, held, bitmask)
        through = set(held[~marked].tolist())
        assert set(held[marked].tolist()) <= seen | through
        seen |= set(held[held >= 0].tolist())
        bits = np.unpackbits(device.read(bitmask), bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) <= seen


def test_bits_of_one_byte_get_lost():
    """Eight lanes read a byte before any lane stores it, so only one of their bits stays."""
    device = SimtDevice(schedule="lockstep", check=True)
    bitmask = device.full(1, 0, np.uint8)
    held = put(32, {v: v for v in range(8)})
    assert not mark(device, held, bitmask).any()
    assert int(bitmask[0]).bit_count() == 1
    assert mark(device, held, bitmask).sum() == 1


def test_bits_set_one_after_another_stay():
    device = SimtDevice(schedule="warp", check=True)
    bitmask = device.full(1, 0, np.uint8)
    held = put(8 * 32, {32 * v: v for v in range(8)})
    assert not mark(device, held, bitmask).any()
    assert bitmask[0] == 255
    assert mark(device, held, bitmask)[::32].all()


def test_a_bitmask_without_elements_marks_nothing(scheduled_device):
    bitmask = scheduled_device.full(0, 0, np.uint8)
    for _ in range(2):
        assert not mark(scheduled_device, np.zeros(32), bitmask).any()


# --- names --------------------------------------------------------------------------------------


def test_an_unknown_way_is_refused():
    with pytest.raises(gk.InvalidArgument, match="hash64"):
        check_duplicates("hash")


@pytest.mark.parametrize(
    ("name", "size"),
    [("none", 0), ("hash64", 8 * SLOTS), ("warp_culling", 2 * 512), ("merrill", 2 * 512 + 4096),
     ("history_culling", 2 * 512 + 4096), ("compare_and_swap", 0), ("bitmap", 0)],
)  # fmt: skip
def test_shared_memory_is_what_the_tables_take(name, size):
    assert shared_bytes(check_duplicates(name), THREADS, SLOTS) == size
