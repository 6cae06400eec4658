"""Every exercise: its solution passes, its skeleton fails and says why, nothing drifts."""

from __future__ import annotations

import difflib
import sys

import plain_answers
import pytest
from adversaries import KERNELS, NOTEBOOK, PREDICTIONS, kernel_of, module_of, of_kind
from effort import EFFORT, SOAK

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import checking
from gpukernels.exercises.judge.effort import COMPLETE, FIND, LEVELS, PREDICT, WRITE
from gpukernels.exercises.judge.skeleton import HERE
from gpukernels.exercises.tasks.all_pairs_otherwise import count_squarings

SAYS = of_kind("skeleton")


def run(text: str, tmp_path, name: str):
    """Execute an exercise's text as a reader would; return the kernel or the prediction."""
    if name in PREDICTIONS:
        return module_of(text, tmp_path).prediction
    return kernel_of(gk.exercise(name), text, tmp_path)


@pytest.mark.parametrize("name", CATALOG)
def test_a_solution_passes_its_check_as_it_is_printed(name, tmp_path, monkeypatch):
    if EFFORT != SOAK:  # the chapters check every solution under all schedules
        monkeypatch.setattr(checking, "SCHEDULES", checking.SCHEDULES[:1])
    ex = gk.exercise(name)
    report = ex.check(run(ex.solution.text, tmp_path, name))
    assert report.passed
    assert report.findings


@pytest.mark.parametrize("name", CATALOG)
def test_a_skeleton_fails_and_a_kernel_s_report_names_the_input_and_what_is_wrong(name, tmp_path):
    ex = gk.exercise(name)
    with pytest.raises(gk.ExerciseFailed) as failure:
        ex.check(run(ex.skeleton, tmp_path, name))
    report = failure.value.report
    assert not report
    assert str(failure.value) == repr(report)
    if name in PREDICTIONS:
        assert repr(ex.check({}, raises=False)) == repr(report)
        return
    (fault,) = report.findings
    assert any(fault.text.startswith(f"{case.name}, schedule ") for case in ex.cases())
    assert fault.details
    if name in KERNELS:
        assert SAYS[name].says in " ".join([fault.text, *fault.details])


@pytest.mark.parametrize("name", CATALOG)
def test_a_solution_only_adds_lines_to_its_skeleton_and_no_mark_reaches_the_reader(name):
    ex = gk.exercise(name)
    before, after = ex.skeleton.splitlines(), ex.solution.text.splitlines()
    marks = [line[:2] for line in difflib.ndiff(before, after)]
    assert "+ " in marks
    assert "- " not in marks
    assert "# added" not in ex.skeleton + ex.solution.text
    # Unless to find the place is the exercise.
    assert (HERE in ex.skeleton) == (ex.kind != FIND)


@pytest.mark.parametrize("chapter", [c for c in NOTEBOOK if c != "beyond"])
def test_every_chapter_has_a_prediction_a_kernel_to_write_and_a_bug_to_find(chapter):
    of_chapter = [ex for name, ex in CATALOG.items() if name.rpartition("-")[0] == chapter]
    assert len(of_chapter) >= 3
    while of_chapter[0].kind == COMPLETE:  # these have names in place of numbers
        del of_chapter[0]
    assert [ex.id for ex in of_chapter] == [f"{chapter}-{k + 1}" for k in range(len(of_chapter))]
    assert of_chapter[0].id in PREDICTIONS
    assert {ex.kind for ex in of_chapter} == {PREDICT, FIND, WRITE}


@pytest.mark.parametrize("name", KERNELS)
def test_the_hidden_inputs_hold_an_empty_one_and_one_that_fills_no_whole_warp(name):
    names = " ".join(case.name for case in gk.exercise(name).cases())
    assert len(gk.exercise(name).cases()) >= 4
    assert any(word in names for word in ("no ", "0 rounds", "a 0 ×", "without arcs"))
    assert any(size in names for size in ("75", "50 ", "40 ×", "300", "45", "67", "100 q", "40 v"))
    assert any(skewed in names for skewed in ("star", "large", "1 ×", "128 numbers"))


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_prediction_is_compared_with_what_the_machine_counts(name):
    ex = gk.exercise(name)
    assert ex.measure() == ex.solution.answer


@pytest.mark.parametrize("n", [2, 3, 5, 9, 17, 18, 33])
def test_squaring_ends_when_no_path_can_have_more_arcs_as_otherwise_1_says(n):
    """A path of n vertices has n - 1 arcs, and r rounds know all paths of up to 2^r arcs."""
    assert count_squarings(gk.path(n)) == (n - 2).bit_length()
    assert count_squarings(gk.star(n)) == (n > 2) + (n > 3)  # two arcs at most
    assert count_squarings(gk.complete(n)) == (n > 2)  # one arc at most


@pytest.mark.parametrize("name", CATALOG)
def test_an_exercise_shows_its_level_statement_hint_and_lesson_and_its_skeleton_as_text(name):
    ex = gk.exercise(name)
    page, text = ex._repr_markdown_(), repr(ex)
    assert all(part in page for part in (ex.statement, ex.hint, ex.about))
    assert all(part in text for part in (ex.statement, ex.skeleton, ex.about))
    assert ex.skeleton not in page, "the next cell of a chapter holds it"
    assert ex.solution.text not in page + text
    assert ex.solution.why in ex.solution._repr_markdown_()
    assert (ex.kind == PREDICT) == (ex.wants == "a prediction")
    assert (ex.kind == FIND) == bool(getattr(ex, "wrong_lines", ()))
    assert ex.level in LEVELS
    assert 5 <= ex.minutes <= 120
    facts = f"{ex.kind.capitalize()}, {ex.level}, about {ex.minutes} minutes"
    assert ex.about == f"{facts}. You learn {ex.teaches}."
    assert ex.teaches.split()[0] in {"how", "to", "what", "when", "which", "why", "the"}


@pytest.mark.parametrize("id", ["bfs-9", "", 3, ["bfs-1"]])
def test_an_unknown_id_is_refused_with_the_list_of_all(id):
    with pytest.raises(gk.InvalidArgument, match="must be one of") as refused:
        gk.exercise(id)
    assert repr(id) in str(refused.value)
    assert all(name in str(refused.value) for name in CATALOG)


def test_exercises_lists_every_exercise():
    listed = repr(gk.exercises())
    assert all(f"{name}: {ex.title}" in listed for name, ex in CATALOG.items())
    rows = [row[1:4] for row in gk.exercises().rows]
    assert rows == [[ex.kind, ex.level, f"{ex.minutes}"] for ex in CATALOG.values()]
    assert not callable(sys.modules["gpukernels.exercises"])


@pytest.mark.parametrize(
    ("name", "answer", "costs"),
    [
        ("shared-2", "plain_sum", ["divergent branches, on 128 numbers: 24, allowed at most 6"]),
        ("shared-5", "plain_histogram", ["1,024 vertices: 683, allowed at most 0"]),
        ("simt-3", "vertices_by_number", ["4,150, allowed at most 1,5", "1,995, allowed at most"]),
    ],
)
def test_the_plain_way_costs_what_the_statement_says(name, answer, costs):
    ex = gk.exercise(name)
    report = ex.check(getattr(plain_answers, answer), raises=False)
    assert not report.passed
    for cost in costs:
        assert cost in repr(report)
        number = cost.partition(", allowed")[0].rpartition(" ")[2]
        assert number in ex.statement
