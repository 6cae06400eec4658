"""What a search costs beside its kernels: allocations, the host's own time, the copy of results.

``python -m gpukernels.bench calls`` prints a table for the current GPU and writes ``calls.json``:
of every method the milliseconds of its kernels, those of the whole call, what is left of them
without kernels and copies, and how often the second call asks the driver for memory. ``before`` is
the same call on a device that allocates every buffer and reads into ordinary memory. Copies of
results stand below. `profile` shows on what the host spends its time.
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

from gpukernels import sequential
from gpukernels.bench import record, steps
from gpukernels.bench.kernel_time import wall_ms
from gpukernels.bench.search_time import timer_for
from gpukernels.bench.spread import Median, median
from gpukernels.device import CudaDevice
from gpukernels.generators import kron
from gpukernels.graph import Graph
from gpukernels.traversal import METHODS, bfs

#: What asks the driver for memory, of the GPU or locked in the host.
ALLOCATIONS = ("cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister")
#: Bytes of the copies that are timed.
SIZES = tuple(1 << k for k in (14, 18, 22, 26, 28))


class PlainDevice(CudaDevice):
    """A GPU that allocates every array again, and reads into ordinary memory."""

    def empty(self, shape, dtype):
        """Return a new device array."""
        shape = tuple(map(int, shape)) if isinstance(shape, tuple | list) else int(shape)
        return self._cuda.device_array(shape, dtype)

    def full_all(self, shapes, value, dtype) -> list:
        """Return new arrays, each filled by itself."""
        return [self.full(shape, value, dtype) for shape in shapes]

    def pinned(self, shape, dtype) -> np.ndarray:
        """Return a new array of locked pages."""
        array = self._cuda.pinned_array(shape, dtype)
        array.fill(0)
        return array

    def read(self, array, into: np.ndarray | None = None) -> np.ndarray:
        """Return the array's contents, in ordinary memory by default."""
        return array.copy_to_host(into)

    def read_all(self, *arrays) -> list[np.ndarray]:
        """Return the contents of arrays, each read by itself."""
        return [self.read(array) for array in arrays]


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
        ``method``, ``launches``, ``kernel_ms``, ``copy_ms`` (of the results), and of both devices
        ``call_ms``, ``beside_ms`` (the call without kernels and copies) and ``allocations``.

    Raises
    ------
    AssertionError
        If a distance is wrong.
    """
    expected = sequential.bfs(g, root).distance
    devices = {"before": PlainDevice(), "now": CudaDevice()}
    timer = timer_for(devices["now"])
    arrays = 1 if options.get("parents") is False else 2
    copies = {
        name: copy_ms(device, 4 * g.n, repeat).times(arrays) for name, device in devices.items()
    }
    rows = []
    for method in methods:
        kernels = []
        for _ in range(3):
            timer.reset()
            found = bfs(g, root, method, timer, **options)
            kernels.append(timer.ms)
        np.testing.assert_array_equal(found.distance, expected, err_msg=method)
        kernel_ms = median(kernels)
        row: dict[str, Any] = {"method": method, "kernel_ms": kernel_ms}
        row["launches"] = found.stats["launches"]
        del found
        for name, device in devices.items():

            def run(device: CudaDevice = device, method: str = method) -> None:
                bfs(g, root, method, device, **options)

            call = wall_ms(run, repeat)
            row[name] = {
                "call_ms": call,
                "copy_ms": copies[name],
                "beside_ms": round(float(call - kernel_ms - copies[name]), 5),
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
    steps.tell(f"{'':31}{'kernels':>9}{'before':>9}{'beside':>9}{'allocs':>7}"
               f"{'now':>9}{'beside':>9}{'allocs':>7}", 0)  # fmt: skip
    rows = measure(g, root, methods, repeat)
    for row in rows:
        line = f"{row['method']:22}{row['launches']:9}{row['kernel_ms']:9.3f}"
        for name in ("before", "now"):
            of = row[name]
            line += f"{of['call_ms']:9.3f}{of['beside_ms']:9.3f}{of['allocations']:7}"
        steps.tell(line)
    copies = []
    for size in SIZES:
        line, copied = f"copy of {size:>11,} bytes:", {}
        for name, there in (("before", PlainDevice()), ("now", CudaDevice())):
            copied[name] = copy_ms(there, size, repeat)
            line += f"  {name} {copied[name]:8.3f} ms {size / copied[name] / 1e6:7.2f} GB/s"
        steps.tell(line)
        copies.append({"bytes": size, "ms": copied})
    what = (
        "gk.bfs of gk.kron(`scale`, `edge_factor`, seed=1): kernels, the whole call (call_ms) as "
        "it is now and, before, with every buffer allocated and results in ordinary memory; "
        "beside_ms: without kernels and copies; allocations of a second call; copies of results; "
        "medians"
    )
    measured = {"scale": scale, "edge_factor": edge_factor, "times": rows, "copies": copies}
    return record.write("calls", what, measured, here, folder)
