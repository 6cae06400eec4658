"""A failed check opens the step that failed; ex.run shows one input and what came of it."""

from __future__ import annotations

import plain_answers as answers
import pytest
from adversaries import KERNELS, PREDICTIONS, kernel_of
from numba import cuda
from test_checker import line_shown

import gpukernels as gk
from gpukernels.exercises.judge.looking import Note
from gpukernels.trace import STORE


def fault(name: str, answer):
    """Return the report and its first failure."""
    report = gk.exercise(name).check(answer, raises=False, seed=1)
    return report, next(finding for finding in report.findings if not finding.passed)


@pytest.mark.parametrize("name", KERNELS)
def test_every_skeleton_s_failure_can_be_looked_at(name, tmp_path):
    ex = gk.exercise(name)
    report, finding = fault(name, kernel_of(ex, ex.skeleton, tmp_path))
    view = report.show()
    assert isinstance(view, gk.WarpView)
    assert finding.text in view.payload["caption"]
    if ": " in finding.details[0] and "thread" in finding.details[-1]:
        assert line_shown(view) in finding.details[0].split(": ", 1)[1]


@cuda.jit
def not_to_be_translated(degree, count):
    names = {"a": 1}
    count[0] = len(names)


@pytest.mark.parametrize(
    "answer", [None, answers.python_histogram, answers.device_histogram, not_to_be_translated]
)
def test_what_was_never_launched_shows_a_sentence(answer):
    report, finding = fault("shared-5", answer)
    note = report.show()
    assert isinstance(note, Note)
    assert repr(note).startswith(finding.text)
    assert "Nothing has run, so that there is no launch to look at" in note._repr_markdown_()


def test_a_right_answer_shows_its_first_launch():
    ex = gk.exercise("shared-5")
    view = ex.check(ex.solution).show()
    assert isinstance(view, gk.WarpView)
    assert view.payload["caption"] == f"The first launch on {ex.cases()[0].name}."


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_prediction_shows_the_launches_in_which_the_machine_counts(name):
    ex = gk.exercise(name)
    first, *_ = ex.questions
    view = ex.check({first: 10**6}, raises=False).show()
    assert isinstance(view, gk.WarpView)
    caption = view.payload["caption"]
    assert caption.startswith(ex.measure.__doc__.splitlines()[0])
    assert f"not yet: {first}: 1,000,000 is more than the machine counts" in caption
    labels = [trace["label"] for trace in view.payload["traces"]]
    assert len(set(labels)) == len(labels) >= 1
    if name == "simt-1":
        assert labels == [f"{k}: read_at, 1 x 32" for k in (1, 2, 3, 4)]
        assert "12" not in caption


@pytest.mark.parametrize("name", KERNELS)
def test_run_gives_inputs_results_and_trace_of_one_input(name):
    ex = gk.exercise(name)
    run = ex.run(ex.solution)
    assert run.name == ex.cases()[0].name
    assert list(run.inputs) == list(ex.parameters)
    assert run.wrong == ""
    assert ex.cases()[0].judge(run.results) is None
    assert len(run.trace.steps)
    assert isinstance(run.show(), gk.WarpView)
    assert repr(run).startswith(f"{run.name}, schedule lockstep: right")
    assert all(f"{array} = " in repr(run) for array in run.results)


def test_run_of_a_wrong_kernel_opens_the_line_that_wrote_it():
    run = gk.exercise("shared-5").run(answers.double_histogram)
    assert "`count[1]` is 4 and should be 2" in run.wrong
    assert run.results["count"][1] == 4
    assert line_shown(run.show()) == "cuda.atomic.add(count, degree[u], 2)"
    assert (run.trace.select(array="count").requests.kind != STORE).all()


@pytest.mark.parametrize("answer", [answers.endless_histogram, answers.unguarded_histogram])
@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
def test_run_of_a_kernel_that_fails_shows_where(answer, schedule):
    run = gk.exercise("shared-5").run(answer, schedule, seed=4)
    assert run.wrong
    assert run.wrong in repr(run)
    assert run.results == {}
    assert list(run.inputs) == ["degree", "count"]
    assert isinstance(run.show(), gk.WarpView)
    assert run._repr_html_().startswith("<pre>")


@cuda.jit
def prints(degree, count):
    if cuda.grid(1) == 7:
        print("thread", 7)


def test_what_a_kernel_prints_is_seen_once_by_run_and_not_by_a_check(capsys):
    ex = gk.exercise("shared-5")
    assert not ex.check(prints, raises=False)
    assert capsys.readouterr().out == ""
    for schedule in ("lockstep", "random"):
        ex.run(prints, schedule)
        assert capsys.readouterr().out == "thread 7\n"


def test_run_refuses_what_cannot_be_launched_and_predictions():
    with pytest.raises(gk.ExerciseFailed, match=r"write @cuda\.jit above it"):
        gk.exercise("shared-5").run(answers.python_histogram)
    with pytest.raises(gk.InvalidArgument, match="simt-1 wants a prediction"):
        gk.exercise("simt-1").run({"a": 1})
    with pytest.raises(ValueError, match="schedule='fast'; allowed are"):
        gk.exercise("shared-5").run(gk.exercise("shared-5").solution, "fast")
