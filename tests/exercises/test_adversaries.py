"""Wrong, lazy and copied answers of every task are refused, right ones of another kind accepted."""

from __future__ import annotations

import pytest
from adversaries import COMPLETIONS, EVERY, KERNELS, kernel_of, of_kind
from effort import EFFORT, SOAK, in_turn, some
from mutants import mutants

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import checking
from gpukernels.exercises.judge.exercise import KernelExercise

WRONG = of_kind("near", "copied")
RIGHT = of_kind("right")
#: What a check says of a lazy answer: over a budget, or so slow that it was given up.
OVER_BUDGET = "allowed at most", "it is endless, or too few threads share the work"
#: How an answer shares nothing. A budget that forbids the second forbids the first, which takes its
#: time: one exercise in four.
ALONE, ONE_LANE = {"one thread of all": 1 << 30}, {"one lane a warp": 32}
WAYS = ALONE | ONE_LANE
OFTEN = [*ALONE, *3 * [*ONE_LANE]]
#: Orders of warps in which a slip shows, if it shows at all; the check itself tries more.
ENOUGH = (("lockstep", 0), ("warp", 0), ("random", 1))


def test_every_kernel_task_has_a_wrong_and_a_lazy_answer_and_the_report_of_its_skeleton():
    for kinds in (("near", "copied"), ("lazy",), ("skeleton",)):
        assert {a.task for a in EVERY if a.kind in kinds} == set(KERNELS)


@pytest.mark.parametrize("answer", WRONG)
def test_a_wrong_answer_is_found_and_the_report_says_what_is_wrong(answer, tmp_path, monkeypatch):
    wrong = WRONG[answer]
    ex = gk.exercise(wrong.task)
    kernel = kernel_of(ex, wrong.text(), tmp_path)
    with monkeypatch.context() as patch:
        # Most are found in lockstep already; the other schedules are for those that are not.
        patch.setattr(checking, "SCHEDULES", checking.SCHEDULES[:1])
        report = ex.check(kernel, raises=False)
    if wrong.says not in repr(report):
        report = ex.check(kernel, raises=False)
    assert not report.passed
    assert wrong.says in repr(report)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("answer", RIGHT)
def test_another_right_answer_is_accepted(answer, seed, tmp_path):
    ex = gk.exercise(RIGHT[answer].task)
    assert ex.check(kernel_of(ex, RIGHT[answer].text(), tmp_path), seed=seed).passed


@pytest.mark.parametrize(("name", "way"), in_turn(KERNELS, WAYS if EFFORT == SOAK else OFTEN))
def test_an_answer_that_shares_nothing_is_right_and_over_budget(name, way, tmp_path, monkeypatch):
    # One schedule: a budget does not depend on them, and an answer without a team needs no others.
    monkeypatch.setattr(checking, "SCHEDULES", checking.SCHEDULES[:1])
    # And one of the hidden inputs: one thread that works for all takes its time.
    every = KernelExercise.cases
    monkeypatch.setattr(KernelExercise, "cases", lambda ex: every(ex)[: some(1, 99)])
    monkeypatch.setattr(KernelExercise, "drawn", lambda ex, seed: ex.cases()[:0])
    ex, lazy = gk.exercise(name), of_kind("lazy")[name]
    report = ex.check(kernel_of(ex, lazy.text(WAYS[way]), tmp_path), raises=False)
    missed = [finding.text for finding in report.findings if not finding.passed]
    assert missed
    assert all(any(phrase in text for phrase in OVER_BUDGET) for text in missed), missed


@pytest.mark.parametrize("name", [*KERNELS, *COMPLETIONS])
def test_every_slip_in_a_solution_is_found_or_does_no_harm(name, tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "SCHEDULES", ENOUGH)
    ex = gk.exercise(name)
    slips = list(mutants(ex.skeleton, ex.solution.text))
    assert slips
    if EFFORT != SOAK:  # a part of them, of one exercise those that another leaves out
        slips = slips[(list(CATALOG).index(name) + len(slips)) % 6 :: 6] or slips[:1]
    accepted = {
        slip
        for k, (slip, text) in enumerate(slips)
        if ex.check(kernel_of(ex, text, tmp_path, f"mutant_{k}"), raises=False)
    }
    harmless = [a.edits[0] for a in of_kind("harmless").values() if a.task == name]
    known = {f"{old.strip()} -> {new.strip()}" for old, new in harmless}
    assert accepted == known & {slip for slip, _ in slips}
