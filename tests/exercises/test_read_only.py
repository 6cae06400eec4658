"""Nothing of an exercise can be replaced, and what it hands out is not what it uses."""

from __future__ import annotations

import pytest

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.case import Budget, Case, number


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("shared-2", a) for a in ("cases", "budgets", "drawn", "solution", "benign", "id", "new")]
    + [("simt-1", a) for a in ("measure", "questions", "solution")],
)
def test_an_exercise_keeps_its_inputs_bounds_and_questions(name, attribute):
    ex = gk.exercise(name)
    with pytest.raises(AttributeError, match=f"{name}: `{attribute}` cannot be replaced"):
        setattr(ex, attribute, list)
    if attribute != "new":
        with pytest.raises(AttributeError, match="cannot be deleted"):
            delattr(ex, attribute)
    assert ex.check(ex.solution)


def test_what_an_exercise_hands_out_cannot_be_changed():
    ex = gk.exercise("shared-2")
    for handed in (ex.cases(), ex.budgets(), ex.drawn(1), ex.parameters):
        assert isinstance(handed, tuple)
        assert handed
    with pytest.raises(AttributeError):
        ex.cases()[0].judge = None
    with pytest.raises(AttributeError):
        ex.budgets()[0].at_most = 10**9
    with pytest.raises(AttributeError, match="Solution: `answer` cannot be replaced"):
        ex.solution.answer = None
    with pytest.raises(TypeError):
        CATALOG["shared-2"] = None
    prediction = gk.exercise("simt-1")
    prediction.solution.answer["a"] = 5
    assert prediction.solution.answer["a"] == 12
    assert prediction.check(prediction.solution)


CASE = Case("x", None, None)


@pytest.mark.parametrize(
    ("value", "bound", "says"),
    [
        (10.004, 10, "10.004, allowed at most 10"),
        (10.0000004, 10, "10.0000004, allowed at most 10"),
        (1234.5, 1234, "1,234.5, allowed at most 1,234"),
        (1234.5, 1234.25, "1,234.5, allowed at most 1,234.25"),
        (3.14159, 3.1415, "3.142, allowed at most 3.1415"),
        (0.0001, 0, "0.0001, allowed at most 0"),
    ],
)
def test_a_failure_shows_numbers_that_differ(value, bound, says):
    budget = Budget("x", CASE, None, at_most=bound)
    assert not budget.allows(value)
    assert budget.compare(value) == says


def test_a_bound_is_within_the_budget_however_it_is_rounded_and_may_be_a_least_value():
    for value in (10, 10.0, 10 + 1e-12, 30 / 3, 0.1 * 3 * 100 / 3):
        assert Budget("x", CASE, None, at_most=10).allows(value)
        assert Budget("x", CASE, None, at_least=10).allows(value)
    budget = Budget("x", CASE, None, at_least=0.8)
    assert not budget.allows(0.79999)
    assert budget.compare(0.79999) == "0.79999, allowed at least 0.8"
    assert budget.compare(0.8000001) == "0.8, allowed at least 0.8"
    shown = [number(v) for v in (1_000_000, 12.0, 1 / 3, 1234.56)]
    assert shown == ["1,000,000", "12", "0.333", "1,235"]
