"""The rows of all cores of the CPU, which may be measured apart from those of a GPU.

``python -m gpukernels.bench sssp apsp --methods "all cores"`` needs no GPU: it puts such a row
beside those that the files have of each graph, with the processor, the date and the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import Any

from gpukernels.bench import record
from gpukernels.errors import InvalidArgument

#: How tables name what `gpukernels.reference.multicore` does.
ALL_CORES = "all cores"
#: What a file says of such rows.
WHAT = "all cores: gpukernels.reference.multicore, by numba on every core"
#: What a row that was measured apart says of its circumstances.
APART = ("cpu", "cores", "date", "commit")


def alone(methods: Container[str] | None) -> bool:
    """Return whether these methods are all cores and nothing else."""
    return isinstance(methods, Iterable) and list(methods) == [ALL_CORES]


def add(
    name: str,
    folder: Path,
    here: dict[str, Any],
    measure: Callable[[dict[str, Any]], dict[str, Any] | None],
) -> Path:
    """Put what ``measure(row)`` finds beside the searches of every row of a file; return its path.

    A row of which it finds nothing (None) stays as it is. The file is written after each row.

    Raises
    ------
    InvalidArgument
        If there is no such file.
    """
    kept = record.kept(name, folder)
    if kept is None:
        allowed = f"beside other methods, or where {folder / name}.json is"
        raise InvalidArgument("--methods", ALL_CORES, allowed)
    what = kept.pop("what")
    what = what if WHAT in what else f"{what}; {WHAT}"
    apart = {key: here[key] for key in APART if key in here}
    for row in kept["times"]:
        if (found := measure(row)) is not None:
            others = row["searches"]
            first = {label: others[label] for label in ("sequential",) if label in others}
            row["searches"] = {**first, ALL_CORES: None, **others} | {ALL_CORES: {**found, **apart}}
            record.write(name, what, kept, {}, folder)
    return record.write(name, what, kept, {}, folder)
