"""A small table of results: text in a terminal, HTML on a page."""

from __future__ import annotations

import html
import itertools
import math
import textwrap
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

#: Characters of the widest column of words, in plain text.
WIDEST = 44


class Table:
    """Rows under named columns; prints as aligned text and shows as HTML in a notebook.

    Parameters
    ----------
    columns : sequence of str
        Column heads. The first column holds the row's name and is aligned left, the rest right.
    rows : iterable of sequences
        One sequence a row, as long as `columns`. Whole numbers get thousands separators, floats
        three significant digits, infinity its sign, None a dash, and not-a-number ``NaN``; text is
        not changed.
    caption : str
        A line above the table, or nothing.
    words : bool
        Whether all columns hold words: words are aligned left, and long ones broken into lines.

    Raises
    ------
    ValueError
        If a row is not as long as `columns`.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence],
        caption: str = "",
        *,
        words: bool = False,
    ):
        self.columns = [str(column) for column in columns]
        self.rows = [[_text(value) for value in row] for row in rows]
        self.caption = caption
        self.words = words
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row} has {len(row)} values for {len(self.columns)} columns")

    def __repr__(self) -> str:
        grid = [self.columns, *self.rows]
        if self.words:
            grid = [line for row in grid for line in _lines(row)]
        width = [max(map(len, column)) for column in zip(*grid, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(w) if k == 0 or self.words else cell.rjust(w)
                for k, (cell, w) in enumerate(zip(row, width, strict=True))
            ).rstrip()
            for row in grid
        ]
        return "\n".join([self.caption, *lines] if self.caption else lines)

    def _repr_html_(self) -> str:
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        kind = "gk-table gk-words" if self.words else "gk-table"
        head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in self.columns)
        body = "".join(
            f'<tr><th scope="row">{html.escape(row[0])}</th>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        return (
            f'<div class="{kind}"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )


def _lines(row: list[str]) -> list[list[str]]:
    """Return a row of words as rows of lines, as many as its longest cell needs."""
    cells = [textwrap.wrap(cell, WIDEST, break_on_hyphens=False) for cell in row]
    return [list(line) for line in itertools.zip_longest(*cells, fillvalue="")]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if number == int(number) and not isinstance(value, float):
        return f"{int(number):,}"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"
