"""The claims of the chapter for readers who have written no kernel yet."""

from __future__ import annotations

import numpy as np

from gpukernels.device import SimtDevice
from gpukernels.notebook.record import kept


def test_the_last_line_leaves_out_the_threads_without_a_number(counted):
    steps = counted.doubling.trace.steps
    active = [int(mask).bit_count() for mask in steps.mask]
    assert sorted(active) == [18, 32, 32, 32, 32, 32]


def test_a_launch_of_two_blocks_doubles_all_numbers(counted):
    np.testing.assert_array_equal(counted.doubled, 2 * np.arange(50))
    np.testing.assert_array_equal(counted.device.read(counted.result), 2 * np.arange(50))


def test_cells_are_numbered_by_row_and_column(counted):
    np.testing.assert_array_equal(counted.table, np.add.outer([0, 10, 20], np.arange(6)))


def test_one_thread_is_the_owner_under_every_schedule(counted):
    owners = set()
    for seed in range(20):
        results, owner, old = np.array([0, 99, 0]), np.array([-1]), np.zeros(32, np.int64)
        values = np.arange(32, dtype=np.int32) % 9 + 1
        device = SimtDevice("random", seed=seed)
        device.launch(counted.look_at_all, 4, 8, values, results, owner, old)
        assert results.tolist() == [values.sum(), 1, 9]
        assert np.flatnonzero(old == -1).tolist() == owner.tolist()
        assert set(old.tolist()) == {-1, *owner.tolist()}
        owners.add(int(owner[0]))
    assert len(owners) > 1


def test_bits_are_counted_below_a_thread(counted):
    assert (counted.mask & counted.below).bit_count() == 2
    assert [k for k in range(8) if counted.mask >> k & 1] == [1, 2, 4]


def test_a_tree_has_three_levels(counted):
    assert counted.sums == [31]
    assert counted.level == 3


def test_the_second_level_cache_has_the_size_that_was_measured():
    assert kept("apsp")["l2_bytes"] == 50 * 2**20
