"""The times of every mapping technique on the papers' workloads.

``python -m benchmarks mapping`` measures on the current GPU for some minutes, and writes
``data/benchmarks/mapping.json``. ``--items N`` cuts every workload down to N items. ``--methods``
chooses some techniques, and the file then holds only these.

Allocations, copies and the host's decisions do not count in a kernel's time, because a program that
maps repeatedly keeps its arrays. They count in the driver's time.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

from benchmarks import record, steps
from benchmarks.graphs import items_of, workload
from benchmarks.limits import measured_limits
from benchmarks.search_time import timed
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import choose_mapping, label
from gpukernels.mapping.workload import Workload, grid, upload
from gpukernels.notebook import cold_cache
from gpukernels.notebook.kernel_time import BUSY_ROUNDS, LaunchTimer, wall_ms
from gpukernels.notebook.spread import median

BLOCK_SIZES = (128, 256)

#: The measured techniques and their parameters.
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
    ("merge_path", {}),
    ("max_scan", {}),
)


def chosen_techniques(methods: Container[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the entries of `TECHNIQUES` for some `methods`."""
    return [(method, knobs) for method, knobs in TECHNIQUES if method in methods]


@cuda.jit
def fill(item, value):
    """Store `value` in every element, so that no technique finds the answer of another one."""
    for unit in range(cuda.grid(1), item.size, cuda.gridsize(1)):
        item[unit] = value


def measure_technique(
    device, load: Workload, expected, method: str, knobs: dict[str, Any], threads: int, **options
) -> dict[str, Any]:
    """Check a technique on a workload of `device`, then time it.

    `expected` has the item of every unit. The `options` are ``repeat`` (timed runs, odd) and
    ``busy_rounds`` (of `keep_busy` before each launch).

    Returns
    -------
    dict
        ``ms`` of the kernels, ``driver_ms`` of the whole driver, each a median, and ``launches``.
    """
    technique, name = METHODS[method], label(method, knobs)
    device.launch(fill, grid(load.units, 256), 256, load.item, -1)
    stats = technique(load, device, threads=threads, **knobs)  # compiles, too
    check_items(device.read(load.item), expected, f"{name}, {threads} threads")

    def whole() -> None:
        with device.timer():  # waits for the GPU
            technique(load, device, threads=threads, **knobs)

    timer = LaunchTimer(device, options["busy_rounds"])
    kernels, drivers = [], []
    for _ in range(options["repeat"]):
        cold_cache.flush(device)
        timer.reset()
        technique(load, timer, threads=threads, **knobs)
        kernels.append(timer.ms)
        drivers.append(timed(whole)[1])
    times = {"ms": median(kernels), "driver_ms": median(drivers)}
    return {**times, "launches": stats["launches"]}


def check_items(items, expected, name: str) -> None:
    """Raise AssertionError unless every unit has its item."""
    if not np.array_equal(items, expected):
        wrong = np.flatnonzero(items != expected)
        raise AssertionError(
            f"{name}: item[{wrong[0]}] is {items[wrong[0]]} and should be "
            f"{expected[wrong[0]]}; {wrong.size:,} of {expected.size:,} are wrong"
        )


def measure(
    device,
    items: int | None = None,
    block_sizes=BLOCK_SIZES,
    repeat: int = 9,
    busy_rounds: int | None = None,
    *,
    methods: Container[str] = tuple(METHODS),
) -> dict[str, Any]:
    """Measure some techniques on every workload, of full size or of so many items.

    Returns
    -------
    dict
        ``workloads``, one row each with its figures, `choose_mapping`'s choice among the papers'
        techniques and the milliseconds of ``np.repeat`` on one core; and ``times``, one row per
        workload, technique and block size.
    """
    workloads, times = [], []
    busy_rounds = BUSY_ROUNDS if busy_rounds is None else busy_rounds
    for name in TARGETS:
        offsets = workload(name, items)
        sizes = np.diff(offsets)
        expected = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        load = upload(offsets, None, device)
        workloads.append({"workload": name, **_figures(offsets, sizes, repeat)})
        for method, knobs in chosen_techniques(methods):
            for threads in block_sizes:
                figures = measure_technique(
                    device, load, expected, method, knobs, threads,
                    repeat=repeat, busy_rounds=busy_rounds,
                )  # fmt: skip
                technique = {"technique": label(method, knobs), "method": method, "knobs": knobs}
                times.append({"workload": name, "threads": threads, **technique, **figures})
                what = f"{name}, {technique['technique']}, {threads} threads"
                steps.tell(f"  {what:60} kernels {figures['ms']:>10,} ms")
    return {"workloads": workloads, "times": times}


def least(offsets) -> dict[str, int]:
    """Return the least bytes and operations for writing the item of every unit.

    These are 4 bytes for the offset of each item, 4 bytes for the item of each unit, and one
    comparison per unit to find its item.
    """
    items, units = offsets.size - 1, int(offsets[-1])
    return {"least_bytes": 4 * (items + 1 + units), "least_operations": units}


def _figures(offsets, sizes, repeat: int) -> dict[str, Any]:
    item = np.arange(sizes.size, dtype=np.int32)
    return {
        "items": int(sizes.size),
        "units": int(offsets[-1]),
        "mean": round(float(sizes.mean()), 2),
        "std": round(float(sizes.std()), 2),
        "largest": int(sizes.max()),
        "choice": choose_mapping(offsets, "papers").label,
        "cpu_ms": round(wall_ms(lambda: np.repeat(item, sizes), repeat), 3),
        **least(offsets),
    }


def write(
    device,
    circumstances: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    items: int | None = None,
    repeat: int = 9,
    methods: Container[str] = tuple(METHODS),
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(len(TARGETS) * len(chosen_techniques(methods)) * len(BLOCK_SIZES))
    what = (
        "gk.expand, write direction, results checked: kernels alone (ms: events, the GPU kept busy "
        "before each launch) and the whole driver by the host's clock (driver_ms); cpu_ms is "
        f"np.repeat on one core; medians of {repeat}; least_bytes and least_operations of a "
        "workload, and as shares of what a copy and what additions with a minimum reach; each run "
        "begins with a cold cache"
    )
    limits = measured_limits(device, shrink)
    items = items_of(shrink) if items is None else items
    measured = measure(device, items, repeat=repeat, methods=methods)
    needed = {
        row["workload"]: (row["least_bytes"], row["least_operations"])
        for row in measured["workloads"]
    }
    for row in measured["times"]:
        row.update(limits.shares(row["ms"], *needed[row["workload"]]))
    return record.write("mapping", what, {**limits.figures, **measured}, circumstances, folder)
