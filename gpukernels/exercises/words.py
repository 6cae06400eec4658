"""What an exercise says: one Markdown file for each chapter's, beside the module of its kernels.

A task is a heading of its id and title, its statement, and two sections::

    # bfs-3: find the bug

    The statement.

    ## Hint

    What to think of.

    ## Why

    What the solution shows.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

TASK = re.compile(r"^# (?P<id>[a-z0-9-]+-\d+): (?P<title>.+)$", re.MULTILINE)
SECTIONS = re.compile(r"^## (Hint|Why)$", re.MULTILINE)


class Words(NamedTuple):
    """The texts of an exercise; all but `id` and `title`, which are a line, are Markdown."""

    id: str
    title: str
    statement: str
    hint: str
    why: str


def words(id: str) -> Words:
    """Return the texts of the task `id`, from the Markdown files of this package."""
    return _of_all()[id]


@cache
def _of_all() -> dict[str, Words]:
    files = sorted(Path(__file__).parent.glob("*.md"))
    tasks = [task for file in files for task in parsed(file.read_text("utf-8"), file.name)]
    return {task.id: task for task in tasks}


def parsed(text: str, name: str) -> list[Words]:
    """Return the tasks of a file's `text`, in order.

    Raises
    ------
    ValueError
        If a task lacks one of its parts, or stands twice; names the file, `name`, and the task.
    """
    begins = list(TASK.finditer(text))
    ends = [begin.start() for begin in begins[1:]] + [len(text)]
    found: dict[str, Words] = {}
    for begin, end in zip(begins, ends, strict=True):
        id, title = begin["id"], begin["title"]
        statement, *rest = (part.strip() for part in SECTIONS.split(text[begin.end() : end]))
        if rest[::2] != ["Hint", "Why"] or not all((statement, *rest)):
            raise ValueError(f"{name}: {id} is a statement, '## Hint' and '## Why', in this order")
        if id in found:
            raise ValueError(f"{name}: {id} stands twice")
        found[id] = Words(id, title, statement, rest[1], rest[3])
    return list(found.values())
