"""What making a graph costs beside SciPy: CPU seconds of both in one run, and their ratio.

``python -m gpukernels.bench.making`` prints the ratios; no GPU is asked. One is SciPy's conversion
of the same arcs from coordinates to CSR (`coo_array.tocsr`, which also adds up parallel arcs). CPU
time, so that a parallel loop is charged for all its cores; wall time stands beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from gpukernels import multicore
from gpukernels.generators import rmat
from gpukernels.graph import Graph
from gpukernels.making.quadrants import quadrants

#: What is made -> how many times SciPy's CPU time it may take, on an idle machine.
TARGETS = {"from_arcs": 1.0, "undirected check": 0.3, "reverse": 0.7, "rmat": 2.0}


def least(run: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Return the least CPU time and the least wall time of `repeat` runs, in seconds."""
    took = []
    for _ in range(repeat):
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        took.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in took), min(wall for _, wall in took)


def measure(scale: int = 20, edge_factor: int = 16, repeat: int = 3) -> list[dict[str, Any]]:
    """Time each way of making an R-MAT graph, and SciPy's conversion of the same arcs.

    Parameters
    ----------
    scale, edge_factor : int
        Of the graph: ``edge_factor << scale`` arcs. The check takes half of them, both ways.
    repeat : int
        Runs of each, of which the fastest counts. One more comes before, for the compiler.

    Returns
    -------
    list of dict
        ``what``, ``cpu_s``, ``wall_s``, ``ratio`` to SciPy's CPU time and the ``allowed`` one.
    """
    n, k = 1 << scale, edge_factor << scale
    source, target = quadrants(np.random.default_rng(1), scale, k, 0.57, 0.19, 0.19)
    graph = Graph.from_arcs(n, source, target)
    half = Graph.from_arcs(n, source[: k // 2], target[: k // 2], directed=False)
    runs = {
        "scipy": lambda: sparse.coo_array(
            (np.ones(k, np.int8), (source, target)), shape=(n, n)
        ).tocsr(),
        "from_arcs": lambda: Graph.from_arcs(n, source, target),
        "undirected check": lambda: Graph(half.offsets, half.targets, directed=False),
        "reverse": lambda: Graph._checked(graph.offsets, graph.targets, None, True).reverse,
        "rmat": lambda: rmat(scale, edge_factor, seed=1),
    }
    rows = []
    for what, run in runs.items():
        run()
        cpu, wall = least(run, repeat)
        one = rows[0]["cpu_s"] if rows else cpu
        times = {"cpu_s": round(cpu, 4), "wall_s": round(wall, 4)}
        rows.append({"what": what, **times, "ratio": cpu / one, "allowed": TARGETS.get(what)})
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20, help="vertices: 2 to the power of it")
    parser.add_argument("--edge-factor", type=int, default=16, help="arcs a vertex")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the fastest counts")
    options = parser.parse_args(arguments)
    rows = measure(options.scale, options.edge_factor, options.repeat)
    arcs = options.edge_factor << options.scale
    print(f"{arcs:,} arcs, {multicore.cores()} cores, {multicore.processor()}")
    for row in rows:
        allowed = "" if row["allowed"] is None else f"  (at most {row['allowed']})"
        seconds = f"{row['cpu_s']:8.3f} s CPU {row['wall_s']:8.3f} s wall"
        print(f"{row['what']:>16} {seconds} {row['ratio']:6.2f}{allowed}")


if __name__ == "__main__":
    main()
