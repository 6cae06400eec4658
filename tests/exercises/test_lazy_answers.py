"""An answer that lets few threads do the work of all is right, and no check accepts it."""

from __future__ import annotations

import pytest
from effort import EFFORT, SOAK, in_turn, some
from lazy_answers import ALONE, LAZY

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import checking
from gpukernels.exercises.judge.exercise import KernelExercise

#: What a check says of such an answer: over a budget, or so slow that it was given up.
OVER_BUDGET = "allowed at most", "it is endless, or too few threads share the work"
KERNELS = [name for name, ex in CATALOG.items() if isinstance(ex, KernelExercise)]


#: How an answer shares nothing: whether one thread of all works.
WAYS = {"one thread of all": True, "one lane a warp": False}
#: A budget that forbids the second forbids the first, which takes its time: one exercise in four.
OFTEN = ["one thread of all", *3 * ["one lane a warp"]]


@pytest.mark.parametrize(("name", "way"), in_turn(KERNELS, WAYS if EFFORT == SOAK else OFTEN))
def test_an_answer_that_shares_nothing_is_right_and_over_budget(name, way, monkeypatch):
    # One schedule: a budget does not depend on them, and an answer without a team needs no others.
    monkeypatch.setattr(checking, "SCHEDULES", checking.SCHEDULES[:1])
    # And one of the hidden inputs: one thread that works for all takes its time.
    every = KernelExercise.cases
    monkeypatch.setattr(KernelExercise, "cases", lambda ex: every(ex)[: some(1, 99)])
    monkeypatch.setattr(KernelExercise, "drawn", lambda ex, seed: ex.cases()[:0])
    make, apart = LAZY[name]
    findings = gk.exercise(name).check(make(ALONE if WAYS[way] else apart), raises=False).findings
    missed = [finding.text for finding in findings if not finding.passed]
    assert missed
    assert all(any(said in text for said in OVER_BUDGET) for text in missed), missed
