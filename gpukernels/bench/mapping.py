"""The times of every mapping technique on the papers' workloads.

``python -m gpukernels.bench.mapping --commit ID`` measures on the current GPU, some minutes, and
writes ``data/benchmarks/mapping.json``; ``--items N`` cuts every workload down to N items.

A time is that of the kernels alone, added up: allocations, copies and the host's answers are left
out, since a program that maps again and again keeps its arrays. Before each launch a kernel that
does nothing useful keeps the GPU busy, so that the host has queued the launch and both events when
the first event comes; otherwise the time that Python takes to launch would count. The time of the
whole driver, with all that, stands beside it.
"""

from __future__ import annotations

import timeit
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.bench import record
from gpukernels.device import CudaDevice
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import choose_mapping, label
from gpukernels.mapping.workload import Workload, grid, upload
from gpukernels.workloads import TARGETS, workload

BLOCK_SIZES = (128, 256)

#: Techniques and knobs, as they are measured.
TECHNIQUES = (
    ("work_item_to_thread", {}),
    *(("virtual_warp", {"warp_size": size}) for size in (1, 2, 4, 8, 16, 32)),
    ("dynamic_virtual_warp", {}),
    ("cta_warp_scan", {}),
    ("direct_search", {}),
    ("local_warp_search", {"form": "register"}),
    ("local_warp_search", {"form": "shared"}),
    ("block_search", {}),
    ("two_phase", {}),
    ("multi_phase", {}),
    ("multi_phase", {"search": "binary"}),
    ("multi_phase", {"iterations": 2}),
    ("multi_phase", {"iterations": 4}),
)

#: Rounds of `keep_busy` that last about a millisecond on a GPU of 2024.
BUSY_ROUNDS = 100_000


@cuda.jit
def fill(item, value):
    """Store `value` in every element, so that no technique finds another one's answer."""
    for unit in range(cuda.grid(1), item.size, cuda.gridsize(1)):
        item[unit] = value


@cuda.jit
def keep_busy(out, rounds):
    """Walk through a sequence of numbers in which each needs the one before."""
    number = out[0]
    for _ in range(rounds):
        number = (number * 1103515245 + 12345) & 0x7FFFFFFF
    out[0] = number


class LaunchTimer:
    """A device that adds up the milliseconds of its launches in :attr:`ms`.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    busy_rounds : int
        Rounds of `keep_busy` before each launch; 0 for none.
    """

    def __init__(self, device, busy_rounds: int = 0):
        self.device = device
        self.busy_rounds = busy_rounds
        self.ms = 0.0
        self._number = device.full(1, 1, np.int64)

    def __getattr__(self, name: str):
        return getattr(self.device, name)

    def launch(self, kernel, blocks, threads, *args, **options) -> None:
        """Launch and wait; the launch's time is added to :attr:`ms`."""
        if not blocks:
            return
        if self.busy_rounds:
            self.device.launch(keep_busy, 1, 1, self._number, self.busy_rounds)
        with self.device.timer() as elapsed:
            self.device.launch(kernel, blocks, threads, *args, **options)
        self.ms += elapsed.ms


def _median(values: list[float]) -> float:
    return round(sorted(values)[len(values) // 2], 5)


def measure_technique(
    device, load: Workload, expected, method: str, knobs: dict[str, Any], threads: int, **options
) -> dict[str, Any]:
    """Check a technique on a workload, then time it.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    load : Workload
        The workload, on `device`.
    expected : ndarray of int, shape (units,)
        The item of every unit.
    method, knobs, threads
        The technique.
    **options
        ``repeat`` (timed runs, odd) and ``busy_rounds``.

    Returns
    -------
    dict
        ``ms`` of the kernels, ``driver_ms`` of the whole driver, each a median, and ``launches``.

    Raises
    ------
    AssertionError
        If a unit got a wrong item.
    """
    technique, name = METHODS[method], label(method, knobs)
    device.launch(fill, grid(load.units, 256), 256, load.item, -1)
    stats = technique(load, device, threads=threads, **knobs)  # compiles, too
    found = device.read(load.item)
    if not np.array_equal(found, expected):
        wrong = np.flatnonzero(found != expected)
        raise AssertionError(
            f"{name}, {threads} threads: item[{wrong[0]}] is {found[wrong[0]]} and should be "
            f"{expected[wrong[0]]}; {wrong.size:,} of {expected.size:,} are wrong"
        )
    kernels, drivers = [], []
    for _ in range(options["repeat"]):
        timer = LaunchTimer(device, options["busy_rounds"])
        technique(load, timer, threads=threads, **knobs)
        kernels.append(timer.ms)
        with device.timer() as elapsed:
            technique(load, device, threads=threads, **knobs)
        drivers.append(elapsed.ms)
    times = {"ms": _median(kernels), "driver_ms": _median(drivers)}
    return {**times, "launches": stats["launches"]}


def measure(
    device,
    items: int | None = None,
    block_sizes=BLOCK_SIZES,
    repeat: int = 9,
    busy_rounds: int = BUSY_ROUNDS,
) -> dict[str, Any]:
    """Measure every technique on every workload.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run; the machine's times say nothing.
    items : int, optional
        Items of each workload; by default its full size.
    block_sizes : sequence of int
        Threads a block.
    repeat : int
        Timed runs, of which the median is kept.
    busy_rounds : int
        Rounds of `keep_busy` before each launch.

    Returns
    -------
    dict
        ``workloads``, a row each with its figures, `choose_mapping`'s choice and one core's
        milliseconds for ``np.repeat``; and ``times``, a row for each workload, technique and block
        size.
    """
    workloads, times = [], []
    for name in TARGETS:
        offsets = workload(name, items)
        sizes = np.diff(offsets)
        expected = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        load = upload(offsets, None, device)
        workloads.append({"workload": name, **_figures(offsets, sizes)})
        for method, knobs in TECHNIQUES:
            for threads in block_sizes:
                told = measure_technique(
                    device, load, expected, method, knobs, threads,
                    repeat=repeat, busy_rounds=busy_rounds,
                )  # fmt: skip
                technique = {"technique": label(method, knobs), "method": method, "knobs": knobs}
                times.append({"workload": name, "threads": threads, **technique, **told})
    return {"workloads": workloads, "times": times}


def _figures(offsets, sizes) -> dict[str, Any]:
    item = np.arange(sizes.size, dtype=np.int32)
    seconds = min(timeit.repeat(lambda: np.repeat(item, sizes), number=1, repeat=5))
    return {
        "items": int(sizes.size),
        "units": int(offsets[-1]),
        "mean": round(float(sizes.mean()), 2),
        "std": round(float(sizes.std()), 2),
        "largest": int(sizes.max()),
        "choice": choose_mapping(offsets).label,
        "cpu_ms": round(seconds * 1e3, 3),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    parser.add_argument("--items", type=int, help="items of each workload; by default all")
    parser.add_argument("--repeat", type=int, default=9, help="timed runs of each technique")
    options = parser.parse_args(arguments)
    device = CudaDevice()
    here = record.environment(device, options.commit)
    what = (
        f"gk.expand, write direction, results checked: kernels alone (ms) and the whole driver "
        f"(driver_ms), median of {options.repeat}; cpu_ms is np.repeat on one core"
    )
    measured = measure(device, options.items, repeat=options.repeat)
    path = record.write("mapping", what, measured, here, options.folder)
    print(f"{len(measured['times'])} times in {path}")


if __name__ == "__main__":
    main()
