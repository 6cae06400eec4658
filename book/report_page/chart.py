"""Theirs beside ours as a picture: one line for each method, two marks on one log scale.

It is a table of numbers whose rows have a picture between name and numbers, so that it reads aloud,
on a phone, on paper and without scripts.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .numbers import Number, digits

#: What stands for a number that is not there.
MISSING = "not measured"
#: Powers of ten that have room for a label each.
MOST_LABELS = 4


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Parameters
    ----------
    name : str
        What is measured.
    theirs, ours : Number, str or None
        A number, words in its place, or nothing.
    compared : bool
        Whether the two may be divided: the graphs are as large.
    note : str
        Small print below the name.
    share : Number, optional
        Small print below ours: how much of a copy's bandwidth that is.
    of : str
        What is said in its place where it is a share of something else.
    """

    name: str
    theirs: Number | str | None
    ours: Number | str | None
    compared: bool = True
    note: str = ""
    share: Number | None = None
    of: str = "of a copy"

    @property
    def ratio(self) -> Number | None:
        """How many times ours goes into theirs."""
        both = isinstance(self.theirs, Number) and isinstance(self.ours, Number)
        return self.theirs.over(self.ours) if both and self.compared else None


@dataclass(frozen=True)
class Chart:
    """Lines on a common scale.

    Parameters
    ----------
    title, note : str
        Above the picture; the note is HTML.
    lines : sequence of Line
        From top to bottom.
    heads : (str, str, str)
        Names of theirs, of ours and of the ratio; no ratio is shown where its name is empty.
    foot : str
        Below, HTML.
    ends : (float, float), optional
        Powers of ten between which the scale goes; by default those around its numbers.
    """

    title: str
    note: str
    lines: Sequence[Line]
    heads: tuple[str, str, str]
    foot: str = ""
    ends: tuple[int, int] | None = None

    def html(self) -> str:
        """Return the chart as a figure."""
        low, high = self.ends or powers(self.lines)
        grid = "".join(
            f'<i class="{"one" if self._unit == "x" and k == 0 else "rule"}" '
            f'style="left:{_at(10.0**k, low, high)}%"></i>'
            for k in range(low, high + 1)
        )
        rows = "".join(self._row(line, low, high, grid) for line in self.lines)
        theirs, ours, ratio = (html.escape(head) for head in self.heads)
        legend = f'<span class="theirs">{theirs}</span><span class="ours">{ours}</span>'
        legend += f'<span class="times">{ratio}</span>' if ratio else ""
        heads = ["method", "log scale", theirs, ours, *([ratio] if ratio else [])]
        head = "".join(f'<th role="columnheader" scope="col">{name}</th>' for name in heads)
        kind = "" if ratio else " two"
        return (
            f'<figure class="gk-beside{kind}"><figcaption><b>{html.escape(self.title)}</b>'
            f'<span class="note">{self.note}</span><span class="legend">{legend}</span>'
            '</figcaption><table role="table" class="marks"><thead role="rowgroup">'
            f'<tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
            f'<div class="scale" aria-hidden="true"><div>{self._labels(low, high)}</div></div>'
            + (f'<p class="foot">{self.foot}</p>' if self.foot else "")
            + "</figure>"
        )

    @property
    def _unit(self) -> str:
        units = [n.unit for n in numbers(self.lines)]
        return units[0] if units else "ms"

    def _labels(self, low: int, high: int) -> str:
        every = 1 if high - low <= MOST_LABELS else 2
        return "".join(
            f'<span style="left:{_at(10.0**k, low, high)}%">{_tick(k, self._unit)}</span>'
            for k in range(low, high + 1, every)
        )

    def _row(self, line: Line, low: int, high: int, grid: str) -> str:
        marks, found = "", []
        for kind, number in (("theirs", line.theirs), ("ours", line.ours)):
            if isinstance(number, Number):
                found.append(_at(number.value, low, high))
                marks += f'<i class="{kind}" style="left:{found[-1]}%"></i>'
        if len(found) == 2:
            width = round(abs(found[1] - found[0]), 2)
            marks = f'<i class="bar" style="left:{min(found)}%;width:{width}%"></i>{marks}'
        note = f"<small>{html.escape(line.note)}</small>" if line.note else ""
        share = f"<small>{line.share.html()} {line.of}</small>" if line.share else ""
        cells = [
            ("theirs", cell(line.theirs)),
            ("ours", cell(line.ours) + share),
            *([("times", cell(line.ratio, "–"))] if self.heads[2] else []),
        ]
        return (
            f'<tr role="row"><th role="rowheader" scope="row">{html.escape(line.name)}{note}</th>'
            f'<td role="cell" class="track"><span aria-hidden="true">{grid}{marks}</span></td>'
            + "".join(f'<td role="cell" class="{kind}">{text}</td>' for kind, text in cells)
            + "</tr>"
        )


def cell(number: Number | str | None, missing: str = MISSING) -> str:
    """Return a number, or what stands in its place, as HTML."""
    if isinstance(number, Number):
        return number.html()
    return f"<em>{html.escape(number or missing)}</em>"


def numbers(lines: Iterable[Line]) -> list[Number]:
    """Return all numbers of the lines, without their ratios."""
    return [n for line in lines for n in (line.theirs, line.ours) if isinstance(n, Number)]


def powers(lines: Iterable[Line]) -> tuple[int, int]:
    """Return the powers of ten around all numbers of the lines."""
    values = [n.value for n in numbers(lines) if n.value > 0] or [1.0]
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def _at(value: float, low: int, high: int) -> float:
    """Return how far along the scale a value lies, in percent."""
    return round(100 * (math.log10(value) - low) / (high - low), 2) if value > 0 else 0.0


def _tick(power: int, unit: str) -> str:
    if unit == "x":
        return f"{10.0**power:g}×"
    return f"{digits(10.0 ** (power - 3))} s" if power >= 3 else f"{10.0**power:g} ms"
