"""The fastest kernels beside what the GPU allows: ``knobs.json`` as a picture."""

from __future__ import annotations

import html
from pathlib import Path

from gpukernels.graphs.workloads import TARGETS
from gpukernels.notebook import record

from .chart import Chart, Line
from .drawer import drawer, table
from .numbers import Number
from .ours import Ours

#: What each work is called, and what no kernel can do without.
A_LEVEL = "a barrier and two loads a level, one after the other"
A_SEARCH = f"a vertex's bytes at the rate of a copy, and {A_LEVEL}"
ALL_ARCS = f"each arc's target and each vertex once, at the rate of a copy, and {A_LEVEL}"
WORKS = {
    "grid": ("search, grid", A_LEVEL),
    "scan": ("scan", "each value read and written once, at the rate of a copy"),
    "rmat": ("search, rmat", A_SEARCH),
    "rmat both ways": ("search, rmat both ways", A_SEARCH),
    "kron": ("search, kron", A_SEARCH),
    "uniform": ("search, uniform", A_SEARCH),
    **{f"BFS-4K {name}": (f"BFS-4K, {name}", ALL_ARCS) for name in ("random", "rmat", "kron")},
    **{
        f"expand {name}": (
            f"mapping, {name}", "each offset read and each item written, at the rate of a copy",
        )
        for name in TARGETS
    },
}  # fmt: skip


def limits(benchmarks: Path = record.FOLDER) -> str:
    """Return what was reached of what can be as a picture, and the drawer of all that was tried.

    Parameters
    ----------
    benchmarks : Path
        The folder of ours.
    """
    ours = Ours("knobs", benchmarks)
    lines, cells = [], []
    for k, row in enumerate(ours.data.get("works", [])):
        at, best = f"{ours.name}#/works/{k}", row["best"]
        name, bound = WORKS.get(row["work"], (row["work"], ""))
        share = Number(best["share_of_limit"], f"{at}/best/share_of_limit", "%")
        least = Number(row["limit_ms"], f"{at}/limit_ms")
        done = Number(best["ms"], f"{at}/best/ms")
        note = f"{best['method']}; least: {bound}" if bound else best["method"]
        lines.append(Line(name, least, done, compared=False, note=note, share=share, of="reached"))
        if "copy_ms" in row:
            copied = Number(row["copy_ms"], f"{at}/copy_ms")
            cells.append([row["work"], "copy_words", "a copy of as many bytes", copied])
        for j, told in enumerate(row["times"]):
            options = ", ".join(f"{o}={v}" for o, v in told["options"].items()) or "as it is"
            ms = Number(told["ms"], f"{at}/times/{j}/ms")
            cells.append([row["work"], told["method"], options, ms])
    if not lines:
        return f'<p class="gk-report foot">{html.escape(ours.machine)}</p>'
    heads = ["work", "method", "options", "kernels"]
    chart = Chart(
        "The fastest kernels, and what none can be faster than",
        "Both measured in one run.",
        lines,
        ("least possible", f"reached, {ours.device}", ""),
        f"Kernels alone, medians, every result checked. {html.escape(ours.machine)}.",
    )
    saved = [heads, *([*row[:3], row[3].value] for row in cells)]
    tried = table("One knob at a time", heads, cells)
    return chart.html() + drawer("All that was tried", tried, "knobs", saved)
