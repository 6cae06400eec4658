"""What runs cost in watts and joules: every mapping technique on every workload, and best searches.

``python -m gpukernels.bench energy`` measures on the current GPU, some eight minutes, and writes
``data/benchmarks/energy.json``; ``--methods`` chooses some mapping techniques, ``--shrink K``
halves all sizes K times.

Each is checked and timed first. Then it runs again and again: a moment that is not counted, as
sensors tell the average of the last second, and then for `SECONDS` in `SLICES` of which each has a
figure of its own; what is kept is their median. Between launches a GPU waits for the host, so
``busy_share`` says which part of the time kernels ran, and ``above_idle_millijoules`` leaves out
what the GPU draws in the same time while it does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpukernels.all_pairs import apsp
from gpukernels.bench import kernel_time, power, record, steps
from gpukernels.bench.apsp import Subject
from gpukernels.bench.bfs import FAMILIES as BFS_FAMILIES
from gpukernels.bench.graphs import dense_lengths, items_of, workload
from gpukernels.bench.kernel_time import LaunchTimer, wall_ms
from gpukernels.bench.mapping import chosen_techniques, measure_technique
from gpukernels.bench.searches import large_graphs
from gpukernels.bench.span_time import SpanTimer
from gpukernels.bench.spread import Median, median
from gpukernels.bench.sssp import FAMILIES as SSSP_FAMILIES
from gpukernels.bench.sssp import is_shortest
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import label
from gpukernels.mapping.workload import upload
from gpukernels.primitives import scan_sizes
from gpukernels.sequential import bfs as sequential_bfs
from gpukernels.shortest_paths import sssp
from gpukernels.traversal import bfs
from gpukernels.workloads import TARGETS

THREADS = 128
#: Seconds that count, in so many slices, and the seconds before them that do not.
SECONDS, SLICES, BEFORE = 2.0, 4, 1.0
#: Seconds of launches that the host queues before it waits for the GPU.
QUEUED = 0.05
#: Vertices of the complete graph, and sizes that are scanned.
VERTICES, SIZES = 4096, 1 << 26

WHAT = (
    "power by NVML while a run is repeated for `seconds` ({seconds:g} at least): average_watts, "
    "peak_watts (of what the sensor averages) and millijoules of a run, the median of slices; "
    "above_idle_millijoules: without idle_watts; busy_share: kernels' time by all time; kernel_ms: "
    "as in mapping.json and bfs.json, checked; call_ms: a run in the loop, what the host does "
    "included; counter_apart: how far the samples' energy is from the energy counter's"
)


class Run(NamedTuple):
    """What is repeated.

    Attributes
    ----------
    head : dict
        What the file says of it.
    go : callable
        Runs it on the device that it is given.
    check : callable
        Runs it once more and raises AssertionError if it is wrong.
    kernel_ms : float or None
        Milliseconds of its kernels where they are known already.
    """

    head: dict[str, Any]
    go: Callable[[Any], Any]
    check: Callable[[], None]
    kernel_ms: Median | None = None


def of_mapping(device, items: int | None, methods: Container[str], repeat: int) -> Iterator[Run]:
    """Yield every mapping technique on every workload, checked and timed."""
    for name in TARGETS:
        offsets = workload(name, items)
        sizes = np.diff(offsets)
        expected = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        load = upload(offsets, None, device)
        for method, knobs in chosen_techniques(methods):
            told = measure_technique(
                device, load, expected, method, knobs, THREADS,
                repeat=repeat, busy_rounds=kernel_time.BUSY_ROUNDS,
            )  # fmt: skip

            def go(there, load=load, method=method, knobs=knobs):
                return METHODS[method](load, there, threads=THREADS, **knobs)

            head = {"run": "mapping", "workload": name, "technique": label(method, knobs)}
            yield Run({**head, "threads": THREADS}, go, lambda: None, told["ms"])


def of_others(device, shrink: int) -> Iterator[Run]:
    """Yield the fastest searches, the fastest method for all pairs, and the scans."""
    chosen = {"rmat": "direction_optimizing", "road": "bfs4k"}
    for head, g in large_graphs(BFS_FAMILIES, shrink, chosen):
        method = chosen[head["graph"]]

        def go(there, g=g, root=head["root"], method=method):
            return bfs(g, root, method, there, parents=False)

        def check(g=g, root=head["root"], go=go):
            expected = sequential_bfs(g, root).distance
            np.testing.assert_array_equal(go(device).distance, expected)

        yield Run({"run": "bfs", "method": method, **head}, go, check)
    chosen = {"rmat": "near_far_persistent", "grid": "near_far_persistent"}
    for head, g in large_graphs(SSSP_FAMILIES, shrink, chosen):
        method = chosen[head["graph"]]

        def go(there, g=g, root=head["root"], method=method):
            return sssp(g, root, method, there, parents=False)

        def check(g=g, root=head["root"], go=go, method=method):
            assert is_shortest(g, root, go(device).distance), f"{method} is wrong"

        yield Run({"run": "sssp", "method": method, **head}, go, check)
    matrix = dense_lengths(max(VERTICES >> shrink, 32), seed=1)

    def all_pairs(there):
        return apsp(matrix, "blocked", there)

    def check_pairs():
        Subject(matrix).check(all_pairs(device).distance, "blocked")

    yield Run({"run": "apsp", "method": "blocked", "n": len(matrix)}, all_pairs, check_pairs)
    sizes = np.random.default_rng(0).integers(0, 9, max(SIZES >> shrink, 1024)).astype(np.int32)
    values = device.array(sizes)
    for way in ("launches", "look-back"):

        def scan(there, way=way):
            return scan_sizes(values, there, method=way)

        def check_scan(scan=scan):
            np.testing.assert_array_equal(device.read(scan(device))[1:], np.cumsum(sizes))

        yield Run({"run": "scan", "method": way, "values": sizes.size}, scan, check_scan)


def repeated(
    device, run: Run, meter: power.Meter, idle_watts: float, seconds: float, timer: LaunchTimer
) -> dict[str, Any]:
    """Return the figures of a run that is repeated for so many seconds.

    Raises
    ------
    AssertionError
        If it is wrong.
    PowerError
        If the power cannot be read.
    """
    run.check()
    kernel_ms = run.kernel_ms or _kernels(run, timer)
    batch = max(1, int(QUEUED * 1e3 / max(wall_ms(lambda: _once(device, run), 3), 1e-3)))
    _for(device, run, batch, BEFORE * min(1.0, seconds))
    slices, counts = [], []
    for _ in range(SLICES):
        with power.Sampling(meter) as seen:
            counts.append(_for(device, run, batch, seconds / SLICES))
        slices.append(seen)
    spent, joules = sum(s.duration for s in slices), sum(s.joules for s in slices)
    each = list(zip(slices, counts, strict=True))
    apart = [seen.apart for seen in slices if seen.apart is not None]
    return {
        "average_watts": median([seen.average for seen in slices], 2),
        "peak_watts": round(max(seen.peak for seen in slices), 2),
        "millijoules": median([1e3 * seen.joules / n for seen, n in each], 4),
        "above_idle_millijoules": median(
            [1e3 * (seen.joules - idle_watts * seen.duration) / n for seen, n in each], 4
        ),
        "kernel_ms": kernel_ms,
        "call_ms": median([1e3 * seen.duration / n for seen, n in each]),
        "busy_share": round(sum(counts) * kernel_ms / 1e3 / max(spent, 1e-9), 4),
        "runs": sum(counts),
        "seconds": round(spent, 3),
        "joules": round(joules, 3),
        "samples": sum(len(seen.samples) for seen in slices),
        **({"counter_apart": round(max(apart, key=abs), 4)} if apart else {}),
    }


def _kernels(run: Run, timer: LaunchTimer) -> Median:
    """Return the milliseconds of a run's kernels, rows of launches as one."""
    times = []
    for _ in range(4):
        timer.reset()
        run.go(timer)
        if isinstance(timer, SpanTimer):
            timer.end()
        times.append(timer.ms)
    return median(times[1:])  # the first may have compiled


def _once(device, run: Run) -> None:
    with device.timer():  # waits for the GPU
        run.go(device)


def _for(device, run: Run, batch: int, seconds: float) -> int:
    """Repeat a run for so long, at least a batch; return how often."""
    done, begin = 0, time.perf_counter()
    while not done or time.perf_counter() - begin < seconds:
        with device.timer():
            for _ in range(batch):
                run.go(device)
        done += batch
    return done


def idle(meter: power.Meter, seconds: float) -> float:
    """Return the watts that the GPU draws while nothing runs."""
    time.sleep(BEFORE * min(1.0, seconds))
    with power.Sampling(meter) as seen:
        time.sleep(seconds)
    return seen.average


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    repeat: int = 3,
    methods: Container[str] = tuple(METHODS),
    seconds: float = SECONDS,
    meter: power.Meter | None = None,
) -> Path:
    """Measure and write the file, after each row too; return its path."""
    steps.expect(len(TARGETS) * len(chosen_techniques(methods)) + 7)
    meter = meter or power.meter_of_current_gpu()
    try:
        idle_watts = idle(meter, seconds)
        what, rows = WHAT.format(seconds=seconds), []
        measured = {"idle_watts": round(idle_watts, 2), "times": rows}
        timer = SpanTimer(device)
        runs = [of_others(device, shrink), of_mapping(device, items_of(shrink), methods, repeat)]
        for run in (run for some in runs for run in some):
            rows.append({**run.head, **repeated(device, run, meter, idle_watts, seconds, timer)})
            told = rows[-1]
            name = ", ".join(str(v) for v in run.head.values() if isinstance(v, str))
            steps.tell(
                f"  {name:60} {told['average_watts']:7.1f} W, {told['millijoules']:10.3f} mJ a run"
            )
            path = record.write("energy", what, measured, here, folder)
    finally:
        meter.close()
    return path
