"""The checker finds each kind of fault, says where, and refuses what is no answer."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import plain_answers as answers
import pytest

import gpukernels as gk
from gpukernels.device import CudaDevice
from gpukernels.exercises.judge import bench, checking
from gpukernels.exercises.judge.case import Budget, Case, equal_to
from gpukernels.exercises.judge.exercise import PredictionExercise
from gpukernels.exercises.judge.report import Finding, Report
from gpukernels.exercises.judge.words import Words
from gpukernels.trace import metrics


def fault(name: str, answer):
    """Return the first failure of a check."""
    findings = gk.exercise(name).check(answer, raises=False).findings
    return next(finding for finding in findings if not finding.passed)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (7, "a @cuda.jit kernel is wanted here, and this is of type int"),
        (answers.python_histogram, "write @cuda.jit above it"),
        (answers.device_histogram, "`device_histogram` is a device function"),
        (answers.histogram_of_other_names, "the parameters must be (degree, count)"),
        (answers.racy_histogram, "declared benign on no array, and `racy_histogram` declares one"),
    ],
)
def test_what_cannot_be_launched_is_refused_with_the_reason(answer, says):
    assert says in fault("shared-5", answer).text


def test_a_kernel_error_comes_with_input_line_block_and_thread():
    found = fault("shared-5", answers.unguarded_histogram)
    assert found.text.startswith("a path of 300 vertices, schedule lockstep: index 300 is out of")
    assert found.details[0].endswith("cuda.atomic.add(count, degree[cuda.grid(1)], 1)")
    assert found.details[1] == "block (2, 0, 0), thread (44, 0, 0)"


def test_unwritten_memory_is_found():
    found = fault("shared-5", answers.forgetful_histogram)
    assert "part" in found.text
    assert "written" in found.text


def test_a_wrong_element_comes_with_the_line_that_wrote_it_last():
    found = fault("shared-5", answers.double_histogram)
    assert "`count[1]` is 4 and should be 2; 2 of its 32 elements are wrong" in found.text
    assert found.details[0].endswith("wrote it last: cuda.atomic.add(count, degree[u], 2)")
    assert found.details[1] == "block (2, 0, 0), thread (43, 0, 0)"


def test_a_line_that_lies_in_a_device_function_comes_with_its_name():
    found = fault("shared-5", answers.double_histogram_by_a_function)
    place, wrote = found.details[0].split(" wrote it last: ")
    assert place.startswith("line ")
    assert place.endswith(" of count_double")
    assert wrote == "cuda.atomic.add(count, d, 2)"


def test_the_dearest_line_comes_with_the_name_of_its_device_function():
    (case, *_) = gk.exercise("shared-5").cases()
    case = dataclasses.replace(case, judge=lambda found: None)  # the kernel is wrong as well
    budget = Budget("atomics", case, lambda trace: metrics.atomic_conflicts(trace).size, at_most=0)
    (found,) = checking._costs(answers.double_histogram_by_a_function, [budget])
    assert found.details[0].endswith(" of count_double: cuda.atomic.add(count, d, 2)")


def test_a_search_without_an_end_is_given_up():
    assert "still found something to change" in fault("bfs-3", answers.restless_spread).text


def test_a_queue_that_overflows_is_named():
    text = fault("bfs-2", answers.crowded_expand).text
    assert "level 0 queued 1,000 entries for 200 vertices" in text


def test_a_correct_answer_over_budget_fails_with_the_dearest_line():
    found = fault("shared-2", answers.plain_sum)
    assert "warp steps, on 128 numbers: 172, allowed at most 160" in found.text
    assert found.details == ("most in line 19: while apart < 128:",)


def test_a_budget_may_be_a_least_value():
    (case, *_) = gk.exercise("shared-5").cases()
    good = Budget("SIMD efficiency", case, metrics.simd_efficiency, at_least=0.8)
    bad = Budget("SIMD efficiency", case, metrics.simd_efficiency, at_least=0.999)
    first, second = checking._costs(answers.plain_histogram, [good, bad])
    assert first.passed
    assert "allowed at least 0.8" in first.text
    assert not second.passed
    assert second.details[0].startswith("least in line ")


def test_every_schedule_is_tried(monkeypatch):
    seen = []

    class Noting(bench.Bench):
        def __init__(self, schedule, seed=0, **options):
            if options["check"]:
                seen.append((schedule, seed))
            super().__init__(schedule, seed, **options)

    monkeypatch.setattr(bench, "Bench", Noting)
    case = gk.exercise("shared-5").cases()[0]
    checking.check_kernel(answers.plain_histogram, ["degree", "count"], [case], [], ())
    assert seen == list(checking.SCHEDULES)
    assert {schedule for schedule, _ in seen} == {"lockstep", "warp", "random"}


class PretendGPU(CudaDevice, gk.SimtDevice):
    """A CUDA device in name, the SIMT machine at work."""

    def __init__(self, wrong: bool):
        gk.SimtDevice.__init__(self)
        self.name = "a GPU"
        self.wrong = wrong

    array, empty, full, launch = (
        getattr(gk.SimtDevice, name) for name in ("array", "empty", "full", "launch")
    )

    def read(self, array):
        """Return the array, or one that is wrong."""
        return np.array(array) + self.wrong


@pytest.mark.parametrize("wrong", [False, True])
def test_a_gpu_that_is_the_default_device_has_its_say(monkeypatch, wrong):
    monkeypatch.setattr(checking, "default_device", lambda: PretendGPU(wrong))
    report = gk.exercise("shared-2").check(gk.exercise("shared-2").solution, raises=False)
    assert report.passed != wrong
    if wrong:
        assert "128 numbers, on a GPU: `total[0]` is 6479 and should be 6478" in repr(report)
    else:
        assert "right on the same inputs on a GPU" in repr(report)


def test_an_error_on_the_gpu_is_a_finding(monkeypatch):
    device = PretendGPU(False)
    monkeypatch.setattr(device, "launch", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(checking, "default_device", lambda: device)
    found = fault("shared-2", gk.exercise("shared-2").solution)
    assert "on a GPU: ZeroDivisionError" in found.text


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({}, "a: no prediction yet"),
        ({"a": 12, "b": 5}, "b: 5 is more than the machine counts"),
        ({"a": 3}, "a: 3 is fewer than the machine counts"),
        ({"a": "12"}, "a: '12' is not a number"),
        ({"a": True}, "a: True is not a number"),
        ({"a": math.nan}, "a: nan is not a number"),
        ({"e": 1}, "nobody asked for 'e'; the questions are 'a', 'b', 'c', 'd'"),
        ([12, 4, 2, 8], "a dict is wanted here, and this is a list"),
        (12, "a dict is wanted here, and this is a int"),
    ],
)
def test_a_wrong_prediction_is_told_so_and_not_the_answer(answer, says):
    found = fault("simt-1", answer)
    assert says in found.text
    assert "12" not in found.text.replace("'12'", "")


def test_numpy_numbers_are_predictions_and_one_question_takes_a_number():
    right = {"a": np.int64(12), "b": 4.0, "c": np.int32(2), "d": 8}
    assert gk.exercise("simt-1").check(right)
    one = PredictionExercise(
        Words("x-1", "one", "easy", "to count.", "How many?", "One.", "One."),
        answer={"all": 1},
        measure=lambda: {"all": 1},
    )
    assert one.check(1)
    assert not one.check(2, raises=False)


def test_a_judge_names_the_first_wrong_element_of_a_matrix():
    judge = equal_to(out=np.arange(6).reshape(2, 3))
    assert judge({"out": np.arange(6).reshape(2, 3)}) is None
    wrong = judge({"out": np.array([[0, 1, 2], [3, 9, 5]])})
    assert wrong.text == "`out[1, 1]` is 9 and should be 4"
    assert (wrong.array, wrong.index) == ("out", 4)


def test_a_report_prints_and_shows_what_it_found():
    good, bad = Finding(True, "right"), Finding(False, "`x` < y", ("line 3 of k: a[i] = 1",))
    report = Report("simt-9 (title)", [good, bad])
    assert repr(report).splitlines() == [
        "simt-9 (title): not yet",
        "  ✓ right",
        "  ✗ `x` < y",
        "      line 3 of k: a[i] = 1",
    ]
    html = report._repr_html_()
    assert "✗ <code>x</code> &lt; y" in html
    assert "line 3 of k: a[i] = 1</pre>" in html
    assert Report("simt-9 (title)", [good])
    assert "solved" in repr(Report("simt-9 (title)", [good]))


def test_a_notebook_shows_the_report_and_no_traceback():
    with pytest.raises(gk.ExerciseFailed) as failure:
        gk.exercise("simt-1").check({})
    assert isinstance(failure.value, AssertionError)
    (text,) = failure.value._render_traceback_()
    assert text == f"ExerciseFailed: {failure.value.report!r}"


@pytest.mark.parametrize("name", ["bfs-2", "queues-2"])
def test_parents_and_entries_of_a_search_are_judged(name):
    ex = gk.exercise(name)
    case: Case = ex.cases()[0]
    found = case.run(ex.solution.answer, gk.SimtDevice())
    assert case.judge(found) is None
    orphan = {**found, "parent": np.roll(found["parent"], 1)}
    assert "`parent[" in case.judge(orphan).text
    crowded = {**found, "entries": found["entries"] + 1}
    assert "entries were queued for 200 vertices reached" in case.judge(crowded).text
