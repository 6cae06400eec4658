"""How fast the SIMT machine is beside numba's own simulator, on the same kernel in one run.

``make bench-simt`` prints the table. The kernel is the vertex-parallel BFS of `traversal.harish` on
a random graph of mean degree 8; a time is that of all levels together, the median of several runs.
numba's simulator is chosen when numba is imported, so it runs in a process of its own. Beside it
stand the three schedules and a blocked Floyd-Warshall, on the machine alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from scipy.sparse.csgraph import floyd_warshall

from gpukernels.bench import tiles
from gpukernels.device import SimtDevice

MEAN_DEGREE = 8
THREADS = 128


def search(launch, n: int, seed: int = 1) -> tuple[float, np.ndarray]:
    """Run one search by ``launch(kernel, blocks, threads, args)``; return (seconds, distance)."""
    from gpukernels.generators import erdos_renyi
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
) -> tuple[float, np.ndarray]:
    """Return (median seconds, distance) on the SIMT machine, after one run that translates."""
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
    return statistics.median(seconds for seconds, _ in results), results[0][1]


def on_simulator(n: int, runs: int) -> tuple[float, np.ndarray]:
    """Return (median seconds, distance) under numba's simulator, in a process of its own."""
    code = (
        "import json\n"
        "from gpukernels.bench.simulator import search\n"
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
    return statistics.median(times), np.array(distance, np.int32)


def compare(n: int, runs: int = 5) -> dict[str, float]:
    """Return seconds of the machine without and with trace and of the simulator.

    Raises
    ------
    AssertionError
        If their distances differ.
    """
    plain, distance = on_machine(n, traced=False, runs=runs)
    traced, traced_distance = on_machine(n, traced=True, runs=runs)
    simulator, expected = on_simulator(n, runs=max(1, runs // 3))
    if not (np.array_equal(distance, expected) and np.array_equal(traced_distance, expected)):
        raise AssertionError(f"n={n}: the machine and the simulator disagree")
    return {"plain": plain, "traced": traced, "simulator": simulator}


def by_schedule(n: int, runs: int = 7) -> dict[str, float]:
    """Return the seconds of an untraced search under each schedule."""
    return {s: on_machine(n, False, runs, s)[0] for s in ("lockstep", "warp", "random")}


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vertices", type=int, default=4096, help="of the compared graph")
    parser.add_argument("--large", type=int, default=65536, help="of the machine-only graph")
    options = parser.parse_args(arguments)
    times = compare(options.vertices)
    print(f"vertex-parallel BFS, random graph, mean degree {MEAN_DEGREE}\n")
    print(f"{'':34}{'seconds':>10}{'times faster':>14}")
    labels = {
        "simulator": "numba's simulator",
        "traced": "SIMT machine, traced",
        "plain": "SIMT machine",
    }
    for key, label in labels.items():
        ratio = times["simulator"] / times[key]
        print(f"{label + f', {options.vertices:,} vertices':34}{times[key]:>10.4f}{ratio:>14.0f}")
    for traced in (False, True):
        seconds, _ = on_machine(options.large, traced=traced, runs=3)
        label = labels["traced" if traced else "plain"]
        print(f"{label + f', {options.large:,} vertices':34}{seconds:>10.4f}")
    print(f"\n{'schedule':34}{'seconds':>10}{'times slower':>14}")
    schedules = by_schedule(options.vertices)
    for schedule, seconds in schedules.items():
        slower = seconds / schedules["lockstep"]
        print(f"{schedule:34}{seconds:>10.4f}{slower:>14.1f}")
    print(f"\nblocked Floyd-Warshall, 256 x 256, tiles of {tiles.TILE}: {all_pairs():.2f} s")


def all_pairs(n: int = 256) -> float:
    """Return the seconds of one blocked Floyd-Warshall on `n` vertices, checked against SciPy."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 100, (n, n)).astype(np.float32)
    distance = np.where(rng.random((n, n)) < 0.05, lengths, np.float32(np.inf))
    np.fill_diagonal(distance, 0)
    start = time.perf_counter()
    result = tiles.close(SimtDevice(), distance)
    seconds = time.perf_counter() - start
    expected = floyd_warshall(np.where(np.isinf(distance), 0, distance))
    if not np.array_equal(result, expected.astype(np.float32)):
        raise AssertionError("the machine and SciPy disagree")
    return seconds


if __name__ == "__main__":
    main()
