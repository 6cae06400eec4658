"""The sheet of an exercise: plain JSON with everything that a page needs to judge it."""

from __future__ import annotations

import base64
import itertools
import json
import re
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from gpukernels.exercises.judge.exercise import Exercise, KernelExercise, PredictionExercise

MARKDOWN = MarkdownIt("commonmark")
#: Where a sentence ends and the next one begins.
BETWEEN = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*])")


def sheet_of(ex: Exercise) -> dict[str, Any]:
    """Return the sheet of an exercise.

    ``kind`` is "numbers" for a prediction, "lines" for a bug to find, and "kernel" for the rest,
    with the skeleton, which the interpreter of a page judges. The answers are encoded, so a glance
    at the source does not show them.
    """
    if isinstance(ex, PredictionExercise):
        answers = list(ex.solution.answer.values())
        return {
            "id": ex.id,
            "kind": "numbers",
            "keys": list(ex.questions),
            "questions": [label_of(ex, question) for question in ex.questions],
            "signed": min(answers) < 0,
            "hints": rungs(ex.hint),
            "sealed": sealed(answers, ex.id),
        }
    if isinstance(ex, KernelExercise) and ex.wrong_lines:
        return {
            "id": ex.id,
            "kind": "lines",
            "lines": source_lines(ex.skeleton),
            "hints": rungs(ex.hint),
            "sealed": sealed([number - 1 for number, _ in ex.wrong_lines], ex.id),
        }
    return {"id": ex.id, "kind": "kernel", "skeleton": ex.skeleton}


def label_of(ex: PredictionExercise, question: str) -> str:
    """Return a question as HTML; if it is a letter, with the statement's text about this letter.

    If several sentences have the letter, the text is the last one.
    """
    item = re.search(
        rf"^- {re.escape(question)}: (.+(?:\n  .+)*)|\bAnd {re.escape(question)}: ([^;.?]+)",
        ex.statement,
        re.MULTILINE,
    )
    if item is None or len(question) != 1:
        return MARKDOWN.renderInline(question)
    words = BETWEEN.split(" ".join((item[1] or item[2]).split()))[-1]
    ending = ";,." if words[0].isupper() else ";,.?"  # a list of cases ends with a question mark
    return MARKDOWN.renderInline(f"{question}: {words.rstrip(ending)}")


def rungs(hint: str) -> list[str]:
    """Return a hint as HTML, one sentence per step: each says more than the one before."""
    parts: list[str] = []
    for sentence in BETWEEN.split(hint):
        if parts and parts[-1].count("`") % 2:
            parts[-1] += f" {sentence}"
        else:
            parts.append(sentence)
    return [MARKDOWN.renderInline(part) for part in parts]


def source_lines(text: str) -> list[str]:
    """Return each line of a source as HTML, in the colors of the book's listings."""
    return highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")


def sealed(value: Any, key: str) -> str:
    """Return `value` encoded as text; ``answers.js`` decodes it with the same key."""
    text = json.dumps(value).encode()
    mixed = bytes(sign ^ part for sign, part in zip(text, itertools.cycle(key.encode())))
    return base64.b64encode(mixed).decode()


def as_json(value: Any) -> str:
    """Return JSON that is safe within a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
