"""A sheet of tasks, as students get it and as Moodle does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from sheets_answered import make_sheet

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.effort import COMPLETE, WRITE

ROOT = Path(__file__).parents[2]


def test_a_sheet_is_a_notebook_and_a_file_for_moodle(tmp_path):
    # As `make sheet` runs it.
    command = [sys.executable, "book/sheets/make_sheet.py", str(tmp_path / "sheet")]
    tasks = "shared-1", "shared-3=7", "bfs-2"
    run = subprocess.run([*command, *tasks], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "3 tasks, 15 points" in run.stdout
    notebook = nbformat.read(tmp_path / "sheet.ipynb", 4)
    nbformat.validate(notebook)
    assert "3 tasks, 15 points" in notebook.cells[0].source
    marks = [cell.metadata["gpukernels"] for cell in notebook.cells if cell.metadata]
    tasks = [mark for mark in marks if mark["part"] != "student"]
    assert sum(mark["points"] for mark in tasks) == 15
    assert [mark["part"] for mark in tasks] == ["answer", "text"] * 3
    kinds = [q.get("type") for q in ElementTree.parse(tmp_path / "sheet.xml").getroot()]
    assert kinds == ["numerical"] * 4 + ["multichoice"]
    make_sheet.main(str(tmp_path / "sheet"), "bfs-2")
    assert not (tmp_path / "sheet.xml").exists()  # a kernel to write is no question for Moodle


def test_no_solution_stands_on_a_sheet():
    for name, exercise in CATALOG.items():
        sheet = make_sheet.sheet([make_sheet.task_of(name)])
        text = "\n".join(cell.source for cell in sheet.cells)
        assert exercise.statement in text
        assert exercise.skeleton in text
        assert exercise.solution.text not in text
        assert exercise.solution.why not in text
        assert exercise.hint not in text


def test_with_variants_a_sheet_has_the_numbers_of_each_student(tmp_path):
    names = "simt-1", "representations-1", "bfs-2"
    tasks = make_sheet.tasks_of(("--variants", *names))
    sheet = make_sheet.sheet(tasks)
    nbformat.validate(sheet)
    cells = {cell.id: cell for cell in sheet.cells}
    assert cells["simt-1-statement"].source == 'gk.exercise("simt-1", seed=email)'
    call = 'gk.exercise("simt-1", seed=email).check(prediction, raises=False)'
    assert cells["simt-1-check"].source == call
    assert cells["representations-1-statement"].cell_type == "markdown"
    drawn = [id for id, cell in cells.items() if "seed" in cell.metadata.get("gpukernels", {})]
    assert drawn == ["simt-1-answer", "simt-1-text"]
    # The cells that a student runs show and judge the numbers of this student.
    space = {"gk": gk, "email": "ann@example.org"}
    shown = eval(cells["simt-1-statement"].source, space)
    assert shown.statement not in "".join(cell.source for cell in sheet.cells)
    exec(cells["simt-1-answer"].source + shown.solution.text, space)
    assert eval(call, space).passed
    # Moodle knows no address: it gets the variant of seed 0, which is not on the page.
    quiz = ElementTree.fromstring(make_sheet.moodle.questions(tasks).partition("\n")[2])
    asked = [q for q in quiz if q.findtext("name/text").startswith("simt-1 ")]
    drawn = gk.exercise("simt-1", seed=0)
    right = [float(q.findtext("answer/text")) for q in asked]
    assert right == list(drawn.solution.answer.values())
    assert all(drawn.statement in q.findtext("questiontext/text") for q in asked)


def test_questions_for_moodle_hold_the_answers_and_their_points():
    tasks = [make_sheet.task_of(name) for name in CATALOG]
    quiz = ElementTree.fromstring(make_sheet.moodle.questions(tasks).partition("\n")[2])
    by_task: dict[str, list[ElementTree.Element]] = {}
    for question in quiz:
        by_task.setdefault(question.findtext("name/text").split()[0], []).append(question)
    for exercise, points in tasks:
        asked = by_task.pop(exercise.id, [])
        assert bool(asked) == (exercise.kind not in (COMPLETE, WRITE)), exercise.id
        grades = [float(question.findtext("defaultgrade")) for question in asked]
        assert not asked or sum(grades) == pytest.approx(points, abs=1e-3)
        for question in asked:
            assert exercise.statement in question.findtext("questiontext/text")
            right = [a for a in question.findall("answer") if a.get("fraction") == "100"]
            name = question.findtext("name/text")
            key = name.removeprefix(f"{exercise.id} ").removesuffix(f": {exercise.title}")
            if question.get("type") == "numerical":
                (answer,) = right
                off = float(answer.findtext("text")) - exercise.solution.answer[key]
                assert abs(off) <= float(answer.findtext("tolerance")) < 0.5
            else:
                lines = [answer.findtext("text") for answer in right]
                assert lines == [f"{number}: {text}" for number, text in exercise.wrong_lines]
    assert not by_task


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ((), "names such as bfs-2, each once"),
        (("bfs-2", "bfs-2=5"), "each once"),
        (("bfs-2=x",), "points of bfs-2 = 'x': must be a whole number, 2 to 1000"),
        (("bfs-2=1",), "a whole number, 2 to 1000"),
        (("bfs-99",), "id = 'bfs-99': must be one of start-1"),
        (("bfs-open",), "a task with a verdict"),
        (("--variants",), "names such as bfs-2, each once"),
        (("bfs-1", "--variants"), "id = '--variants': must be one of start-1"),
    ],
)
def test_what_is_no_sheet_is_refused_by_name(tasks, message, tmp_path, capsys):
    with pytest.raises(gk.InvalidArgument, match=message.replace("(", r"\(")):
        make_sheet.main(str(tmp_path / "sheet"), *tasks)
    assert not list(tmp_path.iterdir())
