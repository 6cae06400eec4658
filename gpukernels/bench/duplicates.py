"""What each way to keep duplicates out of a frontier costs, and leaves, on a real GPU.

``python -m gpukernels.bench duplicates`` measures on the current GPU, a minute, and
writes ``data/benchmarks/duplicates.json``; ``--shrink K`` halves every graph's vertices K times.

Times are those of `gpukernels.bench.bfs`: of the kernels and of whole calls, from one root and from
random ones. How many duplicates a search makes depends on who comes first, so the counts are those
of one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpukernels.bench import record, steps
from gpukernels.bench.bfs import large_graphs
from gpukernels.bench.kernel_time import LaunchTimer
from gpukernels.bench.limits import measured_limits
from gpukernels.bench.roots import ROOTS, cases
from gpukernels.bench.search_time import print_row, time_search, timer_for
from gpukernels.bench.searches import judge
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.graphs.graph import Graph
from gpukernels.traversal import bfs

#: Families of `gpukernels.bench.bfs`: few levels of many vertices, and the reverse.
MEASURED = ("rmat", "road")

#: Searches in which the ways can be exchanged, and their other options.
SEARCHES: dict[str, dict[str, Any]] = {
    "expand_contract": {},
    "contract_expand": {},
    "two_phase": {},
    "bfs4k": {"single_block": 0, "child_share": 0},
}


#: Seconds that each of them may be repeated on a graph: there are 28.
PATIENCE = 0.2

WHAT = (
    "gk.bfs by way to keep duplicates out, figures as in bfs.json, every result checked: kernels "
    "alone (kernel_ms) and the whole call (call_ms), medians of `runs` from `root`, and over "
    "`roots` random roots; detected and missed: the duplicates of one run from `root`. A search is "
    f"repeated for {PATIENCE:g} s at most"
)


def measure(
    timer: LaunchTimer, g: Graph, root: int, repeat: int, bandwidth: float, roots: int = ROOTS
) -> list[dict[str, Any]]:
    """Return a row a search and way: its times, and the duplicates of one run."""
    from_roots = cases(g, root, roots)
    rows = []
    for method, options in SEARCHES.items():
        for duplicates in DUPLICATES:
            label = f"{method} {duplicates}"

            def search(device, root, method=method, options=options, duplicates=duplicates):
                return bfs(g, root, method, device, parents=False, duplicates=duplicates, **options)

            times = time_search(search, timer, from_roots, repeat, bandwidth, label, PATIENCE)
            stats = search(timer.device, root).stats
            rows.append(
                {
                    "method": method,
                    "duplicates": duplicates,
                    **times,
                    "detected": int(stats["duplicates_detected"]),
                    "missed": int(stats["duplicates_missed"]),
                }
            )
            print_row(label, rows[-1])
    return rows


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 5,
    families: Sequence[str] = MEASURED,
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(len(families) * len(SEARCHES) * len(DUPLICATES))
    limits = measured_limits(device, shrink)
    timer = timer_for(device)
    rows = [
        {**head, "rows": measure(timer, g, head["root"], repeat, limits.gigabytes_per_second)}
        for head, g in large_graphs(shrink, families)
    ]
    for row in rows:
        judge(limits, row["rows"])
    measured = {**limits.figures, "times": rows}
    return record.write("duplicates", WHAT, measured, here, folder)
