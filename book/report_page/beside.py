"""A paper's table of times compared with ours: one chart per graph, and a drawer with all times."""

from __future__ import annotations

import re

from .charts import MISSING, Line, Value, chart, drawer, small_print, table
from .numbers import Number, size
from .ours import Ours, Row
from .pairs import ON_GPU, Pair
from .papers import Paper

#: By how much vertices and arcs of two graphs of the same size may differ.
AS_LARGE = 0.02
#: A paper's table with the numbers of vertices and edges.
SIZES = "Table 1"


class Beside:
    """A pair of tables."""

    def __init__(self, pair: Pair):
        self.pair, self.paper, self.ours = pair, Paper(pair.paper), Ours(pair.file)
        content = self.paper.table(pair.table)
        self.graphs = [row[0] for row in content["rows"]]
        self.hardware = content["hardware"]
        self.heads = f"{self.hardware}, {self.paper.year}", self.ours.head, "times faster"

    def sizes(self, graph: str) -> dict[str, float]:
        """Return the vertices, edges and diameter of a row's graph, as far as they are printed."""
        sizes = self.paper.table(SIZES)
        name = next((r[0] for r in sizes["rows"] if _same(r[0], graph)), graph)
        factor = 1e6 if sizes["unit"].startswith("10^6") else 1
        numbers = {c: self.paper.number(SIZES, name, c) for c in ("V", "E", "diameter")}
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
        row = self.row(graph)
        if row is None or not self.pair.graphs:
            return row is not None
        sizes = self.sizes(graph)
        ratios = (sizes.get("V", 0) / row["n"], sizes.get("E", 0) / row["m"])
        return all(abs(ratio - 1) <= AS_LARGE for ratio in ratios)

    def why_not(self, graph: str) -> str:
        """Return the reason why there is no row of ours for a row of the paper's table."""
        if not self.pair.graphs:
            return f"{self.pair.file}.json has no matrix of {int(graph):,} vertices"
        if graph in self.pair.graphs:
            return f"{self.pair.file}.json has no graph of this kind ({self.pair.graphs[graph]})"
        return "a graph from a collection, which the book does not carry"

    def lines(self, graph: str) -> list[Line]:
        """Return a line for each method on a graph."""
        row, compared = self.row(graph), self.as_large(graph)
        lines = []
        for column, (name, patterns) in self.pair.methods.items():
            theirs = self.paper.number(self.pair.table, graph, column)
            ours = self.ours.best(row, [p.format_map(row) for p in patterns]) if row else None
            note = _note(name, theirs, ours)
            lines.append(Line(name, theirs, ours, compared, note, _share(row, ours)))
        return lines

    def chart(self, graph: str) -> str:
        """Return the chart of a row of the paper's table, with our fastest search at its end."""
        row, lines = self.row(graph), self.lines(graph)
        best = self.ours.best(row, ON_GPU)
        lines.append(Line("Our fastest", "not in it", best, True, best.note, _share(row, best)))
        title = f"{int(graph):,} vertices" if graph.isdigit() else graph
        if self.as_large(graph):
            years = self.ours.year - self.paper.year
            return chart(title, self.note(graph), lines, self.heads, apart(years))
        return chart(title, self.note(graph), lines, self.heads[:2], "Another size: no ratio.")

    def note(self, graph: str) -> str:
        """Return a sentence on the difference between the two graphs."""
        if not self.pair.graphs:
            return "Both are complete graphs; the lengths of their arcs have different ranges."
        row, theirs = self.row(graph), self.sizes(graph)
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
        why = [f"{name}: {why}" for name, why in self.pair.without.items()]
        without = f" {MISSING.capitalize()}: {'; '.join(why)}." if why else ""
        machines = f"Theirs: {self.paper.machine(self.hardware)}. Ours: {self.ours.machine}."
        return small_print(machines + without)

    def drawer(self) -> str:
        """Return the paper's table in full, with our times below the rows that we measured."""
        rows = []
        for graph in self.graphs:
            row, lines = self.row(graph), self.lines(graph)
            rows.append([graph, *(line.theirs for line in lines)])
            if row is not None:
                rows.append([f"ours, {row['graph']}", *(line.ours for line in lines)])
        names = [name for name, _ in self.pair.methods.values()]
        caption = f"As printed ({self.heads[0]}), and ours below it ({self.heads[1]})"
        return drawer(f"All of {self.pair.table}", table(["graph", *names], rows, caption))


def apart(*years: int) -> str:
    """Return the sentence on the years between the measurements of one or several papers."""
    span = " to ".join(str(y) for y in sorted({min(years), max(years)}))
    return f"Times faster: different hardware, {span} years apart."


def _same(one: str, other: str) -> bool:
    return one.lower().replace(".", "_") == other.lower().replace(".", "_")


def _share(row: Row | None, ours: Number | None) -> str:
    share = row["searches"][ours.note].get("share_of_bandwidth") if row and ours else None
    return f"{Number(share, '%')} of a copy" if share is not None else ""


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
