"""All numbers in a closed drawer, as a table and as CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from .chart import cell
from .numbers import Number


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence], *, words: bool = False
) -> str:
    """Return a table, its numbers with their sources.

    Parameters
    ----------
    caption : str
        Above it; of a table of words, which its drawer names, read aloud alone.
    columns : sequence of str
        Heads.
    rows : iterable of sequences
        Of texts, of numbers, and of lists of both that stand below each other.
    words : bool
        Whether its columns hold words, which are aligned left.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{_cell(row[0])}</th>'
        + "".join(f"<td>{_cell(value)}</td>" for value in row[1:])
        + "</tr>"
        for row in rows
    )
    kind, said = ("gk-table gk-words" if words else "gk-table"), html.escape(caption)
    shown = "" if words else f"<caption>{said}</caption>"
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{said}">'
        f"<table>{shown}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def drawer(label: str, inner: str, file: str = "", rows: Iterable[Sequence] = ()) -> str:
    """Return a closed drawer.

    Parameters
    ----------
    label : str
        What it holds.
    inner : str
        HTML.
    file : str
        Name of a CSV file that can be saved from it, without its ending.
    rows : iterable of sequences
        Of that file, the heads first.
    """
    link = ""
    if file:
        data = quote(text_of(rows))
        link = (
            f'<div class="csv"><a download="{file}.csv" href="data:text/csv;charset=utf-8,{data}">'
            f"Save as {file}.csv</a></div>"
        )
    return (
        f'<details class="gk-report"><summary>{html.escape(label)}</summary>{inner}{link}</details>'
    )


def text_of(rows: Iterable[Sequence]) -> str:
    """Return rows as CSV; of a number its value, in milliseconds if it is a time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, Number):
        return f"{value.value:.9g}"
    return "" if value is None else value


def _cell(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "<br/>".join(_cell(part) for part in value)
    if isinstance(value, Number) or value is None:
        return cell(value, "–")
    return html.escape(str(value))
