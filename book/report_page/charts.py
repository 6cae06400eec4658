"""A comparison as a table of numbers, with two marks on a log scale in each row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from gpukernels.notebook.table import Table

from .numbers import Number

#: The text in place of a missing number.
MISSING = "not measured"

Value = Number | str | None


class Line(NamedTuple):
    """A row of a chart.

    Attributes
    ----------
    name : str
        The name of the measured method.
    theirs, ours : Number, str or None
        A number, or words in its place, or nothing.
    compared : bool
        Whether to show the ratio of the two; it makes sense if the graphs have the same size.
    note, share : str
        Small print below the name, and below our number.
    """

    name: str
    theirs: Value
    ours: Value
    compared: bool = True
    note: str = ""
    share: str = ""

    @property
    def ratio(self) -> Number | None:
        """How many times faster ours is."""
        both = isinstance(self.theirs, Number) and isinstance(self.ours, Number)
        return self.theirs.over(self.ours) if both and self.compared else None


def chart(
    title: str, note: str, lines: Sequence[Line], heads: Sequence[str], foot: str = ""
) -> str:
    """Return a chart as a figure of HTML.

    Parameters
    ----------
    title, note, foot : str
        Texts above and below the picture.
    lines : sequence of Line
        From top to bottom.
    heads : sequence of str
        The heads of their column, of ours and of the ratio. Without the last head, no ratio is
        shown.
    """
    numbers = [n for line in lines for n in (line.theirs, line.ours) if isinstance(n, Number)]
    unit = numbers[0].unit
    logs = [math.log10(n.value) for n in numbers if n.value > 0] + [0.0] * (unit == "x")
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    ends = " – ".join(str(Number(10.0**k, unit)) for k in (low, high))
    names = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    rows = "".join(_row(line, low, high, unit, len(heads) > 2) for line in lines)
    return (
        f'<figure class="gk-beside"><figcaption><b>{escape(title)}</b> {escape(note)}</figcaption>'
        f'<table><thead><tr><th scope="col">method</th><th scope="col" class="track">{ends}</th>'
        f"{names}</tr></thead><tbody>{rows}</tbody></table>{small_print(foot)}</figure>"
    )


def _row(line: Line, low: int, high: int, unit: str, with_ratio: bool) -> str:
    def place(power: float) -> str:
        return f"{100 * (power - low) / (high - low):.2f}%"

    marks = "".join(
        f'<line{" class=one" if unit == "x" and power == 0 else ""} x1="{place(power)}" '
        f'x2="{place(power)}" y2="100%"/>'
        for power in range(low, high + 1)
    )
    places = {
        kind: place(math.log10(number.value))
        for kind, number in (("theirs", line.theirs), ("ours", line.ours))
        if isinstance(number, Number) and number.value > 0
    }
    if len(places) == 2:
        one, other = places.values()
        marks += f'<line class="bar" x1="{one}" x2="{other}" y1="50%" y2="50%"/>'
    marks += "".join(
        f'<circle class="{kind}" cx="{at}" cy="50%" r="5"/>' for kind, at in places.items()
    )
    cells = [_cell(line.theirs), _cell(line.ours, line.share)]
    cells += [_cell(line.ratio or "–")] if with_ratio else []
    return (
        f'<tr><th scope="row">{escape(line.name)}{_small(line.note)}</th>'
        f'<td class="track"><svg aria-hidden="true">{marks}</svg></td>{"".join(cells)}</tr>'
    )


def _cell(value: Value, share: str = "") -> str:
    if isinstance(value, Number):
        return f"<td><b>{value}</b>{_small(share)}</td>"
    return f"<td>{escape(value or MISSING)}</td>"


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""


def small_print(text: str) -> str:
    """Return a text as a paragraph below a chart."""
    return f'<p class="gk-beside-foot">{escape(text)}</p>' if text else ""


def drawer(label: str, *tables: Table) -> str:
    """Return a closed drawer with some tables."""
    inner = "".join(table._repr_html_() for table in tables)
    return f'<details class="gk-beside-all"><summary>{escape(label)}</summary>{inner}</details>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", *, words: bool = False
) -> Table:
    """Return rows of numbers and texts as a table."""
    shown = [["–" if value is None else str(value) for value in row] for row in rows]
    return Table(heads, shown, caption, words=words)
