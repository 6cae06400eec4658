"""Exercises that judge themselves: ``ex = exercise("bfs-3")``, then ``ex.check(my_kernel)``.

An answer must be right on hidden inputs, free of races and unwritten reads under every schedule,
and within a budget of counters. If a GPU is the default device, it must be right there too.

`KernelTask` and `PredictionTask` are for tasks of your own, which `exercise` loads from your files.

``tasks`` holds the exercises, one module and one Markdown file per chapter. ``judge`` holds the
machinery that checks, runs and shows an answer; no task has code there.
"""

from __future__ import annotations

from types import MappingProxyType

from gpukernels.errors import InvalidArgument
from gpukernels.notebook.table import Table

from .judge import keeping, logbook
from .judge.exercise import Exercise, Solution
from .judge.open_tasks import OPEN, OpenTask
from .judge.report import ExerciseFailed, Report
from .loading import load, variant
from .own_tasks import KernelTask, PredictionTask
from .tasks import EXERCISES

__all__ = [
    "CATALOG",
    "OPEN",
    "Exercise",
    "ExerciseFailed",
    "KernelTask",
    "OpenTask",
    "PredictionTask",
    "Report",
    "Solution",
    "exercise",
    "exercises",
]

#: Every exercise by its id, in the order of the book.
CATALOG = MappingProxyType({ex.id: ex for those in EXERCISES.values() for ex in those})


def exercise(id: str, seed: int | str | None = None) -> Exercise | OpenTask:
    """Return an exercise by its id, or a teacher's own task by its place.

    Parameters
    ----------
    id : str
        Chapter and number, such as ``"bfs-3"``, or ``"hbf-open"`` for a task without a solution.
        For a task of your own, its place and name: ``"course:double"`` is `double` in the file
        ``double.py`` of the folder ``course``, ``"course/all.py:double"`` is in that file, and
        ``"course.all:double"`` in that module. The name stands for a :class:`KernelTask`, for a
        :class:`PredictionTask`, or for a function that takes a generator of random numbers,
        ``numpy.random.Generator``, and returns a task.
    seed : int or str, optional
        The seed of that generator: a number from 0 on, or a text such as the student's address, in
        which capitals do not matter. So each student gets a variant. By default 0. With a seed,
        most predictions of the book have numbers of their own, too; by default those of the page.

    Raises
    ------
    InvalidArgument
        If there is none of that id; the message lists all. If `seed` is given for an exercise that
        is the same for everyone.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("bfs-3")
    >>> ex.title, ex.kind, ex.level, ex.minutes
    ('a level without its test', 'find the bug', 'medium', 30)

    A prediction of the book for one student:

    >>> ex = gk.exercise("simt-1", seed="ann@example.org")
    >>> ex.check({"a": 12, "b": 4, "c": 2, "d": 8}, raises=False).passed
    False
    >>> ex.check(ex.solution).passed
    True
    """
    known: dict[str, Exercise | OpenTask] = {**CATALOG, **OPEN}
    if isinstance(id, str) and ":" in id:
        task = load(id, seed)
        if task.id in known:
            allowed = f"another id in {id}, since an exercise of the book has this one"
            raise InvalidArgument("id", task.id, allowed)
        return task
    if not isinstance(id, str) or id not in known:
        allowed = f"one of {', '.join(known)}, or a task of your own, such as 'course:double'"
        raise InvalidArgument("id", id, allowed)
    if seed is not None:
        return variant(known[id], id, seed)
    return known[id]


def exercises(keep: str | None = None) -> Table:
    """List all exercises, what is to be done, how hard that is and how long, and how far you are.

    The minutes are an estimate from the length of the text and of the answer. The last column says
    ``solved``, ``tried`` or nothing, and ``next`` at the first exercise of the book that is not
    solved. A notebook keeps your own answers and the results of ``check`` in
    ``~/.local/state/gpukernels/exercises.json``, or on Windows below ``%LOCALAPPDATA%``; the book's
    solutions and bare skeletons do not count. The environment variable GPUKERNELS_PROGRESS names
    another file, or is ``off``. Delete the file to begin again. Nothing leaves your computer unless
    you ask for it.

    Parameters
    ----------
    keep : str, optional
        The path of a file that keeps progress from now on. Its own progress is added. On
        Colab, ``"drive"`` mounts your Google Drive, for which Colab asks you, and keeps progress in
        ``MyDrive/gpukernels/exercises.json``; ``"download"`` saves the file on your computer.

    Raises
    ------
    InvalidArgument
        If `keep` needs Colab and this is not Colab, cannot be written, or there is nothing yet to
        download.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.exercises().rows[0]
    ['start-1: threads, blocks and places', 'predict', 'easy', '20', 'next']
    """
    if keep is not None:
        keeping.keep(keep)
    states = logbook.states()
    first = next((id for id in CATALOG if states.get(id) != logbook.SOLVED), None)
    rows = []
    for ex in CATALOG.values():
        notes = [states.get(ex.id, ""), "next" if ex.id == first else ""]
        about = f"{ex.id}: {ex.title}", ex.kind, ex.level, ex.minutes
        rows.append((*about, ", ".join(filter(None, notes))))
    solved = sum(states.get(id) == logbook.SOLVED for id in CATALOG)
    notes = [f"{solved} of {len(CATALOG)} solved; kept in {logbook.place()}"] if states else []
    notes += [keeping.OFFER] if keeping.is_lost() else []
    columns = ("exercise", "what to do", "level", "minutes", "you")
    return Table(columns, rows, ". ".join(notes))
