"""Changes between two files of measurements that exceed the spread of both.

A figure is a median with its quartiles. In older files it is a time or an energy without quartiles.
Each range between quartiles is widened by some share of its median on either side, because three
runs may agree by chance and a GPU's clock varies. Two figures differ if these ranges do not
overlap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpukernels.errors import InvalidArgument
from gpukernels.notebook.spread import FIGURE, NOT_MEASURED, SPREAD

#: The least half of a range, as a share of the median: with quartiles, and without (a single run).
FLOOR, WITHOUT = 0.02, 0.05
#: Numbers that distinguish rows, in addition to all words.
_NUMBERS = (
    "n", "m", "root", "threads", "stride", "items", "units", "values", "bytes", "halved", "gpus",
    "peer_access",
)  # fmt: skip
#: Words of a row that are not part of its name.
_NO_NAME = ("call", "choice", "what_for")
#: Entries that show whether two files come from the same hardware and software.
CIRCUMSTANCES = ("device", "driver", "cpu", "cores", "numba", "numba_cuda")


class Figure(NamedTuple):
    """A measured number, and the range of numbers that count as equal to it."""

    value: float
    low: float
    high: float


class Change(NamedTuple):
    """A figure that differs: its row and name, and the two medians."""

    where: str
    old: float
    new: float

    @property
    def ratio(self) -> float:
        """The new median divided by the old one; above 1 is worse."""
        return self.new / self.old if self.old else float("inf")


class Comparison(NamedTuple):
    """The result of a comparison of two files.

    `changes` are the figures that changed by more than their spread, the worst first, and `same`
    counts the other ones. `only_old` and `only_new` count figures that only one file has. `apart`
    has the circumstances that differ, old and new.
    """

    changes: list[Change]
    same: int
    only_old: int
    only_new: int
    apart: dict[str, tuple[Any, Any]]

    @property
    def worse(self) -> bool:
        """Whether a figure got worse."""
        return any(change.ratio > 1 for change in self.changes)

    def __str__(self) -> str:
        lines = [f"another {name}: {old}, now {new}" for name, (old, new) in self.apart.items()]
        if self.changes:
            lines.append(f"{'ratio':>8} {'old':>14} {'new':>14}")
        lines += [
            f"{change.ratio:8.3f} {change.old:14,.6g} {change.new:14,.6g}  {change.where}"
            for change in self.changes
        ]
        lines.append(
            f"{len(self.changes)} changed by more than their spread, {self.same} did not; "
            f"{self.only_old} only in the old file, {self.only_new} only in the new one"
        )
        return "\n".join(lines)


def read(path: Path) -> dict[str, Any]:
    """Return the content of a file.

    Raises
    ------
    InvalidArgument
        If the file does not exist, or is not a file of measurements.
    """
    try:
        content = json.loads(path.read_text())
        return dict(content, what=content["what"])
    except (OSError, ValueError, KeyError, TypeError) as reason:
        allowed = "a file of measurements, as those of data/benchmarks, with its `what`"
        raise InvalidArgument("--compare", str(path), allowed) from reason


def figures(measured: dict[str, Any]) -> dict[str, Figure]:
    """Return every figure of a file by its row and its name."""
    return dict(_figures(measured, ()))


def _figures(row: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Figure]]:
    if isinstance(row, list):
        for one in row:
            if isinstance(one, dict):
                yield from _figures(one, (*path, _name(one)))
        return
    for name, value in row.items():
        spread = row.get(name + SPREAD)
        if isinstance(value, dict):
            inner = (*path, name)
            if FIGURE.match(name):
                for key, one in value.items():
                    yield _labeled((*inner, key), one, (spread or {}).get(key))
            else:
                yield from _figures(value, inner)
        elif isinstance(value, list):
            yield from _figures(value, path)
        elif isinstance(value, int | float) and name not in NOT_MEASURED and FIGURE.match(name):
            yield _labeled((*path, name), value, spread)


def _labeled(path: tuple[str, ...], value: float, spread) -> tuple[str, Figure]:
    low, high = spread or (value, value)
    half = abs(value) * (WITHOUT if low == high else FLOOR)
    where = ", ".join(part for part in path if part)
    return where, Figure(value, min(low, value - half), max(high, value + half))


def _name(row: dict[str, Any]) -> str:
    words = [str(v) for k, v in row.items() if isinstance(v, str) and k not in _NO_NAME]
    numbers = [f"{name} {row[name]:,}" for name in _NUMBERS if isinstance(row.get(name), int)]
    options = [f"{name}={value}" for name, value in row.get("options", {}).items()]
    return " ".join(words + numbers + options)


def compare(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """Return the changes from one file's content to another's."""
    before, after = figures(old), figures(new)
    both = before.keys() & after.keys()
    changes = [
        Change(where, before[where].value, after[where].value)
        for where in both
        if after[where].low > before[where].high or after[where].high < before[where].low
    ]
    changes.sort(key=lambda change: (-change.ratio, change.where))
    apart = {
        name: (old.get(name), new.get(name))
        for name in CIRCUMSTANCES
        if old.get(name) != new.get(name)
    }
    only_old, only_new = len(before.keys() - after.keys()), len(after.keys() - before.keys())
    return Comparison(changes, len(both) - len(changes), only_old, only_new, apart)
