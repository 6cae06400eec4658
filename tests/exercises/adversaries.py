"""Answers that try the judge, as edits of the book's solutions, in a file for each chapter.

In a file of `adversaries/`, ``# simt-2`` begins a task. An answer begins with its kind, its name
and a part of the report. The edit of the solution follows, as in a diff: lines that go, lines that
come, lines between. ``-...`` stands for any lines, and ``@@`` separates two edits.

skeleton
    The bare skeleton, without a name.
near, copied
    A wrong answer, and an answer of the chapter that was fitted to the parameters.
lazy
    A right answer whose work is not shared: ``for i in MINE(thread, n)`` gives one thread of
    `APART` all of their numbers below n.
right
    A right answer of another kind.
harmless
    A slip of :mod:`mutants` in a line, without its indentation, that leaves the solution right.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from gpukernels.exercises import CATALOG
from gpukernels.exercises.judge.effort import COMPLETE
from gpukernels.exercises.judge.exercise import KernelExercise, PredictionExercise
from gpukernels.exercises.tasks import EXERCISES
from gpukernels.simt import python_function

COMPLETIONS = [name for name, ex in CATALOG.items() if ex.kind == COMPLETE]
#: The kernels to write and to mend.
KERNELS = [
    name for name, ex in CATALOG.items() if isinstance(ex, KernelExercise) and ex.kind != COMPLETE
]
PREDICTIONS = [name for name, ex in CATALOG.items() if isinstance(ex, PredictionExercise)]
#: The name of a chapter's module, and of its notebook, by how its exercises' ids begin.
NOTEBOOK = {those[0].id.rpartition("-")[0]: name for name, those in EXERCISES.items()}
#: Stands before each answer: names that an edit may use.
NAMES = (
    "from numba import cuda, float32, float64, int32\n\n"
    "from gpukernels.device import benign_race\n\n"
)
#: The first line of an answer.
HEAD = re.compile(r"^(?P<kind>[a-z]+):(?P<name>.*?)(?: \| ?(?P<says>.+))?$", re.MULTILINE)
MINE = re.compile(r"MINE\((.+), (.+?)\):$", re.MULTILINE)


class Adversary(NamedTuple):
    """An answer that tries the judge of a task."""

    task: str
    kind: str
    name: str
    says: str
    edits: tuple[tuple[str, str], ...]

    def text(self, apart: int = 32) -> str:
        """Return the answer's source; of a lazy one, one thread of `apart` works."""
        text = CATALOG[self.task].solution.text
        for old, new in self.edits:
            pattern = ".*?\n".join(map(re.escape, old.split("...\n")))
            assert len(re.findall(pattern, text, re.DOTALL)) == 1, (self.name, old)
            text = re.sub(pattern, lambda match, new=new: new, text, flags=re.DOTALL)
        mine = rf"range(\1, min(\1 + {apart}, \2) if (\1) % {apart} == 0 else 0):"
        return f"{NAMES}APART = {apart}\n\n{MINE.sub(mine, text)}"


def _adversaries(file: Path) -> list[Adversary]:
    tasks = re.split(r"^# (.+)$", file.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [
        Adversary(task, head["kind"], head["name"].strip(), head["says"] or "", _edits(edits))
        for task, text in zip(tasks[::2], tasks[1::2], strict=True)
        for head, edits in zip(HEAD.finditer(text), HEAD.split(text)[4::4], strict=True)
    ]


def _edits(text: str) -> tuple[tuple[str, str], ...]:
    parts = [part.strip("\n").split("\n") for part in text.split("\n@@\n")]
    return tuple(_edit(lines) for lines in parts if lines != [""])


def _edit(lines: list[str]) -> tuple[str, str]:
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
    return old, "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")


FILES = sorted((Path(__file__).parent / "adversaries").glob("*.txt"))
EVERY = [adversary for file in FILES for adversary in _adversaries(file)]


def of_kind(*kinds: str) -> dict[str, Adversary]:
    """Return the adversaries of some kinds, by task and name."""
    return {f"{a.task} {a.name}".strip(): a for a in EVERY if a.kind in kinds}


def module_of(text: str, folder: Path, name: str = "answer") -> ModuleType:
    """Return the module that a source makes, from a file of this name in `folder`."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_of(ex: KernelExercise, text: str, folder: Path, name: str = "answer"):
    """Return the kernel of an exercise that a source defines, as a notebook's cell would."""
    return getattr(module_of(text, folder, name), python_function(ex.solution.answer).__name__)
