"""The speed of the SIMT machine and of numba's own simulator, on the same kernel in one run.

``python -m benchmarks simulator`` prints the table and writes ``simulator.json``. The kernel
is the vertex-parallel BFS of `traversal.harish` on a random graph of mean degree 8. A time is that
of all levels together, as the median of several runs. numba's simulator runs in a process of its
own, because it is chosen when numba is imported. A second table has the three schedules of the
machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record, steps
from gpukernels.notebook.spread import Median, median

MEAN_DEGREE = 8
THREADS = 128


def search(launch, n: int, seed: int = 1) -> tuple[float, np.ndarray]:
    """Run one search by ``launch(kernel, blocks, threads, args)``; return (seconds, distance)."""
    from gpukernels.graphs.generators import erdos_renyi
    from gpukernels.traversal.harish import harish_level

    g = erdos_renyi(n, MEAN_DEGREE, seed=seed)
    offsets, targets = np.array(g.offsets), np.array(g.targets)
    distance, parent = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    distance[0] = parent[0] = 0
    changed = np.ones(1, np.int32)
    level = 0
    start = time.perf_counter()
    while changed[0]:
        changed[0] = 0
        args = (offsets, targets, distance, parent, level, changed)
        launch(harish_level, -(-n // THREADS), THREADS, args)
        level += 1
    return time.perf_counter() - start, distance


def on_machine(
    n: int, traced: bool, runs: int, schedule: str = "lockstep"
) -> tuple[Median, np.ndarray]:
    """Return (median seconds, distance) on the SIMT machine, after one run for the translation."""
    from gpukernels import simt

    def once():
        recorder = simt.Recorder() if traced else None

        def launch(kernel, blocks, threads, args):
            simt.launch(
                kernel, blocks, threads, args, recorder=recorder, check=False, schedule=schedule
            )

        return search(launch, n)

    once()
    results = [once() for _ in range(runs)]
    return median([seconds for seconds, _ in results], 8), results[0][1]


def on_simulator(n: int, runs: int) -> tuple[Median, np.ndarray]:
    """Return (median seconds, distance) under numba's simulator, in a process of its own."""
    code = (
        "import json\n"
        "from benchmarks.simulator import search\n"
        "def launch(kernel, blocks, threads, args):\n"
        "    kernel[blocks, threads](*args)\n"
        f"results = [search(launch, {n}) for _ in range({runs})]\n"
        "print(json.dumps([[t for t, _ in results], results[0][1].tolist()]))\n"
    )
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1")
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    times, distance = json.loads(done.stdout.splitlines()[-1])
    return median(times, 8), np.array(distance, np.int32)


def compare(n: int, runs: int = 5) -> dict[str, Median]:
    """Return the seconds of the machine without and with a trace, and of the simulator."""
    plain, distance = on_machine(n, traced=False, runs=runs)
    traced, traced_distance = on_machine(n, traced=True, runs=runs)
    simulator, expected = on_simulator(n, runs=max(1, runs // 3))
    if not (np.array_equal(distance, expected) and np.array_equal(traced_distance, expected)):
        raise AssertionError(f"n={n}: the machine and the simulator disagree")
    return {"plain": plain, "traced": traced, "simulator": simulator}


def by_schedule(n: int, runs: int = 7) -> dict[str, Median]:
    """Return the seconds of an untraced search under each schedule."""
    return {s: on_machine(n, False, runs, s)[0] for s in ("lockstep", "warp", "random")}


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    vertices: int = 4096,
    large: int = 65536,
    repeat: int = 5,
) -> Path:
    """Measure, print the tables and write the file; return its path."""
    steps.expect(8)
    steps.tell(f"vertex-parallel BFS, random graph, mean degree {MEAN_DEGREE}: seconds", 0)
    times, rows = compare(vertices, repeat), []

    def add(what: str, seconds: Median, than: float, words: str = "times faster") -> None:
        rows.append({"what": what, "ms": seconds.times(1e3)})
        steps.tell(f"{what:38}{seconds:>10.4f}{than:>10.1f} {words}")

    labels = {
        "simulator": "numba's simulator",
        "traced": "SIMT machine, traced",
        "plain": "SIMT machine",
    }
    for key, label in labels.items():
        add(f"{label}, {vertices:,} vertices", times[key], times["simulator"] / times[key])
    for key in ("plain", "traced"):
        seconds, _ = on_machine(large, traced=key == "traced", runs=min(repeat, 3))
        add(f"{labels[key]}, {large:,} vertices", seconds, seconds / times[key], "times as long")
    schedules = by_schedule(vertices, repeat)
    for schedule, seconds in schedules.items():
        add(schedule, seconds, seconds / schedules["lockstep"], "times as long")
    what = (
        "the SIMT machine compared with numba's simulator: a vertex-parallel search of a random "
        "graph of `vertices` vertices; the machine's schedules; medians by the host's clock"
    )
    measured = {"vertices": vertices, "large": large, "times": rows}
    return record.write("simulator", what, measured, circumstances, folder)
