"""All measurements of the book in one go, the cheap ones first.

``python -m gpukernels.bench.all --commit ID`` measures on the current GPU and writes every file of
``data/benchmarks`` that a benchmark of this folder writes; ``--only`` chooses some, ``--shrink K``
halves all sizes K times. A benchmark that fails does not keep the others from running; those that
did are named at the end, and the exit status is 1.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpukernels.bench import (
    apsp,
    bfs,
    directions,
    duplicates,
    foundations,
    frontier_bfs,
    mapping,
    out_of_core,
    record,
    scans,
    sssp,
)
from gpukernels.device import CudaDevice
from gpukernels.workloads import TARGETS


def _of_workloads(write: Callable[..., Path]) -> Callable[..., Path]:
    # The benchmarks of mappings take items of each workload, and by default every item.
    least = min(target.items for target in TARGETS.values())

    def run(device, here: dict[str, Any], folder: Path, *, shrink: int = 0) -> Path:
        return write(device, here, folder, items=least >> shrink if shrink else None)

    return run


#: File and what measures and writes it, in the order in which they run.
BENCHMARKS: dict[str, Callable[..., Path]] = {
    "simt": foundations.write_copy,
    "representations": foundations.write_sums,
    "scans": scans.write,
    "mapping": _of_workloads(mapping.write),
    "directions": _of_workloads(directions.write),
    "frontier_bfs": frontier_bfs.write,
    "duplicates": duplicates.write,
    "bfs": bfs.write,
    "sssp": sssp.write,
    "apsp": apsp.write,
    "out_of_core": out_of_core.write,
}


def measure(
    device, here: dict[str, Any], folder: Path, names: list[str], shrink: int = 0
) -> list[str]:
    """Run the benchmarks `names` and print what each takes; return the names of those that fail."""
    failed = []
    start = time.perf_counter()
    for k, name in enumerate(names):
        print(f"[{k + 1}/{len(names)}] {name}", flush=True)
        begin = time.perf_counter()
        try:
            done = str(BENCHMARKS[name](device, here, folder, shrink=shrink))
        except Exception:
            traceback.print_exc()
            failed.append(name)
            done = "FAILED"
        seconds = time.perf_counter() - begin
        print(f"[{k + 1}/{len(names)}] {name}: {seconds:.1f} s, {done}", flush=True)
    print(f"{time.perf_counter() - start:.1f} s in all", flush=True)
    return failed


def main(arguments: list[str] | None = None) -> None:
    """Measure and write all files."""
    parser = record.parser(__doc__)
    parser.add_argument("--shrink", type=int, default=0, help="halve all sizes so many times")
    parser.add_argument("--only", nargs="*", choices=list(BENCHMARKS), help="some of them alone")
    options = parser.parse_args(arguments)
    device = CudaDevice()
    here = record.environment(device, options.commit)
    names = options.only or list(BENCHMARKS)
    failed = measure(device, here, options.folder, names, options.shrink)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
