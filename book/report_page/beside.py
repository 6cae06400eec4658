"""A paper's table of times beside ours: a chart for each graph, all of it in a drawer."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpukernels.notebook import record

from .chart import MISSING, Chart, Line, cell, powers
from .drawer import drawer, table
from .numbers import Number
from .ours import FULL, Ours
from .pairs import Pair
from .papers import FOLDER, Paper

#: How much two graphs may differ in vertices and in arcs and be called as large.
AS_LARGE = 0.02


class Beside:
    """A pair of tables, read.

    Parameters
    ----------
    pair : Pair
        Which.
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.
    """

    def __init__(self, pair: Pair, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.pair = pair
        self.paper, self.ours = Paper(pair.paper, papers), Ours(pair.file, benchmarks)

    @property
    def heads(self) -> tuple[str, str, str]:
        """What theirs, ours and the ratio are called."""
        theirs = f"{self.paper.hardware(self.pair.table)}, {self.paper.year}"
        ours = f"{self.ours.device}, {self.ours.year or 'no file'}"
        return theirs, ours, self.apart

    @property
    def apart(self) -> str:
        """What the ratio is called: it compares machines as much as methods."""
        years = self.ours.year - self.paper.year
        return f"times faster: different hardware, {years} years apart" if self.ours.year else ""

    @property
    def missing(self) -> str:
        """Which files are not there, if any."""
        names = [] if self.paper.there else [f"data/papers/{self.pair.paper}.json"]
        names += [] if self.ours.there else [f"data/benchmarks/{self.pair.file}.json"]
        return f"Missing here: {', '.join(names)}." if names else ""

    def graphs(self) -> list[str]:
        """Return the table's rows."""
        return [row[0] for row in self.paper.rows(self.pair.table)]

    def sizes(self, graph: str) -> tuple[Number | None, Number | None]:
        """Return vertices and edges of a row's graph, as printed."""
        name = next((r[0] for r in self.paper.rows(self.pair.sizes) if _same(r[0], graph)), graph)
        v, e = (self.paper.number(self.pair.sizes, name, c) for c in ("V", "E"))
        return (v if isinstance(v, Number) else None), (e if isinstance(e, Number) else None)

    def row(self, graph: str) -> int | None:
        """Return the number of our row beside a row of the table, or None."""
        if not self.pair.graphs:
            return self.ours.row("dense", n=int(graph))
        name, (_, edges) = self.pair.graphs.get(graph), self.sizes(graph)
        return self.ours.row(name, edges and _scaled(edges, self)) if name else None

    def as_large(self, graph: str) -> bool:
        """Say whether our graph has as many vertices and arcs as theirs."""
        row = self.row(graph)
        if row is None or not self.pair.graphs:
            return row is not None
        pairs = zip(self.sizes(graph), ("n", "m"), strict=True)
        return all(
            theirs is not None
            and (ours := self.ours.size(row, name)) is not None
            and abs(_scaled(theirs, self) / ours.value - 1) <= AS_LARGE
            for theirs, name in pairs
        )

    def why_not(self, graph: str) -> str:
        """Return why nothing stands beside a row."""
        if not self.ours.there:
            return f"{self.pair.file}.json is missing"
        if not self.pair.graphs:
            return f"{self.pair.file}.json has no matrix of {int(graph):,} vertices"
        if graph in self.pair.graphs:
            return f"{self.pair.file}.json has no graph of this kind ({self.pair.graphs[graph]})"
        return "a graph from a collection, which the book does not carry"

    def lines(self, graph: str, fastest: bool = True) -> list[Line]:
        """Return a line for each method on a graph, and one for the fastest of ours."""
        row, compared = self.row(graph), self.as_large(graph)
        found = []
        for column, (name, patterns) in self.pair.methods.items():
            theirs = self.paper.number(self.pair.table, graph, column)
            ours = self.ours.best(row, patterns) if patterns else None
            found.append(
                Line(name, theirs, ours, compared, _note(name, theirs, ours), self.share(row, ours))
            )
        best = self.ours.best(row, self.pair.rivals) if fastest else None
        if best is not None:
            share = self.share(row, best)
            found.append(
                Line("The fastest of ours", "not in it", best, note=best.note, share=share)
            )
        return found

    def share(self, row: int | None, ours: Number | None) -> Number | None:
        """Return which share of a copy's bandwidth a search of ours has, if that is told."""
        return self.ours.figure(row, ours.note, "share_of_bandwidth") if ours else None

    def charts(self, graphs: Sequence[str]) -> list[Chart]:
        """Return a chart for each of some rows, on one scale."""
        lines = {graph: self.lines(graph) for graph in graphs}
        ends = powers(line for of in lines.values() for line in of)
        return [self._chart(graph, lines[graph], ends) for graph in graphs]

    def _chart(self, graph: str, lines: list[Line], ends: tuple[int, int]) -> Chart:
        theirs, ours, apart = self.heads
        foot = "" if self.as_large(graph) else "Another size: no ratio."
        heads = theirs, ours, apart if self.as_large(graph) else ""
        title = f"{int(graph):,} vertices" if graph.isdigit() else graph
        return Chart(title, self.note(graph), lines, heads, foot, ends)

    def note(self, graph: str) -> str:
        """Say in a line, as HTML, how the two graphs differ."""
        row, differs = self.row(graph), html.escape(self.pair.differs.get(graph, ""))
        if row is None:
            return f"{MISSING}: {html.escape(self.why_not(graph))}"
        if not self.pair.graphs:
            return "Complete graphs both; the lengths of arcs are of another range."
        n, m = (self.ours.size(row, name) for name in ("n", "m"))
        v, e = self.sizes(graph)
        millions = self._in_millions
        sizes = ", ".join(
            f"{_size(a, millions)} / {_size(b)} {unit}"
            for unit, a, b in (("vertices", v, n), ("arcs", e, m))
        )
        levels = self.ours.size(row, "levels")
        if levels is not None:
            name = next(r[0] for r in self.paper.rows(self.pair.sizes) if _same(r[0], graph))
            diameter = self.paper.number(self.pair.sizes, name, "diameter")
            sizes += f"; their diameter {cell(diameter)}, our levels {cell(levels)}"
        return f"Theirs / ours: {sizes}. {differs}"

    @property
    def _in_millions(self) -> bool:
        found = self.paper.table(self.pair.sizes)
        return bool(found) and found["unit"].startswith("10^6")

    def drawer(self) -> str:
        """Return the table as printed with ours below it, all figures of ours, and it as CSV."""
        if not self.paper.there:
            return ""
        names = [name for name, _ in self.pair.methods.values()]
        rows, saved = [], [CSV]
        for graph in self.graphs():
            lines = self.lines(graph, fastest=False)
            beside = self.row(graph)
            told = (
                self.why_not(graph)
                if beside is None
                else self.ours.rows[beside].get("call", self.ours.name)
            )
            cells = [
                [
                    _printed(self.paper, self.pair, graph, column),
                    *([line.ours] if line.ours else []),
                ]
                for column, line in zip(self.pair.methods, lines, strict=True)
            ]
            named = "–" if beside is None else self._name(beside)
            rows.append([graph, *cells, named])
            saved += [self._saved(graph, line, told) for line in lines]
        theirs, ours, _ = self.heads
        unit = self.paper.table(self.pair.table)["unit"].replace("us", "microseconds")
        caption = f"As printed, {unit} ({theirs}); below, in bold, ours ({ours})"
        inner = table(caption, ["graph", *names, "ours"], rows)
        inner += table(*self._figures())
        return drawer(
            f"All of {self.pair.table}, and all figures of ours", inner, self._file, saved
        )

    @property
    def _file(self) -> str:
        return f"{self.pair.paper}-{self.pair.table}".lower().replace(" ", "-").replace(",", "")

    def _saved(self, graph: str, line: Line, told: str) -> list[Any]:
        ours = line.ours if isinstance(line.ours, Number) else None
        theirs, mine, _ = self.heads
        return [self.pair.paper, self.pair.table, graph, line.name, line.theirs, theirs,
                ours, ours and ours.note, mine, line.ratio, told]  # fmt: skip

    def _figures(self) -> tuple[str, list[str], list[list[Any]]]:
        """Return caption, heads and rows of all that our file has of the graphs beside theirs."""
        beside = dict.fromkeys(self.row(graph) for graph in self.graphs())
        rows = [
            [f"{self._name(row)}, {label}", *figures]
            for row in beside
            if row is not None
            for label, figures in self._of(row)
        ]
        share = "share of a copy's bandwidth"
        if self.pair.file == "apsp":
            share = "10^12 additions with minimum a second"
        heads = ["search", "kernels", "kernels, other roots", "whole call", share]
        return f"Ours in full: {self.ours.machine}", heads, rows

    def _name(self, row: int) -> str:
        told = self.ours.rows[row]
        return f"{told['graph']} {told.get('n', 0):,}" if not self.pair.graphs else told["graph"]

    def _of(self, row: int) -> Iterator[tuple[str, list[Number | None]]]:
        rate = "tera_operations_per_second" if self.pair.file == "apsp" else "share_of_bandwidth"
        for label in self.ours.labels(row, ("*",)):
            yield label, [self.ours.figure(row, label, figure) for figure in (*FULL, rate)]


#: Heads of the file that a drawer saves; times are milliseconds.
CSV = ["paper", "table", "graph", "method", "theirs_ms", "their_hardware", "ours_ms",
       "our_search", "our_hardware", "ratio_of_different_hardware",
       "our_graph_or_why_none"]  # fmt: skip


def _printed(paper: Paper, pair: Pair, graph: str, column: str) -> str:
    found = paper.table(pair.table)
    cells = next(row for row in found["rows"] if row[0] == graph)
    k = found["columns"].index(column) if column in found["columns"] else None
    return MISSING if k is None else cells[k]


def _scaled(printed: Number, beside: Beside) -> float:
    """Return a size in full: tables of millions leave the millions to their heads."""
    return printed.value * (1e6 if beside._in_millions else 1)


def _size(number: Number | None, millions: bool = False) -> str:
    """Return a size as HTML, large ones in millions."""
    if number is None:
        return "?"
    if not millions and number.value >= 1e6:
        at = html.escape(number.at, quote=True)
        return f'<data value="{number.value:.9g}" data-at="{at}">{number.value / 1e6:.4g}</data> M'
    return f"{number.html()} M" if millions else number.html()


def _same(one: str, other: str) -> bool:
    return one.lower().replace(".", "_") == other.lower().replace(".", "_")


def _note(name: str, theirs: Number | str | None, ours: Number | None) -> str:
    """Return what is set in either, and what ours is called where its name is another."""
    told = [f"theirs: {theirs.note}"] if isinstance(theirs, Number) and theirs.note else []
    method, _, options = ours.note.partition(" ") if ours else ("", "", "")
    if options or method not in _letters(name):
        told += [f"ours: {options if method in _letters(name) else ours.note}"] if ours else []
    return "; ".join(told)


def _letters(name: str) -> str:
    """Return a name of the page as our methods are named: two spellings, without its signs."""
    small = name.lower()
    return f"{re.sub(r'[^a-z0-9]+', '_', small)} {re.sub(r'[^a-z0-9]', '', small)}"
