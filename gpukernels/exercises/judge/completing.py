"""Exercises that leave lines out of a kernel which the chapter prints."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gpukernels.simt import python_function

from .case import Budget
from .checking import unfit
from .exercise import KernelExercise
from .report import Finding
from .skeleton import Gap
from .words import words


class CompletionExercise(KernelExercise):
    """Fill in lines; an answer must keep all others.

    Parameters
    ----------
    id : str
        The chapter's, and ``-line`` or ``-lines``.
    **judged
        As for :class:`KernelExercise`, with a `gap`. No budget is needed, since the lines that are
        given say how the work is shared.
    """

    def __init__(self, id: str, **judged: Any):
        judged.setdefault("budgets", _no_budgets)
        super().__init__(words(id), **judged)

    def _findings(self, answer: Any, seed: int) -> list[Finding]:
        fault = unfit(answer, self.parameters, self.benign) or self._changed(answer)
        return super()._findings(answer, seed) if fault is None else [fault]

    def _changed(self, answer: Any) -> Finding | None:
        """Return what is wrong if a kernel lacks a line of the skeleton."""
        kernel = python_function(answer)
        for definition in ast.parse(self.skeleton).body:
            if not isinstance(definition, ast.FunctionDef):
                continue
            function = kernel
            if definition.name != self.answer_name:
                function = python_function(kernel.__globals__.get(definition.name))
            try:
                written = _statements(inspect.getsource(function))
            except (OSError, TypeError):
                said = f"the source of `{definition.name}` cannot be read: define it in a cell"
                return Finding(False, said)
            for line in _statements(ast.unparse(definition)):
                if line not in written:  # which goes on behind the line that it has found
                    said = f"`{line}` of `{definition.name}` is missing: add lines and change none"
                    return Finding(False, said)
        return None


def _statements(source: str) -> Iterator[str]:
    """Yield the lines of a function as Python writes them: no comment, no docstring, no mark."""
    (function,) = ast.parse(textwrap.dedent(source)).body
    body = function.body  # type: ignore[attr-defined]
    if ast.get_docstring(function) is not None:  # type: ignore[arg-type]
        del body[0]
    if body:
        yield from (line.strip() for line in ast.unparse(body).splitlines())


def _no_budgets(case_of: Callable) -> Sequence[Budget]:
    return ()


def completions(
    chapter: str, line: Gap, lines: Gap, **judged: Any
) -> tuple[CompletionExercise, ...]:
    """Return a chapter's two exercises on a printed kernel: one line is left out, then some.

    `judged` is what both have: `parts` and the rest, as for :class:`CompletionExercise`.
    """
    gaps = {f"{chapter}-line": line, f"{chapter}-lines": lines}
    return tuple(CompletionExercise(id, gap=gap, **judged) for id, gap in gaps.items())
