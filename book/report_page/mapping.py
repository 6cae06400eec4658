"""The load-balancing papers' figures: what they say of a plot, and our times for the same loads."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpukernels.notebook import record
from gpukernels.views import CompareView

from .chart import MISSING, Chart, Line, powers
from .drawer import drawer, table
from .numbers import Number
from .ours import Ours
from .pairs import FILTERS, TECHNIQUES
from .papers import FOLDER, Paper

TOLD = ("busato2017loadbalancing", "busato2017chapter")


class Mapping:
    """The papers' statements beside ``mapping.json``, and ``energy.json`` if it is there.

    Parameters
    ----------
    papers, benchmarks : Path
        Folders of the papers' numbers and of ours.
    """

    def __init__(self, papers: Path = FOLDER, benchmarks: Path = record.FOLDER):
        self.papers = [Paper(key, papers) for key in TOLD]
        self.ours, self.energy = Ours("mapping", benchmarks), Ours("energy", benchmarks)

    @property
    def devices(self) -> str:
        """The GPU and year of the times and, if another GPU or year, those of the energy."""
        names = [f"{of.device}, {of.year or 'no file'}" for of in (self.ours, self.energy)]
        if not self.energy.there or len(set(names)) == 1:
            return names[0]
        return "; energy: ".join(names)

    @property
    def machines(self) -> str:
        """A sentence for the machine of the times, and one for that of the energy."""
        return f"Ours: {self.ours.machine}. Energy: {self.energy.machine}."

    def best(self, workload: str, technique: str, quantity: str = "ms") -> Number | None:
        """Return the least of a technique on a workload, over its knobs and block sizes.

        Parameters
        ----------
        workload, technique : str
            The technique's name is the papers'.
        quantity : str
            A time, ``"ms"``, or ``"energy"``, which stands in a file of its own.
        """
        of, figure, unit = self.ours, "ms", "ms"
        if quantity == "energy":
            of, figure, unit = self.energy, "millijoules", "mJ"
        found = [
            Number(row[figure], f"{of.name}#/times/{k}/{figure}", unit, row["technique"])
            for k, row in enumerate(of.rows)
            if row.get("workload") == workload
            and row.get("technique", "").split(" ")[0] == TECHNIQUES.get(technique)
            and isinstance(row.get(figure), (int, float))
        ]
        return min(found, key=lambda number: number.value, default=None)

    def view(self) -> str:
        """Return our figures, techniques against workloads, as the chapters show them."""
        names = [w["workload"] for w in self.ours.data.get("workloads", [])]
        quantities = {"kernels": "ms", **({"energy": "energy"} if self.energy.there else {})}
        runs = [
            (technique, name, {counter: best[counter] or MISSING for counter in quantities})
            for technique in TECHNIQUES
            for name in names
            for best in [{c: self._least(name, technique, q) for c, q in quantities.items()}]
        ]
        if not runs:
            return f'<p class="foot">{MISSING}: {html.escape(self.ours.machine)}</p>'
        view = CompareView(
            runs,
            units={c: {"kernels": "ms", "energy": "mJ"}[c] for c in quantities},
            heads=("technique", "workload"),
            file="mapping-techniques",
            name="theirs-mapping",
            title=f"The papers' techniques, each at its best setting ({self.devices})",
            caption=f"Kernels alone. {self.machines}",
        )
        return view._repr_mimebundle_()[0]["text/html"]

    def _least(self, workload: str, technique: str, quantity: str) -> float | None:
        best = self.best(workload, technique, quantity)
        return best.value if best else None

    def statements(self) -> Iterator[tuple[Paper, dict[str, Any], int]]:
        """Yield every sentence of the papers that compares two techniques, with its number."""
        for paper in self.papers:
            for k, told in enumerate(paper.data.get("statements", [])):
                yield paper, told, k

    def lines(self) -> list[Line]:
        """Return a line for each statement: how many times faster theirs, and ours."""
        places: dict[tuple, list[tuple[Paper, dict[str, Any], int]]] = {}
        for paper, told, k in self.statements():
            same = tuple(told[key] for key in ("workload", "fast", "slow", "about", "quantity"))
            places.setdefault(same, []).append((paper, told, k))
        found = []
        for (load, fast, slow, about, quantity), said in places.items():
            paper, _, k = said[0]
            theirs: Number | str = "faster" if quantity == "ms" else "less"
            if about is not None:
                theirs = Number(about, f"{paper.key}#/statements/{k}/about", "x")
            least, other = (self.best(load, name, quantity) for name in (fast, slow))
            ours = other.over(least) if least and other else MISSING
            where = ", ".join(
                f"{told['figure']} of {paper.data['name']} ({_named(told['hardware'])})"
                for paper, told, _ in said
            )
            name = f"{fast} before {slow}" + (", energy" if quantity != "ms" else "")
            found.append((load, Line(name, theirs, ours, False, f"{load}: {where}")))
        loads = list(dict.fromkeys(load for load, _ in found))
        return [line for _, line in sorted(found, key=lambda pair: loads.index(pair[0]))]

    def chart(self) -> Chart:
        """Return the statements as a picture: right of 1 the paper's order holds here."""
        lines = self.lines()
        low, high = powers(lines)
        return Chart(
            "What the papers say of their plots",
            "Two techniques' times or energies, the second divided by the first. Right of the line "
            "at 1 the paper's order holds here; left of it, the other way round.",
            lines,
            ("as printed", self.devices, ""),
            "Where they print no number, only who is faster. " + html.escape(self.machines),
            (min(low, -1), max(high, 1)),
        )

    def drawer(self) -> str:
        """Return the workloads' shapes, theirs beside ours."""
        paper, name = self.papers[0], "Table I"
        heads = ["mean", "standard deviation", "largest"]
        rows = []
        for row in paper.rows(name):
            k, mine = self._workload(row[0])
            ours = [
                Number(mine[key], f"mapping#/workloads/{k}/{key}", "") if key in mine else None
                for key in ("mean", "std", "largest")
            ]
            theirs = [paper.number(name, row[0], head) for head in heads]
            rows.append([row[0], *([a, b] for a, b in zip(theirs, ours, strict=True))])
        if not rows:
            return ""
        said = [
            [f"{paper.data['name']}, {told['figure']}", told["says"], told["hardware"]]
            for paper, told, _ in self.statements()
        ]
        inner = table(
            "What the text says of the plots", ["where", "in short", "hardware"], said, words=True
        )
        inner += table(
            "Work-units for each work-item: the paper's workload, below it ours, which is made",
            ["workload", *heads],
            rows,
        )
        return drawer("What the papers say in short, and how alike the workloads are", inner)

    def _workload(self, name: str) -> tuple[int, dict[str, Any]]:
        for k, load in enumerate(self.ours.data.get("workloads", [])):
            if load["workload"].lower() == name.lower():
                return k, load
        return -1, {}


def _named(hardware: str) -> str:
    return "on a GPU that it does not name" if hardware == "not named" else hardware


def duplicates(papers: Path = FOLDER, benchmarks: Path = record.FOLDER) -> Chart:
    """Return BFS-4K's filter of duplicates over Merrill's: the paper's counts, and ours."""
    paper, ours = Paper("busato2015bfs4k", papers), Ours("duplicates", benchmarks)
    counts = {"detected": "detected", "not detected": "missed"}
    merrill, hash64 = (paper.number("Fig. 13(b)", "detected", column) for column in FILTERS)
    lines = []
    for row in ours.rows or [{"graph": MISSING}]:
        for theirs, mine in counts.items():
            merrill, hash64 = (paper.number("Fig. 13(b)", theirs, column) for column in FILTERS)
            told = hash64.over(merrill) if merrill and hash64 else None
            found = [_count(ours, row, way, mine) for way in FILTERS.values()]
            ratio = found[1].over(found[0]) if all(found) and found[0].value else MISSING
            lines.append(Line(f"{theirs}, {row['graph']}", told, ratio, False))
    return Chart(
        "hash64 over the tables of one warp each: how many duplicates",
        "More of the first and fewer of the second is better. "
        "Theirs is one graph, with groups of four; ours come from one run on each graph.",
        lines,
        (f"Fig. 13(b), {paper.year or MISSING}", f"{ours.device}, {ours.year or 'no file'}", ""),
        html.escape(f"Ours: {ours.machine}."),
        (-1, 1),
    )


def _count(ours: Ours, row: dict[str, Any], way: str, figure: str) -> Number | None:
    for k, told in enumerate(row.get("rows", [])):
        if (told.get("method"), told.get("duplicates")) == ("bfs4k", way) and figure in told:
            at = f"duplicates#/times/{ours.rows.index(row)}/rows/{k}/{figure}"
            return Number(told[figure], at, "")
    return None
