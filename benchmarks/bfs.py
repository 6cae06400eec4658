"""The times of every breadth-first search on four families of large graphs.

``python -m benchmarks bfs`` measures on the current GPU for some minutes, and writes
``data/benchmarks/bfs.json``. ``--shrink K`` halves every graph's vertices K times; ``--families``
and ``--methods`` choose some of them.

Times of kernels and of whole calls are measured from the vertex with the most arcs (in a road
network, from a corner) and from random roots of its component; see `roots` and `search_time`. Every
result is compared with that of the sequential search. On the CPU, this search is measured too, and
one on all cores, and those of SciPy and NetworkX for graphs that they search in some seconds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from benchmarks import on_cpu, steps
from benchmarks import searches as together
from benchmarks.graphs import random_arcs, rmat, road_grid, small_world
from benchmarks.roots import ROOTS, cases
from benchmarks.search_time import LIMIT_MS, PATIENCE, print_row, time_on_cpu
from benchmarks.searches import Family, Search, searches_of, time_all
from gpukernels import reference
from gpukernels.graphs.generators import path
from gpukernels.graphs.graph import Graph
from gpukernels.methods import AUTO
from gpukernels.notebook.kernel_time import LaunchTimer
from gpukernels.reference import multicore
from gpukernels.traversal import METHODS, bfs
from gpukernels.traversal.bfs4k import tune_bfs4k

FAMILIES: tuple[Family, ...] = (
    ("rmat", "gk.rmat(20, 16, seed=1)", lambda k: rmat(20 - k, 16, seed=1)),
    ("random", "benchmarks.graphs.random_arcs(2_000_000, 64, seed=1)",
     lambda k: random_arcs(2_000_000 >> k, 64, seed=1)),
    ("road", "gk.road_grid(950, 1053, seed=1)",
     lambda k: road_grid(950 >> (k // 2), 1053 >> (k - k // 2), seed=1)),
    ("small world", "gk.small_world(2_000_000, 20, 0.3, seed=1)",
     lambda k: small_world(2_000_000 >> k, 20, 0.3, seed=1)),
)  # fmt: skip

FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: Options of each method that are measured in addition to its defaults.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "virtual_warp": tuple({"warp_size": size} for size in (2, 4, 8, 16, 32)),
    "linear_work": ({"cull": "linear"}, {"cull": "mask"}, {"cull": "linear", "gather": "fine"}),
    "luo": ({}, {"kernels": "three", "claim": "exchange"}),
    "direction_optimizing": ({}, {"frontier": "distance"}, {"frontier": "bitmap"}),
}

WHAT = (
    "gk.bfs without parents, with the graph already on the GPU, every result checked. kernel_ms: "
    "kernels alone (events, the GPU kept busy before each launch); call_ms: the whole call by the "
    "host's clock. Both are medians of `runs` runs from `root`, and of one run each from `roots` "
    "random roots of its strongly connected component. gteps: arcs that leave the reached "
    "vertices, divided by the time, as a harmonic mean over these roots. share_of_bandwidth: "
    "4 bytes for each offset, target and distance of the reached vertices (least_bytes), divided "
    "by the kernels' time, as a share of copy_gigabytes_per_second. share_of_issue_rate: one "
    "operation per arc that leaves the reached vertices (least_operations), divided by the "
    "kernels' time, as a share of tera_add_mins_per_second. Each run begins with a cold cache. "
    "_spread: the quartiles of the "
    f"values of a median. A search is repeated for {PATIENCE:g} s at most; if its kernels take "
    f"more than {LIMIT_MS / 1e3:g} s, it is stopped (stopped_after_ms)"
)


#: Names that can be measured: each method, and the choice of `gk.bfs` without a method.
NAMES = (AUTO, *METHODS)


def searches(g: Graph, methods: Container[str] = NAMES) -> list[Search]:
    """Return everything that is measured on `g` of some `methods`."""
    options = {**OPTIONS, "bfs4k": (tune_bfs4k(g), {})}
    labels = {"bfs4k": "bfs4k as the paper sets it"}
    return [
        ("bfs4k" if method == "bfs4k" and some else labels.get(label, label), method, some)
        for label, method, some in searches_of(NAMES, methods, options)
    ]


def measure(
    timer: LaunchTimer,
    g: Graph,
    root: int,
    repeat: int,
    bandwidth: float,
    chosen: Sequence[Search] | None = None,
    roots: int = ROOTS,
    patience: float | None = None,
) -> dict[str, Any]:
    """Return the figures of all :func:`searches` of `g`, or of the `chosen` ones, and of the CPU.

    ``searches`` of the result maps a label to what :func:`.search_time.time_search` returns, and
    "sequential", "all cores", "SciPy" and "NetworkX" to what :func:`.search_time.time_on_cpu` does.
    """
    from_roots = cases(g, root, roots)
    first = from_roots[0]
    rows: dict[str, dict[str, Any]] = {}
    ours = {"sequential": reference.bfs, "all cores": multicore.bfs}
    on_host = [(label, functools.partial(search, g)) for label, search in ours.items()]
    for label, search in itertools.chain(on_host, on_cpu.searches(g)):
        rows[label] = time_on_cpu(search, from_roots, repeat, label, patience)
        print_row(label, rows[label])
    some = searches(g) if chosen is None else chosen
    rows |= time_all(bfs, g, some, timer, from_roots, repeat, bandwidth, patience)
    return {
        "levels": first.levels,
        "reached": first.reached,
        "arcs": first.arcs,
        "roots_levels": sorted(case.levels for case in from_roots[1:]),
        "searches": rows,
    }


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 9,
    roots: int = ROOTS,
    families: Sequence[str] = FAMILY_NAMES,
    methods: Container[str] = NAMES,
    patience: float | None = None,
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(len(families) * (4 + len(searches(path(2), methods))))

    def of_graph(timer: LaunchTimer, g: Graph, root: int, bandwidth: float) -> dict[str, Any]:
        chosen = searches(g, methods)
        return measure(timer, g, root, repeat, bandwidth, chosen, roots, patience)

    graphs = together.large_graphs(FAMILIES, shrink, families)
    return together.write("bfs", WHAT, graphs, of_graph, device, circumstances, folder, shrink)
