"""What was measured here: rows of ``data/benchmarks``, each number with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from gpukernels.notebook import record

from .numbers import Number

#: Of what a search has, the first that is there is set beside a paper's time: of kernels from
#: random roots, from the file's root; and of the CPU, which has no kernels, the whole call.
TIMES = ("roots_kernel_ms", "kernel_ms", "roots_call_ms", "call_ms")
FULL = ("kernel_ms", "roots_kernel_ms", "call_ms")


class Ours:
    """A subject's measurements, or nothing where the file is missing.

    Parameters
    ----------
    name : str
        Of the file, without its ending.
    folder : Path
        Where the files are.
    """

    def __init__(self, name: str, folder: Path = record.FOLDER):
        found = record.kept(name, folder)
        self.name, self.there, self.data = name, found is not None, found or {}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of times."""
        return self.data.get("times", [])

    @property
    def year(self) -> int:
        """When it was measured; 0 if that is not known."""
        return int(str(self.data.get("date", "0"))[:4])

    @property
    def device(self) -> str:
        """The GPU's name, without its maker's."""
        return str(self.data.get("device", "this GPU")).removeprefix("NVIDIA ")

    @property
    def machine(self) -> str:
        """Device, versions, host, date and commit, in a line."""
        if not self.there:
            return f"data/benchmarks/{self.name}.json is missing"
        keys = ("driver", "numba_cuda", "cpu", "cores", "date", "commit")
        told = {key: self.data.get(key, "not told") for key in keys}
        device = self.data.get("device", "not told")
        return (
            "{device}, driver {driver}, numba-cuda {numba_cuda}, {cpu} of {cores} cores; "
            "{date}, commit {commit}"
        ).format(device=device, **told)

    def row(self, graph: str, arcs: float | None = None, **equal: Any) -> int | None:
        """Return the number of the row of a graph, the nearest in arcs of several.

        Parameters
        ----------
        graph : str
            Its name.
        arcs : float, optional
            How many the paper's has.
        **equal
            What else must be equal, such as ``n``.
        """
        fits = [
            k
            for k, row in enumerate(self.rows)
            if row.get("graph") == graph and all(row.get(name) == v for name, v in equal.items())
        ]
        if arcs is not None:
            fits.sort(key=lambda k: abs(self.rows[k].get("m", 0) - arcs))
        return fits[0] if fits else None

    def labels(self, row: int, patterns: Sequence[str]) -> Iterator[str]:
        """Yield the searches of a row that fit a pattern; of one that begins with ``!``, none."""
        barred = [p[1:] for p in patterns if p.startswith("!")]
        for label in self.rows[row].get("searches", {}):
            if any(fnmatchcase(label, p) for p in patterns if not p.startswith("!")):
                if not any(fnmatchcase(label, p) for p in barred):
                    yield label

    def figure(self, row: int, label: str, figure: str) -> Number | None:
        """Return a figure of a search, or None where it is not there."""
        value = self.rows[row].get("searches", {}).get(label, {}).get(figure)
        if not isinstance(value, (int, float)):
            return None
        at = f"{self.name}#/times/{row}/searches/{label}/{figure}"
        unit = "ms" if figure.endswith("_ms") else "%" if figure.startswith("share_") else ""
        return Number(value, at, unit, label)

    def size(self, row: int, name: str) -> Number | None:
        """Return a property of a row's graph, such as ``n`` or ``m``."""
        value = self.rows[row].get(name)
        return Number(value, f"{self.name}#/times/{row}/{name}", "") if value is not None else None

    def best(self, row: int | None, patterns: Sequence[str]) -> Number | None:
        """Return the shortest time of the searches that fit, or None."""
        if row is None:
            return None
        found = []
        for label in self.labels(row, patterns):
            times = (self.figure(row, label, figure) for figure in TIMES)
            found += [next((t for t in times if t is not None), None)]
        return min((t for t in found if t is not None), key=lambda t: t.value, default=None)
