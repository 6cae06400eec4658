"""Exercises that leave lines out of a kernel which the chapter prints."""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from gpukernels.simt import python_function

from .bench import attempt
from .case import Budget, Case
from .checking import unfit
from .counters import busiest_warp, by_one_thread, sharing
from .exercise import KernelExercise
from .report import Finding
from .skeleton import Gap

#: How many times as many memory requests as the printed kernel's a warp of an answer may make.
SLACK = 2


class CompletionExercise(KernelExercise):
    """Fill in lines; an answer must keep all others.

    In addition to `budgets`, a warp may make at most `SLACK` times the memory requests of the
    printed kernel's busiest warp. They are counted on the fixed input whose work this kernel shares
    among most threads, so that one thread cannot do all of it.
    """

    def __init__(self, id: str, budgets: Any = None, **judged: Any):
        self._further = budgets
        super().__init__(id, budgets=self._sharing, **judged)

    def _sharing(self, case_of: Any) -> Sequence[Budget]:
        case, requests = self._shared
        further = () if self._further is None else self._further(case_of)
        return (sharing(SLACK * requests)(case), *further)

    @functools.cached_property
    def _shared(self) -> tuple[Case, int]:
        """The input on which one thread would be busiest, and requests of the printed kernel."""
        shares = []
        for case in self.cases():
            trace = attempt(self.solution.answer, case, trace=True).device.trace
            requests = busiest_warp(trace)
            shares.append((by_one_thread(trace) / max(requests, 1), case, requests))
        _, case, requests = max(shares, key=operator.itemgetter(0))
        return case, requests

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
                fault = f"the source of `{definition.name}` cannot be read: define it in a cell"
                return Finding(False, fault)
            for line in _statements(ast.unparse(definition)):
                if line not in written:  # which goes on behind the line that it has found
                    fault = f"`{line}` of `{definition.name}` is missing: add lines and change none"
                    return Finding(False, fault)
        return None


def _statements(source: str) -> Iterator[str]:
    """Yield the lines of a function as Python writes them: no comment, no docstring, no mark."""
    (function,) = ast.parse(textwrap.dedent(source)).body
    body = function.body  # type: ignore[attr-defined]
    if ast.get_docstring(function) is not None:  # type: ignore[arg-type]
        del body[0]
    if body:
        yield from (line.strip() for line in ast.unparse(body).splitlines())


def completions(
    chapter: str, line: str, lines: tuple[str, int], **judged: Any
) -> tuple[CompletionExercise, ...]:
    """Return a chapter's two exercises on a printed kernel: one line is left out, then some.

    `line` is that line; `lines` are the first of some and their number. `judged` is what both have:
    `parts` and the rest, as for :class:`CompletionExercise`.
    """
    gaps = {f"{chapter}-line": Gap(line), f"{chapter}-lines": Gap(*lines)}
    return tuple(CompletionExercise(id, gap=gap, **judged) for id, gap in gaps.items())
