"""Our measurements: rows of ``data/benchmarks``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
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
    """The measurements of a subject, or none if the file is missing.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    folder : Path
        The folder of the files.
    """

    def __init__(self, name: str, folder: Path = record.FOLDER):
        exists = (folder / f"{name}.json").exists()
        measurements = record.kept(name, folder) if exists else None
        self.name, self.exists, self.data = name, exists, measurements or {}
        self.rows: list[Row] = self.data.get("times", [])
        self.year = int(self.data.get("date", "0")[:4])
        self.device = self.data.get("device", "this GPU").removeprefix("NVIDIA ")
        self.head = f"{self.device}, {self.year or 'no file'}"
        missing = f"data/benchmarks/{name}.json is missing"
        self.machine = MACHINE.format(**measurements) if measurements else missing

    def row(self, graph: str | None, arcs: float = 0, **equal: Any) -> Row | None:
        """Return the row of a graph, or of several rows the one with the nearest number of arcs."""
        equal = {"graph": graph, **equal}
        fits = [r for r in self.rows if all(r.get(name) == v for name, v in equal.items())]
        return min(fits, key=lambda r: abs(r.get("m", 0) - arcs), default=None)

    def labels(self, row: Row, patterns: Sequence[str]) -> Iterator[str]:
        """Yield the searches of a row that match a pattern and no excluding one (``!``)."""
        barred = [p[1:] for p in patterns if p.startswith("!")]
        for label in row.get("searches", {}):
            fits = any(fnmatchcase(label, p) for p in patterns)
            if fits and not any(fnmatchcase(label, p) for p in barred):
                yield label

    def figure(self, row: Row | None, label: str, figure: str) -> Number | None:
        """Return a figure of a search, or None if the row does not have it."""
        value = (row or {}).get("searches", {}).get(label, {}).get(figure)
        if not isinstance(value, (int, float)):
            return None
        unit = "ms" if figure.endswith("_ms") else "%" if figure.startswith("share_") else ""
        return Number(value, unit, label)

    def best(self, row: Row | None, patterns: Sequence[str]) -> Number | None:
        """Return the shortest time of the searches that match, or None."""
        best_times = []
        for label in self.labels(row or {}, patterns):
            times = (self.figure(row, label, figure) for figure in TIMES)
            best_times += [time for time in times if time is not None][:1]
        return min(best_times, key=lambda time: time.value, default=None)
