"""A covering array holds every pair that can be had, and far fewer rows than all crossings."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from effort import FAST, LEVELS, SOAK, USUAL, every_pair, in_turn, some

FACTORS = (range(12), "abcd", (None, {}, 3.5), ["x", "y", "z"])


def odd(number, letter, thing, last):
    """All but two pairs and a crossing of three."""
    return not (letter == "a" and last == "x") and not (number == 3 and thing is None)


def held(rows, size):
    """Return what the rows hold in each `size` columns."""
    columns = list(combinations(range(len(FACTORS)), size))
    return {(c, tuple(repr(row[i]) for i in c)) for row in rows for c in columns}


@pytest.mark.parametrize("allowed", [lambda *row: True, odd])
@pytest.mark.parametrize(("effort", "size"), [(FAST, 1), (USUAL, 2), (SOAK, 4)])
def test_everything_that_can_be_had_appears(allowed, effort, size):
    rows = every_pair(*FACTORS, allowed=allowed, effort=effort)
    possible = [row for row in product(*FACTORS) if allowed(*row)]
    assert held(rows, size) == held(possible, size)
    assert all(row in possible for row in rows)
    assert len(rows) == len(held(rows, len(FACTORS))), "none stands there twice"


def test_pairs_take_few_rows():
    assert len(every_pair(*FACTORS, effort=FAST)) == 12
    assert 48 <= len(every_pair(*FACTORS, effort=USUAL)) <= 56
    assert len(every_pair(*FACTORS, effort=SOAK)) == 12 * 4 * 3 * 3


@pytest.mark.parametrize("effort", LEVELS)
def test_the_same_factors_give_the_same_rows(effort):
    assert every_pair(*FACTORS, effort=effort) == every_pair(*FACTORS, effort=effort)


@pytest.mark.parametrize("effort", LEVELS)
def test_a_factor_without_values_has_no_rows(effort):
    assert every_pair([], "ab", effort=effort) == []
    assert every_pair("ab", [1, 2], [3], allowed=lambda *row: False, effort=effort) == []


def test_two_factors_meet_in_full():
    assert every_pair("ab", [1, 2], effort=USUAL) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert every_pair("ab", [1, 2], effort=FAST) in ([("a", 1), ("b", 2)], [("a", 2), ("b", 1)])


def test_each_of_many_meets_the_others_in_turn_and_all_of_them_in_a_night():
    rows = in_turn(range(13), "ab", [1, 2, 3], effort=USUAL)
    assert [row[0] for row in rows] == list(range(13))
    assert {row[1:] for row in rows} == set(product("ab", [1, 2, 3]))
    assert in_turn(range(13), "ab", effort=SOAK) == list(product(range(13), "ab"))
    assert in_turn([], "ab", effort=USUAL) == []


def test_a_hurry_draws_a_fifth_and_a_night_what_it_is_told():
    assert [some(25, 400, effort) for effort in LEVELS] == [5, 25, 400]
    assert some(3, 9, FAST) == 1
