"""The texts of exercises: one Markdown file per chapter, next to the module of its kernels.

A task is a heading of its id and title, its level and what it teaches, its statement, and two
sections, or three where a bug is to be found::

    # bfs-3: a level without its test

    - level: medium
    - teaches: when a benign race is benign no more

    The statement.

    ## Hint

    What to think of.

    ## Line

    - 12: `if distance[u] == -1:`

    ## Why

    What the solution shows.

The words of "teaches" follow "You learn". The lines are lines of the skeleton, from 1 on: lines
that are wrong, lines with a missing line next to them, and lines that the checker names in its
report on the bare skeleton. A page accepts all of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .effort import LEVELS

TASK = re.compile(r"^# (?P<id>[a-z0-9-]+-(?:\d+|lines?)): (?P<title>.+)$", re.MULTILINE)
FACTS = re.compile(rf"\s*- level: ({'|'.join(LEVELS)})\n- teaches: (\S.*[^\s.])\n\n")
SECTIONS = re.compile(r"^## (Hint|Line|Why)$", re.MULTILINE)
#: The sections of a task, in order.
ORDERS = (["Hint", "Why"], ["Hint", "Line", "Why"])
LINE = re.compile(r"^- (?P<number>\d+): `(?P<text>[^`]+)`$")


class Words(NamedTuple):
    """The texts of an exercise; texts of more than a line are Markdown.

    `level` is one of `LEVELS`, and `teaches` goes on after "You learn". `lines` are the number,
    from 1 on, and the text of each line that is a bug to find.
    """

    id: str
    title: str
    level: str
    teaches: str
    statement: str
    hint: str
    why: str
    lines: tuple[tuple[int, str], ...] = ()


def words(id: str) -> Words:
    """Return the texts of the task `id`, from the Markdown files of this package."""
    return _of_all()[id]


@cache
def _of_all() -> dict[str, Words]:
    files = sorted((Path(__file__).parents[1] / "tasks").glob("*.md"))
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
    catalog: dict[str, Words] = {}
    for begin, end in zip(begins, ends, strict=True):
        id, title = begin["id"], begin["title"]
        facts = FACTS.match(text, begin.end(), end)
        if facts is None:
            raise ValueError(
                f"{name}: {id} begins with '- level: ' and one of {', '.join(LEVELS)}, and with "
                "'- teaches: ' and what goes on after 'You learn', without a full stop"
            )
        statement, *rest = (part.strip() for part in SECTIONS.split(text[facts.end() : end]))
        parts = dict(zip(rest[::2], rest[1::2], strict=True))
        if rest[::2] not in ORDERS or not all((statement, *rest)):
            raise ValueError(
                f"{name}: {id} is a statement, '## Hint' and '## Why', in this order, with "
                "'## Line' between them if there is a bug to find"
            )
        if id in catalog:
            raise ValueError(f"{name}: {id} stands twice")
        lines = _lines(parts.get("Line", ""), f"{name}: {id}")
        catalog[id] = Words(
            id, title, *facts.groups(), statement, parts["Hint"], parts["Why"], lines
        )
    return list(catalog.values())


def _lines(text: str, name: str) -> tuple[tuple[int, str], ...]:
    lines = []
    for item in text.splitlines():
        line = LINE.match(item)
        if line is None:
            raise ValueError(f"{name}: a line is '- 12: `its text`', and not {item!r}")
        lines.append((int(line["number"]), line["text"]))
    return tuple(lines)
