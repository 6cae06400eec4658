"""The parts of the page that are made from JSON files, by the names of their places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpukernels.graphs.workloads import TARGETS
from gpukernels.notebook import record

from .beside import Beside
from .charts import MISSING, Line, chart, drawer, small_print, table
from .mapping import Mapping, duplicates
from .numbers import Number
from .ours import Ours
from .pairs import ALL_PAIRS, BFS4K, COURSE_BFS, HBF, SWITCHED
from .papers import FOLDER, KEYS, Paper

#: The method of each paper that the first picture shows: pair, column.
OWN = (
    (BFS4K, "BFS-4K"),
    (HBF, "H-BF"),
    (SWITCHED, "H-BF with"),
    (ALL_PAIRS, "blocked, 4 x 2"),
)
#: By work of `knobs.json`: its name, and the least that every kernel must do.
A_LEVEL = "a barrier and two loads per level, one after the other"
A_SEARCH = f"a vertex's bytes at the rate of a copy, and {A_LEVEL}"
ALL_ARCS = f"each arc's target and each vertex once, at the rate of a copy, and {A_LEVEL}"
A_MAPPING = "each offset read and each item written, at the rate of a copy"
WORKS = {
    "grid": ("search, grid", A_LEVEL),
    "scan": ("scan", "each value read and written once, at the rate of a copy"),
    **{name: (f"search, {name}", A_SEARCH) for name in ("rmat", "rmat both ways", "kron")},
    "uniform": ("search, uniform", A_SEARCH),
    **{f"BFS-4K {name}": (f"BFS-4K, {name}", ALL_ARCS) for name in ("random", "rmat", "kron")},
    **{f"expand {name}": (f"mapping, {name}", A_MAPPING) for name in TARGETS},
}


class Page:
    """The parts of the page.

    Parameters
    ----------
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.

    Attributes
    ----------
    places : dict of str to callable
        By the name of a place, the function that returns its part as HTML.
    """

    def __init__(self, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.folders = papers, benchmarks
        self.papers = [Paper(key, papers) for key in KEYS]
        self.places: dict[str, Callable[[], str]] = {
            "overview": self.overview,
            "bfs4k": lambda: self.pair(BFS4K),
            "duplicates": lambda: duplicates(*self.folders),
            "hbf": lambda: self.pair(HBF),
            "switched": lambda: self.pair(SWITCHED),
            "all-pairs": lambda: self.pair(ALL_PAIRS),
            "course-bfs": self.course_bfs,
            "mapping": self.mapping,
            "limits": self.limits,
            "without": self.without,
            "slips": self.slips,
            "machines": self.machines,
        }

    def overview(self) -> str:
        """Return each paper's own method, for the graphs of which ours is as large."""
        lines, years, devices = [], set(), {}
        for pair, column in OWN:
            both = Beside(pair, *self.folders)
            for graph in filter(both.as_large, both.graphs):
                line = both.lines(graph)[list(pair.methods).index(column)]
                size = f"{int(graph):,} vertices" if graph.isdigit() else graph
                note = f"{size}; {both.hardware}, {both.paper.year}"
                name = line.name.split(",")[0]
                lines.append(line._replace(name=name, note=note, share=""))
                years.add(both.ours.year - both.paper.year)
                devices[both.ours.head] = None
        heads = ["the paper", " / ".join(devices) or MISSING]
        if years:
            apart = " to ".join(str(y) for y in sorted({min(years), max(years)}))
            heads.append(f"times faster: different hardware, {apart} years apart")
        return chart(
            "Each paper's own method, then and now",
            "For all graphs of which ours is as large as theirs.",
            lines,
            heads,
            "Theirs as printed. Ours are kernels alone, with the graph already on the GPU.",
        )

    def pair(self, pair) -> str:
        """Return the charts of a pair of tables, their sources, and the drawer."""
        both = Beside(pair, *self.folders)
        graphs = [graph for graph in both.graphs if both.row(graph) is not None]
        graphs.sort(key=lambda graph: not both.as_large(graph))
        shown = graphs if pair is not ALL_PAIRS else graphs[-2:]
        return both.charts(shown) + both.sources() + both.drawer()

    def course_bfs(self) -> str:
        """Return the course's searches: theirs alone, the largest as a picture."""
        paper = Paper("padamata2013graph", self.folders[0])
        tables = {name: paper.table(name) for name in COURSE_BFS}
        first = tables[COURSE_BFS[0]]
        if not first["rows"]:
            return small_print(paper.missing)
        numbers: dict[str, list[list[Any]]] = {
            name: [
                [row[0], *(paper.number(name, row[0], c) for c in content["columns"][1:])]
                for row in content["rows"]
            ]
            for name, content in tables.items()
        }
        largest = numbers[COURSE_BFS[0]][-1]
        methods = zip(first["columns"][1:], largest[1:], strict=True)
        picture = chart(
            f"{int(largest[0]):,} vertices",
            f"{first['what']}.".capitalize()
            + " Theirs alone: the report does not say how many arcs the matrix has.",
            [Line(name, theirs, None) for name, theirs in methods],
            (f"{first['hardware']}, {paper.year}", "ours"),
            f"Theirs: {paper.machine(first['hardware'])}.",
        )
        saved = [["table", *first["columns"]]]
        saved += [[name, *row] for name, rows in numbers.items() for row in rows]
        shown = [
            table(content["columns"], numbers[name], f"{name}: {content['what']}")
            for name, content in tables.items()
        ]
        return picture + drawer(
            "All three tables", *shown, file="padamata2013graph-bfs", rows=saved
        )

    def mapping(self) -> str:
        """Return the load-balancing papers' statements and our times."""
        both = Mapping(*self.folders)
        lacking = "".join(small_print(paper.missing) for paper in both.papers)
        return lacking + both.chart() + both.view() + both.drawer()

    def limits(self) -> str:
        """Return the fastest kernels with the least time that this GPU allows."""
        ours = Ours("knobs", self.folders[1])
        lines, tried = [], []
        for row in ours.data.get("works", []):
            best, (name, bound) = row["best"], WORKS.get(row["work"], (row["work"], ""))
            note = f"{best['method']}; least: {bound}" if bound else best["method"]
            share = f"{Number(best['share_of_limit'], '%')} reached"
            least, done = Number(row["limit_ms"]), Number(best["ms"])
            lines.append(Line(name, least, done, note=note, share=share))
            if "copy_ms" in row:
                copied = Number(row["copy_ms"])
                tried.append([row["work"], "copy_words", "a copy of as many bytes", copied])
            for run in row["times"]:
                options = ", ".join(f"{o}={v}" for o, v in run["options"].items()) or "as it is"
                tried.append([row["work"], run["method"], options, Number(run["ms"])])
        if not lines:
            return small_print(ours.machine)
        heads = ["work", "method", "options", "kernels"]
        return chart(
            "The fastest kernels, and the least possible time",
            "Kernels and rates were measured in the same run.",
            lines,
            ("least possible", f"reached, {ours.device}"),
            f"Kernels alone, medians, every result checked. {ours.machine}.",
        ) + drawer(
            "All settings that were tried",
            table(heads, tried, "One knob at a time"),
            file="knobs",
            rows=[heads, *tried],
        )

    def without(self) -> str:
        """Return the numbers and plots of the papers that have no counterpart of ours."""
        rows: list[list[Any]] = []
        for pair in (BFS4K, HBF, SWITCHED, ALL_PAIRS):
            both = Beside(pair, *self.folders)
            name = f"{both.paper.data.get('name', pair.paper)}, {pair.table}"
            lacking = [graph for graph in both.graphs if both.row(graph) is None]
            rows += _by_reason(name, [(both.why_not(graph), graph) for graph in lacking], ", ")
            rows += [
                [name, f"the column {pair.methods[column][0]}", why]
                for column, why in pair.without.items()
            ]
        why = "its graphs are random matrices, and the paper does not give their number of arcs"
        rows += [["the course project", name, why] for name in COURSE_BFS]
        both = Mapping(*self.folders)
        rows += [
            [
                paper.data["name"],
                f"{statement['figure']}: {statement['says']}",
                "its energy is not measured (data/benchmarks/energy.json)",
            ]
            for paper, statement in both.statements()
            if statement["quantity"] != "ms"
            and both.best(statement["workload"], statement["fast"], statement["quantity"]) is None
        ]
        for paper in filter(lambda paper: paper.exists, self.papers):
            plots = [
                (f"a plot: {p['shape']}", f"{p['figure']}: {p['what']}")
                for p in paper.data["plots"]
            ]
            rows += _by_reason(paper.data["name"], plots, "; ")
        heads = ["paper", "what", "why there is nothing to compare"]
        return drawer(
            "What has no counterpart, and why",
            table(heads, rows, words=True),
            file="not-measured",
            rows=[heads, *rows],
        )

    def slips(self) -> str:
        """Return the contradictions in the papers, and the algorithms that they print wrongly."""
        rows = [
            [f"{paper.data['name']}, {slip['where']}", slip["printed"], slip["is"], slip["why"]]
            for paper in self.papers
            for slip in paper.data["slips"]
        ]
        heads = ["where", "printed", "should be", "why"]
        return drawer("Slips in the papers", table(heads, rows, words=True))

    def machines(self) -> str:
        """Return the hardware of every number."""
        rows = [
            [paper.data["name"], paper.year, paper.machine(name)]
            for paper in self.papers
            for name in paper.data["hardware"]
        ]
        for name in ("bfs", "sssp", "apsp", "mapping", "energy"):
            ours = Ours(name, self.folders[1])
            rows.append([f"data/benchmarks/{name}.json", ours.year or None, ours.machine])
        heads = ["numbers of", "year", "hardware"]
        lacking = "".join(small_print(paper.missing) for paper in self.papers)
        return lacking + drawer("Every machine by its name", table(heads, rows, words=True))


def _by_reason(name: str, lines: list[tuple[str, str]], sign: str) -> list[list[str]]:
    """Return one row per reason, with everything that has this reason."""
    reasons: dict[str, list[str]] = {}
    for why, what in lines:
        reasons.setdefault(why, []).append(what)
    return [[name, sign.join(some), why] for why, some in reasons.items()]
