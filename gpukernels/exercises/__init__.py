"""Exercises that judge themselves: ``ex = exercise("bfs-3")``, then ``ex.check(my_kernel)``.

An answer must be right on hidden inputs, free of races and unwritten reads under every schedule,
and within a budget of counters; where a GPU is the default device, it must be right there too.

``tasks`` holds the exercises, one module and one Markdown file per chapter. ``judge`` holds the
machinery that checks, runs and shows an answer; no task has code there.
"""

from __future__ import annotations

from types import MappingProxyType

from gpukernels.errors import InvalidArgument
from gpukernels.notebook.table import Table

from .judge import logbook
from .judge.exercise import Exercise, Solution
from .judge.open_tasks import OPEN, OpenTask
from .judge.report import ExerciseFailed, Report
from .tasks import EXERCISES

__all__ = [
    "CATALOG",
    "OPEN",
    "Exercise",
    "ExerciseFailed",
    "OpenTask",
    "Report",
    "Solution",
    "exercise",
    "exercises",
]

#: Every exercise by its id, in the order of the book.
CATALOG = MappingProxyType({ex.id: ex for those in EXERCISES.values() for ex in those})


def exercise(id: str) -> Exercise | OpenTask:
    """Return an exercise by its id.

    Parameters
    ----------
    id : str
        Chapter and number, such as ``"bfs-3"``, or ``"hbf-open"`` for a task without a solution.

    Raises
    ------
    InvalidArgument
        If there is none of that id; the message lists all.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("bfs-3")
    >>> ex.title, ex.kind, ex.level, ex.minutes
    ('a level without its test', 'find the bug', 'medium', 30)
    """
    known: dict[str, Exercise | OpenTask] = {**CATALOG, **OPEN}
    if not isinstance(id, str) or id not in known:
        raise InvalidArgument("id", id, f"one of {', '.join(known)}")
    return known[id]


def exercises() -> Table:
    """List all exercises, what is to be done, how hard that is and how long, and how far you are.

    The minutes are an estimate, from what there is to read and to write. The last column says
    ``solved``, ``tried`` or nothing, and ``next`` at the first exercise of the book that is not
    solved. A notebook keeps your own answers, and what ``check`` has said of them, in
    ``~/.local/state/gpukernels/exercises.json``, or on Windows below ``%LOCALAPPDATA%``; the book's
    solutions and bare skeletons do not count. The environment variable GPUKERNELS_PROGRESS names
    another file, or is ``off``. Delete the file to begin again. Nothing leaves your computer.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.exercises().rows[0]
    ['simt-1: sectors of four access patterns', 'predict', 'easy', '15', 'next']
    """
    states = logbook.states()
    first = next((id for id in CATALOG if states.get(id) != logbook.SOLVED), None)
    rows = []
    for ex in CATALOG.values():
        said = [states.get(ex.id, ""), "next" if ex.id == first else ""]
        about = f"{ex.id}: {ex.title}", ex.kind, ex.level, ex.minutes
        rows.append((*about, ", ".join(filter(None, said))))
    solved = sum(states.get(id) == logbook.SOLVED for id in CATALOG)
    caption = f"{solved} of {len(CATALOG)} solved; kept in {logbook.place()}" if states else ""
    return Table(("exercise", "what to do", "level", "minutes", "you"), rows, caption)
