"""Sheets and chapters as nbgrader's source notebooks; nbgrader itself grades one in a night."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from built_book import ROOT
from effort import EFFORT, SOAK
from own_make import own_environment
from sheets_answered import make_sheet

import gpukernels as gk
from gpukernels.exercises import CATALOG
from gpukernels.exercises.tasks import EXERCISES

sys.path.insert(0, str(ROOT / "book" / "sheets"))
import nbgrader_source

REGION = re.compile(r"### BEGIN SOLUTION\n(.*)### END SOLUTION", re.DOTALL)
TASKS = "shared-1", "shared-3=7"
#: nbgrader and its requirements that are no packages of the book or its tests.
PACKAGES = "nbgrader==0.9.6", "alembic", "mako", "rapidfuzz"
COURSE = Path(__file__).parent / "course"


def source_of(*tasks: str) -> nbformat.NotebookNode:
    return nbgrader_source.source(make_sheet.sheet(make_sheet.tasks_of(tasks)))


def parts(notebook: nbformat.NotebookNode) -> dict[str, nbformat.NotebookNode]:
    """Return the cells that nbgrader knows, by their ids, each of which is there once."""
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    known = {cell.metadata.nbgrader.grade_id: cell for cell in cells}
    assert len(known) == len(cells)
    return known


def test_without_its_region_an_answer_is_the_skeleton_and_in_it_stands_the_solution():
    notebook = source_of(*CATALOG)
    nbformat.validate(notebook)
    known = parts(notebook)
    for name, ex in CATALOG.items():
        answer, check = known[f"{name}-answer"], known[f"{name}-check"]
        assert REGION.findall(answer.source) == [ex.solution.text]
        assert REGION.sub("", answer.source).strip() == ex.skeleton.strip()
        assert answer.metadata.nbgrader.solution
        assert not answer.metadata.nbgrader.grade
        assert f'print(gk.exercise("{name}").check({ex.answer_name}))' in check.source


def test_a_locked_check_gives_the_points_of_an_answer_and_a_person_those_of_a_text():
    known = parts(source_of(*TASKS))
    marks = {id: dict(cell.metadata.nbgrader) for id, cell in known.items()}
    worth = {id: mark["points"] for id, mark in marks.items() if mark["grade"]}
    assert worth == {
        "shared-1-check": 2,
        "shared-1-text": 1,
        "shared-3-check": 6,
        "shared-3-text": 1,
    }
    assert [id for id, mark in marks.items() if mark["locked"]] == [
        "shared-1-check",
        "shared-3-check",
    ]
    # A cell of text with points and no answer would be graded by nobody.
    assert all(marks[id]["solution"] for id in worth if id.endswith("-text"))


def test_numbers_that_differ_by_student_are_refused_and_those_of_the_page_are_taken(tmp_path):
    given = str(tmp_path), "week-1"
    with pytest.raises(gk.InvalidArgument, match=r"simt-1.*does not know the address of"):
        nbgrader_source.main(*given, "--variants", "bfs-2", "simt-1")
    assert not list(tmp_path.iterdir())
    nbgrader_source.main(*given, "--variants", "bfs-2", "representations-1")
    nbgrader_source.main(str(tmp_path), "week-2", "bfs-2", "simt-1")
    assert len(list(tmp_path.rglob("*.ipynb"))) == 2


@pytest.mark.parametrize("name", EXERCISES)
def test_the_tasks_of_a_chapter_become_those_of_a_sheet_and_the_rest_stays(name):
    file = ROOT / "chapters" / f"{name}.ipynb"
    notebook = nbgrader_source.source(nbgrader_source.chapter(file))
    nbformat.validate(notebook)
    known = parts(notebook)
    asked = ("answer", "check", "text")
    assert [*known] == [f"{ex.id}-{part}" for ex in EXERCISES[name] for part in asked]
    before = [cell.source for cell in nbformat.read(file, 4).cells]
    after = [cell.source for cell in notebook.cells]
    lost = [source for source in before if source not in after]
    assert len(lost) == 2 * len(EXERCISES[name])
    assert {source.strip() for source in lost if "ex.check(" not in source} == {
        ex.skeleton.strip() for ex in EXERCISES[name]
    }


def test_a_chapter_without_the_cells_of_a_task_is_named(tmp_path):
    notebook = nbformat.read(ROOT / "chapters" / "simt.ipynb", 4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "simt-2-skeleton"]
    nbformat.write(notebook, tmp_path / "simt.ipynb")
    with pytest.raises(LookupError, match=r"simt\.ipynb: no cells show simt-2 and its skeleton"):
        nbgrader_source.chapter(tmp_path / "simt.ipynb")


def test_nothing_of_a_teacher_is_overwritten(tmp_path):
    nbgrader_source.main(str(tmp_path), "week-1", *TASKS)
    file, config = tmp_path / "source/week-1/week-1.ipynb", tmp_path / "nbgrader_config.py"
    assert file.exists()
    config.write_text("mine")
    nbgrader_source.main(str(tmp_path), "week-1", *TASKS)
    with pytest.raises(gk.InvalidArgument, match=r"week-1\.ipynb.*removed first"):
        nbgrader_source.main(str(tmp_path), "week-1", "shared-1")
    assert "shared-3" in file.read_text()
    assert config.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "tasks", "message"),
    [
        ("week 1", TASKS, "SHEET = 'week 1': must be letters, digits"),
        ("../week", TASKS, "SHEET = "),
        ("week", (), "names such as bfs-2, each once"),
        ("week", (f"{COURSE}:strides",), "the same for everyone"),
    ],
)
def test_what_is_no_assignment_is_refused_by_name(name, tasks, message, tmp_path):
    with pytest.raises(gk.InvalidArgument, match=message):
        nbgrader_source.main(str(tmp_path), name, *tasks)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("notebooks", "notebooks --chapters _build/html/notebooks/without_solutions"),
        ("sheet SHEET=week-1", 'notebooks "week-1" shared-1 shared-3=7'),
    ],
)
def test_make_writes_assignments_where_that_is_asked_for(target, message):
    command = ["make", "-n", *target.split(), "NBGRADER=yes", f"TASKS={' '.join(TASKS)}"]
    options = {"cwd": ROOT, "env": own_environment()}
    run = subprocess.run(command, **options, capture_output=True, text=True, check=True)
    assert run.stdout.endswith(f"python book/sheets/nbgrader_source.py {message}\n")


@pytest.fixture
def nbgrader(tmp_path):
    """Return a function that runs nbgrader in `tmp_path`, where a course has been made.

    Its packages lie in a folder of their own, so that nobody who tests this book has its servers.
    """
    packages = tmp_path / "packages"
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
    python = ["--python", sys.executable, "--target", str(packages)]
    subprocess.run([*uv, *python, *PACKAGES], check=True)
    course = tmp_path / "course"
    path = f"{packages / 'bin'}{os.pathsep}{os.environ['PATH']}"  # it starts alembic by its name
    modules = os.pathsep.join([str(packages), str(ROOT), os.environ.get("PYTHONPATH", "")])
    options = {"cwd": course, "env": {**os.environ, "PATH": path, "PYTHONPATH": modules}}

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, **options, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    nbgrader_source.main(str(course), "week-1", *TASKS)
    return run


@pytest.mark.skipif(EFFORT != SOAK, reason="installs nbgrader; make soak runs it")
def test_nbgrader_hands_out_grades_and_comments(nbgrader, tmp_path):
    course = tmp_path / "course"
    nbgrader("generate_assignment", "week-1")
    file = course / "release/week-1/week-1.ipynb"
    released = nbformat.read(file, 4)
    text = "\n".join(cell.source for cell in released.cells)
    for name in ("shared-1", "shared-3"):
        assert CATALOG[name].skeleton.strip() in text
        assert CATALOG[name].solution.text not in text
    right = {f"{name}-answer": CATALOG[name].solution.text for name in ("shared-1", "shared-3")}
    wrong = {**right, "shared-3-answer": CATALOG["shared-3"].skeleton}
    for student, answers in (("ann", right), ("ben", wrong), ("cem", {})):
        notebook = nbformat.read(file, 4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        submitted = course / "submitted" / student / "week-1" / "week-1.ipynb"
        submitted.parent.mkdir(parents=True)
        nbformat.write(notebook, submitted)
    nbgrader("autograde", "week-1")
    nbgrader("export", "--to", "grades.csv")
    with (course / "grades.csv").open() as opened:
        rows = {row["student_id"]: row for row in csv.DictReader(opened)}
    points = {name: (float(row["score"]), float(row["max_score"])) for name, row in rows.items()}
    assert points == {"ann": (8, 10), "ben": (2, 10), "cem": (0, 10)}
    nbgrader("generate_feedback", "week-1")
    pages = {name: (course / "feedback" / name / "week-1/week-1.html").read_text() for name in rows}
    assert [page.count("): not yet") > 0 for page in pages.values()] == [False, True, True]
