"""A teacher's own tasks are loaded from a file, and judged as the book's are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from adversaries import kernel_of
from numba import cuda

import gpukernels as gk
from gpukernels.exercises import KernelTask, PredictionTask

COURSE = Path(__file__).parent / "course"
DOUBLE, STRIDES = f"{COURSE}:double", f"{COURSE}:strides"


def test_a_task_of_a_folder_a_file_and_a_module_is_the_same(monkeypatch):
    monkeypatch.syspath_prepend(COURSE.parent)
    places = DOUBLE, f"{COURSE}/double.py:double", "course.double:double"
    for place in places:
        task = gk.exercise(place)
        assert (task.place, task.variant) == (place, None)
        assert (task.id, task.kind, task.level) == ("course-1", "write a kernel", "easy")
        assert "# added" not in task.skeleton + task.solution.text


def test_its_solution_is_right_as_it_is_printed_and_its_skeleton_is_not(tmp_path):
    task = gk.exercise(DOUBLE)
    solution = kernel_of(task, task.solution.text, tmp_path, "solution")
    report = task.check(solution, seed=3)
    assert "right on 1 drawn for this check: drawn numbers" in repr(report)
    assert "warp steps, on 320 numbers: 30, allowed at most 100" in repr(report)
    skeleton = kernel_of(task, task.skeleton, tmp_path, "skeleton")
    assert "`out[0]` is -1 and should be 0" in repr(task.check(skeleton, raises=False))
    assert task.run(solution).results["out"][74] == 148


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("if i < out.size:\n", "if i + 1 < out.size:\n"), "`out[74]` is -1"),
        (("if i < out.size:\n", "if True:\n"), "index 75 is out of bounds for `values`"),
        (("2 * values[i]", "2 * min(values[i], 319) if i < 99 else 2 * i"), "seed=3"),
        (("2 * values[i]", "2 * max(values[i], 0)"), "check(answer, seed=3) draws the same"),
        (("= 2 * values[i]", "= 2 * values[i]\n        values[i] = 0"), "`values` is an input"),
        (
            ("    if i < out.size:\n        out[i] = 2 * values[i]",
             "    for k in range(out.size if i == 0 else 0):\n        out[k] = 2 * values[k]"),
            "warp steps, on 320 numbers: ",
        ),
    ],
    ids=["wrong", "out of bounds", "by heart", "on positive numbers", "overwrites", "one thread"],
)  # fmt: skip
def test_a_wrong_answer_is_found_by_the_book_s_checker(edit, says, tmp_path):
    task = gk.exercise(DOUBLE)
    text = task.solution.text.replace(*edit)
    assert text != task.solution.text
    report = task.check(kernel_of(task, text, tmp_path), raises=False, seed=3)
    assert not report.passed
    assert says in repr(report)


def test_students_have_different_numbers_and_each_has_the_same_ones_again():
    students = [gk.exercise(STRIDES, seed=f"s{number}@example.org") for number in range(20)]
    assert len({task.statement for task in students}) > 10
    first, second = students[:2]
    assert first.solution.answer != second.solution.answer
    assert first.check(first.solution).passed
    assert not second.check(first.solution.answer, raises=False).passed
    again = gk.exercise(STRIDES, seed=" S0@example.org ")
    assert again.statement == first.statement
    assert gk.exercise(STRIDES).statement == gk.exercise(STRIDES, seed=0).statement
    assert second.record()["variant"] == "s1@example.org"


def test_loading_a_prediction_again_gives_no_further_hints():
    for guess, says in ((1, "less"), (999, "more"), (2, "both hints for it have been given")):
        report = gk.exercise(STRIDES, seed=77).check({"sectors": guess}, raises=False)
        assert says in repr(report)


def test_a_file_that_has_changed_is_loaded_again(tmp_path):
    file = tmp_path / "double.py"
    text = (COURSE / "double.py").read_text()
    file.write_text(text)
    assert gk.exercise(f"{tmp_path}:double").title == "twice each number"
    file.write_text(text.replace("twice each number", "each number twice"))
    os.utime(file, ns=(1, 1))
    assert gk.exercise(f"{tmp_path}:double").title == "each number twice"


@pytest.mark.parametrize(
    ("id", "seed", "says"),
    [
        (f"{COURSE}:none", None, "FOLDER:NAME, FILE.py:NAME or MODULE:NAME"),
        ("no_such_module_here:double", None, "FOLDER:NAME"),
        (":double", None, "FOLDER:NAME"),
        ("..:double", None, "FOLDER:NAME"),
        ("course:", None, "FOLDER:NAME"),
        (f"{COURSE}/double.py:double_all", None, "or a function that makes one"),
        (f"{COURSE}/double.py:KernelTask", None, "or a function that makes one"),
        (f"{COURSE}/double.py:run", None, None),
        (DOUBLE, 3, "seed = 3: must be left out"),
        ("bfs-3", "ann", "seed = 'ann': must be left out"),
        (STRIDES, -1, "seed = -1: must be a whole number"),
        (STRIDES, 1.5, "seed = 1.5: must be a whole number"),
        (STRIDES, "\ud800", "a text that UTF-8 can hold"),
    ],
)
def test_what_is_no_task_is_refused_by_name(id, seed, says):
    if says is None:  # a function of something else fails as the teacher wrote it
        with pytest.raises(TypeError):
            gk.exercise(id, seed)
        return
    with pytest.raises(gk.InvalidArgument) as refused:
        gk.exercise(id, seed)
    assert says in str(refused.value)


def test_an_id_of_the_book_is_refused(tmp_path):
    text = (COURSE / "double.py").read_text().replace('id="course-1"', 'id="simt-1"')
    (tmp_path / "double.py").write_text(text)
    with pytest.raises(gk.InvalidArgument, match="since an exercise of the book has this one"):
        gk.exercise(f"{tmp_path}:double")


def test_a_function_that_makes_no_task_and_a_missing_import_are_told_apart(tmp_path, monkeypatch):
    (tmp_path / "own_module_a.py").write_text("def task(rng):\n    return 3\n")
    (tmp_path / "own_module_b.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(gk.InvalidArgument, match=r"task\(rng\) = 3: must be a KernelTask or"):
        gk.exercise("own_module_a:task")
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        gk.exercise("own_module_b:task")


@cuda.jit
def nothing_added(values, out):
    out[0] = values[0]


@cuda.jit
def one_line(values, out):
    out[0] = values[0]  # added


WORDS = {"id": "x-1", "title": "a", "teaches": "b", "statement": "c"}
GIVEN = WORDS | {
    "run": lambda kernel, device, value: {},
    "right": lambda value: {},
    "inputs": {"one": np.zeros(1)},
    "draw": lambda rng: {},
    "writes": ("out",),
}


@pytest.mark.parametrize(
    ("kernel", "changed", "says"),
    [
        (print, {}, "must be a @cuda.jit kernel"),
        (lambda values, out: None, {}, "must be a @cuda.jit kernel"),
        (nothing_added, {}, "a line that ends in '# added'"),
        (one_line, {"id": "X 1"}, "id = 'X 1'"),
        (one_line, {"id": 3}, "id = 3"),
        (one_line, {"title": None}, "title = None: must be a text"),
        (one_line, {"level": "heavy"}, "level = 'heavy': must be one of ('easy'"),
        (one_line, {"run": "run"}, "run = 'run': must be a function"),
        (one_line, {"inputs": {}}, "inputs = {}: must be a dict with at least one"),
        (one_line, {"inputs": [1]}, "inputs = [1]"),
        (one_line, {"writes": ("sum",)}, "writes = ('sum',): must be some of the parameters"),
        (one_line, {"writes": "out"}, "writes = 'out'"),
        (one_line, {"budget": 3}, "budget = 3"),
        (one_line, {"budget": {"steps": 3}}, "counter of budget = 'steps': must be one of"),
        (one_line, {"budget": {"warp steps": "3"}}, "budget['warp steps'] = '3': must be a number"),
    ],
)
def test_a_kernel_task_refuses_bad_input_before_anything_runs(kernel, changed, says):
    with pytest.raises(gk.InvalidArgument) as refused:
        KernelTask(kernel, **{**GIVEN, **changed})
    assert says in str(refused.value)


def test_a_kernel_whose_source_is_nowhere_is_refused():
    space: dict = {}
    exec("from numba import cuda\n@cuda.jit\ndef f(values, out):\n    pass\n", space)
    with pytest.raises(gk.InvalidArgument, match="defined in a file or a cell"):
        KernelTask(space["f"], **GIVEN)


@pytest.mark.parametrize("counted", [3, {}, {"a": "3"}, {"a": True}, {1: 3}])
def test_a_prediction_task_wants_numbers_by_question(counted):
    with pytest.raises(gk.InvalidArgument, match=r"measure\(\) = .*: must be a dict of numbers"):
        PredictionTask(lambda: counted, **WORDS)


def test_a_task_without_a_hint_shows_none():
    task = PredictionTask(lambda: {"a": 1}, **WORDS)
    assert "Hint" not in task._repr_markdown_()
    assert "Hint" in PredictionTask(lambda: {"a": 1}, hint="h", **WORDS)._repr_markdown_()
