"""What runs cost in watts and joules: every mapping technique on every workload, and best searches.

``python -m gpukernels.bench energy`` measures on the current GPU, some five minutes, and writes
``data/benchmarks/energy.json``; ``--methods`` chooses some mapping techniques, ``--shrink K``
halves all sizes K times.

Each is checked and timed first. Then it is repeated: `BEFORE` seconds that are not counted, until
power and clock have settled, and then `SECONDS` that are. These are cut into windows. The median of
the windows is kept, and the most as the peak.

A GPU that waits for the host draws little, and the energy of a run then says something of the host.
Therefore a mapping technique's launches are queued again and again, without a check or a read-back
in between (see `replay`). Rounds of a search depend on each other, so searches run as they are.
``busy_share`` is the part of the time in which kernels ran; a row below `BUSY` is ``host_bound``.
``above_idle_millijoules`` leaves out the energy that an idle GPU uses in the same time.
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
from gpukernels.bench.mapping import check_items, chosen_techniques, measure_technique
from gpukernels.bench.replay import Replay
from gpukernels.bench.searches import large_graphs
from gpukernels.bench.span_time import SpanTimer
from gpukernels.bench.spread import Median, median
from gpukernels.bench.sssp import FAMILIES as SSSP_FAMILIES
from gpukernels.bench.sssp import is_shortest
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import label
from gpukernels.mapping.workload import upload
from gpukernels.primitives import scan_sizes
from gpukernels.reference import bfs as sequential_bfs
from gpukernels.shortest_paths import sssp
from gpukernels.traversal import bfs

THREADS = 128
#: Seconds that count, and the seconds before them that do not.
SECONDS, BEFORE = 1.0, 0.3
#: Share of the time in which kernels run; a row of less says that it waited for the host.
BUSY = 0.9
#: Runs that are timed one behind the other, to know for how long kernels run in the loop.
IN_A_ROW = 32
#: Seconds of launches that the host queues before it waits for the GPU.
QUEUED = 0.05
#: Vertices of the complete graph, and sizes that are scanned.
VERTICES, SIZES = 4096, 1 << 26

WHAT = (
    "power by NVML while a run is repeated for `seconds` ({seconds:g} at least), of mapping "
    "techniques without the host's part of a run. average_watts, millijoules of a run: the median "
    f"of windows of {power.WINDOW:g} s and a little more, between steps of the GPU's energy "
    "counter. peak_watts: the window of most. above_idle_millijoules: without idle_watts. "
    f"busy_share: kernels' time by all time; host_bound: it is below {BUSY:g}. kernel_ms: as in "
    "mapping.json and bfs.json, checked. call_ms: a run in the loop, with the rest of the host's "
    "part. counter_apart: how far the energy by the sensor of power, an average of up to a "
    "second, is from the counter's"
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
        Runs it once more and raises AssertionError if it is wrong; called before the loop and
        after it.
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

            replay, technique = Replay(device), label(method, knobs)
            METHODS[method](load, replay, threads=THREADS, **knobs)

            def check(load=load, replay=replay, technique=technique, expected=expected):
                device.fill(load.item, -1)
                replay.again(device)
                check_items(device.read(load.item), expected, f"{technique}, replayed")

            head = {"run": "mapping", "workload": name, "technique": technique}
            yield Run({**head, "threads": THREADS}, replay.again, check, told["ms"])


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
    batch = max(1, int(QUEUED * 1e3 / max(wall_ms(lambda: _once(device, run), 3), 1e-3)))
    in_loop = _kernels(run, timer, min(batch, IN_A_ROW))
    _for(device, run, batch, min(BEFORE, seconds))
    with power.Sampling(meter) as seen:
        each = _for(device, run, batch, seconds)
    run.check()
    watts, ms = median(seen.windows, 2), sum(each) / len(each)
    busy = round(in_loop / max(ms, 1e-9), 4)
    above = median([drawn - idle_watts for drawn in seen.windows])
    return {
        "average_watts": watts,
        "peak_watts": round(seen.peak, 2),
        "millijoules": round(watts.times(ms), 4),
        "above_idle_millijoules": round(above.times(ms), 4),
        "kernel_ms": run.kernel_ms or in_loop,
        "call_ms": median(each),
        "busy_share": busy,
        "host_bound": bool(busy < BUSY),
        "runs": batch * len(each),
        "seconds": round(seen.duration, 3),
        "joules": round(seen.average * seen.duration, 3),
        "windows": len(seen.windows),
        "samples": len(seen.samples),
        **({} if seen.apart is None else {"counter_apart": round(seen.apart, 4)}),
    }


def _kernels(run: Run, timer: LaunchTimer, times: int) -> Median:
    """Return the milliseconds of a run's kernels, of so many runs one behind the other."""
    found = []
    for _ in range(4):
        timer.reset()
        for _ in range(times):
            run.go(timer)
        if isinstance(timer, SpanTimer):
            timer.end()
        found.append(timer.ms / times)
    return median(found[1:])  # the first may have compiled


def _once(device, run: Run) -> None:
    with device.timer():  # waits for the GPU
        run.go(device)


def _for(device, run: Run, batch: int, seconds: float) -> list[float]:
    """Repeat a run for so long, at least a batch; return the milliseconds of a run, by batch."""
    each: list[float] = []
    begin = before = time.perf_counter()
    while not each or before - begin < seconds:
        with device.timer():
            for _ in range(batch):
                run.go(device)
        now = time.perf_counter()
        each.append((now - before) * 1e3 / batch)
        before = now
    return each


def idle(meter: power.Meter, seconds: float) -> float:
    """Return the watts that the GPU draws while nothing runs."""
    time.sleep(min(BEFORE, seconds))
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
