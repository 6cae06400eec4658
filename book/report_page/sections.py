"""The parts of the page that are made of JSON, by the names of their places."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpukernels.notebook import record

from .beside import Beside
from .chart import MISSING, Chart, Line
from .drawer import drawer, table
from .limits import limits
from .mapping import Mapping, duplicates
from .numbers import Number
from .pairs import ALL_PAIRS, BFS4K, COURSE_BFS, HBF, SWITCHED
from .papers import FOLDER, KEYS, Paper

#: The method of each paper that the first picture shows: pair, column.
OWN = (
    (BFS4K, "BFS-4K"),
    (HBF, "H-BF"),
    (SWITCHED, "H-BF with"),
    (ALL_PAIRS, "blocked, 4 x 2"),
)


class Page:
    """Everything on the page that is no prose.

    Parameters
    ----------
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.
    """

    def __init__(self, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.folders = papers, benchmarks
        self.papers = [Paper(key, papers) for key in KEYS]
        self.places: dict[str, Callable[[], str]] = {
            "overview": self.overview,
            "bfs4k": lambda: self.pair(BFS4K),
            "duplicates": lambda: duplicates(*self.folders).html(),
            "hbf": lambda: self.pair(HBF),
            "switched": lambda: self.pair(SWITCHED),
            "all-pairs": lambda: self.pair(ALL_PAIRS),
            "course-bfs": self.course_bfs,
            "mapping": self.mapping,
            "limits": lambda: limits(self.folders[1]),
            "without": self.without,
            "slips": self.slips,
            "machines": self.machines,
        }

    def beside(self, pair) -> Beside:
        """Return a pair of tables, read from the folders."""
        return Beside(pair, *self.folders)

    def overview(self) -> str:
        """Return each paper's own method, where our graph is as large."""
        lines, years, devices = [], set(), {}
        for pair, column in OWN:
            of = self.beside(pair)
            for graph in of.graphs():
                if of.as_large(graph):
                    name = pair.methods[column][0]
                    line = of.lines(graph)[list(pair.methods).index(column)]
                    where = f"{of.paper.hardware(pair.table)}, {of.paper.year}"
                    what = f"{int(graph):,} vertices" if graph.isdigit() else graph
                    note = f"{what}; {where}"
                    lines.append(Line(name.split(",")[0], line.theirs, line.ours, note=note))
                    years.add(of.ours.year - of.paper.year)
                    devices[f"{of.ours.device}, {of.ours.year}"] = None
        apart = " to ".join(str(y) for y in sorted({min(years), max(years)})) if years else ""
        ratio = f"times faster: different hardware, {apart} years apart" if apart else ""
        ours = " / ".join(devices) or MISSING
        return Chart(
            "Each paper's own method, then and now",
            "Where our graph is as large as theirs.",
            lines,
            ("the paper", ours, ratio),
            "Theirs as printed; ours are kernels alone, the graph on the GPU already.",
        ).html()

    def pair(self, pair) -> str:
        """Return the charts of a pair of tables, what has no counterpart, and the drawer."""
        of = self.beside(pair)
        graphs = [graph for graph in of.graphs() if of.row(graph) is not None]
        graphs.sort(key=lambda graph: not of.as_large(graph))
        shown = graphs if pair is not ALL_PAIRS else graphs[-2:]
        charts = "".join(chart.html() for chart in of.charts(shown))
        return f"{charts}{self._sources(of)}{of.drawer()}"

    def _sources(self, of: Beside) -> str:
        theirs = of.paper.machine(of.paper.hardware(of.pair.table))
        told = [
            of.missing,
            f"Theirs: {theirs}." if of.paper.there else "",
            f"Ours: {of.ours.machine}.",
        ]
        why = [f"{name}: {why}" for name, why in of.pair.without.items()]
        told += [f"{MISSING.capitalize()}: {'; '.join(why)}."] if why else []
        return f'<p class="gk-report foot">{html.escape(" ".join(filter(None, told)))}</p>'

    def course_bfs(self) -> str:
        """Return the course's searches: theirs alone, the largest as a picture."""
        paper = Paper("padamata2013graph", self.folders[0])
        rows = paper.rows(COURSE_BFS[0])
        if not rows:
            return _missing(paper)
        largest, columns = rows[-1][0], paper.table(COURSE_BFS[0])["columns"][1:]
        lines = [Line(c, paper.number(COURSE_BFS[0], largest, c), MISSING) for c in columns]
        hardware = paper.hardware(COURSE_BFS[0])
        chart = Chart(
            f"{int(largest):,} vertices",
            html.escape(f"{paper.table(COURSE_BFS[0])['what']}.".capitalize())
            + " Theirs alone: the report does not say how many arcs that is.",
            lines,
            (f"{hardware}, {paper.year}", "ours", ""),
            html.escape(f"Theirs: {paper.machine(hardware)}."),
        )
        tables = ""
        for name in COURSE_BFS:
            heads = paper.table(name)["columns"]
            cells = [
                [r[0], *(paper.number(name, r[0], c) for c in heads[1:])] for r in paper.rows(name)
            ]
            tables += table(f"{name}: {paper.table(name)['what']}", heads, cells)
        saved = [["table", *paper.table(COURSE_BFS[0])["columns"]]]
        saved += [[name, *row] for name in COURSE_BFS for row in paper.rows(name)]
        return chart.html() + drawer("All three tables", tables, "padamata2013graph-bfs", saved)

    def mapping(self) -> str:
        """Return the load-balancing papers' statements and our times."""
        of = Mapping(*self.folders)
        lacking = "".join(_missing(paper) for paper in of.papers if not paper.there)
        return f"{lacking}{of.chart().html()}{of.view()}{of.drawer()}"

    def without(self) -> str:
        """Return what the papers print or plot and nothing of ours stands beside."""
        rows: list[list[Any]] = []
        for pair in (BFS4K, HBF, SWITCHED, ALL_PAIRS):
            of = self.beside(pair)
            reasons: dict[str, list[str]] = {}
            for graph in of.graphs():
                if of.row(graph) is None:
                    reasons.setdefault(of.why_not(graph), []).append(graph)
            name = f"{of.paper.data.get('name', pair.paper)}, {pair.table}"
            rows += [[name, ", ".join(graphs), why] for why, graphs in reasons.items()]
            rows += [
                [name, f"the column {pair.methods[column][0]}", why]
                for column, why in pair.without.items()
            ]
        why = "its graphs are random matrices whose arcs are not told"
        rows += [["the course project", name, why] for name in COURSE_BFS]
        of = Mapping(*self.folders)
        rows += [
            [
                paper.data["name"],
                f"{told['figure']}: {told['says']}",
                "its energy is not measured (data/benchmarks/energy.json)",
            ]
            for paper, told, _ in of.statements()
            if told["quantity"] != "ms"
            and of.best(told["workload"], told["fast"], told["quantity"]) is None
        ]
        for paper in self.papers:
            shapes: dict[str, list[str]] = {}
            for plot in paper.data["plots"]:
                shapes.setdefault(plot["shape"], []).append(f"{plot['figure']}: {plot['what']}")
            rows += [
                [paper.data["name"], "; ".join(figures), f"a plot: {shape}"]
                for shape, figures in shapes.items()
            ]
        heads = ["paper", "what", "why nothing stands beside it"]
        inner = table("Not measured", heads, rows, words=True)
        return drawer("What has no counterpart, and why", inner, "not-measured", [heads, *rows])

    def slips(self) -> str:
        """Return where papers contradict themselves, and which algorithms they print wrongly."""
        rows = [
            [f"{paper.data['name']}, {slip['where']}", slip["printed"], slip["is"], slip["why"]]
            for paper in self.papers
            for slip in paper.data["slips"]
        ]
        heads = ["where", "printed", "should be", "why"]
        return drawer("Slips in the papers", table("Slips", heads, rows, words=True))

    def machines(self) -> str:
        """Return the hardware of every number."""
        rows = [
            [
                paper.data["name"],
                Number(paper.year, f"{paper.key}#/year", "year"),
                paper.machine(name),
            ]
            for paper in self.papers
            if paper.there
            for name in paper.data["hardware"]
        ]
        mapping = Mapping(*self.folders)
        rows += [
            [f"data/benchmarks/{of.name}.json", of.year or None, of.machine]
            for of in dict.fromkeys(
                [
                    *(self.beside(pair).ours for pair in (BFS4K, HBF, ALL_PAIRS)),
                    mapping.ours,
                    mapping.energy,
                ]
            )
        ]
        heads = ["numbers of", "year", "hardware"]
        lacking = "".join(_missing(paper) for paper in self.papers if not paper.there)
        return lacking + drawer(
            "Every machine by its name", table("Machines", heads, rows, words=True)
        )


def _missing(paper: Paper) -> str:
    return f'<p class="gk-report foot">Missing here: data/papers/{paper.key}.json.</p>'
