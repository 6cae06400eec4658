"""An exercise: statement, skeleton, hint, solution, and a checker that judges an answer."""

from __future__ import annotations

import inspect
import numbers
import secrets
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpukernels.checks import check_flag, check_seed
from gpukernels.errors import InvalidArgument
from gpukernels.simt import python_function

from . import effort, logbook, predicting
from .bench import in_short
from .case import Budget, Case, CaseOf
from .checking import check_kernel, unfit
from .inputs import Draw, Inputs
from .record import record_of
from .report import ExerciseFailed, Finding, Report
from .running import VisibleRun, run_visibly
from .skeleton import HERE, Gap, skeleton_text, solution_text
from .variants import Variants
from .words import Words
from .words import words as words_of


class ReadOnly:
    """An object that a reader may read; attributes cannot be replaced once it has been made.

    Raises
    ------
    AttributeError
        If an attribute is set or deleted; nothing has changed then.
    """

    _made = False

    def __setattr__(self, name: str, value: object) -> None:
        if self._made:
            raise AttributeError(
                f"{self._name_of(name)} cannot be replaced; pass an answer of your own to check()"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self._name_of(name)} cannot be deleted")

    def _name_of(self, attribute: str) -> str:
        return f"{getattr(self, 'id', type(self).__name__)}: `{attribute}`"


class Solution(ReadOnly):
    """A solution: its text, what to pass to the checker, and why it is right.

    Attributes
    ----------
    text : str
        Source, which adds lines to the skeleton and changes none.
    why : str
        The explanation, in Markdown.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("simt-1")
    >>> sorted(ex.solution.answer)
    ['a', 'b', 'c', 'd']
    >>> ex.check(ex.solution).passed
    True
    """

    def __init__(self, text: str, answer: object, why: str):
        self.text = text
        self._answer = answer
        self.why = why
        self._made = True

    @property
    def answer(self) -> object:
        """The kernel, or the prediction as a dict, which is a copy."""
        return dict(self._answer) if isinstance(self._answer, dict) else self._answer

    def __repr__(self) -> str:
        return f"{self.text}\n{self.why}"

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}```\n\n{self.why}"


class Exercise(ReadOnly):
    """The common part of all exercises; shows itself as statement and hint.

    Attributes
    ----------
    id : str
        Chapter and number: "bfs-3".
    title : str
        A few words, which no other exercise has.
    kind : str
        Kind of work: "predict", "complete lines", "find the bug" or "write a kernel".
    level : str
        "easy", "medium" or "hard".
    minutes : int
        About how long it takes: an estimate from the length of the text and of the answer.
    teaches : str
        The words that follow "You learn".
    statement, hint : str
        Markdown.
    skeleton : str
        Source to begin with, to be printed or copied.
    solution : Solution
        Do not look yet.
    wants : str
        The kind of argument of the checker: "a kernel" or "a prediction".
    place : str
        The name that :func:`exercise` finds it by: the id, or the place of a task of your own.
    variant : int, str or None
        The seed with which :func:`exercise` has made it; None if it is the same for everyone.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("shared-2")
    >>> ex.title, ex.kind, ex.level, ex.minutes
    ('wake the lanes', 'write a kernel', 'medium', 40)
    >>> ex.check(ex.solution, seed=1).passed
    True
    >>> report = ex.check("no kernel", raises=False, seed=1)
    >>> record = ex.record()
    >>> record["task"], record["verdict"], record["seed"], record["answer"]
    ('shared-2', 'not yet', 1, "'no kernel'")
    """

    wants = ""
    variant: int | str | None = None

    def __init__(self, words: Words, kind: str, skeleton: str, solution: Solution, minutes: int):
        self.id = self.place = words.id
        self.title = words.title
        self.kind = kind
        self.level = words.level
        self.minutes = minutes
        self.teaches = words.teaches
        self.statement = words.statement
        self.hint = words.hint
        self.skeleton = skeleton
        self.solution = solution

    @property
    def answer_name(self) -> str:
        """The name of the answer in the skeleton: its kernel's name, or ``prediction``."""
        return getattr(self.solution.answer, "__name__", "prediction")

    @property
    def about(self) -> str:
        """Kind, level, minutes, and what one learns, in two sentences."""
        facts = effort.in_words(self.kind, self.level, self.minutes)
        return f"{facts}. You learn {self.teaches}."

    def check(self, answer: Any, raises: bool = True, *, seed: int | None = None) -> Report:
        """Judge an answer.

        Parameters
        ----------
        answer : kernel, number or dict
            The answer to the statement. A :class:`Solution` stands for its answer.
        raises : bool
            Whether an answer that is not right raises; otherwise its report is only returned.
        seed : int, optional
            Seed of the inputs that are new in every check, from 0 on. By default it is
            new; the report of an answer that fails on such an input names it.

        Returns
        -------
        Report
            The results of the check.

        Raises
        ------
        ExerciseFailed
            If `raises` and the answer is not right.
        InvalidArgument
            If `seed` cannot seed NumPy's generators: a whole number from 0 can.
        """
        raises = check_flag("raises", raises)
        if seed is None:
            seed = secrets.randbelow(1_000_000)
        else:
            seed = check_seed(seed)
        own = not isinstance(answer, Solution)
        if isinstance(answer, Solution):
            answer = answer.answer
        try:
            findings = self._findings(answer, seed)
        except Exception as error:  # an answer may be an object that raises when it is looked at
            kind = type(answer).__name__
            findings = [Finding(False, f"this {kind} cannot be judged: {in_short(error)}")]
        report = Report(f"{self.id} ({self.title})", findings, seed)
        if own:
            self._note(answer, report)
        if raises and not report.passed:
            raise ExerciseFailed(report)
        return report

    def _note(self, answer: Any, report: Report) -> None:
        """Keep for `exercises` what has been solved or tried; a bare skeleton is neither."""
        if not report.passed and self._is_skeleton(answer):
            return
        before = logbook.record(self.id)
        tries = 1 if before is None else before["tries"] + 1
        state = logbook.SOLVED if report.passed else logbook.TRIED
        logbook.note(self.id, state, record_of(self.id, self.variant, answer, report, tries))

    def record(self) -> dict[str, Any]:
        """Return the record of the last check of your own answer, ready for ``json.dumps``.

        A bare skeleton is no answer, and neither is the book's solution. If no file is kept, the
        last check of this process counts; see :func:`exercises` for the file.

        Returns
        -------
        dict
            The "task" is the id of the exercise, next to its "variant". The "verdict" is "solved"
            or "not yet". The "seed" drew the inputs, and "tries" is the number of checks so far.
            The "answer" is its source with the device functions that it calls, or a prediction as
            text. The "version" belongs to `gpukernels`; the "time" is in UTC, as in ISO 8601.

        Raises
        ------
        InvalidArgument
            If no answer has been checked.
        """
        record = logbook.record(self.id)
        if record is None:
            allowed = "an exercise whose answer has been checked: call check(answer) first"
            raise InvalidArgument("id", self.id, allowed)
        return dict(record)

    def run(self, answer: Any, schedule: str = "lockstep", seed: int = 0) -> VisibleRun:
        """Run an answer on one input that you may look at.

        Parameters
        ----------
        answer : kernel
            The answer to the statement. A :class:`Solution` stands for its answer.
        schedule : {"lockstep", "warp", "random"}
            Which warps go together.
        seed : int
            Seed of the random schedule.

        Returns
        -------
        VisibleRun
            Inputs, results and trace; also if the kernel fails.

        Raises
        ------
        ExerciseFailed
            If `answer` is nothing that can be launched.
        InvalidArgument
            If the exercise wants a prediction.
        """
        raise InvalidArgument(
            "answer",
            answer,
            f"checked, not run: {self.id} wants {self.wants}, and "
            "check(prediction, raises=False).show() opens what the machine counts",
        )

    def _findings(self, answer: Any, seed: int) -> list[Finding]:
        raise NotImplementedError

    def _is_skeleton(self, answer: Any) -> bool:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.id}: {self.title}\n{self.about}\n\n{self.statement}\n\n{self.skeleton}"

    # No skeleton: a chapter holds it in the next cell, where it can be completed.
    def _repr_markdown_(self) -> str:
        text = f"*{self.about}*\n\n{self.statement}"
        hint = f"<details><summary>Hint</summary>\n\n{self.hint}\n\n</details>"
        return f"{text}\n\n{hint}" if self.hint else text


class KernelExercise(Exercise):
    """An exercise to write, change or repair a kernel.

    Parameters
    ----------
    words : Words or str
        The texts of the exercise, or its id: the book's texts are in Markdown.
    parts : tuple of functions
        The solution: device functions, then the kernel. Lines marked ``# added`` are what the
        skeleton lacks; without marks, `gap` says which.
    inputs, case, budgets
        The hidden inputs; a function that makes a case of a name and an input; and a function that
        takes `case` and returns the bounds on counters.
    writes, benign : collection of str
        Parameters that the kernel may write: a store to any other array is an error. Arrays on
        which it may declare a benign race.

    Attributes
    ----------
    wrong_lines : tuple of (int, str)
        If there is a bug to find: number and text of the skeleton's lines that are wrong, that
        have a missing line next to them, or that a check of the skeleton names.
    """

    wants = "a kernel"

    def __init__(
        self,
        words: Words | str,
        *,
        parts: tuple,
        inputs: Inputs,
        case: CaseOf,
        budgets: Callable[[CaseOf], Sequence[Budget]],
        writes: Collection[str],
        benign: Collection[str] = (),
        imports: str = "from numba import cuda",
        gap: Gap | None = None,
    ):
        words = words_of(words) if isinstance(words, str) else words
        text = solution_text(imports, *parts, gap=gap)
        solution = Solution(text, parts[-1], words.why)
        skeleton = skeleton_text(imports, *parts, gap=gap)
        kind = effort.FIND if words.lines else effort.WRITE if gap is None else effort.COMPLETE
        missing = len(text.splitlines()) - len(skeleton.splitlines())
        minutes = effort.minutes_of(kind, words.level, words.statement, skeleton, missing)
        super().__init__(words, kind, skeleton, solution, minutes)
        self._inputs, self._case, self._budgets = inputs, case, budgets
        self.writes = frozenset(writes)
        self.benign = frozenset(benign)
        self.wrong_lines = words.lines
        self.parameters = tuple(inspect.signature(python_function(parts[-1])).parameters)
        self._made = True

    def cases(self) -> tuple[Case, ...]:
        """Return the hidden inputs that are the same in every check."""
        fixed = self._inputs.fixed()
        return tuple(self._guarded(self._case(*named)) for named in fixed.items())

    def drawn(self, seed: int) -> tuple[Case, ...]:
        """Return the hidden inputs of the check with this seed alone."""
        drawn = self._inputs.draw(np.random.default_rng(seed))
        return tuple(
            self._guarded(self._case(name, value), self._inputs.describe(value))
            for name, value in drawn.items()
        )

    def budgets(self) -> tuple[Budget, ...]:
        """Return the bounds on counters."""
        bounds = self._budgets(self._case)
        return tuple(replace(bound, case=self._guarded(bound.case)) for bound in bounds)

    def _guarded(self, case: Case, detail: str = "") -> Case:
        """Return the case with its inputs protected from stores."""
        return replace(case, writes=self.writes, detail=detail)

    def run(self, answer: Any, schedule: str = "lockstep", seed: int = 0) -> VisibleRun:
        """Run a kernel on one input that you may look at; see :meth:`Exercise.run`."""
        if isinstance(answer, Solution):
            answer = answer.answer
        fault = unfit(answer, self.parameters, self.benign)
        if fault is not None:
            raise ExerciseFailed(Report(f"{self.id} ({self.title})", [fault]))
        return run_visibly(answer, self.cases()[0], self.solution.answer, schedule, seed)

    def _findings(self, answer: Any, seed: int) -> list[Finding]:
        return check_kernel(answer, self, seed)

    def _is_skeleton(self, answer: Any) -> bool:
        try:
            source = inspect.getsource(python_function(answer))
        except Exception:  # no function, or one whose source is nowhere
            return False
        return textwrap.dedent(source).strip() in self.skeleton


class PredictionExercise(Exercise):
    """Predict counters before you run anything.

    A prediction is compared with the counts that `measure` returns by question, and not with
    `answer`, which shows them. With `variants`, the arguments of `measure` differ by seed.
    """

    wants = "a prediction"

    def __init__(
        self,
        words: Words | str,
        *,
        answer: dict[str, int],
        measure: Callable[..., dict[str, int]],
        variants: Variants | None = None,
    ):
        words = words_of(words) if isinstance(words, str) else words
        self._template, self._variants = (words, measure), variants
        if variants is not None:
            words, measure = variants.usual_task(words, measure)
        questions = "".join(f'# prediction["{key}"] = ...\n' for key in answer)
        skeleton = f"prediction = {{}}\n{HERE}\n{questions}"
        lines = "".join(f'prediction["{key}"] = {value}\n' for key, value in answer.items())
        solution = Solution(skeleton + lines, answer, words.why)
        minutes = effort.minutes_of(
            effort.PREDICT, words.level, words.statement, "", asked=len(answer)
        )
        super().__init__(words, effort.PREDICT, skeleton, solution, minutes)
        self.questions = tuple(answer)
        self._hinted: predicting.Hinted = {}
        self.measure = measure
        self._made = True

    @property
    def varies(self) -> bool:
        """Whether a seed gives this task other numbers."""
        return self._variants is not None

    def drawn(self, rng: Draw) -> PredictionExercise | None:
        """Return this task with drawn numbers and their counts; None if it has no others."""
        if self._variants is None:
            return None
        words, measure = self._variants.drawn_task(*self._template, rng)
        return PredictionExercise(words, answer=measure(), measure=measure)

    def _findings(self, answer: Any, seed: int) -> list[Finding]:
        if isinstance(answer, numbers.Real) and len(self.questions) == 1:
            answer = {self.questions[0]: answer}
        return predicting.findings(answer, self.questions, self.measure, self._hinted)

    def _is_skeleton(self, answer: Any) -> bool:
        # A plain dict: one of another kind may do anything when it is asked.
        return type(answer) is dict and all(answer.get(key) is None for key in self.questions)
