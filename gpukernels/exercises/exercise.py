"""An exercise: statement, skeleton, hint, solution, and a checker that judges an answer."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Collection

import numpy as np

from gpukernels.checks import check_flag
from gpukernels.simt import python_function

from .case import Budget, Case
from .checking import check_kernel
from .report import ExerciseFailed, Finding, Report
from .skeleton import HERE, skeleton_text, solution_text


class Solution:
    """A solution: its text, what to pass to the checker, and why it is right.

    Attributes
    ----------
    text : str
        Source, which adds lines to the skeleton and changes none.
    answer : object
        The kernel, or the prediction as a dict.
    why : str
        The explanation, in Markdown.
    """

    def __init__(self, text: str, answer: object, why: str):
        self.text = text
        self.answer = answer
        self.why = why

    def __repr__(self) -> str:
        return f"{self.text}\n{self.why}"

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}```\n\n{self.why}"


class Exercise:
    """What every exercise has; shows itself as statement, hint and skeleton.

    Attributes
    ----------
    id : str
        Chapter and number: "bfs-3".
    title : str
        A few words.
    statement, hint : str
        Markdown.
    skeleton : str
        Source to begin with.
    solution : Solution
        Do not look yet.
    wants : str
        What the checker takes: "a kernel" or "a prediction".
    """

    wants = ""

    def __init__(self, id: str, title: str, statement: str, hint: str, skeleton: str, solution):
        self.id = id
        self.title = title
        self.statement = inspect.cleandoc(statement)
        self.hint = inspect.cleandoc(hint)
        self.skeleton = skeleton
        self.solution = solution

    def check(self, answer, raises: bool = True) -> Report:
        """Judge an answer.

        Parameters
        ----------
        answer : kernel, number or dict
            What the statement asks for. A :class:`Solution` stands for its answer.
        raises : bool
            Whether an answer that is not right raises; otherwise its report is only returned.

        Returns
        -------
        Report
            What holds and what does not.

        Raises
        ------
        ExerciseFailed
            If `raises` and the answer is not right.
        """
        raises = check_flag("raises", raises)
        if isinstance(answer, Solution):
            answer = answer.answer
        report = Report(f"{self.id} ({self.title})", self._findings(answer))
        if raises and not report.passed:
            raise ExerciseFailed(report)
        return report

    def _findings(self, answer) -> list[Finding]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.id}: {self.title}\n\n{self.statement}\n\n{self.skeleton}"

    def _repr_markdown_(self) -> str:
        return (
            f"{self.statement}\n\n"
            f"<details><summary>Hint</summary>\n\n{self.hint}\n\n</details>\n"
            "<details><summary>Skeleton, to copy</summary>\n\n"
            f"```python\n{self.skeleton}```\n\n</details>"
        )


class KernelExercise(Exercise):
    """Write, change or mend a kernel.

    Parameters
    ----------
    id, title, statement, hint
        As for :class:`Exercise`.
    why : str
        What the solution shows, in Markdown.
    parts : tuple of functions
        The solution: device functions, then the kernel. Lines marked ``# added`` are what the
        skeleton lacks.
    imports : str
        What skeleton and solution import.
    cases : callable
        Returns the hidden inputs.
    budgets : callable
        Returns the bounds on counters.
    benign : collection of str
        Arrays on which the kernel may declare a benign race.
    """

    wants = "a kernel"

    def __init__(
        self,
        id: str,
        title: str,
        statement: str,
        hint: str,
        why: str,
        *,
        parts: tuple,
        imports: str,
        cases: Callable[[], list[Case]],
        budgets: Callable[[], list[Budget]] = list,
        benign: Collection[str] = (),
    ):
        text = solution_text(imports, *parts)
        solution = Solution(text, parts[-1], inspect.cleandoc(why))
        super().__init__(id, title, statement, hint, skeleton_text(imports, *parts), solution)
        self.cases = cases
        self.budgets = budgets
        self.benign = frozenset(benign)
        self.parameters = list(inspect.signature(python_function(parts[-1])).parameters)

    def _findings(self, answer) -> list[Finding]:
        return check_kernel(answer, self.parameters, self.cases(), self.budgets(), self.benign)


class PredictionExercise(Exercise):
    """Predict counters before you run anything.

    Parameters
    ----------
    id, title, statement, hint
        As for :class:`Exercise`.
    why : str
        How to arrive at the numbers, in Markdown.
    answer : dict
        What the machine counts, by question.
    measure : callable
        Counts it. The prediction is compared with this and not with `answer`.
    """

    wants = "a prediction"

    def __init__(
        self,
        id: str,
        title: str,
        statement: str,
        hint: str,
        why: str,
        *,
        answer: dict[str, int],
        measure: Callable[[], dict[str, int]],
    ):
        questions = "".join(f'# prediction["{key}"] = ...\n' for key in answer)
        skeleton = f"prediction = {{}}\n{HERE}\n{questions}"
        lines = "".join(f'prediction["{key}"] = {value}\n' for key, value in answer.items())
        solution = Solution(skeleton + lines, answer, inspect.cleandoc(why))
        super().__init__(id, title, statement, hint, skeleton, solution)
        self.questions = tuple(answer)
        self.measure = measure

    def _findings(self, answer) -> list[Finding]:
        if isinstance(answer, numbers.Real) and len(self.questions) == 1:
            answer = {self.questions[0]: answer}
        if not isinstance(answer, dict):
            return [Finding(False, f"a dict is wanted here, and this is a {type(answer).__name__}")]
        unknown = [key for key in answer if key not in self.questions]
        if unknown:
            asked = ", ".join(repr(key) for key in self.questions)
            return [Finding(False, f"nobody asked for {unknown[0]!r}; the questions are {asked}")]
        counted = self.measure()
        return [_compare(key, answer.get(key), counted[key]) for key in self.questions]


def _compare(key: str, guess: object, counted: int) -> Finding:
    if guess is None:
        return Finding(False, f"{key}: no prediction yet")
    if isinstance(guess, bool) or not isinstance(guess, (numbers.Real, np.number)):
        return Finding(False, f"{key}: {guess!r} is not a number")
    if guess == counted:
        return Finding(True, f"{key}: {counted:,}")
    if guess != guess:
        return Finding(False, f"{key}: {guess} is not a number")
    way = "more" if guess > counted else "fewer"
    return Finding(False, f"{key}: {guess:,} is {way} than the machine counts")
