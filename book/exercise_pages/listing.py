"""The page of all exercises: where each is, what it wants, and how it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from gpukernels.exercises.exercise import Exercise

#: What stands in the page's source where the list belongs.
PLACE = "<!-- all exercises -->"
#: Letters after which no further sentence is taken.
ENOUGH = 80


def beginning(statement: str) -> str:
    """Return the first sentences of a statement, as Markdown."""
    first = re.split(r"\n\s*\n|\n[-*] ", statement.strip(), maxsplit=1)[0]
    taken = ""
    for sentence in re.split(r"(?<=[.?!:])\s+", " ".join(first.split())):
        taken = f"{taken} {sentence}".strip()
        if len(taken) >= ENOUGH:
            break
    return taken if taken.endswith((".", "?", "!")) else taken.rstrip(":,") + " …"


def wanted(exercise: Exercise) -> str:
    """Return what a reader does: one of three."""
    if exercise.wants == "a prediction":
        return "predict"
    return "find a bug" if getattr(exercise, "wrong_lines", ()) else "write"


def title_of(notebook: Path) -> str:
    """Return the title of a chapter, which need not have been read by the build yet."""
    cells = nbformat.read(notebook, as_version=4).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = re.search(r"^# (.+)$", texts, re.MULTILINE)
    if found is None:
        raise ValueError(f"{notebook.name} has no title")
    return found[1].strip()


def listed(chapters: Iterable[tuple[str, Iterable[Exercise]]]) -> str:
    """Return the list in MyST's Markdown, given the title of each chapter and its exercises."""
    return "\n".join(_lines(chapters))


def _lines(chapters) -> Iterator[str]:
    for title_of_chapter, exercises in chapters:
        yield f"\n## {title_of_chapter}\n"
        for ex in exercises:
            title = ex.title[0].upper() + ex.title[1:]
            yield f"- {{ref}}`{title} <exercise-{ex.id}>` (`{ex.id}`, {wanted(ex)})."
            yield f"  {beginning(ex.statement)}"
