"""The times of every search for shortest paths on five families of large graphs.

``python -m benchmarks sssp`` measures on the current GPU for some minutes, and writes
``data/benchmarks/sssp.json``. ``--shrink K`` halves every graph's vertices K times; ``--families``
and ``--methods`` choose some of them.

All graphs are undirected, and their edges have weights from 1 to 100. Times are measured as in
`benchmarks.bfs`.

Every result is compared. From the first root it is compared with Dijkstra's heap, which is also a
row of the CPU. Dijkstra's algorithm takes half a minute on the largest graphs. So from the other
roots, results are compared with one search on the device or on all cores, after
:func:`is_shortest` has proved its distances right.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import on_cpu, steps
from benchmarks import searches as together
from benchmarks.graphs import (
    weighted,
    weighted_grid,
    weighted_kron,
    weighted_random,
    weighted_rmat,
    weighted_small_world,
)
from benchmarks.roots import ROOTS, Case, draw
from benchmarks.search_time import (
    ALL_CORES,
    FEW,
    LIMIT_MS,
    no_collection,
    print_row,
    time_on_cpu,
    timed,
)
from benchmarks.searches import Family, Search, searches_of, time_all
from gpukernels import reference
from gpukernels.cores.compiled import compiled
from gpukernels.graphs import generators
from gpukernels.graphs.graph import Graph
from gpukernels.methods import AUTO
from gpukernels.notebook import cold_cache
from gpukernels.notebook.kernel_time import LaunchTimer
from gpukernels.notebook.spread import median
from gpukernels.reference import multicore
from gpukernels.shortest_paths import METHODS, UNREACHED, sssp

_IN = "benchmarks.graphs"
FAMILIES: tuple[Family, ...] = (
    ("rmat", f"{_IN}.weighted_rmat(3_000_000, 20_000_000, seed=1)",
     lambda k: weighted_rmat(3_000_000 >> k, 20_000_000 >> k, seed=1)),
    ("random", f"{_IN}.weighted_random(2_000_000, 64, seed=1)",
     lambda k: weighted_random(2_000_000 >> k, 64, seed=1)),
    ("grid", f"{_IN}.weighted_grid(2048, 2048, seed=1)",
     lambda k: weighted_grid(2048 >> (k // 2), 2048 >> (k - k // 2), seed=1)),
    ("small world", f"{_IN}.weighted_small_world(2_000_000, 20, 0.3, seed=1)",
     lambda k: weighted_small_world(2_000_000 >> k, 20, 0.3, seed=1)),
    ("kron", f"{_IN}.weighted_kron(22, 16, seed=1)", lambda k: weighted_kron(22 - k, 16, seed=1)),
)  # fmt: skip

FAMILY_NAMES = tuple(family for family, *_ in FAMILIES)

#: Options of each method that are measured in addition to its defaults.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "delta_stepping": ({}, {"light_heavy": True}),
    "hbf": ({}, {"child_threshold": 256, "min_warp_size": 16, "cache_hints": False}),
    "near_far_persistent": ({}, {"adapt": False}, {"rounds": 1}),
}

#: The most seconds for repetitions of one search of one graph. They are enough for all roots of the
#: slowest search, and so more than in other benchmarks.
PATIENCE = 40.0
#: The same for the search on all cores, which may need these seconds for 16 roots of the largest
#: graph.
CORES_PATIENCE = 6.0

#: The search whose checked distances are the right ones for the others, from random roots.
TRUSTED = "near_far_persistent"

WHAT = (
    "gk.sssp without parents on undirected graphs of weights 1 to 100, figures as in bfs.json, "
    "from `root` and from `roots` random roots of its component, every result checked; "
    f"with_parents_kernel_ms: from `root`, with parents, of {TRUSTED} alone, because "
    "every search finds them after its end by the same kernels; "
    "share_of_bandwidth counts 4 bytes more for each arc, its weight; sequential: Dijkstra's heap, "
    f"SciPy and NetworkX: theirs, one run each; "
    f"{ALL_CORES}: gpukernels.reference.multicore, by numba on every core. "
    "A search is repeated for {patience:g} s at most; one of more than "
    f"{LIMIT_MS / 1e3:g} s of kernels is given up (stopped_after_ms)"
)


@dataclass(frozen=True, eq=False)
class PathCase(Case):
    """A root and the lengths of its shortest paths; there are no levels."""

    @property
    def least_bytes(self) -> int:
        """The bytes that a search moves if it relaxes every arc once, with the arcs' weights."""
        return super().least_bytes + 4 * self.arcs


def _case(g: Graph, root: int, distance: NDArray[np.int32]) -> PathCase:
    reached = distance != UNREACHED
    arcs = int(g.out_degree[reached].sum(dtype=np.int64))
    return PathCase(root, distance, 0, int(reached.sum()), arcs)


@compiled()
def _is_shortest(offsets, targets, weights, root, distance, none, parent):
    has_parent = np.zeros(distance.size, np.bool_)
    has_parent[root] = distance[root] == 0
    for u in range(distance.size):
        if distance[u] != none:
            for i in range(offsets[u], offsets[u + 1]):
                v, length = targets[i], np.int64(distance[u]) + weights[i]
                if length < distance[v] or weights[i] <= 0:
                    return False
                is_parent = parent.size == 0 or parent[v] == u
                has_parent[v] = has_parent[v] or (is_parent and length == distance[v])
    return bool(np.all(has_parent == (distance != none)))


def is_shortest(
    g: Graph, root: int, distance: NDArray[np.int32], parent: NDArray[np.int32] | None = None
) -> bool:
    """Return whether these are the lengths of shortest paths, if all weights are above 0.

    They are right if no arc lowers a distance any more, and if each vertex except the root has an
    arc that gives it its distance. Such arcs come from closer vertices, so they lead back to the
    root. If parents are given, this arc must come from the vertex's parent, and a vertex that is
    not reached has no parent.
    """
    known = np.empty(0, np.int32) if parent is None else parent
    right = distance[root] == 0 and bool((distance >= 0).all())
    if parent is not None:
        right = right and bool((parent[distance == UNREACHED] == -1).all())
    return right and _is_shortest(
        g.offsets, g.targets, g.weights, root, distance, UNREACHED, known
    )  # fmt: skip


def cases(device, g: Graph, root: int, count: int) -> tuple[list[PathCase], float]:
    """Return the cases of `root`, by Dijkstra, and of random roots, and Dijkstra's milliseconds."""
    reference.dijkstra(weighted(generators.path(2)), 0)  # compiles
    tree, ms = timed(lambda: reference.dijkstra(g, root))
    reached = tree.parent >= 0
    first = _case(g, root, np.where(reached, tree.distance, UNREACHED).astype(np.int32))
    others = []
    for v in draw(g, root, reached, count):
        distance = sssp(g, v, TRUSTED, device, parents=False).distance
        if not is_shortest(g, v, distance):
            raise AssertionError(f"{TRUSTED} from {v}: these are not shortest paths")
        others.append(_case(g, v, distance))
    return [first, *others], ms


def single(ms: float, case: Case) -> dict[str, Any]:
    """Return the row of a single run on the CPU."""
    rate = round(case.arcs / max(ms, 1e-9) / 1e6, 4)
    return {"call_ms": median([ms]), "call_gteps": rate, "runs": 1, "roots": 0}


def with_parents(
    timer: LaunchTimer, g: Graph, case: Case, search: Search, repeat: int
) -> dict[str, Any]:
    """Return the milliseconds of the kernels of a search that also finds parents."""
    label, method, options = search
    times = []
    for _ in range(1 + min(repeat, FEW)):  # the first compiles
        cold_cache.flush(timer.device)
        timer.reset()
        with no_collection():
            result = sssp(g, case.root, method, timer, **options)
        times.append(timer.ms)
        if not is_shortest(g, case.root, result.distance, result.parent):
            raise AssertionError(f"{label} from {case.root}: these parents are not of such paths")
    return {"with_parents_kernel_ms": median(times[1:])}


#: Names that can be measured: each method, and the choice of `gk.sssp` without a method.
NAMES = (AUTO, *METHODS)


def searches(methods: Container[str] = NAMES) -> list[Search]:
    """Return all measured searches of some `methods`."""
    return searches_of(NAMES, methods, OPTIONS)


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
    "all cores" to what :func:`.search_time.time_on_cpu` does, and "sequential", "SciPy" and
    "NetworkX" to the ``call_ms`` of one run of Dijkstra's algorithm.
    """
    from_roots, heap_ms = cases(timer.device, g, root, roots)
    first = from_roots[0]
    rows: dict[str, dict[str, Any]] = {"sequential": single(heap_ms, first)}
    print_row("sequential", rows["sequential"])
    few = CORES_PATIENCE if patience is None else min(patience, CORES_PATIENCE)
    on_all_cores = functools.partial(multicore.sssp, g)
    rows[ALL_CORES] = time_on_cpu(on_all_cores, from_roots, repeat, ALL_CORES, few)
    print_row(ALL_CORES, rows[ALL_CORES])
    for label, search in on_cpu.path_searches(g):
        result, ms = timed(functools.partial(search, root))
        rows[label] = single(ms, first)
        np.testing.assert_array_equal(result.distance, first.distance, err_msg=label)
        print_row(label, rows[label])
    some = searches() if chosen is None else chosen
    rows |= time_all(sssp, g, some, timer, from_roots, repeat, bandwidth, patience)
    for search in some:
        if search[0] == TRUSTED:
            rows[TRUSTED] |= with_parents(timer, g, first, search, repeat)
    return {"reached": first.reached, "arcs": first.arcs, "searches": rows}


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
    patience: float = PATIENCE,
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(len(families) * (4 + len(searches(methods))))

    def of_graph(timer: LaunchTimer, g: Graph, root: int, bandwidth: float) -> dict[str, Any]:
        return measure(timer, g, root, repeat, bandwidth, searches(methods), roots, patience)

    graphs = together.large_graphs(FAMILIES, shrink, families)
    what = WHAT.format(patience=patience)
    return together.write("sssp", what, graphs, of_graph, device, circumstances, folder, shrink)
