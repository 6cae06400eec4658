"""What each way to keep duplicates out of a frontier costs, and leaves, on a real GPU.

``python -m gpukernels.bench.duplicates --commit ID`` measures on the current GPU, a minute, and
writes ``data/benchmarks/duplicates.json``; ``--shrink K`` halves every graph's vertices K times.

Times are of whole calls with the graph on the GPU, as those of `gpukernels.bench.bfs`, but the
least of some: what one way costs more than another is less than what a busy host adds to 2,000
launches. How many duplicates a search makes depends on who comes first, so the counts are those of
one run.
"""

from __future__ import annotations

import timeit
from typing import Any

import numpy as np

from gpukernels import sequential
from gpukernels.bench import record
from gpukernels.bench.bfs import large_graphs
from gpukernels.device import CudaDevice
from gpukernels.graph import Graph
from gpukernels.traversal import bfs
from gpukernels.traversal.duplicates import DUPLICATES

#: Families of `gpukernels.bench.bfs`: few levels of many vertices, and the reverse.
MEASURED = ("rmat", "road")

#: Searches in which the ways can be exchanged, and their other options.
SEARCHES: dict[str, dict[str, Any]] = {
    "expand_contract": {},
    "contract_expand": {},
    "two_phase": {},
    "bfs4k": {"single_block": 0, "child_share": 0},
}


def measure(device, g: Graph, root: int, repeat: int) -> list[dict[str, Any]]:
    """Return a row a search and way: milliseconds, and the duplicates of one run."""
    expected = sequential.bfs(g, root).distance
    rows = []
    for method, options in SEARCHES.items():
        for duplicates in DUPLICATES:

            def search(method=method, options=options, duplicates=duplicates):
                return bfs(g, root, method, device, parents=False, duplicates=duplicates, **options)

            stats, found = (result := search()).stats, result.distance
            np.testing.assert_array_equal(found, expected, err_msg=f"{method} {duplicates}")
            least = min(timeit.repeat(search, number=1, repeat=repeat))
            rows.append(
                {
                    "method": method,
                    "duplicates": duplicates,
                    "ms": round(least * 1e3, 3),
                    "detected": int(stats["duplicates_detected"]),
                    "missed": int(stats["duplicates_missed"]),
                }
            )
            print(rows[-1], flush=True)
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    parser.add_argument("--shrink", type=int, default=0, help="halve the vertices so many times")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the fastest counts")
    options = parser.parse_args(arguments)
    device, measured = CudaDevice(), []
    for head, g in large_graphs(options.shrink, MEASURED):
        measured.append({**head, "rows": measure(device, g, head["root"], options.repeat)})
    path = record.write(
        "duplicates",
        "calls of gk.bfs by way to keep duplicates out, wall-clock, fastest run; counts of one",
        {"times": measured},
        record.environment(device, options.commit),
        options.folder,
    )
    print(path)


if __name__ == "__main__":
    main()
