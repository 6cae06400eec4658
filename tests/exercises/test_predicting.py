"""Predictions are compared as plain numbers, and cannot be found by halving an interval."""

from __future__ import annotations

import decimal
import fractions

import numpy as np
import pytest
from wrong_answers import RaisesWhenAsked

import gpukernels as gk
from gpukernels.exercises.judge.exercise import PredictionExercise
from gpukernels.exercises.judge.words import Words


def asking(**counted: int) -> PredictionExercise:
    """Return a prediction of these numbers that nobody has tried yet."""
    about = Words("x-1", "some", "easy", "to count.", "How many?", "Some.", "Some.")
    return PredictionExercise(about, answer=counted, measure=lambda: counted)


class Agreeing:
    """Methods of a number that agrees with every other one."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __gt__ = __ne__
    __le__ = __ge__ = __eq__
    __hash__ = None


KINDS = int, float, fractions.Fraction, decimal.Decimal, np.int64
#: Numbers of several types that say they equal everything.
AGREEING = [type(kind.__name__, (Agreeing, kind), {}) for kind in KINDS]


class Unlike(dict):
    """A dict that reads differently from its contents."""

    def __getitem__(self, key):
        return 12

    def get(self, key, default=None):
        return 12

    def items(self):
        return [(key, 12) for key in self]


@pytest.mark.parametrize("kind", AGREEING)
def test_a_number_that_says_it_equals_everything_is_taken_for_its_value(kind):
    for finding in asking(a=12, b=1).check({"a": kind(-77), "b": kind(-77)}, raises=False).findings:
        assert not finding.passed


def test_a_dict_that_reads_differently_from_its_contents_is_taken_for_its_contents():
    report = asking(a=12).check(Unlike(a=11), raises=False)
    assert "a: 11 is less than the machine counts" in repr(report)
    assert asking(a=11).check(Unlike(a=11))


@pytest.mark.parametrize(
    "guess",
    [12, 12.0, np.int8(12), np.uint64(12), np.float32(12), fractions.Fraction(24, 2),
     decimal.Decimal("12.0"), AGREEING[0](12), np.array([12], object)[0]],
)  # fmt: skip
def test_the_same_number_of_another_type_is_right(guess):
    assert asking(a=12).check({"a": guess})


@pytest.mark.parametrize(
    "guess",
    ["12", b"12", True, np.True_, 12 + 0j, np.array(12), np.array([12]), [12], {"a": 12},
     decimal.Decimal("NaN"), decimal.Decimal("sNaN"), np.float64("nan"), range(12), int,
     np.arange(100_000), pytest.param(RaisesWhenAsked(), id="raises"), len],
)  # fmt: skip
def test_what_is_no_real_number_is_refused_as_such(guess):
    report = asking(a=12, b=1).check({"a": guess, "b": 1}, raises=False)
    first, second = report.findings
    assert first.text.startswith("a: ")
    assert first.text.endswith(" is not a number")
    assert len(first.text) < 200
    assert second.passed


@pytest.mark.parametrize(
    "guess",
    [
        12.000001,
        2**53 + 12,
        pytest.param(10**5000, id="huge"),
        float("inf"),
        fractions.Fraction(121, 10),
    ],
)
def test_a_number_that_is_nearly_right_or_huge_is_wrong(guess):
    (finding,) = asking(a=12).check({"a": guess}, raises=False).findings
    assert finding.text.endswith(" is more than the machine counts")
    assert len(finding.text) < 200


def test_more_or_fewer_is_said_of_two_wrong_guesses_of_a_number_in_all_checks_together():
    ex = asking(a=100, b=100)
    texts = [ex.check({"a": guess}, raises=False).findings[0].text for guess in (90, 300, 99, 101)]
    assert texts == [
        "a: 90 is less than the machine counts",
        "a: 300 is more than the machine counts",
        "a: 99 is not the number that the machine counts; both hints for it have been given",
        "a: 101 is not the number that the machine counts; both hints for it have been given",
    ]
    # A cell that is run again says the same, and the other number has hints of its own.
    a, b = ex.check({"a": 90.0, "b": 99}, raises=False).findings
    assert a.text == "a: 90.0 is less than the machine counts"
    assert b.text == "b: 99 is less than the machine counts"
    assert ex.check({"a": 100, "b": 100})


def test_what_is_no_number_takes_no_hint():
    ex = asking(a=100)
    for guess in (None, "100", True, float("nan")):
        ex.check({"a": guess}, raises=False)
    for guess in (3, 4):
        assert "less than the machine counts" in repr(ex.check({"a": guess}, raises=False))


def test_halving_an_interval_does_not_find_a_number():
    ex = asking(a=777)
    low, high = 0, 2**20
    for _ in range(60):
        middle = (low + high) // 2
        report = ex.check({"a": middle}, raises=False)
        assert not report.passed
        if "fewer" in repr(report):
            low = middle + 1
        elif "more" in repr(report):
            high = middle
    assert high - low == 2**18


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({}, "a: no prediction yet"),
        ({"a": 12, "b": 5}, "b: 5 is more than the machine counts"),
        ({"a": 3}, "a: 3 is less than the machine counts"),
        ({"a": "12"}, "a: '12' is not a number"),
        ({"e": 1}, "there is no question 'e', only 'a', 'b', 'c', 'd'"),
        ([12, 4, 2, 8], "a dict is wanted here, and this is a list"),
        (12, "a dict is wanted here, and this is a int"),
    ],
)
def test_a_wrong_prediction_is_told_so_and_not_the_answer(answer, says):
    findings = gk.exercise("simt-1").check(answer, raises=False).findings
    text = next(finding.text for finding in findings if not finding.passed)
    assert says in text
    assert "12" not in text.replace("'12'", "")


def test_one_question_takes_a_number():
    assert asking(all=1).check(1)
    assert not asking(all=1).check(2, raises=False)
