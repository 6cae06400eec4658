"""Tran's squaring and Matsumoto's hybrid: results, copies, and the share of the CPU."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy_paths import check, random_graph

import gpukernels as gk
from gpukernels.all_pairs import apsp, matsumoto

SIZES = [0, 1, 2, 15, 16, 17, 40, 70]
#: Bytes of six, and eight, blocks of one tile of 16, and of flags.
SIX, EIGHT = 6 * 1024 + 512, 8 * 1024 + 512
METHODS = [("tran", {"memory": EIGHT}), ("matsumoto", {"block": 16})]


@pytest.mark.parametrize("kind", ["int32", "float32"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("method", "options"), METHODS, ids=str)
def test_distances_are_scipys_and_paths_are_as_long(device, method, options, n, kind):
    g = random_graph(n, kind, 2, fall=50)
    check(g, apsp(g, method, device, next_hops=True, **options))


@pytest.mark.parametrize("memory", [SIX, 26_000, None])
def test_tran_is_repeated_squaring_bit_for_bit(memory):
    g = gk.complete(45)
    weights = np.random.default_rng(4).random(g.m).astype(np.float32) ** 9
    g = gk.Graph(g.offsets, g.targets, weights)
    whole = apsp(g, "repeated_squaring", gk.SimtDevice(), tile=16)
    result = apsp(g, "tran", gk.SimtDevice(), tile=16, memory=memory)
    np.testing.assert_array_equal(result.distance, whole.distance)
    for name in ("iterations", "operations", "read_backs"):
        assert result.stats[name] == whole.stats[name]
    assert result.stats["device_bytes"] <= (memory or 1 << 30)


def test_a_round_of_tran_streams_a_row_and_a_column_of_blocks_for_each_block():
    stats = apsp(gk.path(64), "tran", gk.SimtDevice(), tile=16, memory=SIX).stats
    blocks, block, rounds = 4, 4 * 16**2, 6
    assert stats["iterations"] == rounds
    assert stats["launches"] == rounds * blocks**3
    assert stats["bytes_to_device"] == rounds * block * (blocks**2 + 2 * blocks**3)
    assert stats["bytes_from_device"] == rounds * block * blocks**2


def test_what_matsumoto_leaves_to_the_device():
    stats = apsp(gk.path(64), "matsumoto", gk.SimtDevice(), tile=16, block=16).stats
    pivots, others = 4, 3
    assert stats["launches"] == pivots * others**2
    assert stats["bytes_from_device"] == 4 * 16**2 * pivots * others**2
    assert stats["operations"] == 64**3
    # The CPU counts the additions that it skips, of infinity.
    assert stats["host_operations"] == 16**3 * pivots * (1 + 2 * others)


def test_pivots_are_closed_beside_the_launches_of_the_device(monkeypatch):
    """The CPU waits for a launch that comes after its pivot was asked for, and never forever."""
    launched, by = threading.Event(), []
    close = matsumoto.Both.close

    class Noting(gk.SimtDevice):
        def launch(self, *args, **options):
            super().launch(*args, **options)
            launched.set()

    def beside(pivots, k):
        by.append(threading.current_thread())
        if k == 1:
            launched.clear()
            assert launched.wait(30)
        close(pivots, k)

    monkeypatch.setattr(matsumoto.Both, "close", beside)
    g = random_graph(70, degree=2, fall=50)
    result = apsp(g, "matsumoto", Noting(), tile=16, block=16)
    np.testing.assert_array_equal(result.distance, apsp(g, "blocked", gk.SimtDevice()).distance)
    assert len(by) == 5
    assert threading.main_thread() not in by


@pytest.mark.parametrize(("method", "options"), METHODS, ids=str)
def test_a_negative_cycle_in_the_last_block_is_named(device, method, options):
    g = gk.Graph.from_arcs(40, [*range(39), 39], [*range(1, 40), 37], [1] * 39 + [-9])
    with pytest.raises(gk.NegativeCycleError) as caught:
        apsp(g, method, device, **options)
    assert sorted(caught.value.cycle) == [37, 38, 39]


def test_blocks_of_matsumoto_that_a_device_has_no_room_for_are_refused():
    class Small(gk.SimtDevice):
        def free_bytes(self):
            return 1 << 16

    with pytest.raises(gk.InvalidArgument, match="block = 512: must be at most the 65,536 bytes"):
        apsp(gk.path(1030), "matsumoto", Small(), block=512)
