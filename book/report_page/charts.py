"""A comparison as a picture, and all its numbers in a closed drawer.

The picture is a table of numbers, with two marks on a log scale in each row. So a screen reader can
read it, and it needs no scripts.
"""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from gpukernels.notebook.table import Table

from .numbers import Number, digits

#: The text in place of a missing number.
MISSING = "not measured"
#: Up to how many powers of ten each one has a label.
MOST_LABELS = 4

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
    title: str,
    note: str,
    lines: Sequence[Line],
    heads: Sequence[str],
    foot: str = "",
    ends: tuple[int, int] | None = None,
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
    ends : (int, int), optional
        The powers of ten at the ends of the scale; by default those around its numbers.
    """
    low, high = ends or powers(lines)
    every = range(low, high + 1)
    unit = next((n.unit for n in numbers(lines)), "ms")
    places = {k: round(100 * (k - low) / (high - low), 2) for k in every}
    grid = "".join(f'<line x1="{x}%" x2="{x}%" y2="100%"/>' for x in places.values())
    if unit == "x":
        grid += f'<line class="one" x1="{places[0]}%" x2="{places[0]}%" y2="100%"/>'
    step = 1 if high - low <= MOST_LABELS else 2
    labels = "".join(f'<text x="{places[k]}%">{_tick(k, unit)}</text>' for k in every[::step])
    kinds = ("theirs", "ours", "times")
    legend = "".join(
        f'<span class="{kind}">{html.escape(head)}</span>'
        for kind, head in zip(kinds, heads, strict=False)
    )
    names = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in ("method", "scale", *heads))
    rows = "".join(_row(line, low, high, grid, len(heads) > 2) for line in lines)
    return (
        f'<figure class="gk-beside"><figcaption><b>{html.escape(title)}</b>'
        f'{html.escape(note)}<span class="legend">{legend}</span></figcaption>'
        f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody><tfoot aria-hidden='true'><tr>"
        f'<td></td><td class="track"><svg>{labels}</svg></td></tr></tfoot></table>'
        f"{small_print(foot)}</figure>"
    )


def _row(line: Line, low: int, high: int, grid: str, with_ratio: bool) -> str:
    marks, places = "", []
    for kind, number in (("theirs", line.theirs), ("ours", line.ours)):
        if isinstance(number, Number) and number.value > 0:
            at = round(100 * (math.log10(number.value) - low) / (high - low), 2)
            places.append(at)
            marks += f'<circle class="{kind}" cx="{at}%" cy="50%" r="5"/>'
    if len(places) == 2:
        one, other = places
        marks = f'<line class="bar" x1="{one}%" x2="{other}%" y1="50%" y2="50%"/>{marks}'
    cells = [_cell(line.theirs), _cell(line.ours, line.share)]
    cells += [_cell(line.ratio or "–")] if with_ratio else []
    return (
        f'<tr><th scope="row">{html.escape(line.name)}{_small(line.note)}</th>'
        f'<td class="track"><svg aria-hidden="true">{grid}{marks}</svg></td>{"".join(cells)}</tr>'
    )


def _cell(value: Value, share: str = "") -> str:
    if isinstance(value, Number):
        return f"<td><b>{value}</b>{_small(share)}</td>"
    return f"<td>{html.escape(value or MISSING)}</td>"


def _small(text: str) -> str:
    return f"<small>{html.escape(text)}</small>" if text else ""


def _tick(power: int, unit: str) -> str:
    if unit == "x":
        return f"{10.0**power:g}×"
    return f"{digits(10.0 ** (power - 3))} s" if power >= 3 else f"{10.0**power:g} ms"


def numbers(lines: Iterable[Line]) -> list[Number]:
    """Return all numbers of the lines, without their ratios."""
    return [n for line in lines for n in (line.theirs, line.ours) if isinstance(n, Number)]


def powers(lines: Iterable[Line]) -> tuple[int, int]:
    """Return the powers of ten around all numbers of the lines."""
    values = [n.value for n in numbers(lines) if n.value > 0] or [1.0]
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def small_print(text: str) -> str:
    """Return a text as a paragraph below a chart."""
    return f'<p class="gk-beside-foot">{html.escape(text)}</p>' if text else ""


def drawer(label: str, *tables: Table, file: str = "", rows: Sequence[Sequence[Any]] = ()) -> str:
    """Return a closed drawer with some tables, and with `rows` to save as a CSV file.

    Times in the file are milliseconds.
    """
    inner = "".join(table._repr_html_() for table in tables)
    if file:
        text = io.StringIO()
        values = ([v.value if isinstance(v, Number) else v for v in row] for row in rows)
        csv.writer(text).writerows(values)
        inner += (
            f'<p><a download="{file}.csv" href="data:text/csv;charset=utf-8,'
            f'{quote(text.getvalue())}">Save as {file}.csv</a></p>'
        )
    return (
        f'<details class="gk-beside-all"><summary>{html.escape(label)}</summary>{inner}</details>'
    )


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", *, words: bool = False
) -> Table:
    """Return rows of numbers and texts as a table."""
    shown = [["–" if value is None else str(value) for value in row] for row in rows]
    return Table(heads, shown, caption, words=words)
