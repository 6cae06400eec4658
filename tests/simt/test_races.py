"""The race detector: remembered threads, aliases, collected reports, and indices in messages."""

from __future__ import annotations

import numpy as np
import pytest
from effort import some
from happens_before import Model, races_found, scripts, text_of
from launching import line_of
from numba import cuda, int32

from gpukernels.simt import launch
from gpukernels.simt.errors import RaceError, UninitializedRead
from gpukernels.simt.run import shadow

SCHEDULES = ("lockstep", "warp", "random")


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


def test_what_a_lane_knows_is_passed_on():
    chain = [("store", 0), ("some", 0b0011), ("some", 0b0110), ("some", 0b1100), ("store", 3)]
    assert not any(races_found(chain))
    for missing in (1, 2, 3):
        assert all(races_found(chain[:missing] + chain[missing + 1 :]))


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


@pytest.mark.parametrize("schedule", SCHEDULES)
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


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("which", [0, 1])
def test_a_barrier_orders_the_shared_array_of_no_other_block(which, schedule):
    with pytest.raises(RaceError) as caught:
        launch(one_block_waits, 2, 32, (which, np.zeros(2)), schedule=schedule)
    assert caught.value.block == (which, 0, 0)
    launch(one_block_waits, 2, 32, (2, np.zeros(2)), schedule=schedule)


@cuda.jit
def crowd(a, out):
    i = cuda.grid(1)
    out[i] = a[0]
    cuda.syncwarp()
    if i == 40:
        a[0] = 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_reader_of_another_warp_is_not_forgotten_for_later_ones(schedule):
    # Warp 1 reads last, and its reads come before the write.
    says = r"writes what .* reads in line .*no barrier of the block .*: they are in different warps"
    with pytest.raises(RaceError, match=says) as caught:
        launch(crowd, 1, 64, (np.zeros(1), np.zeros(64)), schedule=schedule)
    assert caught.value.within == "block"


@cuda.jit
def crowd_of_blocks(a, out):
    i = cuda.grid(1)
    out[i] = a[0]
    cuda.syncthreads()
    if i == 127:
        a[0] = 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_reader_of_another_block_is_not_forgotten_for_later_ones(schedule):
    says = r"writes what .* reads in line .*: they are in different blocks, which no `syncthreads`"
    with pytest.raises(RaceError, match=says) as caught:
        launch(crowd_of_blocks, 2, 64, (np.zeros(1), np.zeros(128)), schedule=schedule)
    assert caught.value.within == "grid"
    launch(crowd_of_blocks, 1, 128, (np.zeros(1), np.zeros(128)), schedule=schedule)


@cuda.jit
def own_atomic_then_store(a):
    i = cuda.grid(1)
    cuda.atomic.add(a, 0, 1)
    if i == 0:
        a[0] = 0


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_own_atomic_does_not_hide_that_of_another(schedule):
    with pytest.raises(RaceError, match="updates atomically"):
        launch(own_atomic_then_store, 1, 33, (np.zeros(1, int),), schedule=schedule)


@cuda.jit
def copy_neighbor(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i + 1]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_array_under_two_names(schedule):
    whole = np.arange(65)
    with pytest.raises(RaceError):
        launch(copy_neighbor, 1, 64, (whole, whole[:64]), schedule=schedule)
    with pytest.raises(RaceError):
        launch(copy_neighbor, 1, 64, (whole[:40], whole[10:30]), schedule=schedule)
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
    with pytest.raises(RaceError, match=r"race on `a\[3, 0, 2\]`"):
        launch(in_a_plane, 1, 32, (plane[:, ::2, ::2],))
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


@pytest.mark.parametrize("schedule", SCHEDULES)
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
