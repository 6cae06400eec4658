"""NumPy's functions for a browser give here what NumPy gives, and refuse what fits no index."""

from __future__ import annotations

import numpy as np
import pytest

from gpukernels.simt.names import narrow


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64])
def test_repeats_and_counts_are_numpys(dtype, monkeypatch):
    monkeypatch.setattr(narrow.np, "intp", np.int32)
    numbers = np.array([3, 0, 2, 3], dtype)
    repeated, counted = narrow.repeat(np.arange(4), numbers), narrow.bincount(numbers, minlength=6)
    assert repeated.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert (counted.tolist(), counted.dtype) == ([1, 0, 1, 2, 0, 0], np.int64)
    assert narrow.bincount(numbers, [0.5, 1, 1, 1]).tolist() == [1, 0, 1, 1.5]
    assert narrow.repeat([[1], [2]], 2, axis=1).tolist() == [[1, 1], [2, 2]]


def test_a_number_that_fits_no_index_is_refused(monkeypatch):
    monkeypatch.setattr(narrow.np, "intp", np.int32)
    with pytest.raises(OverflowError, match="2147483648: an index has 32 bits here"):
        narrow.bincount(np.array([2**31]))


def test_where_an_index_has_64_bits_numpy_stays_as_it_is():
    before = np.repeat, np.bincount
    narrow.widen()
    assert (np.repeat, np.bincount) == before
