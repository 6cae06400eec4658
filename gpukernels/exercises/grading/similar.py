"""List kernels that are like another student's, or like the solution, by the library copydetect.

It compares fingerprints of the program texts, as MOSS does, in which every name is the same. The
skeleton, which all answers share, is left out. Predictions and bugs to find have one right answer
each and are not compared. Similar answers prove nothing: a short task has few right answers.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gpukernels.checks import needed

from ..judge.effort import WRITE
from ..judge.exercise import Exercise
from .folder import task_for
from .submission import Submission

#: Characters of a fingerprint, each name counted as one. The library's own default.
CHARACTERS = 25
#: Answers are listed if they have in common this share of the shorter one, beyond the skeleton.
#: In the tests, right answers that were written apart share at most 0.78, and renamed copies 1.
SHARE = 0.8
#: They must have this many characters in common, so that an answer of one line is not listed.
LEAST = 50
SOLUTION = "the solution"


class Pair(NamedTuple):
    """Two answers of one task, by their students or `SOLUTION`, and the share that they share."""

    task: str
    one: str
    other: str
    share: float


def similar(submissions: Sequence[Submission]) -> list[Pair]:
    """Return the similar answers of some notebooks, by task, the most similar first.

    Raises
    ------
    MissingTool
        If copydetect is not installed.
    """
    tasks = dict.fromkeys(answer.task for s in submissions for answer in s.answers)
    pairs: list[Pair] = []
    for task in tasks:
        exercise = task_for(task, "")
        if exercise.kind == WRITE:
            # A list, since a copy may have the address of its original.
            sources = [
                (submission.student, answer.source)
                for submission in submissions
                for answer in submission.answers
                if answer.task == task
            ]
            pairs += sorted(_pairs(exercise, sources), key=lambda pair: -pair.share)
    return pairs


def _pairs(exercise: Exercise, sources: list[tuple[str, str]]) -> list[Pair]:
    copydetect = needed("copydetect", "grading")
    hashes_of_skeleton = _fingerprint(copydetect, exercise.skeleton).hashes
    prints = [
        (name, _fingerprint(copydetect, source, np.array(sorted(hashes_of_skeleton))))
        for name, source in (*sources, (SOLUTION, exercise.solution.text))
    ]
    pairs = []
    for (one, its), (other, others) in combinations(prints, 2):
        common, shares, _ = copydetect.compare_files(its, others)
        if max(shares) >= SHARE and common >= LEAST:
            pairs.append(Pair(exercise.place, one, other, min(1.0, float(max(shares)))))
    return pairs


def _fingerprint(copydetect: Any, source: str, boilerplate: Sequence | np.ndarray = ()) -> Any:
    text = io.StringIO(_plain(source))
    return copydetect.CodeFingerprint("answer.py", CHARACTERS, 1, boilerplate, fp=text)


def _plain(source: str) -> str:
    """Return a source without imports, docstrings, comments and a layout of its own.

    They would be differences: copies without a docstring share 0.76 or more, and not 1.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    tree.body = [part for part in tree.body if not isinstance(part, ast.Import | ast.ImportFrom)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree) + "\n"
