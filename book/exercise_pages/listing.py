"""The page of all exercises: each with its name, kind, level, minutes and learning goal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from gpukernels.exercises.judge.effort import COMPLETE, FIND, LEVELS, OPEN, PREDICT, WRITE
from gpukernels.exercises.judge.exercise import Exercise

#: The place of the list in the page's source.
PLACE = "<!-- all exercises -->"
#: The heading of a task without a solution: its label, then its name.
OPEN_TASK = re.compile(r"^\((?P<label>exercise-[a-z0-9-]+-open)\)=\n### Open: (?P<name>.+)$", re.M)


class Chapter(NamedTuple):
    """A chapter in the list, with its exercises, and the label and name of each open task."""

    title: str
    exercises: list[Exercise]
    open_tasks: list[tuple[str, str]]


def read_chapter(notebook: Path, exercises: Iterable[Exercise]) -> Chapter:
    """Return a chapter, read from its notebook, because the build may not have read it yet."""
    cells = nbformat.read(notebook, as_version=4).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    title = re.search(r"^# (.+)$", texts, re.MULTILINE)
    if title is None:
        raise ValueError(f"{notebook.name} has no title")
    open_tasks = [(task["label"], task["name"].strip()) for task in OPEN_TASK.finditer(texts)]
    return Chapter(title[1].strip(), list(exercises), open_tasks)


def listed(chapters: Iterable[Chapter]) -> str:
    """Return the list in MyST's Markdown: a short one by level, then one by chapter."""
    chapters = list(chapters)
    return "\n".join([*_by_level(chapters), *_by_chapter(chapters)])


def _by_level(chapters: list[Chapter]) -> Iterator[str]:
    yield "\n## By level and kind\n"
    yield "In brackets is the estimate in minutes."
    every = [ex for chapter in chapters for ex in chapter.exercises]
    for level, meaning in LEVELS.items():
        yield f"\n**{level.capitalize()}**: {meaning}.\n"
        for kind in (PREDICT, COMPLETE, FIND, WRITE):
            those = [ex for ex in every if (ex.level, ex.kind) == (level, kind)]
            names = [f"{_link(ex.title, f'exercise-{ex.id}')} ({ex.minutes})" for ex in those]
            if names:
                yield f"- *{kind.capitalize()}*: {'; '.join(names)}."
    names = [_link(name, label) for c in chapters for label, name in c.open_tasks]
    if names:
        yield f"\n**{OPEN.capitalize()}**: a counter of the book to beat, hard, without an end.\n"
        yield f"- *{OPEN.capitalize()}*: {'; '.join(names)}."


def _by_chapter(chapters: list[Chapter]) -> Iterator[str]:
    for title, exercises, open_tasks in chapters:
        yield f"\n## {title}\n"
        yield f"About {sum(ex.minutes for ex in exercises)} minutes in all.\n"
        for ex in exercises:
            facts = f"{ex.kind}, {ex.level}, {ex.minutes}\N{NO-BREAK SPACE}minutes"
            yield f"- {_link(ex.title, f'exercise-{ex.id}')} (`{ex.id}`): {facts}."
            yield f"  You learn {ex.teaches}."
        for label, name in open_tasks:
            yield f"- {_link(name, label)}: open, hard, without an end."


def _link(title: str, label: str) -> str:
    return f"{{ref}}`{title[0].upper()}{title[1:]} <{label}>`"
