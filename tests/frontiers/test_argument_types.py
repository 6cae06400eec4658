"""Named tuples of device arrays: numba's type of them is found once, and is the right one."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.frontiers.state import Queue, Writes, kernel_argument
from gpukernels.traversal.claim import Search


class ArrayOnAGpu:
    """What the type of a device array is made from; counts how often numba makes it."""

    def __init__(self, dtype, ndim=1, layout="C"):
        self.dtype, self.ndim, self.layout, self.asked = np.dtype(dtype), ndim, layout, 0

    def is_c_contiguous(self):
        return self.layout == "C"

    @property
    def _numba_type_(self):
        self.asked += 1
        return numba.types.Array(numba.from_dtype(self.dtype), self.ndim, self.layout)


@kernel_argument
class Weighted(NamedTuple):
    """A queue, and an array and a number beside it."""

    queue: Queue
    weights: Any
    most: int


def queue(**how):
    return Queue(ArrayOnAGpu(np.int32, **how), ArrayOnAGpu(np.int64))


@pytest.mark.parametrize(
    "state",
    [
        Writes(10, True),
        Queue(np.zeros(3, np.int32), np.zeros(4, np.int64)),
        queue(),
        queue(ndim=2),
        queue(layout="A"),
        queue(ndim=2, layout="F"),
        Weighted(queue(), ArrayOnAGpu(np.float32), 5),
        Weighted(queue(layout="A"), ArrayOnAGpu(np.float32), 2**63),
        Search(*[ArrayOnAGpu(np.int32)] * 5, DUPLICATES["merrill"]),
    ],
    ids=[
        "scalars",
        "host",
        "plain",
        "matrix",
        "strided",
        "fortran",
        "wide",
        "wide_strided",
        "search",
    ],
)
def test_the_type_is_numbas_own_every_time(state):
    for _ in range(2):
        assert state._numba_type_ == numba.typeof(state)
        assert state._numba_type_.instance_class is type(state)


def test_arrays_of_one_kind_are_asked_once():
    first, second = queue(), queue()
    expected = first._numba_type_
    asked = [array.asked for array in first]
    assert first._numba_type_ is second._numba_type_ is expected
    assert [array.asked for array in first] == asked
    assert [array.asked for array in second] == [0, 0]


def test_a_tuple_that_was_asked_does_not_look_at_its_arrays_again():
    state = queue()
    first = state._numba_type_
    for array in state:
        array.is_c_contiguous = None
    assert state._numba_type_ is first


def test_the_class_is_still_the_named_tuple_that_it_was():
    assert Queue._fields == ("next_frontier", "next_size")
    assert isinstance(Queue(1, 2), tuple)
    assert repr(Queue(next_size=2, next_frontier=1)) == "Queue(next_frontier=1, next_size=2)"
    assert "queue that a launch fills" in Queue.__doc__
    assert pickle.loads(pickle.dumps(Writes(10, True))) == Writes(10, True)


def test_arrays_of_another_kind_have_another_type():
    kinds = [queue(), queue(ndim=2), queue(layout="A"), Queue(*reversed(queue()))]
    assert len({state._numba_type_ for state in kinds}) == len(kinds)
