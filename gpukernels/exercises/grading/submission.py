"""A submitted notebook: the student's address, the answers, and the texts that explain them."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpukernels.errors import InvalidArgument

#: Under this name a sheet's cells, made by book/sheets, have their task and part as metadata.
KEY = "gpukernels"


@dataclass(frozen=True)
class Answer:
    """The source of an answer, the points that it is worth, and whether its numbers are drawn.

    If `varies` is true, the sheet has the student's own numbers of a prediction of the book.
    """

    task: str
    source: str
    points: int
    varies: bool = False


@dataclass(frozen=True)
class Submission:
    """The contents of a notebook."""

    file: Path
    #: The student's address; empty if the notebook names none.
    email: str
    #: In the order of the sheet.
    answers: tuple[Answer, ...]
    #: The explanation of each answer, by task.
    texts: dict[str, str]

    @property
    def student(self) -> str:
        """The student's address, or else the name of the file."""
        return self.email or self.file.name


def read(file: Path) -> Submission:
    """Read a submitted notebook.

    Raises
    ------
    InvalidArgument
        If the file is no notebook, or has no answer to a sheet's task.
    """
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        marked = [(cell["metadata"].get(KEY), _source(cell)) for cell in cells]
        answers = tuple(
            Answer(mark["task"], source, mark["points"], mark.get("seed") == "email")
            for mark, source in marked
            if mark and mark["part"] == "answer"
        )
        student = "\n".join(source for mark, source in marked if mark and mark["part"] == "student")
        texts = {m["task"]: text.strip() for m, text in marked if m and m["part"] == "text"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidArgument("notebook", str(file), f"a notebook of a sheet ({error!r})") from None
    if not answers:
        raise InvalidArgument("notebook", str(file), "one of a sheet: its cells name no task")
    return Submission(file, _email(student), answers, texts)


def _source(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _email(source: str) -> str:
    """Return the text that a cell assigns to ``email``; empty if it assigns none."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return ""
    for line in body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            names = [target.id for target in line.targets if isinstance(target, ast.Name)]
            if "email" in names and isinstance(line.value.value, str):
                return line.value.value.strip()
    return ""
