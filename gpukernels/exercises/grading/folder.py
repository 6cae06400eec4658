"""Read the submitted notebooks of a folder, all of them of one sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gpukernels.errors import InvalidArgument

from .. import CATALOG, exercise
from ..judge.exercise import Exercise
from .submission import Submission, read

Marks = tuple[tuple[str, int, bool], ...]


def read_all(folder: Path, sheet: Path | None = None) -> list[Submission]:
    """Return the notebooks of a folder, in the order of their names.

    All of them must have the tasks and points of `sheet`, the notebook that was handed out, or else
    of most other notebooks. A sheet in `folder` is not returned. Only the sheet may name a
    teacher's own tasks, whose files are run.

    Raises
    ------
    InvalidArgument
        If there is no notebook, or one of them is not of the sheet.
    """
    handed_out = None if sheet is None else _marks(read(sheet))
    for task, _, varies in handed_out or ():
        task_for(task, "", varies)
    files = [file for file in sorted(folder.glob("*.ipynb")) if not _is_same(file, sheet)]
    if not files:
        raise InvalidArgument("FOLDER", str(folder), "a folder with notebooks (.ipynb)")
    submissions = [read(file) for file in files]
    _check_of_one_sheet(submissions, handed_out)
    if sheet is None:
        unknown = [a.task for s in submissions for a in s.answers if a.task not in CATALOG]
        if unknown:
            allowed = f"one of {', '.join(CATALOG)}, or a task of your own on the --sheet"
            raise InvalidArgument("task", unknown[0], allowed)
    return submissions


def task_for(name: str, email: str, varies: bool = False) -> Exercise:
    """Return a task of a sheet, in the variant of a student.

    A teacher's own task says whether it varies; of a prediction of the book, the sheet says so.

    Raises
    ------
    InvalidArgument
        If there is no such task with a verdict.
    """
    task = exercise(name)
    if not isinstance(task, Exercise):
        raise InvalidArgument("task", name, "one with a verdict, which an open one has not")
    if task.variant is None and not varies:
        return task
    variant = exercise(name, email)
    assert isinstance(variant, Exercise)
    return variant


def _marks(submission: Submission) -> Marks:
    """Return the tasks and points of a notebook, and of which tasks the numbers are drawn."""
    return tuple((answer.task, answer.points, answer.varies) for answer in submission.answers)


def _is_same(file: Path, sheet: Path | None) -> bool:
    return sheet is not None and file.samefile(sheet)


def _check_of_one_sheet(submissions: Sequence[Submission], handed_out: Marks | None) -> None:
    """Refuse a notebook whose tasks or points are not those of the sheet, or of most others.

    A student can change both, as they stand in the notebook.
    """
    marks = [_marks(submission) for submission in submissions]
    usual = handed_out or Counter(marks).most_common(1)[0][0]
    for submission, mark in zip(submissions, marks, strict=True):
        if mark != usual:
            tasks = ", ".join(
                f"{task}{' by address' * varies} for {points}" for task, points, varies in usual
            )
            which = "of the sheet" if handed_out else "of the sheet of the others"
            raise InvalidArgument("notebook", str(submission.file), f"{which}: {tasks} points")
