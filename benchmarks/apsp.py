"""The times of every method for shortest paths of all pairs, on matrices and on sparse graphs.

``python -m benchmarks apsp`` measures on the current GPU for some minutes, and writes
``data/benchmarks/apsp.json``. ``--sizes`` and ``--methods`` choose some of them.

`WHAT` describes how the times of kernels and of whole calls are measured.

Every result is compared. Up to `ON_CPU` vertices, all results must equal those of SciPy's
Floyd-Warshall. For larger matrices, some rows must equal those of SciPy's Dijkstra, and all results
must be equal, those in float32 too: every sum here is exact in both types.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from benchmarks import record, steps
from benchmarks.graphs import dense_lengths, weighted, weighted_random
from benchmarks.limits import measured_limits
from benchmarks.search_time import ALL_CORES, FEW, timed
from benchmarks.span_time import SpanTimer
from gpukernels import reference
from gpukernels.all_pairs import METHODS, UNREACHED, apsp, min_plus
from gpukernels.all_pairs.all_cores import apsp as multicore_apsp
from gpukernels.all_pairs.lengths import ABSENT, lengths_of
from gpukernels.errors import InvalidArgument
from gpukernels.graphs import generators
from gpukernels.notebook import cold_cache
from gpukernels.notebook.spread import median

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
#: Up to this number of vertices, the CPU and sparse graphs are measured, too.
ON_CPU, QUICK_ON_CPU = 2048, 1024
#: Up to this number of vertices, all cores of the CPU are measured: some seconds on 16 cores.
ON_ALL_CORES = 8192
#: Up to this number of vertices, NetworkX is measured, which has an object for each arc.
ON_NETWORKX = 512
#: Up to this number of vertices, all shapes of tiles are measured instead of those of a quick run.
EVERY_SHAPE = 8192
#: Mean degree of a sparse graph.
DEGREE = 8
#: Methods for sparse graphs that search from each vertex, with their options: one root after
#: another, or as many roots at once as fit into a gigabyte.
OF_SPARSE = (
    ("per_root", {}),
    ("per_root", {"search": "topology_driven", "memory": 1 << 30}),
    ("per_root", {"search": "ortega"}),
    ("per_root", {"search": "hbf"}),
    ("per_root", {"search": "hbf", "memory": 1 << 30}),
    ("johnson", {}),
    ("johnson", {"search": "topology_driven", "memory": 1 << 30}),
)
#: The (min, +) product by itself. It is no method; its speed is a limit for the tiled methods.
PRODUCT = "min_plus"
#: Methods that are not measured here. `out_of_core`, `tran` and `matsumoto` wait for copies too, so
#: the first has a benchmark of its own. `partitioned` is for the workers of a client.
ELSEWHERE = ("out_of_core", "tran", "matsumoto", "partitioned")
NAMES = (*(name for name in METHODS if name not in ELSEWHERE), PRODUCT, ALL_CORES)

#: After this number of seconds, no further run of a kind begins.
PATIENCE = 1.0
#: A form is left out if its time at half the size lets more milliseconds of kernels be expected.
LIMIT_MS, QUICK_LIMIT_MS = 10_000.0, 2_000.0
#: Rows of a result that Dijkstra's algorithm checks, and the mean degree of the graph for it.
ROWS, DIJKSTRA_DEGREE = 8, 128

SHAPES = ((16, "1x1"), (32, "4x2"), (32, "4x4"), (64, "8x8"))

WHAT = (
    "gk.apsp, every result checked. dense: a complete graph as a matrix of whole numbers 1 to "
    "50,000; sparse: undirected, mean degree 8, weights 1 to 100. kernel_ms: from the first launch "
    "to the last one, with the matrix already on the GPU (events, the GPU kept busy until the "
    "launches are queued; waits for numbers that the host reads in between are left out). "
    "call_ms: the whole call by the host's clock, with both copies and the checks of the matrix. "
    "Both are medians of `kernel_runs` and `call_runs` runs. tera_operations_per_second: n^3 "
    "additions, each with a minimum, divided by the kernels' time (on the CPU by the call's time); "
    "operations: the additions that the method really makes. least_operations: these n^3; "
    "least_bytes: the matrix read once and written once; both also as shares of the measured rates "
    "of additions with a minimum and of a copy. Each run begins with a cold cache. min_plus: one "
    "product of the result with itself. "
    f"{ALL_CORES}: gpukernels.reference.multicore, by numba on every core. "
    "late: rows of launches for which the GPU waited. A form "
    f"is repeated for {PATIENCE:g} s at most. It is left out (expected_ms) if its time at half the "
    f"size lets more than {LIMIT_MS / 1e3:g} s of kernels (quick: {QUICK_LIMIT_MS / 1e3:g} s) be "
    "expected"
)


class Form(NamedTuple):
    """A method, its options and the type of the matrix."""

    method: str
    options: dict[str, Any]
    dtype: str = "int32"

    @property
    def label(self) -> str:
        """Its name in tables."""
        words = [f"{name}={value}" for name, value in self.options.items()]
        return " ".join([self.method, *words, *(["float32"] if self.dtype == "float32" else [])])


def _blocked(tile: int, per_thread: str, dtype: str = "int32") -> Form:
    return Form("blocked", {"tile": tile, "per_thread": per_thread}, dtype)


def forms(methods: Container[str] = NAMES, quick: bool = False) -> list[Form]:
    """Return all forms of some `methods` that are measured on a matrix."""
    shapes = [s for s in SHAPES if s in ((32, "4x2"), (64, "8x8")) or not quick]
    every = [
        Form("naive", {}),
        *(_blocked(*shape) for shape in shapes),
        *([] if quick else [Form("blocked", {"tile": 64, "per_thread": "8x8", "panel": 1})]),
        *(_blocked(*shape, "float32") for shape in (shapes[-1:] if quick else shapes)),
        Form("kleene", {}),
        Form("repeated_squaring", {}),
        Form(PRODUCT, {"tile": 128, "per_thread": "8x8"}),
    ]
    return [form for form in every if form.method in methods]


def by_dijkstra(matrix: NDArray, roots: Sequence[int], degree: int = DIJKSTRA_DEGREE) -> NDArray:
    """Return the distances from some vertices by SciPy's Dijkstra, all weights being above 0.

    If a matrix has more than `degree` arcs per vertex, only the shortest arcs are used. If no found
    path is longer than the longest of these, no other arc can be part of a shorter path.
    """
    n = len(matrix)
    is_arc = (matrix > 0) & (matrix < ABSENT)
    count = int(np.count_nonzero(is_arc))
    longest = float("inf")
    if count > degree * n:
        # Lengths are uniform: about `degree` arcs per vertex are below this share of the longest.
        longest = int(matrix[is_arc].max()) * degree // n
        is_arc &= matrix <= longest
    source, target = np.nonzero(is_arc)
    lengths = matrix[source, target].astype(np.float64)
    arcs = sparse.csr_array((lengths, (source, target)), shape=(n, n))
    distance = csgraph.dijkstra(arcs, indices=list(roots))
    if longest < float("inf") and not (distance <= longest).all():
        raise AssertionError(f"a path is longer than {longest}: more arcs are to be looked at")
    return np.where(np.isinf(distance), UNREACHED, distance).astype(np.int32)


class Subject:
    """A graph, as a matrix or a Graph, with the right lengths of its shortest paths."""

    def __init__(self, given):
        self.given = given
        self.lengths = lengths_of(given)
        #: All distances, after they have been found.
        self.right: NDArray[np.int32] | None = None
        self.n = self.lengths.n

    def of(self, dtype: str) -> Any:
        """Return the given graph in another type."""
        return self.given if dtype == "int32" else self.given.astype(dtype)

    def check(self, distance: NDArray, label: str) -> None:
        """Raise AssertionError unless these are the lengths of all shortest paths."""
        if self.right is None:
            some = np.random.default_rng(1).choice(self.n, min(ROWS, self.n), replace=False)
            expected = by_dijkstra(self.lengths.matrix, some.tolist())
            _same(distance[some], expected, label)
            # A copy, because page-locked memory is needed for the timed runs.
            self.right = distance.astype(np.int32)
        _same(distance, self.right, label)


def _same(distance: NDArray, right: NDArray, label: str) -> None:
    if distance.shape != right.shape or not np.array_equal(distance, right):
        wrong = int(np.count_nonzero(distance != right)) if distance.shape == right.shape else "all"
        raise AssertionError(f"{label}: {wrong} of {right.size} distances are wrong")


def time_form(timer: SpanTimer, subject: Subject, form: Form, repeat: int) -> dict[str, Any]:
    """Return the figures of a form on a graph, of up to `repeat` runs each of kernels and calls."""
    stats: dict[str, Any] = {}
    counted = [0, 0]  # rows of launches, and late rows among them
    if form.method == PRODUCT and subject.right is None:
        subject.check(apsp(subject.given, device=timer.device).distance, "blocked")
    kernels, whole = _runs(subject, form)

    def on_gpu() -> float:
        cold_cache.flush(timer.device)
        timer.reset()
        distance, counts = kernels(timer)
        timer.end()
        subject.check(distance, form.label)
        stats.update(counts)
        counted[0] += timer.launches
        counted[1] += timer.late
        return timer.ms

    call = _checked(subject, form.label, lambda: whole(timer.device))
    known = len(timer.kernels)
    on_gpu()
    if len(timer.kernels) > known:
        # Some kernels run only for large matrices, so any size may be the first to compile one.
        on_gpu()
    counted[:] = 0, 0
    kernel_ms, call_ms = _some(on_gpu, repeat), _some(call, repeat)
    names = ("launches", "read_backs", "operations", "iterations")
    counts: dict[str, Any] = {name: int(stats[name]) for name in names if name in stats}
    return {
        "kernel_ms": median(kernel_ms),
        "call_ms": median(call_ms),
        "tera_operations_per_second": _rate(subject.n, median(kernel_ms)),
        "kernel_runs": len(kernel_ms),
        "call_runs": len(call_ms),
        **counts,
        "late": round(counted[1] / max(counted[0], 1), 4),
    }


def _checked(subject: Subject, label: str, search: Callable[[], NDArray]) -> Callable[[], float]:
    """Return a function that times `search` once and checks its distances."""

    def call() -> float:
        distance, ms = timed(search)
        subject.check(distance, label)
        return ms

    return call


def _runs(subject: Subject, form: Form) -> tuple[Callable, Callable]:
    """Return a function that runs a form's kernels on a device, and one that makes the whole call.

    The first returns distances and stats, the second only distances.
    """
    if form.method == PRODUCT:
        right = subject.right
        assert right is not None  # `time_form` has set it

        def product(device) -> NDArray:
            # The product of shortest paths with themselves has the same lengths.
            return min_plus(right, right, device, **form.options)

        stats = {"launches": 1, "read_backs": 0, "operations": subject.n**3}
        return lambda device: (product(device), stats), product
    given = subject.of(form.dtype)
    lengths = subject.lengths if form.dtype == "int32" else lengths_of(given)

    def kernels(device):
        result = METHODS[form.method](lengths, device, **form.options)
        return result.distance, result.stats

    return kernels, lambda device: apsp(given, form.method, device, **form.options).distance


def _some(run: Callable[[], float], repeat: int) -> list[float]:
    """Return the milliseconds of up to `repeat` runs, of at least `FEW` unless a run is slow."""
    begin, times = time.perf_counter(), [run()]
    while len(times) < repeat:
        granted = PATIENCE if len(times) >= FEW else FEW * PATIENCE
        if time.perf_counter() - begin > granted:
            break
        times.append(run())
    return times


def _rate(n: int, ms: float) -> float:
    return round(n**3 / max(ms, 1e-9) / 1e9, 6)


def _on_cpu(subject: Subject, searches: dict[str, Callable[[], NDArray]]) -> dict[str, Any]:
    """Time each search once; the result of the first one is the right one."""
    rows: dict[str, Any] = {}
    for label, search in searches.items():
        distance, ms = timed(search)
        distance = np.where(distance >= UNREACHED, UNREACHED, distance).astype(np.int32)
        if subject.right is None:
            subject.right = distance
        subject.check(distance, label)
        rate = _rate(subject.n, ms)
        rows[label] = {"call_ms": median([ms]), "tera_operations_per_second": rate}
        _tell(label, rows[label])
    return rows


def _tell(label: str, row: dict[str, Any]) -> None:
    if "expected_ms" in row:
        steps.tell(f"  {label:44} left out: {row['expected_ms']:,.0f} ms expected")
        return
    kernel, call = (row.get(name) for name in ("kernel_ms", "call_ms"))
    kernel, call = ("-" if ms is None else f"{ms:,.3f}" for ms in (kernel, call))
    rate = row["tera_operations_per_second"]
    steps.tell(f"  {label:44} kernels {kernel:>12} ms, call {call:>12} ms, {rate:8.3f} T/s")


class Measuring:
    """Measures forms on graphs, the smallest first, and records the time of each.

    A form is left out if more than `limit_ms` of kernels are expected.
    """

    def __init__(self, device, repeat: int = 9, limit_ms: float = LIMIT_MS):
        self.device, self.repeat, self.limit_ms = device, repeat, limit_ms
        self._known: dict[str, tuple[int, float]] = {}
        self._timer = SpanTimer(device)

    def times(self, subject: Subject, chosen: Sequence[Form]) -> dict[str, Any]:
        """Return the figures of the `chosen` forms by label, and print them."""
        rows = {}
        for form in chosen:
            label, n = form.label, subject.n
            before, ms = self._known.get(label, (n, 0.0))
            # Much smaller matrices allow no estimate, because their launches have hardly any work.
            expected = ms * (n / before) ** 3 if n <= 2 * before else 0.0
            if expected > self.limit_ms:
                row = {"expected_ms": round(expected, 1)}
            else:
                row = time_form(self._timer, subject, form, self.repeat)
            self._known[label] = n, row.get("kernel_ms", expected)
            rows[label] = row
            _tell(label, row)
        return rows

    def dense(self, n: int, methods: Container[str], quick: bool, on_cpu: bool) -> dict[str, Any]:
        """Return the row of a complete graph."""
        steps.tell(f"dense: n={n:,}", 0)
        matrix = dense_lengths(n, seed=1)
        subject, rows = Subject(matrix), {}
        if on_cpu:
            reference.floyd_warshall(weighted(generators.path(2)))  # compiles
            graph = subject.lengths.graph()
            searches = {
                "SciPy floyd_warshall": lambda: csgraph.floyd_warshall(matrix),
                "sequential": lambda: reference.floyd_warshall(graph).distance,
            }
            if n <= ON_NETWORKX:
                digraph = nx.from_numpy_array(matrix, create_using=nx.DiGraph)
                searches["NetworkX floyd_warshall"] = lambda: np.asarray(
                    nx.floyd_warshall_numpy(digraph)
                )
            rows = _on_cpu(subject, searches)
        if ALL_CORES in methods and n <= ON_ALL_CORES:
            multicore_apsp(dense_lengths(2, seed=1))  # compiles
            search = _checked(subject, ALL_CORES, lambda: multicore_apsp(matrix).distance)
            times = _some(search, self.repeat)
            rate = {"tera_operations_per_second": _rate(n, median(times))}
            rows[ALL_CORES] = {"call_ms": median(times), "call_runs": len(times), **rate}
            _tell(ALL_CORES, rows[ALL_CORES])
        rows |= self.times(subject, forms(methods, quick or n > EVERY_SHAPE))
        call = f"benchmarks.graphs.dense_lengths({n}, seed=1)"
        return {"graph": "dense", "call": call, "n": n, "m": n * (n - 1), "searches": rows}

    def sparse(self, n: int, methods: Container[str], on_cpu: bool) -> dict[str, Any]:
        """Return the row of a sparse graph: the searches, and the blocked method on its matrix.

        If the CPU is left out, searches from one root after another are left out, too. They would
        take minutes.
        """
        g = weighted_random(n, DEGREE, seed=1)
        steps.tell(f"sparse: n={n:,} m={g.m:,}", 0)
        subject = Subject(g)
        matrix = subject.lengths.matrix
        rows = {}
        if on_cpu:
            reference.johnson(weighted(generators.path(2)))  # compiles
            searches = {
                "SciPy dijkstra": lambda: by_dijkstra(matrix, range(n), n),
                "sequential johnson": lambda: reference.johnson(g).distance,
            }
            rows = _on_cpu(subject, searches)
        known = OF_SPARSE if on_cpu else [form for form in OF_SPARSE if "memory" in form[1]]
        few = [Form(method, how) for method, how in known if method in methods]
        rows |= self.times(subject, few)
        if "blocked" in methods:
            rows |= self.times(subject, [_blocked(64, "8x8")])
        call = f"benchmarks.graphs.weighted_random({n}, {DEGREE}, seed=1)"
        return {"graph": "sparse", "call": call, "n": n, "m": g.m, "searches": rows}


def _rows_of(sizes: Sequence[int], methods: Container[str], quick: bool, on_cpu: int) -> int:
    """Return the number of rows to print, without regard to rows that some sizes leave out."""
    few = len([method for method, _ in OF_SPARSE if method in methods])
    count = 0
    for n in sizes:
        count += len(forms(methods, quick or n > EVERY_SHAPE)) + 2 * (n <= on_cpu)
        count += ALL_CORES in methods and n <= ON_ALL_CORES
        count += few * (n <= EVERY_SHAPE)
    return count


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 9,
    sizes: Sequence[int] = SIZES,
    methods: Container[str] = NAMES,
    quick: bool = False,
) -> Path:
    """Measure and write the file; return its path.

    Raises
    ------
    InvalidArgument
        If one of `sizes` is below 2.
    """
    if min(sizes) < 2:
        raise InvalidArgument("sizes", min(sizes), "2 vertices and more")
    sizes = sorted({max(n >> shrink, 8) if shrink else n for n in sizes})
    on_cpu = QUICK_ON_CPU if quick else ON_CPU
    steps.expect(_rows_of(sizes, methods, quick, on_cpu))
    limits = measured_limits(device, shrink)
    measuring = Measuring(device, repeat, QUICK_LIMIT_MS if quick else LIMIT_MS)
    rows: list[dict[str, Any]] = []

    def keep(row: dict[str, Any]) -> Path:
        # The file is written after each row, so a stopped run leaves its rows.
        for search in row["searches"].values():
            if "kernel_ms" in search:
                search |= limits.judged(search["kernel_ms"], 8 * row["n"] ** 2, row["n"] ** 3)
        rows.append(row)
        return record.write("apsp", WHAT, {**limits.figures, "times": rows}, circumstances, folder)

    for n in sizes:
        if n <= EVERY_SHAPE and any(method in methods for method, _ in OF_SPARSE):
            keep(measuring.sparse(n, methods, n <= on_cpu))
    for n in sizes:
        path = keep(measuring.dense(n, methods, quick, n <= on_cpu))
    return path
