"""Judge notebooks, each answer in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from gpukernels.cores import cores
from gpukernels.cores.progress import Progress

from .definitions import definitions
from .submission import Answer, Submission

#: Columns of the table. Moodle's gradebook imports the first four; a teacher reads the last one.
COLUMNS = "email", "points", "maximum", "feedback", "explanations"
#: Stands for an explanation that nobody has written.
NO_TEXT = "(none)"
#: The parts of an answer that count.
JUDGED = "imports, kernels and numbers"
#: Where the process of an answer runs.
ONE = "gpukernels.exercises.grading.one_answer"


@dataclass(frozen=True)
class Grade:
    """The points of one student, out of how many, and by task the reasons and the explanations."""

    email: str
    points: int
    maximum: int
    feedback: str
    explanations: str


@dataclass(frozen=True)
class Limits:
    """Limits of the process of one answer: seconds of a core, and bytes of memory."""

    seconds: int = 120
    memory: int = 8 << 30


def grades(submissions: Sequence[Submission], seed: int, limits: Limits) -> list[Grade]:
    """Return a grade for each notebook; all students have the hidden inputs of `seed`."""
    answers = [(answer, s.email) for s in submissions for answer in s.answers]
    with ThreadPoolExecutor(cores()) as pool, Progress("judged", len(answers), "answers") as bar:
        collected = []
        for verdict in pool.map(lambda one: judge(one[0], seed, limits, one[1]), answers):
            collected.append(verdict)
            bar.reach(len(collected))
    verdicts = iter(collected)
    return [_grade(s, [next(verdicts) for _ in s.answers]) for s in submissions]


def judge(answer: Answer, seed: int, limits: Limits, email: str = "") -> dict[str, Any]:
    """Return whether a student's answer is right, and the words of the checker."""
    with tempfile.TemporaryDirectory() as folder:
        file, into = Path(folder, "answer.py"), Path(folder, "verdict.json")
        try:
            source, left_out = definitions(answer.source)
        except SyntaxError as error:
            return {"passed": False, "feedback": f"it is no Python: {error.msg}"}
        file.write_text(source, encoding="utf-8")
        task = {"task": answer.task, "file": str(file), "into": str(into), "seed": seed}
        task |= {"email": email, "varies": answer.varies}
        task |= {"seconds": limits.seconds, "memory": limits.memory}
        try:
            subprocess.run(
                [sys.executable, "-m", ONE],
                input=json.dumps(task), text=True, capture_output=True, timeout=2 * limits.seconds,
                env={**os.environ, "GPUKERNELS_PROGRESS": "off", "GPUKERNELS_DEVICE": "simt"},
            )  # fmt: skip
            verdict = json.loads(into.read_text(encoding="utf-8"))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            spent = f"{limits.seconds} s and {limits.memory >> 20} MiB"
            verdict = {"passed": False, "feedback": f"it came to no end within {spent}"}
    if left_out and not verdict["passed"]:
        lines = ", ".join(map(str, left_out))
        verdict["feedback"] += f" (not judged: line {lines}; {JUDGED} are)"
    return verdict


def _grade(submission: Submission, verdicts: Sequence[dict[str, Any]]) -> Grade:
    both = list(zip(submission.answers, verdicts, strict=True))
    return Grade(
        submission.student,
        sum(answer.points for answer, verdict in both if verdict["passed"]),
        sum(answer.points for answer, _ in both),
        "\n".join(f"{answer.task}: {verdict['feedback']}" for answer, verdict in both),
        "\n".join(f"{a.task}: {submission.texts.get(a.task) or NO_TEXT}" for a, _ in both),
    )


def write(file: Path, rows: Iterable[Grade]) -> None:
    """Write a table of grades as CSV, with a line of `COLUMNS` at the top."""
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(COLUMNS)
        table.writerows(astuple(row) for row in rows)
