"""Submitted sheets are judged, each answer apart, and a table of points comes out."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sheets_answered import submit

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.__main__ import main
from gpukernels.exercises.grading import judging
from gpukernels.exercises.grading.definitions import definitions
from gpukernels.exercises.grading.judging import Limits, judge
from gpukernels.exercises.grading.submission import Answer, read

TASKS = "shared-1", "shared-2=6"
RIGHT = {name: CATALOG[name].solution.text for name in ("shared-1", "shared-2")}


def test_a_folder_of_sheets_becomes_a_table(tmp_path):
    folder = tmp_path / "submitted"
    folder.mkdir()
    wrong = RIGHT["shared-2"].replace("tile[i] += tile[i + apart]", "tile[i] = tile[i + apart]")
    submit(folder / "a.ipynb", TASKS, RIGHT, "anna@example.org", "Since a tree,\n= halves.\n")
    submit(folder / "b.ipynb", TASKS, {**RIGHT, "shared-2": wrong}, "ben@example.org")
    submit(folder / "c.ipynb", TASKS, {}, "")
    table = tmp_path / "points.csv"
    command = [sys.executable, "-m", "gpukernels.exercises", "judge", str(folder)]
    run = subprocess.run(
        [*command, "--csv", str(table), "--seed", "3"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    with table.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert list(rows[0]) == ["email", "points", "maximum", "feedback", "explanations"]
    points = [(row["email"], row["points"], row["maximum"]) for row in rows]
    assert points == [
        ("anna@example.org", "7", "7"),
        ("ben@example.org", "2", "7"),
        ("c.ipynb", "0", "7"),
    ]
    assert rows[0]["feedback"] == "shared-1: right\nshared-2: right"
    assert "shared-2: 128 numbers, schedule lockstep: `total[0]` is" in rows[1]["feedback"]
    assert "shared-1: a: no prediction yet" in rows[2]["feedback"]
    text = "Since a tree,\n= halves."
    assert rows[0]["explanations"] == f"shared-1: {text}\nshared-2: {text}"
    assert rows[2]["explanations"] == "shared-1: (none)\nshared-2: (none)"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("from gpukernels.exercises import CATALOG\nprediction = 1", "not judged: line 1"),
        ("import os\nos._exit(0)\nprediction = {}", "a: no prediction yet"),
        ("prediction = {'a': [0] * 10**13}", "MemoryError"),
        ("prediction = {'a': 10**10**10}", "it came to no end within 6 s and"),
        ("prediction = {'a': 8", "it is no Python"),
        ("predictions = {}", "the answer defines no prediction"),
    ],
)
def test_an_answer_that_does_something_else_gets_no_points_and_stops_nobody(source, message):
    verdict = judge(Answer("shared-1", source, 3), 1, Limits(6, 6 << 30))
    assert not verdict["passed"]
    assert message in verdict["feedback"]


KERNEL = """\
import numpy as np
from numba import cuda, int32
from gpukernels.primitives import queue_append

SIZE = 2 * int32(4)
prediction = {}
prediction["a"], b = sum([1, 2]), np.ceil(2.5)
b += 1

@cuda.jit(device=True)
def helper(a):
    return a

@cuda.jit
def kernel(a):
    a[0] = helper(SIZE)
"""


def test_imports_kernels_and_numbers_are_judged_and_stay_in_their_lines():
    assert definitions(KERNEL) == (KERNEL, [])


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "import gpukernels.exercises.judge as j",
        "from gpukernels import exercises",
        "from gpukernels import exercise",
        "from .. import something",
        "import gpukernels.exercises, numpy",
        "print(1)",
        "a = open('file')",
        "a = gk.exercise('shared-1').solution",
        "a = (lambda: 1)()",
        "a = max(['1'], key=exec)",
        "a = np.frompyfunc(len, 1, 1)(3)",
        "a = np.testing.runstring('1', {})",
        "import gpukernels as math",
        "from numba import cuda as np",
        "from numpy import load as sum",
        "np = a",
        "sum, b = a, a",
        "sum += 1",
        "a = [].__class__",
        "gk.exercise = None",
        "a[0].b = 1",
        "def plain(): pass",
        "@cuda.jit\ndef f(a=open('x')): pass",
        "@cuda.jit(open('x'))\ndef f(a): pass",
        "@other\ndef f(a): pass",
        "for i in range(3): pass",
        "class A: pass",
        "with a: pass",
        "del a",
        "raise SystemExit",
    ],
)
def test_other_statements_are_left_out(line):
    text, left_out = definitions(f"a = 1\n{line}\nb = 2\n")
    between = "\n" * line.count("\n")
    assert text == f"a = 1\n{between}\nb = 2\n"
    assert left_out == [2 + line.startswith("@")]


def test_what_is_no_sheet_is_refused_by_name(tmp_path, capsys):
    assert main(["judge", str(tmp_path), "--csv", str(tmp_path / "t.csv")]) == 2
    assert "must be a folder with notebooks" in capsys.readouterr().err
    for content in ("", "{}", '{"cells": []}', '{"cells": [{"metadata": {}, "source": "x"}]}'):
        file = tmp_path / "n.ipynb"
        file.write_text(content)
        with pytest.raises(gk.InvalidArgument, match=r"n\.ipynb"):
            read(file)
    assert main(["judge", str(tmp_path), "--csv", str(tmp_path / "t.csv")]) == 2
    assert not (tmp_path / "t.csv").exists()


def test_tasks_and_points_are_those_of_the_other_notebooks(tmp_path, capsys):
    """A student could raise the points in the notebook, or leave out a task."""
    changed = submit(tmp_path / "c.ipynb", TASKS, RIGHT, "c@example.org")
    text = changed.read_text()
    for name in "ab":
        submit(tmp_path / f"{name}.ipynb", TASKS, RIGHT, f"{name}@example.org")
    for old, new in (('"points": 2', '"points": 200'), ('"part": "answer"', '"part": "other"')):
        changed.write_text(text.replace(old, new, 1))
        assert main(["judge", str(tmp_path), "--csv", str(tmp_path / "t.csv")]) == 2
        output = capsys.readouterr().err
        assert "c.ipynb" in output
        assert "of the sheet of the others: shared-1 for 2, shared-2 for 5 points" in output
    assert not (tmp_path / "t.csv").exists()


def test_an_unknown_task_is_named(tmp_path, capsys):
    file = submit(tmp_path / "a.ipynb", ("shared-1",), {}, "a@example.org")
    file.write_text(file.read_text().replace('"task": "shared-1"', '"task": "shared-77"'))
    assert main(["judge", str(tmp_path), "--csv", str(tmp_path / "t.csv")]) == 2
    assert "task = 'shared-77': must be one of start-1, start-2, " in capsys.readouterr().err


def test_one_notebook_is_compared_with_the_sheet_that_was_handed_out(tmp_path, capsys):
    """Alone, a notebook with more points than the sheet looks like a notebook of that sheet."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    sheet, table = folder / "sheet.ipynb", tmp_path / "t.csv"
    submit(sheet, ("shared-1",), {}, "")
    file = submit(folder / "a.ipynb", ("shared-1",), RIGHT, "a@example.org")
    text = file.read_text()
    judged = ["judge", str(folder), "--csv", str(table), "--sheet", str(sheet)]
    for old, new in (('"points": 2', '"points": 200'), ("shared-1", "shared-2")):
        file.write_text(text.replace(old, new))
        assert main(judged) == 2
        assert "must be of the sheet: shared-1 for 2 points" in capsys.readouterr().err
    assert not table.exists()
    file.write_text(text)
    assert main(judged) == 0
    output = capsys.readouterr().out
    assert "1 notebooks judged" in output  # the sheet itself is nobody's
    assert "a@example.org: 2 of 2" in output
    assert "--sheet" not in output
    assert main(judged[:-2]) == 0
    assert "as these few notebooks have them: --sheet compares them" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sheet", "table", "message"),
    [("none.ipynb", "t.csv", "notebook = "), ("a.ipynb", "none/t.csv", "--csv = ")],
)
def test_a_sheet_or_a_folder_that_is_not_there_is_named_before_anything_is_judged(
    sheet, table, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(judging, "judge", None)
    submit(tmp_path / "a.ipynb", ("shared-1",), RIGHT, "a@example.org")
    files = ["--csv", str(tmp_path / table), "--sheet", str(tmp_path / sheet)]
    assert main(["judge", str(tmp_path), *files]) == 2
    assert message in capsys.readouterr().err


def test_a_prediction_of_the_book_is_judged_in_the_variant_of_each_student(tmp_path, capsys):
    folder = tmp_path / "submitted"
    folder.mkdir()
    tasks = "--variants", "shared-1", "shared-2=6"
    sheet = submit(tmp_path / "sheet.ipynb", tasks, {}, "")
    cells = ["".join(cell["source"]) for cell in json.loads(sheet.read_text())["cells"]]
    assert 'gk.exercise("shared-1", seed=email)' in cells
    assert 'gk.exercise("shared-2").check(block_sum, raises=False)' in cells
    ann, ben = (gk.exercise("shared-1", seed=f"{name}@example.org") for name in ("ann", "ben"))
    assert ann.solution.answer != ben.solution.answer
    for name in ("Ann", "ben"):  # ben has copied
        right = {**RIGHT, "shared-1": ann.solution.text}
        submit(folder / f"{name}.ipynb", tasks, right, f"{name}@example.org")
    usual = submit(folder / "cem.ipynb", tasks, RIGHT, "cem@example.org")  # as on the page
    judged = ["judge", str(folder), "--csv", str(tmp_path / "t.csv")]
    for command in (judged, [*judged, "--sheet", str(sheet)]):
        assert main(command) == 0
        out = capsys.readouterr().out
        assert "Ann@example.org: 7 of 7" in out
        assert "ben@example.org: 5 of 7" in out
        assert "cem@example.org: 5 of 7" in out
    # A student could take the numbers of the page by changing the notebook.
    usual.write_text(usual.read_text().replace('"seed": "email"', '"seed": "none"'))
    assert main(judged) == 2
    output = capsys.readouterr().err
    assert "cem.ipynb" in output
    assert "of the sheet of the others: shared-1 by address for 2, shared-2 for 5 points" in output


def test_a_teacher_s_own_task_is_judged_in_the_variant_of_each_student(
    tmp_path, capsys, monkeypatch
):
    folder = tmp_path / "submitted"
    folder.mkdir()
    shutil.copytree(Path(__file__).parent / "course", tmp_path / "course")
    monkeypatch.chdir(tmp_path)
    place = "course:strides"
    tasks = "course:double=4", place
    sheet = submit(tmp_path / "sheet.ipynb", tasks, {}, "")
    cells = [cell["source"] for cell in json.loads(sheet.read_text())["cells"]]
    assert any('gk.exercise("course:double").check(double_all' in "".join(c) for c in cells)
    assert ['gk.exercise("course:strides", seed=email)'] in cells
    ann, ben = (gk.exercise(place, seed=f"{name}@example.org") for name in ("ann", "ben"))
    assert ann.solution.answer != ben.solution.answer
    right = {"course:double": gk.exercise("course:double").solution.text}
    right[place] = ann.solution.text
    for name in ("Ann", "ben"):  # ben has copied
        submit(folder / f"{name}.ipynb", tasks, right, f"{name}@example.org")
    judged = ["judge", str(folder), "--csv", "t.csv"]
    assert main([*judged, "--sheet", "sheet.ipynb"]) == 0
    out = capsys.readouterr().out
    assert "Ann@example.org: 5 of 5" in out
    assert "ben@example.org: 3 of 5" in out
    # A file that a student's notebook names is not run.
    assert main(judged) == 2
    assert "or a task of your own on the --sheet" in capsys.readouterr().err
