"""Our measurements: rows of ``data/benchmarks``."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from gpukernels.notebook import record

from .numbers import Number

#: A paper's time is compared with the first of these figures that is there: kernels from random
#: roots, kernels from the file's root, and for the CPU, which has no kernels, the whole call.
TIMES = ("roots_kernel_ms", "kernel_ms", "roots_call_ms", "call_ms")
MACHINE = (
    "{device}, driver {driver}, numba-cuda {numba_cuda}, {cpu} of {cores} cores; "
    "{date}, commit {commit}"
)

Row = dict[str, Any]


class Ours:
    """The measurements of a subject, which is the file's name without its ending."""

    def __init__(self, name: str):
        self.data = record.kept(name, record.FOLDER)
        self.rows: list[Row] = self.data.get("times", [])
        self.year = int(self.data["date"][:4])
        self.head = f"{self.data['device'].removeprefix('NVIDIA ')}, {self.year}"
        self.machine = MACHINE.format_map(self.data)

    def row(self, graph: str | None, arcs: float = 0, **equal: Any) -> Row | None:
        """Return the row of a graph, or of several rows the one with the nearest number of arcs."""
        equal = {"graph": graph, **equal}
        fits = [r for r in self.rows if all(r.get(name) == v for name, v in equal.items())]
        return min(fits, key=lambda r: abs(r.get("m", 0) - arcs), default=None)

    def best(self, row: Row, patterns: Sequence[str]) -> Number | None:
        """Return the shortest time of the searches that match a pattern and no excluding one (!).

        The note of the number is the label of its search. The result is None if none was timed.
        """
        barred = [p[1:] for p in patterns if p.startswith("!")]
        times = [
            Number(next(search[figure] for figure in TIMES if figure in search), "ms", label)
            for label, search in row["searches"].items()
            if any(fnmatchcase(label, p) for p in patterns)
            and not any(fnmatchcase(label, p) for p in barred)
            and any(figure in search for figure in TIMES)
        ]
        return min(times, key=lambda time: time.value, default=None)
