"""Named tuples of arrays as kernel arguments: names in traces, declared races, `gk.check`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import cuda

import gpukernels as gk
from gpukernels.simt.errors import OutOfBounds, RaceError


class Pair(NamedTuple):
    """An array and where its threads meet."""

    values: object
    last: object


@cuda.jit
def copy_pair(pair, other, more):
    i = cuda.grid(1)
    other.values[i] = pair.values[i] + more[0][i]
    if i == 0:
        other.last[0] = pair.last[0]


@cuda.jit
def meet(pair: Pair):
    pair.last[0] = cuda.grid(1)


@gk.benign_race("last")
@cuda.jit
def meet_by_design(pair: Pair):
    pair.last[0] = cuda.grid(1)


@cuda.jit
def draw_places(pair):
    pair.values[cuda.atomic.add(pair.last, 0, 1)] = cuda.grid(1)


def pair(n: int = 32) -> Pair:
    return Pair(np.arange(n), np.full(1, 7))


def names(*args):
    device = gk.SimtDevice(trace=True)
    device.launch(copy_pair, 1, 32, *args)
    return sorted({a.name for a in device.trace.arrays})


def test_an_array_in_a_named_tuple_goes_by_its_field():
    device = gk.SimtDevice(trace=True)
    device.launch(meet_by_design, 1, 32, pair())
    assert [a.name for a in device.trace.arrays] == ["values", "last"]


def test_a_field_of_two_arguments_is_told_apart_by_their_names():
    expected = ["more[0]", "other.last", "other.values", "pair.last", "pair.values"]
    assert names(pair(), pair(), (np.ones(32, int),)) == expected


def test_an_array_out_of_bounds_is_named_by_its_field():
    with pytest.raises(OutOfBounds, match="`values`"):
        gk.SimtDevice().launch(draw_places, 1, 32, pair(8))


def test_a_race_on_a_field_is_found_and_can_be_declared():
    with pytest.raises(RaceError, match=r"`last\[0\]`"):
        gk.SimtDevice(check=True).launch(meet, 1, 32, pair())
    gk.SimtDevice(check=True).launch(meet_by_design, 1, 32, pair())


def test_declaring_a_field_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"meet has no array \['size'\]"):
        gk.benign_race("size")(meet)


def test_a_check_keeps_named_tuples_and_leaves_their_arrays_alone():
    given = pair()
    report = gk.check(meet, 1, 32, given)
    assert [(f.rule, f.array) for f in report.findings] == [("race", "last")]
    assert given.last[0] == 7


def test_a_check_finds_a_field_that_depends_on_the_order_of_threads():
    given = Pair(np.zeros(64, int), np.zeros(1, int))
    report = gk.check(draw_places, 2, 32, given)
    assert ("order-dependent", "values") in [(f.rule, f.array) for f in report.findings]
