"""The times of the first two chapters: a strided copy, and a neighbor sum on each representation.

``python -m gpukernels.bench.foundations --commit ID`` measures on the current GPU and writes
``data/benchmarks/simt.json`` and ``representations.json``.
"""

from __future__ import annotations

import timeit

import numpy as np
from numba import cuda

from gpukernels.bench import record
from gpukernels.device import CudaDevice
from gpukernels.generators import rmat, road_grid
from gpukernels.primitives import THREADS, blocks_for
from gpukernels.representations import adjacency_matrix, coo, csr

STRIDES = (1, 2, 4, 8)


@cuda.jit
def copy_strided(values, out, stride):
    """Copy every `stride`-th element of `values`."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = values[i * stride]


def measure_copy(device, n: int = 1 << 26) -> dict:
    """Time a copy of `n` int32 numbers at each stride.

    ``gigabytes_per_second`` counts the sectors that the counters of the chapter predict: 32 bytes
    for each element read until the stride reaches 8, and 4 bytes for each written.
    """
    values, out = device.full(STRIDES[-1] * n, 1, np.int32), device.full(n, 0, np.int32)
    rows = []
    for stride in STRIDES:

        def run(stride=stride):
            device.launch(copy_strided, blocks_for(n, 256), 256, values, out, stride)

        ms = record.median_ms(device, run)
        moved = (4 * stride + 4) * n
        rows.append(
            {
                "stride": stride,
                "ms": round(ms, 4),
                "gigabytes_per_second": round(moved / ms / 1e6),
            }
        )
    host = np.ones(STRIDES[-1] * n, np.int32)
    target = np.zeros(n, np.int32)
    for row in rows:
        source = host[:: row["stride"]][:n]
        seconds = min(timeit.repeat(lambda s=source: np.copyto(target, s), number=1, repeat=5))
        row["cpu_ms"] = round(seconds * 1e3, 2)
    return {"elements": n, "times": rows}


def measure_neighbor_sum(device) -> dict:
    """Time the sum over the neighbors of every vertex on each representation."""
    rows = []
    for name, call, g in (
        ("R-MAT", "gk.rmat(12, seed=1)", rmat(12, seed=1)),
        ("road grid", "gk.road_grid(64, 64, seed=1)", road_grid(64, 64, seed=1)),
        ("R-MAT", "gk.rmat(20, seed=1)", rmat(20, seed=1)),
        ("road grid", "gk.road_grid(1024, 1024, seed=1)", road_grid(1024, 1024, seed=1)),
    ):
        values, sums = device.full(g.n, 1, np.int32), device.full(g.n, 0, np.int64)
        forms = {
            "CSR": (csr.csr_neighbor_sum, g.n, (g.offsets, g.targets)),
            "COO": (coo.coo_neighbor_sum, g.m, g.coo),
        }
        if g.n <= 4096:
            cells = adjacency_matrix.AdjacencyMatrix.from_graph(g)
            matrix = (cells.cells, cells.pitch, cells.absent)
            forms["matrix"] = (adjacency_matrix.matrix_neighbor_sum, 32 * g.n, matrix)
        microseconds = {}
        for form, (kernel, threads, arrays) in forms.items():
            given = [device.array(a) if isinstance(a, np.ndarray) else a for a in arrays]

            def run(kernel=kernel, threads=threads, given=given, values=values, sums=sums):
                device.launch(kernel, blocks_for(threads), THREADS, *given, values, sums)

            microseconds[form] = round(record.median_ms(device, run) * 1e3, 1)
        product, ones = g.to_scipy(), np.ones(g.n, np.int32)
        seconds = min(timeit.repeat(lambda a=product, x=ones: a @ x, number=1, repeat=10))
        microseconds["SciPy, one core"] = round(seconds * 1e6, 1)
        rows.append({"graph": name, "call": call, "n": g.n, "m": g.m, "microseconds": microseconds})
    return {"times": rows}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write both files."""
    parser = record.parser(__doc__)
    options = parser.parse_args(arguments)
    device = CudaDevice()
    here = record.environment(device, options.commit)
    for name, what, measured in (
        (
            "simt",
            "a copy of int32 numbers, every stride-th one, on the device",
            measure_copy(device),
        ),
        (
            "representations",
            "sum over the neighbors of every vertex, kernel alone, median of 20",
            measure_neighbor_sum(device),
        ),
    ):
        print(record.write(name, what, measured, here, options.folder).read_text())


if __name__ == "__main__":
    main()
