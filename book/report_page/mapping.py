"""The load-balancing papers' figures: the statements of their text, and our times and energies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpukernels.views import CompareView

from .charts import MISSING, Line, Value, chart, drawer, table
from .numbers import Number
from .ours import Ours
from .pairs import FILTERS, TECHNIQUES
from .papers import Paper

#: By quantity, our file, its figure and its unit.
FIGURES = {"ms": ("mapping", "ms", "ms"), "energy": ("energy", "millijoules", "mJ")}


class Mapping:
    """The papers' statements, and ``mapping.json`` and ``energy.json``."""

    def __init__(self):
        self.papers = [Paper("busato2017loadbalancing"), Paper("busato2017chapter")]
        self.ours = {quantity: Ours(file) for quantity, (file, *_) in FIGURES.items()}
        times, energies = self.ours.values()
        same = times.head == energies.head
        self.devices = times.head if same else f"{times.head}; energy: {energies.head}"
        self.machines = f"Ours: {times.machine}. Energy: {energies.machine}."

    def best(self, workload: str, technique: str, quantity: str) -> Number | None:
        """Return a technique's least value on a workload, over its parameters and block sizes.

        Parameters
        ----------
        workload, technique : str
            The technique's name is the papers'.
        quantity : str
            ``"ms"`` or ``"energy"``.
        """
        _, figure, unit = FIGURES[quantity]
        numbers = [
            Number(row[figure], unit)
            for row in self.ours[quantity].rows
            if row.get("workload") == workload
            and row.get("technique", "").split(" ")[0] == TECHNIQUES[technique]
            and isinstance(row.get(figure), (int, float))
        ]
        return min(numbers, key=lambda number: number.value, default=None)

    def view(self) -> str:
        """Return our figures as a table of techniques and workloads, as in the chapters."""
        columns = {"kernels": "ms", "energy": "energy"}
        runs = []
        for technique in TECHNIQUES:
            for load in self.ours["ms"].data["workloads"]:
                name = load["workload"]
                best = {c: self.best(name, technique, q) for c, q in columns.items()}
                runs.append(
                    (technique, name, {c: b.value if b else MISSING for c, b in best.items()})
                )
        view = CompareView(
            runs,
            units={c: FIGURES[q][2] for c, q in columns.items()},
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
            for statement in paper.data["statements"]:
                yield paper, statement

    def lines(self) -> list[Line]:
        """Return one line per statement, by workload, with the paper's ratio and ours."""
        places: dict[tuple, list[str]] = {}
        for paper, claim in self.statements():
            same = tuple(claim[key] for key in ("workload", "fast", "slow", "about", "quantity"))
            gpu = claim["hardware"].replace("not named", "a GPU that it does not name")
            places.setdefault(same, []).append(f"{claim['figure']} of {paper.name} ({gpu})")
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
        return chart(
            "The papers' statements about their plots",
            "Times or energies of two techniques, the second divided by the first. A mark right of "
            "the line at 1 says that the first technique is better, as the paper says; a mark left "
            "of it says the opposite.",
            self.lines(),
            ("as printed", "ours"),
            f"If the paper prints no number, the line only says which is faster. {self.machines}",
        )

    def drawer(self) -> str:
        """Return the statements in short, and the sizes of the workloads, theirs and ours."""
        shapes = {"mean": "mean", "standard deviation": "std", "largest": "largest"}
        ours = {load["workload"].lower(): load for load in self.ours["ms"].data["workloads"]}
        rows: list[list[Any]] = []
        for name, *theirs in self.papers[0].table("Table I")["rows"]:
            load = ours[name.lower()]
            rows += [[name, *theirs], ["ours", *(Number(load[s], "") for s in shapes.values())]]
        claims = [
            [f"{paper.name}, {claim['figure']}", claim["says"], claim["hardware"]]
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


def mapping() -> str:
    """Return the load-balancing papers' statements and our times."""
    both = Mapping()
    return both.chart() + both.view() + both.drawer()


def duplicates() -> str:
    """Return BFS-4K's filter of duplicates compared with Merrill's: the paper's counts and ours."""
    paper, ours = Paper("busato2015bfs4k"), Ours("duplicates")
    lines = []
    for row in ours.rows:
        runs = {run.get("duplicates"): run for run in row["rows"] if run["method"] == "bfs4k"}
        for printed, figure in {"detected": "detected", "not detected": "missed"}.items():
            merrill, hash64 = (paper.number("Fig. 13(b)", printed, name) for name in FILTERS)
            one, other = (Number(runs[way][figure], "") for way in FILTERS.values())
            ratio = other.over(one) if one.value else None
            lines.append(Line(f"{printed}, {row['graph']}", hash64.over(merrill), ratio))
    return chart(
        "Duplicates with hash64, divided by those with one table per warp",
        "More detected duplicates are better, and fewer duplicates that are not detected. "
        "The paper has one graph, with groups of four; ours come from one run on each graph.",
        lines,
        (f"Fig. 13(b), {paper.year}", ours.head),
        f"Ours: {ours.machine}.",
    )
