"""Whatever is handed in, a report says what is wrong with it, and no error escapes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from adversaries import KERNELS, PREDICTIONS
from effort import EFFORT, SOAK
from wrong_answers import LEFTOVERS, THINGS, kernels

import gpukernels as gk
from gpukernels.exercises import CATALOG


def refused(ex, answer) -> str:
    """Check a wrong answer; return the failures' text, which a report must have."""
    with pytest.raises(gk.ExerciseFailed) as failure:
        ex.check(answer, seed=1)
    report = failure.value.report
    failures = [finding for finding in report.findings if not finding.passed]
    assert all(finding.text and "\n" not in finding.text for finding in failures)
    assert max(len(line) for line in repr(report).splitlines()) < 700
    assert report._repr_html_()
    return " ".join(finding.text for finding in failures)


@pytest.mark.parametrize("name", CATALOG)
def test_what_is_no_answer_gets_a_report(name):
    ex = gk.exercise(name)
    for what, thing in THINGS.items():
        message = refused(ex, thing)
        wanted = "prediction" if name in PREDICTIONS else "kernel"
        words = (wanted, "wanted here", "@cuda.jit", "no question", "not a number", "cannot")
        assert any(word in message for word in words), (what, message)


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_kernel_gets_a_report_in_which_no_judge_is_at_a_loss(name, tmp_path):
    # Forty kernels for each of forty exercises: a sixth of them in turn, so that every exercise
    # and every kernel meets some of the others; `make soak` lets all meet.
    ex, step = gk.exercise(name), 1 if EFFORT == SOAK else 6
    every = list(kernels(ex, tmp_path).items())
    assert len(every) > 40
    for what, kernel in every[KERNELS.index(name) % step :: step]:
        message = refused(ex, kernel)
        for helpless in ("cannot be judged", "makes no sense", "cannot be run"):
            assert helpless not in message, (what, message)


@pytest.mark.parametrize("name", KERNELS)
def test_a_judge_has_a_word_for_whatever_is_left(name):
    ex = gk.exercise(name)
    for case in ex.cases():
        right = case.run(ex.solution.answer, gk.SimtDevice())
        assert case.judge(right) is None
        for array, whole, value in product(right, (True, False), LEFTOVERS):
            left = np.array(right[array])
            if left.size:
                left.reshape(-1)[slice(None) if whole else -1] = np.array(value).astype(left.dtype)
                wrong = case.judge({**right, array: left})
                assert wrong is None or wrong.text
