"""The times of all pairs with a part of the matrix on the device, by the size of this part.

``python -m benchmarks out_of_core`` measures on the current GPU for a minute, and
writes ``data/benchmarks/out_of_core.json``. ``--sizes`` chooses numbers of vertices.

The times are those of whole calls, because the copies are of interest here. Every distance is
compared with that of `blocked`, and Dijkstra's algorithm checks some rows of `blocked`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import record, steps
from benchmarks.apsp import Subject
from benchmarks.graphs import dense_lengths
from benchmarks.limits import measured_limits
from benchmarks.search_time import timed
from gpukernels.all_pairs import apsp
from gpukernels.notebook.spread import median

SIZES = (8192, 16384)
#: Bytes of the device that a call may use.
BOUNDS = (1 << 26, 1 << 28, 1 << 30)
#: The lowest bound if sizes are halved.
LEAST = 1 << 17
#: Number of vertices of the first run, which is for the compiler.
COMPILING = 256

WHAT = (
    "gk.apsp(matrix, 'out_of_core', memory=...) on a complete graph of whole numbers 1 to 50,000, "
    "and 'blocked' with the whole matrix on the device; every distance compared. call_ms: time of "
    "the whole call by the host's clock, medians of `runs` runs; bytes_to_device and "
    "bytes_from_device: copied bytes of the matrix's blocks; block: rows of a block; device_bytes: "
    "the most bytes in use; least_operations: n^3 additions, each with a minimum, and their rate "
    "in the call as a share of the GPU's issue rate"
)

#: The entries of a result's ``stats`` that are kept.
TOLD = ("block", "pivot_blocks", "device_bytes", "bytes_to_device", "bytes_from_device")


def _timed(subject: Subject, device, method: str, repeat: int, **options: Any) -> dict[str, Any]:
    """Return the times of whole calls, and the stats of the last call."""
    times, stats = [], {}
    for _ in range(repeat):
        result, ms = timed(lambda: apsp(subject.given, method, device, **options))
        times.append(ms)
        subject.check(result.distance, method)
        stats = result.stats
    counts = {name: int(stats[name]) for name in TOLD if name in stats}
    return {"call_ms": median(times), "runs": repeat, **counts}


def measure(device, n: int, bounds: Sequence[int], repeat: int) -> dict[str, Any]:
    """Return the row of a complete graph of `n` vertices."""
    subject = Subject(dense_lengths(n, seed=1))
    rows = {"blocked": _timed(subject, device, "blocked", repeat)}
    for bound in bounds:
        rows[f"memory={bound}"] = _timed(subject, device, "out_of_core", repeat, memory=bound)
    for label, row in rows.items():
        steps.tell(f"  n={n:,} {label:20} call {row['call_ms']:>10,.1f} ms")
    call = f"benchmarks.graphs.dense_lengths({n}, seed=1)"
    return {"graph": "dense", "call": call, "n": n, "m": n * (n - 1), "searches": rows}


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 3,
    sizes: Sequence[int] = SIZES,
) -> Path:
    """Measure and write the file; return its path."""
    bounds = sorted({max(bound >> 2 * shrink, LEAST) for bound in BOUNDS})
    measure(device, COMPILING, bounds[:1], 1)
    steps.expect((len(sizes) + 1) * (1 + len(bounds)))
    limits = measured_limits(device, shrink)
    rows = [measure(device, max(n >> shrink, 128), bounds, repeat) for n in sizes]
    for row in rows:
        for search in row["searches"].values():
            search |= limits.judged(search["call_ms"], 8 * row["n"] ** 2, row["n"] ** 3)
    measured = {**limits.figures, "times": rows}
    return record.write("out_of_core", WHAT, measured, circumstances, folder)
