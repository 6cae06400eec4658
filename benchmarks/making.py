"""The time of making a graph, compared with SciPy's in the same run.

``python -m benchmarks making`` prints the ratios and writes ``making.json``; no GPU is used. SciPy
converts the same arcs from coordinates to CSR (`coo_array.tocsr`, which also adds up parallel
arcs). Our functions and SciPy run in turn, so that other programs of the machine disturb both. The
ratio is that of the wall times. CPU seconds are printed too, because only `rmat` runs on all cores.

Below are the seconds of reading files of each format, with a sixteenth of the arcs (a million).
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import record, steps
from gpukernels.graphs.generators import rmat
from gpukernels.graphs.graph import Graph
from gpukernels.graphs.io import read
from gpukernels.graphs.making import quadrants
from gpukernels.notebook.spread import median
from gpukernels.reference import multicore

#: By function, the allowed multiple of SciPy's wall time, on two idle cores.
TARGETS = {"from_arcs": 1.2, "undirected check": 1.0, "reverse": 0.7, "rmat": 1.5}
#: CPU seconds that reading a million arcs may take, on an idle machine.
READ_S = 0.2
BANNER = "%%MatrixMarket matrix coordinate"


def spent(run: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU time and the wall time of a run, in milliseconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def _figures(times: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the least seconds, which other programs disturb least, and the medians of all."""
    cpu, wall = zip(*times, strict=True)
    seconds = {"cpu_s": min(cpu) / 1e3, "wall_s": min(wall) / 1e3}
    return {**seconds, "cpu_ms": median(cpu), "wall_ms": median(wall)}


def measure(scale: int = 20, edge_factor: int = 16, repeat: int = 3) -> list[dict[str, Any]]:
    """Time each way of making an R-MAT graph of ``edge_factor << scale`` arcs, and SciPy's way.

    SciPy converts the same arcs. The check of undirected graphs takes half of them, both ways. Of
    `repeat` runs the fastest one counts; another run before them is for the compiler.

    Returns
    -------
    list of dict
        ``what``, ``cpu_s``, ``wall_s``, their medians ``cpu_ms`` and ``wall_ms``, the ``ratio`` to
        SciPy's wall time and the ``allowed`` ratio.
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
            took[what].append(spent(run))
    rows: list[dict[str, Any]] = []
    for what, times in took.items():
        figures = _figures(times)
        one = rows[0]["wall_s"] if rows else figures["wall_s"]
        ratio = {"ratio": figures["wall_s"] / one, "allowed": TARGETS.get(what)}
        rows.append({"what": what, **figures, **ratio})
    return rows


def measure_readers(arcs: int = 1_000_000, repeat: int = 3) -> list[dict[str, Any]]:
    """Time reading a file with so many arcs in each format; return rows like :func:`measure`.

    ``what`` is the reader and the format, and ``allowed`` the CPU seconds that it may take.
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
            run = functools.partial(read, file)
            run()
            figures = _figures([spent(run) for _ in range(repeat)])
            rows.append({"what": f"gk {name}", **figures, "allowed": READ_S * arcs / 1e6})
    return rows


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    scale: int = 20,
    edge_factor: int = 16,
    repeat: int = 3,
) -> Path:
    """Measure on the CPU, print the ratios and write the file; return its path."""
    arcs = edge_factor << scale
    steps.expect(9)
    steps.tell(f"{arcs:,} arcs, {multicore.cores()} cores, {multicore.processor()}", 0)
    times = measure(scale, edge_factor, repeat)
    for row in times:
        allowed = "" if row["allowed"] is None else f"  (at most {row['allowed']})"
        steps.tell(f"{_line(row)} {row['ratio']:6.2f}{allowed}")
    steps.tell(f"files of {arcs >> 4:,} arcs", 0)
    files = measure_readers(arcs >> 4, repeat)
    for row in files:
        steps.tell(_line(row))
    what = (
        "making a graph of `arcs` arcs, compared with SciPy's conversion, and reading files of "
        f"`file_arcs` arcs: the least CPU and wall seconds of {repeat} runs, and their medians"
    )
    measured = {"arcs": arcs, "file_arcs": arcs >> 4, "times": times, "files": files}
    return record.write("making", what, measured, circumstances, folder)


def _line(row: dict[str, Any]) -> str:
    return f"{row['what']:>16} {row['cpu_s']:8.3f} s CPU {row['wall_s']:8.3f} s wall"
