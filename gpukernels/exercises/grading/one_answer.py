"""Judge one answer, in a process of its own: `python -m gpukernels.exercises.grading.one_answer`.

Standard input has the task, the student's address, whether it draws the numbers, the answer's file,
the seed, the file for the verdict and the limits. The answer is a program of a student. The limits
keep it from taking the machine, and a process of its own from changing how others are judged; it is
no prison.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from gpukernels.exercises.judge.exercise import Exercise

from .folder import task_for


def limit(seconds: int, memory: int) -> None:
    """Let this process use so many seconds of a core and so many bytes, where Python can say so."""
    try:
        import resource  # there is none on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def answer_of(exercise: Exercise, file: Path) -> Any:
    """Run a student's answer; return the kernel or the prediction that it makes."""
    name = exercise.answer_name
    spec = importlib.util.spec_from_file_location("answer", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise NameError(f"the answer defines no {name}")
    return getattr(module, name)


def verdict(task: str, email: str, varies: bool, file: Path, seed: int) -> dict[str, Any]:
    """Return whether a student's answer is right, and the words of its report."""
    exercise = task_for(task, email, varies)
    try:
        report = exercise.check(answer_of(exercise, file), raises=False, seed=seed)
    except Exception as error:
        return {"passed": False, "feedback": f"it does not run: {type(error).__name__}: {error}"}
    wrong = [finding.text for finding in report.findings if not finding.passed]
    return {"passed": report.passed, "feedback": "; ".join(wrong) or "right"}


def main() -> None:
    """Judge the answer that standard input names."""
    request = json.loads(sys.stdin.read())
    limit(request["seconds"], request["memory"])
    file = Path(request["file"])
    result = verdict(request["task"], request["email"], request["varies"], file, request["seed"])
    Path(request["into"]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
