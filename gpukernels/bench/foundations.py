"""The times of the first two chapters: a strided copy, and a neighbor sum on each representation.

``python -m gpukernels.bench simt representations`` measures on the current GPU and writes
``data/benchmarks/simt.json`` and ``representations.json``.

Both sides' times are medians of the same number of runs, and every result is checked: the kernel's
as `kernel_time` takes it, the CPU's by the host's clock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.bench import record, steps
from gpukernels.bench.graphs import rmat, road_grid
from gpukernels.bench.kernel_time import do_nothing, kernel_ms, wall_ms
from gpukernels.bench.limits import Limits, measured_limits
from gpukernels.bench.spread import Median
from gpukernels.graphs.graph import Graph
from gpukernels.primitives import THREADS, blocks_for
from gpukernels.reference import multicore
from gpukernels.representations import adjacency_matrix, coo, csr

STRIDES = (1, 2, 4, 8)

#: Runs of which the median is kept, of kernels and of the CPU.
REPEAT = 20

HOW = (
    "every result checked; a kernel's time is that between two events on a GPU kept busy until "
    "both are queued, its cache cold, a CPU's is by the host's clock; medians of {repeat}; "
    "least_bytes, least_operations and their shares of the GPU's limits"
)


@cuda.jit
def copy_strided(values, out, stride):
    """Copy every `stride`-th element of `values`."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = values[i * stride]


def measure_copy(
    device, n: int = 1 << 26, repeat: int = REPEAT, limits: Limits | None = None
) -> dict[str, Any]:
    """Time a copy of `n` int32 numbers at each stride.

    ``gigabytes_per_second`` counts the sectors that the counters of the chapter predict: 32 bytes
    for each element read until the stride reaches 8, and 4 bytes for each written. The least that
    a copy needs is each element read and written, and no more than an operation for its place.

    Raises
    ------
    AssertionError
        If a copy is wrong.
    """
    host, target = np.arange(STRIDES[-1] * n, dtype=np.int32), np.zeros(n, np.int32)
    values, out = device.array(host), device.full(n, 0, np.int32)
    rows = []
    for stride in STRIDES:
        source = host[::stride][:n]

        def run(d, stride=stride):
            d.launch(copy_strided, blocks_for(n, 256), 256, values, out, stride)

        def check(source=source, stride=stride):
            np.testing.assert_array_equal(device.read(out), source, err_msg=f"stride {stride}")

        ms = kernel_ms(device, run, repeat, prepare=lambda: device.clear(out), check=check)
        moved = (4 * stride + 4) * n
        rows.append(
            {
                "stride": stride,
                "ms": round(ms, 4),
                "gigabytes_per_second": round(moved / ms / 1e6),
                "cpu_ms": round(wall_ms(lambda s=source: np.copyto(target, s), repeat), 2),
                "least_bytes": 8 * n,
                "least_operations": n,
                **({} if limits is None else limits.shares(ms, 8 * n, n)),
            }
        )
        steps.tell(f"  stride {stride}: {rows[-1]['ms']:,} ms")
    return {"elements": n, "times": rows}


def measure_neighbor_sum(
    device, shrink: int = 0, repeat: int = REPEAT, limits: Limits | None = None
) -> dict[str, Any]:
    """Time the sum over the neighbors of every vertex on each representation.

    ``nothing_microseconds`` is what the same method gives for a kernel that returns at once: less
    than that no kernel can take.
    """
    number = device.full(1, 0, np.int32)
    nothing = kernel_ms(device, lambda d: d.launch(do_nothing, 1, THREADS, number), repeat)
    few, many = 12 - min(shrink, 8), 20 - min(shrink, 14)
    rows = []
    for name, call, g in (
        ("R-MAT", f"gk.rmat({few}, seed=1)", rmat(few, 16, seed=1)),
        ("road grid", _call_of_road(few), road_grid(1 << few // 2, 1 << few // 2, seed=1)),
        ("R-MAT", f"gk.rmat({many}, seed=1)", rmat(many, 16, seed=1)),
        ("road grid", _call_of_road(many), road_grid(1 << many // 2, 1 << many // 2, seed=1)),
    ):
        head = {"graph": name, "call": call, "n": g.n, "m": g.m}
        microseconds = neighbor_sums(device, g, repeat)
        row = {**head, "microseconds": microseconds}
        needed = {
            form: counted for form, counted in least(g).items() if form in microseconds
        }  # fmt: skip
        for k, figure in enumerate(("least_bytes", "least_operations")):
            row[figure] = {form: counted[k] for form, counted in needed.items()}
        if limits is not None:
            told = {f: limits.shares(microseconds[f] / 1e3, *needed[f]) for f in needed}
            for share in ("share_of_bandwidth", "share_of_issue_rate"):
                row[share] = {form: shares[share] for form, shares in told.items()}
        rows.append(row)
        sums = ", ".join(f"{form} {spent:,}" for form, spent in microseconds.items())
        steps.tell(f"  {head['call']}: {sums} microseconds")
    return {"nothing_microseconds": round(nothing.times(1e3), 1), "times": rows}


def least(g: Graph) -> dict[str, tuple[int, int]]:
    """Return the bytes and operations that a neighbor sum of `g` needs at least, by form.

    Numbers of 4 bytes, sums of 8; an addition for each arc, of the matrix for each cell.
    """
    ends = 4 * g.n + 8 * g.n
    return {
        "CSR": (4 * (g.n + 1 + g.m) + ends, g.m),
        "COO": (8 * g.m + ends, g.m),
        "matrix": (4 * g.n * g.n + ends, g.n * g.n),
    }


def _call_of_road(scale: int) -> str:
    return f"gk.road_grid({1 << scale // 2}, {1 << scale // 2}, seed=1)"


def neighbor_sums(device, g: Graph, repeat: int = REPEAT) -> dict[str, Median]:
    """Return the microseconds of a neighbor sum of `g` in every form, and on the CPU.

    The sums are cleared before each run: COO adds to what is there.

    Raises
    ------
    AssertionError
        If a sum is wrong.
    """
    numbers = np.random.default_rng(1).integers(0, 100, g.n).astype(np.int32)
    product, expected = g.to_scipy(), np.zeros(g.n, np.int64)
    np.add.at(expected, g.coo[0], numbers[g.targets])
    values, sums = device.array(numbers), device.full(g.n, 0, np.int64)
    forms = {
        "CSR": (csr.csr_neighbor_sum, g.n, (g.offsets, g.targets), expected),
        "COO": (coo.coo_neighbor_sum, g.m, g.coo, expected),
    }
    if g.n <= 4096:
        cells = adjacency_matrix.AdjacencyMatrix.from_graph(g)
        matrix = (cells.cells, cells.pitch, cells.absent)
        there = g.dense() != cells.absent  # of parallel arcs, one
        once = there.astype(np.int64) @ numbers
        forms["matrix"] = (adjacency_matrix.matrix_neighbor_sum, 32 * g.n, matrix, once)
    microseconds = {}
    for form, (kernel, threads, arrays, right) in forms.items():
        given = [device.array(a) if isinstance(a, np.ndarray) else a for a in arrays]

        def run(d, kernel=kernel, threads=threads, given=given):
            d.launch(kernel, blocks_for(threads), THREADS, *given, values, sums)

        def check(form=form, right=right):
            np.testing.assert_array_equal(device.read(sums), right, err_msg=form)

        ms = kernel_ms(device, run, repeat, prepare=lambda: device.clear(sums), check=check)
        microseconds[form] = round(ms.times(1e3), 2)
    found = np.empty(g.n, np.int64)
    for name, on_cpu in (
        ("SciPy, one core", lambda: product @ numbers),
        ("numba, all cores", lambda: multicore.neighbor_sum(g, numbers, found)),
    ):
        np.testing.assert_array_equal(on_cpu(), expected, err_msg=name)
        microseconds[name] = round(wall_ms(on_cpu, repeat).times(1e3), 2)
    return microseconds


def write_copy(
    device, here: dict[str, Any], folder: Path, *, shrink: int = 0, repeat: int = REPEAT
) -> Path:
    """Measure and write ``simt.json``; return its path."""
    steps.expect(len(STRIDES))
    how = HOW.format(repeat=repeat)
    what = f"a copy of int32 numbers, every stride-th one, on the device and on one core; {how}"
    limits = measured_limits(device, shrink)
    measured = measure_copy(device, 1 << max(26 - shrink, 8), repeat, limits)
    return record.write("simt", what, {**limits.figures, **measured}, here, folder)


def write_sums(
    device, here: dict[str, Any], folder: Path, *, shrink: int = 0, repeat: int = REPEAT
) -> Path:
    """Measure and write ``representations.json``; return its path."""
    steps.expect(4)
    what = (
        "sum over the neighbors of every vertex, kernel alone; nothing_microseconds is an empty "
        f"kernel's time; {HOW.format(repeat=repeat)}"
    )
    limits = measured_limits(device, shrink)
    measured = measure_neighbor_sum(device, shrink, repeat, limits)
    return record.write("representations", what, {**limits.figures, **measured}, here, folder)
