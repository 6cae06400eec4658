"""The parts of the page that are made from JSON files, by the names of their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpukernels.graphs.workloads import TARGETS

from .beside import Beside, apart
from .charts import Line, chart, drawer, table
from .mapping import duplicates, mapping
from .numbers import Number
from .ours import Ours
from .pairs import ALL_PAIRS, BFS4K, COURSE_BFS, HBF, SWITCHED, Pair
from .papers import KEYS, Paper

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


def overview() -> str:
    """Return each paper's own method, for the graphs of which ours is as large."""
    lines, years, devices = [], [], {}
    for pair, column in OWN:
        both = Beside(pair)
        for graph in filter(both.as_large, both.graphs):
            line = both.lines(graph)[list(pair.methods).index(column)]
            size = f"{int(graph):,} vertices" if graph.isdigit() else graph
            note = f"{size}; {both.hardware}, {both.paper.year}"
            lines.append(line._replace(name=line.name.split(",")[0], note=note, share=""))
            years.append(both.ours.year - both.paper.year)
            devices[both.ours.head] = None
    return chart(
        "Each paper's own method, then and now",
        "For all graphs of which ours is as large as theirs.",
        lines,
        ("the paper", "ours", "times faster"),
        f"Theirs as printed. Ours, {' / '.join(devices)}, are kernels alone, with the graph "
        f"already on the GPU. {apart(*years)}",
    )


def beside(pair: Pair) -> str:
    """Return the charts of a pair of tables, their sources, and the drawer."""
    both = Beside(pair)
    graphs = [graph for graph in both.graphs if both.row(graph) is not None]
    graphs.sort(key=lambda graph: not both.as_large(graph))
    shown = graphs if pair is not ALL_PAIRS else graphs[-2:]
    return "".join(map(both.chart, shown)) + both.sources() + both.drawer()


def course_bfs() -> str:
    """Return the course's tables of searches: theirs alone."""
    paper = Paper("padamata2013graph")
    tables = []
    for name in COURSE_BFS:
        content = paper.table(name)
        rows = [
            [row[0], *(paper.number(name, row[0], column) for column in content["columns"][1:])]
            for row in content["rows"]
        ]
        tables.append(table(content["columns"], rows, f"{name}: {content['what']}"))
    return drawer(f"All three tables, {paper.machine(content['hardware'])}", *tables)


def limits() -> str:
    """Return the fastest kernels with the least time that this GPU allows."""
    ours = Ours("knobs")
    lines, tried = [], []
    for row in ours.data["works"]:
        best, (name, bound) = row["best"], WORKS[row["work"]]
        note = f"{best['method']}; least: {bound}"
        share = f"{Number(best['share_of_limit'], '%')} reached"
        lines.append(
            Line(name, Number(row["limit_ms"]), Number(best["ms"]), note=note, share=share)
        )
        if "copy_ms" in row:
            copied = Number(row["copy_ms"])
            tried.append([row["work"], "copy_words", "a copy of as many bytes", copied])
        for run in row["times"]:
            options = ", ".join(f"{o}={v}" for o, v in run["options"].items()) or "as it is"
            tried.append([row["work"], run["method"], options, Number(run["ms"])])
    return chart(
        "The fastest kernels, and the least possible time",
        "Kernels and rates were measured in the same run.",
        lines,
        ("least possible", f"reached, {ours.head}"),
        f"Kernels alone, medians, every result checked. {ours.machine}.",
    ) + drawer(
        "All settings that were tried",
        table(["work", "method", "options", "kernels"], tried, "One knob at a time"),
    )


def without() -> str:
    """Return the numbers and plots of the papers that have no counterpart of ours."""
    rows: list[list[Any]] = []
    for pair in (BFS4K, HBF, SWITCHED, ALL_PAIRS):
        both = Beside(pair)
        name = f"{both.paper.name}, {pair.table}"
        lacking = [graph for graph in both.graphs if both.row(graph) is None]
        rows += _by_reason(name, [(both.why_not(graph), graph) for graph in lacking], ", ")
        rows += [
            [name, f"the column {pair.methods[column][0]}", why]
            for column, why in pair.without.items()
        ]
    why = "its graphs are random matrices, and the paper does not give their number of arcs"
    rows += [["the course project", name, why] for name in COURSE_BFS]
    for paper in map(Paper, KEYS):
        plots = [
            (f"a plot: {p['shape']}", f"{p['figure']}: {p['what']}") for p in paper.data["plots"]
        ]
        rows += _by_reason(paper.name, plots, "; ")
    heads = ["paper", "what", "why there is nothing to compare"]
    return drawer("What has no counterpart, and why", table(heads, rows, words=True))


def _by_reason(name: str, lines: list[tuple[str, str]], sign: str) -> list[list[str]]:
    """Return one row per reason, with everything that has this reason."""
    reasons: dict[str, list[str]] = {}
    for why, what in lines:
        reasons.setdefault(why, []).append(what)
    return [[name, sign.join(some), why] for why, some in reasons.items()]


def slips() -> str:
    """Return the contradictions in the papers, and the algorithms that they print wrongly."""
    rows = [
        [f"{paper.name}, {slip['where']}", slip["printed"], slip["is"], slip["why"]]
        for paper in map(Paper, KEYS)
        for slip in paper.data["slips"]
    ]
    heads = ["where", "printed", "should be", "why"]
    return drawer("Slips in the papers", table(heads, rows, words=True))


def machines() -> str:
    """Return the hardware of every number."""
    rows = [
        [paper.name, paper.year, paper.machine(name)]
        for paper in map(Paper, KEYS)
        for name in paper.data["hardware"]
    ]
    for name in ("bfs", "sssp", "apsp", "mapping", "energy"):
        ours = Ours(name)
        rows.append([f"data/benchmarks/{name}.json", ours.year, ours.machine])
    heads = ["numbers of", "year", "hardware"]
    return drawer("Every machine by its name", table(heads, rows, words=True))


#: By the name of a place, the function that returns its part as HTML.
PARTS: dict[str, Callable[[], str]] = {
    "overview": overview,
    "bfs4k": lambda: beside(BFS4K),
    "duplicates": duplicates,
    "hbf": lambda: beside(HBF),
    "switched": lambda: beside(SWITCHED),
    "all-pairs": lambda: beside(ALL_PAIRS),
    "course-bfs": course_bfs,
    "mapping": mapping,
    "limits": limits,
    "without": without,
    "slips": slips,
    "machines": machines,
}
