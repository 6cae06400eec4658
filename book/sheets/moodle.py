"""Predictions and bugs to find as questions for Moodle, in Moodle's XML format.

https://docs.moodle.org/en/Moodle_XML_format: a prediction becomes a numerical question for each of
its numbers, and a bug a multiple choice among the lines of its kernel. Kernels to write are left
out, as Moodle cannot run them. Moodle was not at hand: a test reads the file back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from gpukernels.exercises.judge.exercise import Exercise, KernelExercise, PredictionExercise

#: The largest difference of a right number. Counters are whole numbers.
TOLERANCE = 0.001


def questions(tasks: Iterable[tuple[Exercise, int]]) -> str:
    """Return a file of questions about some tasks with their points; empty if there are none."""
    quiz = ElementTree.Element("quiz")
    for exercise, points in tasks:
        if isinstance(exercise, PredictionExercise):
            quiz.extend(_numerical(exercise, points))
        elif isinstance(exercise, KernelExercise) and exercise.wrong_lines:
            quiz.append(_choice(exercise, points))
    if not len(quiz):
        return ""
    ElementTree.indent(quiz, " ")
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return declaration + ElementTree.tostring(quiz, encoding="unicode") + "\n"


def _numerical(exercise: PredictionExercise, points: int) -> Iterator[ElementTree.Element]:
    for key, value in exercise.solution.answer.items():
        text = f"{exercise.statement}\n\nAnswer here **{key}**."
        question = _question("numerical", f"{exercise.id} {key}", text, exercise)
        _add(question, "defaultgrade", f"{points / len(exercise.questions):.4f}")
        answer = _add(question, "answer", None, fraction="100")
        _add(answer, "text", f"{float(value):.10g}")
        _add(answer, "tolerance", str(TOLERANCE))
        yield question


def _choice(exercise: KernelExercise, points: int) -> ElementTree.Element:
    text = (
        f"{exercise.statement}\n\n```python\n{exercise.skeleton}```\n\nChoose the line of the bug."
    )
    question = _question("multichoice", f"{exercise.id} line", text, exercise)
    _add(question, "defaultgrade", f"{points:.4f}")
    _add(question, "single", "true")
    _add(question, "shuffleanswers", "0")
    wrong = {number for number, _ in exercise.wrong_lines}
    for number, line in enumerate(exercise.skeleton.splitlines(), 1):
        if line.strip():
            fraction = "100" if number in wrong else "0"
            answer = _add(question, "answer", None, fraction=fraction, format="plain_text")
            _add(answer, "text", f"{number}: {line.strip()}")
    return question


def _question(kind: str, name: str, text: str, exercise: Exercise) -> ElementTree.Element:
    question = ElementTree.Element("question", type=kind)
    _add(_add(question, "name", None), "text", f"{name}: {exercise.title}")
    _add(_add(question, "questiontext", None, format="markdown"), "text", text)
    _add(_add(question, "generalfeedback", None, format="markdown"), "text", exercise.solution.why)
    return question


def _add(parent: ElementTree.Element, tag: str, text: str | None, **attributes: Any):
    child = ElementTree.SubElement(parent, tag, attributes)
    child.text = text
    return child
