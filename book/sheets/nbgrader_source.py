"""Source notebooks of nbgrader, for `make sheet` and `make notebooks` with NBGRADER=yes.

    python book/sheets/nbgrader_source.py notebooks sheet shared-1 bfs-2=5

writes the assignment `sheet` into `notebooks/source`. With `--chapters FOLDER` in place of the name
and the tasks, each notebook of that folder becomes an assignment.

The cell of an answer has the skeleton and then the solution between the marks that `nbgrader
generate_assignment` looks for. It leaves the skeleton, so students do not see the place of a bug.
The check after it gives the points of the answer, and a person gives those of the explanation.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from make_sheet import cells_of, sheet, task_of, tasks_of
from nbformat import NotebookNode

import gpukernels as gk
from gpukernels.exercises.grading.submission import KEY
from gpukernels.exercises.judge.exercise import Exercise
from gpukernels.exercises.tasks import EXERCISES

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
#: The name of an assignment.
NAME = re.compile(r"\w[\w-]*", re.ASCII)
CONFIG = Path(__file__).with_name("nbgrader_config.py")


def source(sheet: NotebookNode) -> NotebookNode:
    """Return a sheet, or a chapter with the cells of one, as a source notebook."""
    cells = iter(sheet.cells)
    for cell in cells:
        mark = cell.metadata.get(KEY, {})
        if mark.get("part") == "answer":
            exercise = gk.exercise(mark["task"])
            assert isinstance(exercise, Exercise)
            cell.source = f"{exercise.skeleton}\n{BEGIN}\n{exercise.solution.text}{END}"
            _set(cell, solution=True)
            check = next(cells)
            call = f'gk.exercise("{mark["task"]}").check({exercise.answer_name})'
            check.source = f"# An answer that is not right raises ExerciseFailed.\nprint({call})"
            _set(check, points=mark["points"], locked=True)
        elif mark.get("part") == "text":
            _set(cell, points=mark["points"], solution=True)
    return sheet


def _set(
    cell: NotebookNode, points: int | None = None, solution: bool = False, locked: bool = False
) -> None:
    """Say in a cell's metadata what nbgrader has to do with it."""
    graded = {} if points is None else {"points": points}
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": cell.id,
        "cell_type": cell.cell_type,
        "grade": points is not None,
        "solution": solution,
        "locked": locked,
        "task": False,
        **graded,
    }


def chapter(file: Path) -> NotebookNode:
    """Return the notebook of a chapter, its tasks as a sheet has them.

    Raises
    ------
    LookupError
        If the cell that shows an exercise, or the skeleton after it, is missing.
    """
    notebook = nbformat.read(file, as_version=4)
    for number, exercise in enumerate(EXERCISES[file.stem], 1):
        sources = [cell.source.strip() for cell in notebook.cells]
        shown = f'ex = gk.exercise("{exercise.id}")\nex'
        at = sources.index(shown) + 1 if shown in sources else len(sources)
        if sources[at : at + 1] != [exercise.skeleton.strip()]:
            raise LookupError(f"{file}: no cells show {exercise.id} and its skeleton")
        notebook.cells[at : at + 2] = cells_of(task_of(exercise.id), number)[-4:]
    return notebook


def put(course: Path, name: str, notebook: NotebookNode) -> Path:
    """Write the source of an assignment into the folder of a course, and nbgrader's settings.

    Raises
    ------
    InvalidArgument
        If there is another assignment of that name, which may hold a teacher's work.
    """
    config, file = course / CONFIG.name, course / "source" / name / f"{name}.ipynb"
    text = nbformat.writes(source(notebook)) + "\n"
    if file.exists() and file.read_text(encoding="utf-8") != text:
        raise gk.InvalidArgument("notebook", str(file), "removed first, as it has other contents")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    if not config.exists():
        config.write_text(CONFIG.read_text(encoding="utf-8"), encoding="utf-8")
    return file


def chapters(course: Path, folder: Path) -> None:
    """Write an assignment for each chapter, and say which stay as they are."""
    for file in sorted(folder.glob("*.ipynb")):
        try:
            print(put(course, file.stem, chapter(file)))
        except gk.InvalidArgument as error:
            print(error)


def main(course: str, name: str, *named: str) -> None:
    """Write the assignment of a sheet, or those of a folder of chapters."""
    if name == "--chapters":
        chapters(Path(course), Path(*named))
        return
    if not NAME.fullmatch(name):
        raise gk.InvalidArgument("SHEET", name, "letters, digits, hyphens and underscores")
    tasks = tasks_of(named)
    for exercise, _ in tasks:
        if exercise.variant is not None:
            allowed = "the same for everyone, as nbgrader does not know the address of a student"
            raise gk.InvalidArgument("TASKS", exercise.place, allowed)
    print(put(Path(course), name, sheet(tasks)))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except gk.InvalidArgument as error:
        sys.exit(str(error))
