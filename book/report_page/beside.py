"""A paper's table of times compared with ours: one chart per graph, and a drawer with all times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gpukernels.notebook import record

from .charts import MISSING, Line, Value, chart, drawer, powers, small_print, table
from .numbers import Number, size
from .ours import Ours, Row
from .pairs import Pair
from .papers import FOLDER, Paper

#: By how much vertices and arcs of two graphs of the same size may differ.
AS_LARGE = 0.02
#: The figures of ours in the drawer, by their heads.
FIGURES = {
    "kernels": "kernel_ms",
    "kernels, other roots": "roots_kernel_ms",
    "whole call": "call_ms",
    "share of a copy's bandwidth": "share_of_bandwidth",
    "10^12 additions with minimum per second": "tera_operations_per_second",
}


class Beside:
    """A pair of tables.

    Parameters
    ----------
    pair : Pair
        The paper's table and our file.
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.
    """

    def __init__(self, pair: Pair, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.pair = pair
        self.paper, self.ours = Paper(pair.paper, papers), Ours(pair.file, benchmarks)
        content = self.paper.table(pair.table)
        self.graphs = [row[0] for row in content["rows"]]
        self.hardware = content["hardware"]
        years = f"{self.ours.year - self.paper.year} years apart"
        ratio = f"times faster: different hardware, {years}" if self.ours.exists else "ratio"
        self.heads = f"{self.hardware}, {self.paper.year}", self.ours.head, ratio

    def sizes(self, graph: str) -> dict[str, float]:
        """Return the vertices, edges and diameter of a row's graph, as far as they are printed."""
        sizes = self.paper.table(self.pair.sizes)
        name = next((r[0] for r in sizes["rows"] if _same(r[0], graph)), graph)
        factor = 1e6 if sizes["unit"].startswith("10^6") else 1
        numbers = {c: self.paper.number(self.pair.sizes, name, c) for c in ("V", "E", "diameter")}
        return {
            c: number.value * (1 if c == "diameter" else factor)
            for c, number in numbers.items()
            if isinstance(number, Number)
        }

    def row(self, graph: str) -> Row | None:
        """Return our row for a row of the paper's table, or None."""
        if not self.pair.graphs:
            return self.ours.row("dense", n=int(graph))
        if graph not in self.pair.graphs:
            return None
        return self.ours.row(self.pair.graphs[graph], self.sizes(graph).get("E", 0))

    def as_large(self, graph: str) -> bool:
        """Say whether our graph has as many vertices and arcs as theirs."""
        row, sizes = self.row(graph), self.sizes(graph)
        if row is None or not self.pair.graphs:
            return row is not None
        theirs = sizes.get("V", 0), sizes.get("E", 0)
        ours = row["n"], row["m"]
        return all(abs(a / b - 1) <= AS_LARGE for a, b in zip(theirs, ours, strict=True))

    def why_not(self, graph: str) -> str:
        """Return the reason why there is no row of ours for a row of the paper's table."""
        file = f"{self.pair.file}.json"
        if not self.ours.exists:
            return f"{file} is missing"
        if not self.pair.graphs:
            return f"{file} has no matrix of {int(graph):,} vertices"
        if graph in self.pair.graphs:
            return f"{file} has no graph of this kind ({self.pair.graphs[graph]})"
        return "a graph from a collection, which the book does not carry"

    def lines(self, graph: str) -> list[Line]:
        """Return a line for each method on a graph."""
        row, compared = self.row(graph), self.as_large(graph)
        lines = []
        for column, (name, patterns) in self.pair.methods.items():
            theirs = self.paper.number(self.pair.table, graph, column)
            known = row or {}
            ours = self.ours.best(row, [p.format_map(known) for p in patterns]) if known else None
            note = _note(name, theirs, ours)
            lines.append(Line(name, theirs, ours, compared, note, self._share(row, ours)))
        return lines

    def fastest(self, graph: str) -> list[Line]:
        """Return a line for the fastest of our searches on a graph, if there is one."""
        row = self.row(graph)
        best = self.ours.best(row, self.pair.rivals)
        if best is None:
            return []
        return [Line("Our fastest", "not in it", best, True, best.note, self._share(row, best))]

    def _share(self, row: Row | None, ours: Number | None) -> str:
        share = self.ours.figure(row, ours.note, "share_of_bandwidth") if ours else None
        return f"{share} of a copy" if share else ""

    def charts(self, graphs: Sequence[str]) -> str:
        """Return a chart for each of some rows, on one scale."""
        lines = {graph: [*self.lines(graph), *self.fastest(graph)] for graph in graphs}
        ends = powers(line for some in lines.values() for line in some)
        return "".join(
            chart(
                f"{int(graph):,} vertices" if graph.isdigit() else graph,
                self.note(graph),
                lines[graph],
                self.heads if self.as_large(graph) else self.heads[:2],
                "" if self.as_large(graph) else "Another size: no ratio.",
                ends,
            )
            for graph in graphs
        )

    def note(self, graph: str) -> str:
        """Return a sentence on the difference between the two graphs."""
        row, theirs = self.row(graph), self.sizes(graph)
        if row is None:
            return f"{MISSING}: {self.why_not(graph)}"
        if not self.pair.graphs:
            return "Both are complete graphs; the lengths of their arcs have different ranges."
        sizes = ", ".join(
            f"{size(theirs[a]) if a in theirs else '?'} / {size(row[b])} {unit}"
            for unit, a, b in (("vertices", "V", "n"), ("arcs", "E", "m"))
        )
        if "levels" in row:
            diameter = size(theirs["diameter"]) if "diameter" in theirs else MISSING
            sizes += f"; their diameter {diameter}, our levels {row['levels']:,}"
        return f"Theirs / ours: {sizes}. {self.pair.differs.get(graph, '')}"

    def sources(self) -> str:
        """Return the machines of both sides, and the paper's columns that we did not measure."""
        file = f"data/benchmarks/{self.ours.name}.json"
        missing = "" if self.ours.exists else f"Missing here: {file}."
        theirs = f"Theirs: {self.paper.machine(self.hardware)}." if self.paper.exists else ""
        why = [f"{name}: {why}" for name, why in self.pair.without.items()]
        without = f"{MISSING.capitalize()}: {'; '.join(why)}." if why else ""
        parts = (self.paper.missing, missing, theirs, f"Ours: {self.ours.machine}.", without)
        return small_print(" ".join(filter(None, parts)))

    def drawer(self) -> str:
        """Return both tables in full, the first one also as CSV."""
        if not self.paper.exists:
            return ""
        theirs, ours, ratio = self.heads
        heads = ["graph", "method", f"{theirs}, ms", f"{ours}, ms", "our search", ratio]
        wide, long, full = [], [], []
        for graph in self.graphs:
            row, lines = self.row(graph), self.lines(graph)
            note = self.why_not(graph) if row is None else row.get("call", self.ours.name)
            for line in lines:
                search = line.ours.note if isinstance(line.ours, Number) else None
                values = line.theirs, line.ours, search, line.ratio, note
                long.append([graph, line.name, *values])
            wide.append([graph, *(line.theirs for line in lines)])
            if row is None:
                continue
            wide.append([f"ours, {row['graph']}", *(line.ours for line in lines)])
            for label in row.get("searches", {}):
                figures = [self.ours.figure(row, label, name) for name in FIGURES.values()]
                full.append([f"{row['graph']} {row['n']:,}, {label}", *figures])
        names = [name for name, _ in self.pair.methods.values()]
        return drawer(
            f"All of {self.pair.table}, and all figures of ours",
            table(["graph", *names], wide, f"As printed ({theirs}), and ours below it ({ours})"),
            table(["search", *FIGURES], full, f"Ours in full: {self.ours.machine}"),
            file=f"{self.pair.paper}-{self.pair.table}".lower().replace(" ", "-").replace(",", ""),
            rows=[[*heads, "our graph, or why none"], *long],
        )


def _same(one: str, other: str) -> bool:
    return one.lower().replace(".", "_") == other.lower().replace(".", "_")


def _note(name: str, theirs: Value, ours: Number | None) -> str:
    """Return the settings of both searches, and the name of ours if it differs."""
    notes = [f"theirs: {theirs.note}"] if isinstance(theirs, Number) and theirs.note else []
    if ours:
        method, _, options = ours.note.partition(" ")
        known = method in _spellings(name)
        if options or not known:
            notes.append(f"ours: {options if known else ours.note}")
    return "; ".join(notes)


def _spellings(name: str) -> str:
    """Return two spellings of a name without its punctuation, as our methods are named."""
    small = name.lower()
    return f"{re.sub(r'[^a-z0-9]+', '_', small)} {re.sub(r'[^a-z0-9]', '', small)}"
