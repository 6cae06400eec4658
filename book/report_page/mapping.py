"""The load-balancing papers' figures: the statements of their text, and our times and energies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpukernels.notebook import record
from gpukernels.views import CompareView

from .charts import MISSING, Line, Value, chart, drawer, powers, small_print, table
from .numbers import Number
from .ours import Ours
from .pairs import FILTERS, TECHNIQUES
from .papers import FOLDER, Paper

KEYS = ("busato2017loadbalancing", "busato2017chapter")
#: By quantity, its figure in our files and its unit.
FIGURES = {"ms": ("ms", "ms"), "energy": ("millijoules", "mJ")}


class Mapping:
    """The papers' statements, ``mapping.json``, and ``energy.json`` if it is there.

    Parameters
    ----------
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.
    """

    def __init__(self, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.papers = [Paper(key, papers) for key in KEYS]
        self.ours, self.energy = Ours("mapping", benchmarks), Ours("energy", benchmarks)
        same = not self.energy.exists or self.ours.head == self.energy.head
        self.devices = self.ours.head if same else f"{self.ours.head}; energy: {self.energy.head}"
        self.machines = f"Ours: {self.ours.machine}. Energy: {self.energy.machine}."

    def best(self, workload: str, technique: str, quantity: str) -> Number | None:
        """Return a technique's least value on a workload, over its parameters and block sizes.

        Parameters
        ----------
        workload, technique : str
            The technique's name is the papers'.
        quantity : str
            ``"ms"``, or ``"energy"``, which has a file of its own.
        """
        figure, unit = FIGURES[quantity]
        numbers = [
            Number(row[figure], unit)
            for row in (self.ours if quantity == "ms" else self.energy).rows
            if row.get("workload") == workload
            and row.get("technique", "").split(" ")[0] == TECHNIQUES.get(technique)
            and isinstance(row.get(figure), (int, float))
        ]
        return min(numbers, key=lambda number: number.value, default=None)

    def view(self) -> str:
        """Return our figures as a table of techniques and workloads, as in the chapters."""
        quantities = {"kernels": "ms", **({"energy": "energy"} if self.energy.exists else {})}
        runs = []
        for technique in TECHNIQUES:
            for load in self.ours.data.get("workloads", []):
                name = load["workload"]
                best = {c: self.best(name, technique, q) for c, q in quantities.items()}
                runs.append(
                    (technique, name, {c: b.value if b else MISSING for c, b in best.items()})
                )
        if not runs:
            return small_print(f"{MISSING}: {self.ours.machine}")
        view = CompareView(
            runs,
            units={c: FIGURES[q][1] for c, q in quantities.items()},
            heads=("technique", "workload"),
            file="mapping-techniques",
            name="theirs-mapping",
            title=f"The papers' techniques, each at its best setting ({self.devices})",
            caption=f"Kernels alone. {self.machines}",
        )
        return view._repr_mimebundle_()[0]["text/html"]

    def statements(self) -> Iterator[tuple[Paper, dict[str, Any]]]:
        """Yield every sentence of the papers that compares two techniques."""
        for paper in self.papers:
            for statement in paper.data.get("statements", []):
                yield paper, statement

    def lines(self) -> list[Line]:
        """Return one line per statement, by workload, with the paper's ratio and ours."""
        places: dict[tuple, list[str]] = {}
        for paper, claim in self.statements():
            same = tuple(claim[key] for key in ("workload", "fast", "slow", "about", "quantity"))
            gpu = claim["hardware"].replace("not named", "a GPU that it does not name")
            where = f"{claim['figure']} of {paper.data['name']} ({gpu})"
            places.setdefault(same, []).append(where)
        lines_by_load: dict[str, list[Line]] = {}
        for (load, fast, slow, about, quantity), where in places.items():
            theirs: Value = "faster" if quantity == "ms" else "less"
            if about is not None:
                theirs = Number(about, "x")
            least, other = (self.best(load, name, quantity) for name in (fast, slow))
            ours = other.over(least) if least and other else None
            name = f"{fast} better than {slow}" + (", energy" if quantity != "ms" else "")
            note = f"{load}: {', '.join(where)}"
            lines_by_load.setdefault(load, []).append(Line(name, theirs, ours, note=note))
        return [line for lines in lines_by_load.values() for line in lines]

    def chart(self) -> str:
        """Return the statements as a picture; right of 1, our order is the paper's."""
        lines = self.lines()
        low, high = powers(lines)
        return chart(
            "The papers' statements about their plots",
            "Times or energies of two techniques, the second divided by the first. A mark right of "
            "the line at 1 says that the first technique is better, as the paper says; a mark left "
            "of it says the opposite.",
            lines,
            ("as printed", self.devices),
            f"If the paper prints no number, the line only says which is faster. {self.machines}",
            (min(low, -1), max(high, 1)),
        )

    def drawer(self) -> str:
        """Return the statements in short, and the sizes of the workloads, theirs and ours."""
        paper = self.papers[0]
        shapes = {"mean": "mean", "standard deviation": "std", "largest": "largest"}
        rows = []
        for name, *_ in paper.table("Table I")["rows"]:
            loads = self.ours.data.get("workloads", [])
            load = next((w for w in loads if w["workload"].lower() == name.lower()), {})
            theirs = [paper.number("Table I", name, head) for head in shapes]
            ours = [Number(load[key], "") if key in load else None for key in shapes.values()]
            rows += [[name, *theirs], ["ours", *ours]]
        if not rows:
            return ""
        claims = [
            [f"{paper.data['name']}, {claim['figure']}", claim["says"], claim["hardware"]]
            for paper, claim in self.statements()
        ]
        shape = (
            "Work-units per work-item: the paper's workload, and below it ours, which is generated"
        )
        return drawer(
            "The statements in short, and how similar the workloads are",
            table(["where", "in short", "hardware"], claims, words=True),
            table(["workload", *shapes], rows, shape),
        )


def duplicates(papers: Path = FOLDER, benchmarks: Path = record.FOLDER) -> str:
    """Return BFS-4K's filter of duplicates compared with Merrill's: the paper's counts and ours."""
    paper, ours = Paper("busato2015bfs4k", papers), Ours("duplicates", benchmarks)
    lines = []
    for row in ours.rows or [{"graph": MISSING}]:
        for printed, figure in {"detected": "detected", "not detected": "missed"}.items():
            theirs = [paper.number("Fig. 13(b)", printed, column) for column in FILTERS]
            mine = [_count(row, way, figure) for way in FILTERS.values()]
            both = [two[1].over(two[0]) if all(two) and two[0].value else None
                    for two in (theirs, mine)]  # fmt: skip
            lines.append(Line(f"{printed}, {row['graph']}", *both))
    return chart(
        "Duplicates with hash64, divided by those with one table per warp",
        "More detected duplicates are better, and fewer duplicates that are not detected. "
        "The paper has one graph, with groups of four; ours come from one run on each graph.",
        lines,
        (f"Fig. 13(b), {paper.year or MISSING}", ours.head),
        f"Ours: {ours.machine}.",
        (-1, 1),
    )


def _count(row: dict[str, Any], way: str, figure: str) -> Number | None:
    for run in row.get("rows", []):
        if (run.get("method"), run.get("duplicates")) == ("bfs4k", way) and figure in run:
            return Number(run[figure], "")
    return None
