"""Rows of numbers are told apart by one number each, however large theirs are."""

import numpy as np
import pytest

from gpukernels.bench.unrolled import _as_one


@pytest.mark.parametrize("largest", [1, 5, 2**20, 2**31, 2**40, 2**61])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_two_rows_have_one_number_just_where_they_are_the_same(largest, count):
    few = np.random.default_rng(count).integers(0, largest, 4, endpoint=True)
    columns = np.random.default_rng(largest).choice(few, (count, 200))
    rows = np.unique(columns, axis=1, return_inverse=True)[1].ravel()
    keys = np.unique(_as_one(tuple(columns)), return_inverse=True)[1].ravel()
    same, alike = rows[:, None] == rows, keys[:, None] == keys
    assert np.array_equal(same, alike)
