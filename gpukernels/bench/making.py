"""What making a graph costs beside SciPy: CPU seconds of both in one run, and their ratio.

``python -m gpukernels.bench.making`` prints the ratios; no GPU is asked. One is SciPy's conversion
of the same arcs from coordinates to CSR (`coo_array.tocsr`, which also adds up parallel arcs). CPU
time, so that a parallel loop is charged for all its cores; wall time stands beside it. What makes a
graph runs in turn with SciPy, so that both meet the same neighbors.

Files of a sixteenth of the arcs, a million, stand below: the seconds of reading each format, and
for those of pandas' and polars' readers, which make columns and no graph, where they are there.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gpukernels import multicore
from gpukernels.generators import rmat
from gpukernels.graph import Graph
from gpukernels.io import read
from gpukernels.making.quadrants import quadrants

#: What is made -> how many times SciPy's CPU time it may take, on an idle machine.
TARGETS = {"from_arcs": 1.0, "undirected check": 0.3, "reverse": 0.7, "rmat": 2.0}
#: CPU seconds that reading a million arcs may take, on an idle machine.
READ_S = 0.2
BANNER = "%%MatrixMarket matrix coordinate"


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
    for run in runs.values():
        run()
    took: dict[str, list[tuple[float, float]]] = {what: [] for what in runs}
    for _ in range(repeat):
        for what, run in runs.items():
            took[what].append(least(run, 1))
    rows = []
    for what, times in took.items():
        cpu, wall = (min(column) for column in zip(*times, strict=True))
        one = rows[0]["cpu_s"] if rows else cpu
        seconds = {"cpu_s": cpu, "wall_s": wall}
        rows.append({"what": what, **seconds, "ratio": cpu / one, "allowed": TARGETS.get(what)})
    return rows


def measure_readers(arcs: int = 1_000_000, repeat: int = 3) -> list[dict[str, Any]]:
    """Time reading a file of so many arcs in each format.

    Returns
    -------
    list of dict
        ``what`` (the reader and the format), ``cpu_s``, ``wall_s`` and ``allowed``, the CPU seconds
        that reading a million arcs may take.
    """
    n = max(2, arcs // 5)
    ends = np.random.default_rng(1).integers(1, n + 1, (arcs, 2)).tolist()
    lines = [f"{u} {v} {u}\n" for u, v in ends]
    files = {
        "a.txt": [f"{u}\t{v}\n" for u, v in ends],
        "a.gr": [f"p sp {n} {arcs}\n", *("a " + line for line in lines)],
        "a.mtx": [f"{BANNER} integer general\n{n} {n} {arcs}\n", *lines],
        "real.mtx": [
            f"{BANNER} real general\n{n} {n} {arcs}\n",
            *(f"{u} {v} {u / 7:.6f}\n" for u, v in ends),
        ],
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = Path(folder) / name
            file.write_text("".join(text))
            for reader, run in {"gk": lambda file: read(file), **_others(name)}.items():
                run(file)
                cpu, wall = least(functools.partial(run, file), repeat)
                allowed = READ_S * arcs / 1e6 if reader == "gk" else None
                what = f"{reader} {name}"
                rows.append({"what": what, "cpu_s": cpu, "wall_s": wall, "allowed": allowed})
    return rows


def _others(name: str) -> dict[str, Callable[[Path], Any]]:
    """Return what else reads the columns of such a file, of what is installed."""
    separator, skip = ("\t", 0) if name.endswith(".txt") else (" ", 1 + name.endswith(".mtx"))
    readers = {}
    with contextlib.suppress(ImportError):
        import pandas

        readers["pandas"] = functools.partial(
            pandas.read_csv, sep=separator, header=None, skiprows=skip
        )
    with contextlib.suppress(ImportError):
        import polars

        readers["polars"] = functools.partial(
            polars.read_csv, separator=separator, has_header=False, skip_rows=skip
        )
    return readers


def main(arguments: list[str] | None = None) -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20, help="vertices: 2 to the power of it")
    parser.add_argument("--edge-factor", type=int, default=16, help="arcs a vertex")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the fastest counts")
    options = parser.parse_args(arguments)
    arcs = options.edge_factor << options.scale
    rows = measure(options.scale, options.edge_factor, options.repeat)
    print(f"{arcs:,} arcs, {multicore.cores()} cores, {multicore.processor()}")
    for row in rows:
        allowed = "" if row["allowed"] is None else f"  (at most {row['allowed']})"
        seconds = f"{row['cpu_s']:8.3f} s CPU {row['wall_s']:8.3f} s wall"
        print(f"{row['what']:>16} {seconds} {row['ratio']:6.2f}{allowed}")
    print(f"files of {arcs >> 4:,} arcs")
    for row in measure_readers(arcs >> 4, options.repeat):
        allowed = "" if row["allowed"] is None else f"  (at most {row['allowed']:.3g} s CPU)"
        seconds = f"{row['cpu_s']:8.3f} s CPU {row['wall_s']:8.3f} s wall"
        print(f"{row['what']:>16} {seconds}{allowed}")


if __name__ == "__main__":
    main()
