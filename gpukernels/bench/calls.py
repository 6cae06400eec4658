"""What a search costs beside its kernels: allocations, the host's own time, the copy of results.

``python -m gpukernels.bench calls`` prints a table for the current GPU and writes ``calls.json``:
of every method the milliseconds of its kernels, those of the whole call, the rest of them without
kernels and copies, and how often the second call asks the driver for memory. Copies of results
stand below. `profile` lists where the host spends its time.
"""

from __future__ import annotations

import contextlib
import cProfile
import pstats
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels import reference
from gpukernels.bench import record, steps
from gpukernels.bench.kernel_time import wall_ms
from gpukernels.bench.search_time import timer_for
from gpukernels.bench.spread import Median, median
from gpukernels.device import CudaDevice
from gpukernels.graphs.generators import kron
from gpukernels.graphs.graph import Graph
from gpukernels.traversal import METHODS, bfs

#: What asks the driver for memory, of the GPU or locked in the host.
ALLOCATIONS = ("cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister")
#: Bytes of the copies that are timed.
SIZES = tuple(1 << k for k in (14, 18, 22, 26, 28))


@contextlib.contextmanager
def counted_allocations() -> Iterator[Counter[str]]:
    """Count the calls of the driver that allocate."""
    from numba.cuda.cudadrv.driver import driver

    calls: Counter[str] = Counter()
    real = {name: getattr(driver, name) for name in ALLOCATIONS}

    def counting(name: str) -> Callable[..., Any]:
        def call(*args):
            calls[name] += 1
            return real[name](*args)

        call.__name__ = name  # numba logs it
        return call

    try:
        for name in ALLOCATIONS:
            setattr(driver, name, counting(name))
        yield calls
    finally:
        for name, function in real.items():
            setattr(driver, name, function)


def allocations_of(run: Callable[[], Any]) -> int:
    """Return how often ``run()`` asks for memory when it runs for the second time."""
    run()
    with counted_allocations() as calls:
        run()
    return calls.total()


def copy_ms(device: CudaDevice, size: int, repeat: int) -> Median:
    """Return the median milliseconds of reading an array of so many bytes into a new one."""
    array = device.full(size, 1, np.uint8)
    return wall_ms(lambda: device.read(array), repeat)


def measure(
    g: Graph, root: int, methods: Sequence[str], repeat: int, **options: Any
) -> list[dict[str, Any]]:
    """Time searches of `g` from `root`.

    Parameters
    ----------
    g : Graph
        The graph.
    root : int
        Where the searches begin.
    methods : sequence of str
        Which.
    repeat : int
        Runs of each kind, of which the median counts.
    **options
        What all methods take, such as ``parents=False``.

    Returns
    -------
    list of dict
        ``method``, ``launches``, ``kernel_ms``, ``copy_ms`` (of the results), ``call_ms``,
        ``beside_ms`` (the call without kernels and copies) and ``allocations``.

    Raises
    ------
    AssertionError
        If a distance is wrong.
    """
    expected = reference.bfs(g, root).distance
    device = CudaDevice()
    timer = timer_for(device)
    copy = copy_ms(device, 4 * g.n, repeat).times(1 if options.get("parents") is False else 2)
    rows = []
    for method in methods:
        kernels = []
        for _ in range(3):
            timer.reset()
            found = bfs(g, root, method, timer, **options)
            kernels.append(timer.ms)
        np.testing.assert_array_equal(found.distance, expected, err_msg=method)
        kernel_ms = median(kernels)
        launches = found.stats["launches"]
        del found

        def run(method: str = method) -> None:
            bfs(g, root, method, device, **options)

        call = wall_ms(run, repeat)
        row: dict[str, Any] = {
            "method": method,
            "launches": launches,
            "kernel_ms": kernel_ms,
            "copy_ms": copy,
            "call_ms": call,
            "beside_ms": round(float(call - kernel_ms - copy), 5),
            "allocations": allocations_of(run),
        }
        rows.append(row)
    return rows


def profile(g: Graph, root: int, method: str, repeat: int, **options: Any) -> None:
    """Print on what the host spends its time in calls of a method."""
    device = CudaDevice()
    bfs(g, root, method, device, **options)
    profiler = cProfile.Profile()
    with profiler:
        for _ in range(repeat):
            bfs(g, root, method, device, **options)
    print(f"{method}: {repeat} calls")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    scale: int = 20,
    edge_factor: int = 16,
    repeat: int = 20,
    methods: Sequence[str] = tuple(METHODS),
) -> Path:
    """Measure, print the tables and write the file; return its path."""
    steps.expect(len(methods) + len(SIZES))
    g = kron(scale, edge_factor, seed=1)
    root = int(np.argmax(g.out_degree))
    steps.tell(f"{g}, root {root}", 0)
    steps.tell(f"{'':31}{'kernels':>9}{'call':>9}{'beside':>9}{'allocs':>7}", 0)
    rows = measure(g, root, methods, repeat)
    for row in rows:
        line = f"{row['method']:22}{row['launches']:9}{row['kernel_ms']:9.3f}"
        steps.tell(f"{line}{row['call_ms']:9.3f}{row['beside_ms']:9.3f}{row['allocations']:7}")
    copies = []
    for size in SIZES:
        ms = copy_ms(CudaDevice(), size, repeat)
        steps.tell(f"copy of {size:>11,} bytes: {ms:8.3f} ms {size / ms / 1e6:7.2f} GB/s")
        copies.append({"bytes": size, "ms": ms})
    what = (
        "gk.bfs of gk.kron(`scale`, `edge_factor`, seed=1): kernels and the whole call (call_ms); "
        "beside_ms: without kernels and copies; allocations of a second call; copies of results; "
        "medians"
    )
    measured = {"scale": scale, "edge_factor": edge_factor, "times": rows, "copies": copies}
    return record.write("calls", what, measured, here, folder)
