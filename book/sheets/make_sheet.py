"""A sheet of tasks for students, for `make sheet TASKS="shared-1 bfs-2=5"`.

    python book/sheets/make_sheet.py _build/sheet shared-1 bfs-2=5

writes `_build/sheet.ipynb`, a notebook without solutions, and `_build/sheet.xml`, the same
predictions and bugs as questions for Moodle, if there are any among the tasks. A number after `=`
is the points of a task. With `--variants` before the tasks, each student gets numbers of their own
in the book's predictions. A task of your own is named by its place, such as `course:strides`; seen
from the folder in which students open the notebook, its file must be there, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import first_cell
import moodle
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import gpukernels as gk
from gpukernels.exercises.grading.submission import KEY
from gpukernels.exercises.judge.exercise import Exercise, PredictionExercise

#: Points of a task that names none, by its level; of these its explanation gets the last one.
POINTS = {"easy": 3, "medium": 5, "hard": 8}
MOST_POINTS = 1000
HEAD = """\
# Exercises

{count} tasks, {points} points, about {minutes} minutes. Write your name and your e-mail address
into the next cell, and your answers into the cells that follow each statement. Change no other
cell: of an answer, imports, kernels and numbers are judged.

A check needs no GPU. It brings its inputs and draws some of them each time, so no task has a size
for you to choose. For your own experiments on the SIMT machine, use graphs of at most 100,000
arcs for one search and of at most 256 vertices for all pairs. They take seconds."""
VARIANT = "*The numbers follow from your e-mail address, as the first code cell has it.*"
#: Stands before the tasks if the book's predictions are to have other numbers for each student.
VARIANTS = "--variants"
EXPLAIN = "*Explain in two or three sentences why your answer is right (1 point). Write below.*"


class Task(NamedTuple):
    """An exercise on a sheet, and the points of its answer and its explanation together."""

    exercise: Exercise
    points: int


def task_of(text: str, variants: bool = False) -> Task:
    """Return the task that ``"bfs-2"`` or ``"bfs-2=5"`` names, with drawn numbers if it has any."""
    name, _, given = text.partition("=")
    exercise = gk.exercise(name)
    if variants and isinstance(exercise, PredictionExercise) and exercise.varies:
        exercise = gk.exercise(name, seed=0)
    if not isinstance(exercise, Exercise):
        raise gk.InvalidArgument("TASKS", name, "a task with a verdict, which an open one has not")
    if given and not (given.isdecimal() and 2 <= int(given) <= MOST_POINTS):
        raise gk.InvalidArgument(f"points of {name}", given, f"a whole number, 2 to {MOST_POINTS}")
    return Task(exercise, int(given) if given else POINTS[exercise.level])


def tasks_of(named: Sequence[str]) -> list[Task]:
    """Return the tasks of a sheet.

    Raises
    ------
    InvalidArgument
        If there are none, or one of them is no task or appears twice.
    """
    variants = tuple(named[:1]) == (VARIANTS,)
    tasks = [task_of(text, variants) for text in named[variants:]]
    if not tasks or len({task.exercise.id for task in tasks}) < len(tasks):
        raise gk.InvalidArgument("TASKS", " ".join(named), "names such as bfs-2, each once")
    return tasks


def sheet(tasks: list[Task]) -> nbformat.NotebookNode:
    """Return the notebook of some tasks."""
    head = HEAD.format(
        count=len(tasks),
        points=sum(task.points for task in tasks),
        minutes=sum(task.exercise.minutes for task in tasks),
    )
    set_up = first_cell.source(first_cell.published())
    cells = [
        new_markdown_cell(head, id="head"),
        new_code_cell('name = ""\nemail = ""', id="student", metadata={KEY: {"part": "student"}}),
        new_code_cell(f"{set_up}\n\nimport gpukernels as gk", id="set-up"),
    ]
    for number, task in enumerate(tasks, 1):
        cells += cells_of(task, number)
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=metadata)


def cells_of(task: Task, number: int) -> list[nbformat.NotebookNode]:
    """Return the cells of a task: statement, answer, check, and the text that explains it."""
    ex, points = task
    about = f"*{ex.kind.capitalize()}: {ex.level}, about {ex.minutes} minutes, {points} points.*"
    head = f"## {number}. {ex.title[0].upper()}{ex.title[1:]}\n\n{about}"
    if ex.variant is None:
        call = f'gk.exercise("{ex.place}")'
        statement = [new_markdown_cell(f"{head}\n\n{ex.statement}", id=f"{ex.id}-statement")]
    else:
        call = f'gk.exercise("{ex.place}", seed=email)'
        statement = [
            new_markdown_cell(f"{head}\n\n{VARIANT}", id=f"{ex.id}-head"),
            new_code_cell(call, id=f"{ex.id}-statement"),
        ]

    def marked(part: str, worth: int) -> dict:
        drawn = {} if ex.variant is None else {"seed": "email"}
        return {KEY: {"task": ex.place, "part": part, "points": worth, **drawn}}

    return [
        *statement,
        new_code_cell(ex.skeleton, id=f"{ex.id}-answer", metadata=marked("answer", points - 1)),
        new_code_cell(f"{call}.check({ex.answer_name}, raises=False)", id=f"{ex.id}-check"),
        new_markdown_cell(EXPLAIN, id=f"{ex.id}-explain"),
        new_markdown_cell("", id=f"{ex.id}-text", metadata=marked("text", 1)),
    ]


def main(target: str, *named: str) -> None:
    """Write the sheet."""
    tasks = tasks_of(named)
    notebook, quiz = Path(f"{target}.ipynb"), Path(f"{target}.xml")
    notebook.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(sheet(tasks), notebook)
    print(f"{len(tasks)} tasks, {sum(task.points for task in tasks)} points: {notebook}")
    if questions := moodle.questions(tasks):
        quiz.write_text(questions, encoding="utf-8")
        print(f"Questions for Moodle, with which they have not been tried: {quiz}")
    else:
        quiz.unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (gk.InvalidArgument, KeyError) as error:
        sys.exit(str(error))
