"""What each way to keep duplicates out of a frontier costs, and leaves, on a real GPU.

``python -m gpukernels.bench.duplicates --commit ID`` measures on the current GPU, a minute, and
writes ``data/benchmarks/duplicates.json``; ``--shrink K`` halves every graph's vertices K times.

Times are those of `gpukernels.bench.bfs`: of the kernels and of whole calls, from one root and from
random ones. How many duplicates a search makes depends on who comes first, so the counts are those
of one run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpukernels.bench import record
from gpukernels.bench.bandwidth import WORDS, measured_bandwidth
from gpukernels.bench.bfs import large_graphs
from gpukernels.bench.kernel_time import LaunchTimer
from gpukernels.bench.roots import ROOTS, cases
from gpukernels.bench.search_time import time_search, timer_for
from gpukernels.device import CudaDevice
from gpukernels.frontiers.duplicates import DUPLICATES
from gpukernels.graph import Graph
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
            print(rows[-1], flush=True)
    return rows


def write(device, here: dict[str, Any], folder: Path, *, shrink: int = 0, repeat: int = 5) -> Path:
    """Measure and write the file; return its path."""
    bandwidth = measured_bandwidth(device, max(WORDS >> shrink, 1024))
    timer = timer_for(device)
    rows = [
        {**head, "rows": measure(timer, g, head["root"], repeat, bandwidth)}
        for head, g in large_graphs(shrink, MEASURED)
    ]
    measured = {"copy_gigabytes_per_second": bandwidth, "times": rows}
    return record.write("duplicates", WHAT, measured, here, folder)


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    parser.add_argument("--shrink", type=int, default=0, help="halve the vertices so many times")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the median counts")
    options = parser.parse_args(arguments)
    device = CudaDevice()
    here = record.environment(device, options.commit)
    print(write(device, here, options.folder, shrink=options.shrink, repeat=options.repeat))


if __name__ == "__main__":
    main()
