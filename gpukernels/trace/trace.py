"""The result of :func:`gpukernels.trace`: the record of launches, with a table of its counters."""

from __future__ import annotations

from dataclasses import dataclass

from gpukernels.trace.record import Record
from gpukernels.trace.summary import Summary, summarize


@dataclass(frozen=True)
class Trace(Record):
    """Everything that the SIMT machine recorded over one or more launches.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> trace = t.trace
    >>> len(trace.launches), len(trace.steps), len(trace.requests)
    (6, 192, 130)
    """

    def summary(self, by: str = "kernel") -> Summary:
        """Return the counters per ``"kernel"``, ``"launch"`` or ``"line"`` as a table."""
        return summarize(self, by)
