"""The answer of the checker: a short list of passed and failed findings, with the place."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .case import Case
from .looking import Note


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    passed: bool
    #: A sentence.
    text: str
    #: Further lines: the source line, the block and the thread.
    details: tuple[str, ...] = ()
    #: Returns the view of the place.
    look: Callable[[], object] | None = field(default=None, compare=False, repr=False)
    #: The input on which it was found.
    case: Case | None = field(default=None, compare=False, repr=False)


class Report:
    """The answer to one attempt; prints as text, shows as HTML, and is true if all is well.

    Parameters
    ----------
    name : str
        Id and title of the exercise.
    findings : list of Finding
        The findings, in the order of the checks; after the first failure few checks follow.
    seed : int, optional
        Seed of the inputs that are new in every check.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("shared-2")
    >>> report = ex.check(ex.solution, seed=1)
    >>> report.passed, len(report.findings)
    (True, 8)
    """

    def __init__(self, name: str, findings: list[Finding], seed: int | None = None):
        self.name = name
        self.findings = findings
        self.seed = seed

    @property
    def passed(self) -> bool:
        """Whether every finding holds."""
        return all(finding.passed for finding in self.findings)

    def __bool__(self) -> bool:
        return self.passed

    def show(self):
        """Open the view of the place that the report names.

        Returns
        -------
        WarpView or Note
            For an answer that is not right, the warp that failed, at the step at which it failed.
            For a prediction, the launches in which the machine counted. For a right answer, its
            first launch. If nothing has been launched, a sentence.
        """
        failed = [finding for finding in self.findings if not finding.passed]
        for finding in failed or self.findings:
            if finding.look is not None:
                return finding.look()
        text = failed[0].text if failed else self.name
        return Note(f"{text}. Nothing has run, so that there is no launch to look at.")

    @property
    def verdict(self) -> str:
        """The first words of the report: "solved" or "not yet"."""
        return "solved" if self.passed else "not yet"

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.verdict}"]
        for finding in self.findings:
            lines.append(f"  {'✓' if finding.passed else '✗'} {finding.text}")
            lines += [f"      {line}" for line in finding.details]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = "".join(_item(finding) for finding in self.findings)
        color = "#009e73" if self.passed else "#d55e00"
        return (
            f'<div class="gk-report" style="border-left:4px solid {color};padding-left:0.8em">'
            f"<strong>{html.escape(self.name)}: {self.verdict}</strong>"
            f'<ul style="list-style:none;margin:0.3em 0;padding:0">{items}</ul></div>'
        )


def _item(finding: Finding) -> str:
    sign = "✓" if finding.passed else "✗"
    more = "\n".join(html.escape(line) for line in finding.details)
    if more:
        style = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0.2em 0 0.2em 1.4em;padding:0"
        more = f'<pre style="{style};border:0;background:none">{more}</pre>'
    text = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(finding.text))
    return f"<li>{sign} {text}{more}</li>"


class ExerciseFailed(AssertionError):
    """An answer that is not right yet.

    Attributes
    ----------
    report : Report
        The findings.

    Examples
    --------
    >>> import gpukernels as gk
    >>> ex = gk.exercise("shared-2")
    >>> try:
    ...     ex.check(print)
    ... except gk.ExerciseFailed as failed:
    ...     failed.report
    shared-2 (wake the lanes): not yet
      ✗ a @cuda.jit kernel is wanted here, and this is of type builtin_function_or_method
    """

    def __init__(self, report: Report):
        super().__init__(repr(report))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this instead of a traceback, whose frames would all be the checker's.
        return [f"{type(self).__name__}: {self.report!r}"]
