"""Every exercise: its solution passes, its skeleton fails and says why, nothing drifts."""

from __future__ import annotations

import difflib
import functools
import sys
import tempfile
from pathlib import Path

import pytest
from effort import EFFORT, SOAK
from from_text import kernel_of, module_of

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge import checking
from gpukernels.exercises.judge.effort import FIND, PREDICT, WRITE
from gpukernels.exercises.judge.exercise import KernelExercise, PredictionExercise
from gpukernels.exercises.judge.skeleton import HERE

CHAPTERS = (
    "simt",
    "representations",
    "mapping-static",
    "shared",
    "bfs",
    "duplicates",
    "scans",
    "mapping-dynamic",
    "queues",
    "bfs4k",
    "direction",
    "sssp",
    "hbf",
    "floyd",
    "otherwise",
    "energy",
)
KERNELS = [name for name, ex in CATALOG.items() if isinstance(ex, KernelExercise)]
PREDICTIONS = [name for name, ex in CATALOG.items() if isinstance(ex, PredictionExercise)]
#: What the checker must tell a reader who passes the skeleton as it is.
SAYS = {
    "simt-2": "index 76 is out of bounds for `values`",
    "simt-3": "`sums[0]` is -1 and should be",
    "shared-2": "`total[0]` is 85 and should be 6478",
    "shared-3": "race on `tile[0]`",
    "shared-4": "no thread wrote it",
    "shared-5": "`count[1]` is 0 and should be 2",
    "representations-2": "`sums[0]` is 0 and should be -2147483281",
    "representations-3": "race on `sums[0]`",
    "representations-4": "`found[0]` is False and should be True",
    "scans-2": "`out[0]` is -1 and should be 2",
    "scans-3": "`scanned[128]` is 510 and should be 1199",
    "scans-4": "`scanned[1]` is 0 and should be 2",
    "bfs-2": "`distance[1]` is -1 and should be 1",
    "bfs-3": "schedule warp: `distance[10]` is 5 and should be 4",
    "queues-2": "vertex 1 was found in launch 0 and is not in `next_frontier`",
    "queues-3": "its vertex had been found before",
    "queues-4": "`sizes[1]` is 0 and should be",
    "duplicates-2": "vertex 0 is lost",
    "duplicates-3": "vertex 0 is lost",
    "duplicates-4": "`kept[0]` is -1 and should be 0 or 1",
    "bfs4k-2": "race on `size[0]`",
    "bfs4k-3": "`out[0]` is -1 and should be a value",
    "bfs4k-4": "`distance[1]` is -1 and should be 1",
    "direction-2": "race on `distance[",
    "direction-3": "bit 0 of `next_bits[0]` is 1, but vertex 0 must not be found at level 0",
    "mapping-static-2": "`item[0, 0]` is -1 and should be 0",
    "mapping-static-3": "`total[0]` is 780 and should be 78",
    "mapping-static-4": "`item[0]` is -1 and should be 0",
    "mapping-dynamic-2": "two giants in a block, schedule lockstep: this loop has not ended",
    "mapping-dynamic-3": "`item[0]` is -1 and should be 0",
    "mapping-dynamic-4": "`boundary[3]` is 0 and should be 1",
    "sssp-2": "`lower[1]` is 2147483647 and should be 24",
    "sssp-3": "vertex 12 was given a shorter distance in launch 5",
    "sssp-4": "`near_size[0]` is 0 and should be 97",
    "hbf-2": "`words[",
    "hbf-3": "`distance[0]` is 15 and should be 0",
    "hbf-4": "`distance[74]` is 2147483647 and should be",
    "floyd-2": "`distance[2, 3]` is 1073741823 and should be 12",
    "floyd-3": "race on `distance[",
    "floyd-4": "`width[0, 1]` is",
    "otherwise-3": "`new[0, 0]` is -7 and should be 0",
    "otherwise-4": "`product[0, 0]` is 2147483644 and should be 2147483647",
    "energy-2": "race on `above[",
    "energy-3": "`total[0]` is 0 and should be",
    "beyond-2": "`border[",
    "beyond-3": "`rows[",
}


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


@functools.cache
def failure_of_the_skeleton(name: str) -> gk.ExerciseFailed:
    """Check a skeleton; a check is dear, so that both tests look at the same one."""
    ex = gk.exercise(name)
    with tempfile.TemporaryDirectory() as folder, pytest.raises(gk.ExerciseFailed) as failure:
        ex.check(run(ex.skeleton, Path(folder), name))
    return failure.value


@pytest.mark.parametrize("name", CATALOG)
def test_a_skeleton_fails_its_check_and_raises(name):
    failure = failure_of_the_skeleton(name)
    assert not failure.report
    assert str(failure) == repr(failure.report)


@pytest.mark.parametrize("name", ["simt-1", "shared-2"])
def test_a_check_that_must_not_raise_returns_the_same_report(name, tmp_path):
    ex = gk.exercise(name)
    report = ex.check(run(ex.skeleton, tmp_path, name), raises=False)
    assert repr(report) == str(failure_of_the_skeleton(name))


@pytest.mark.parametrize("name", KERNELS)
def test_a_skeleton_s_report_names_the_input_the_schedule_and_what_is_wrong(name):
    ex = gk.exercise(name)
    (fault,) = failure_of_the_skeleton(name).report.findings
    case = next(case.name for case in ex.cases() if fault.text.startswith(case.name))
    assert fault.text.startswith(f"{case}, schedule ")
    assert SAYS[name] in " ".join([fault.text, *fault.details])
    assert fault.details


@pytest.mark.parametrize("name", CATALOG)
def test_a_solution_only_adds_lines_to_its_skeleton(name):
    ex = gk.exercise(name)
    before, after = ex.skeleton.splitlines(), ex.solution.text.splitlines()
    marks = [line[:2] for line in difflib.ndiff(before, after)]
    assert "+ " in marks
    assert "- " not in marks


@pytest.mark.parametrize("name", CATALOG)
def test_marks_do_not_reach_the_reader(name):
    ex = gk.exercise(name)
    assert "# added" not in ex.skeleton + ex.solution.text


@pytest.mark.parametrize("name", CATALOG)
def test_a_skeleton_says_where_lines_go_unless_finding_the_place_is_the_exercise(name):
    ex = gk.exercise(name)
    assert (HERE in ex.skeleton) == (ex.kind != FIND)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_a_prediction_a_kernel_to_write_and_a_bug_to_find(chapter):
    of_chapter = [ex for name, ex in CATALOG.items() if name.rpartition("-")[0] == chapter]
    assert len(of_chapter) >= 3
    assert [ex.id for ex in of_chapter] == [f"{chapter}-{k + 1}" for k in range(len(of_chapter))]
    assert isinstance(of_chapter[0], PredictionExercise)
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


@pytest.mark.parametrize("name", CATALOG)
def test_an_exercise_shows_its_level_statement_and_hint_and_its_skeleton_as_plain_text(name):
    ex = gk.exercise(name)
    page = ex._repr_markdown_()
    assert ex.statement in page
    assert ex.hint in page
    assert ex.skeleton not in page, "the next cell of a chapter holds it"
    assert ex.about in page
    assert ex.about in repr(ex)
    assert ex.statement in repr(ex)
    assert ex.skeleton in repr(ex)
    assert ex.solution.text not in page + repr(ex)
    assert ex.solution.why in ex.solution._repr_markdown_()


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


def test_the_plain_tree_of_the_statement_costs_what_it_says():
    """24 divergent branches, as shared-2's statement has it, with the skeleton's other lines."""
    from plain_answers import plain_sum

    ex = gk.exercise("shared-2")
    report = ex.check(plain_sum, raises=False)
    assert "divergent branches, on 128 numbers: 24, allowed at most 6" in repr(report)
    assert not report.passed


def test_the_obvious_histogram_costs_what_the_statement_says():
    from plain_answers import plain_histogram

    report = repr(gk.exercise("shared-5").check(plain_histogram, raises=False))
    assert "1,024 vertices: 683, allowed at most 0" in report
    assert "cuda.atomic.add(count, degree[u], 1)" in report


def test_the_order_of_the_numbers_costs_what_the_statement_says():
    from plain_answers import vertices_by_number

    ex = gk.exercise("simt-3")
    report = repr(ex.check(vertices_by_number, raises=False))
    assert "In the order of the vertices' numbers it takes 4,150 and 1,995." in ex.statement
    assert "1,024 vertices: 4,150, allowed at most 1,500" in report
    assert "1,024 vertices: 1,995, allowed at most 700" in report


def test_a_prediction_of_four_techniques_says_how_large_a_group_is():
    assert "`virtual_warp` has groups of 8 threads" in gk.exercise("mapping-dynamic-1").statement
