"""The times of the scans and searches: kernels alone, every result checked against NumPy.

``python -m benchmarks scans`` measures on the current GPU and writes
``data/benchmarks/scans.json``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import libraries, record, steps
from benchmarks.graphs import items_of, workload
from benchmarks.limits import Limits, measured_limits
from gpukernels.device import CudaDevice
from gpukernels.graphs.workloads import TARGETS
from gpukernels.notebook.kernel_time import kernel_ms, wall_ms
from gpukernels.notebook.spread import Median
from gpukernels.primitives import blocks_for, scan_sizes
from gpukernels.primitives.block_scan import scan_blocks
from gpukernels.primitives.device_scan import TURNS, add_tiles, scan_tiles
from gpukernels.primitives.find_owners import SEARCHES
from gpukernels.primitives.shared_scan import BANKS, sweep_padded, sweep_plain
from gpukernels.reference import multicore

THREADS = 256

#: The searches that are measured.
SEARCHED = ("two_sided", "one_sided", "interpolation", "guarded")

#: The most seconds for repetitions of one search or scan; the slowest takes half a second.
PATIENCE = 2.0


def _checked_ms(device, run, repeat: int, clear, result, right, name: str, patience=10.0) -> Median:
    """Return the milliseconds of `run`; clear arrays before it, and check ``result()`` after it."""
    ms = kernel_ms(
        device,
        run,
        repeat,
        prepare=lambda: [device.clear(array) for array in clear],
        check=lambda: np.testing.assert_array_equal(device.read(result()), right, err_msg=name),
        patience=patience,
    )
    return round(ms, 4)


def measure_scans(
    device, n: int = 1 << 26, repeat: int = 20, limits: Limits | None = None
) -> dict[str, Any]:
    """Time the scans of `n` sizes: by blocks in shared memory, by blocks with shuffles, and of all.

    A block scans 2 x THREADS sizes in shared memory, and THREADS sizes with shuffles. ``ms`` is the
    time of the kernels. For the scans of the whole device, ``call_ms`` is the time of the whole
    call by the host's clock: all launches, the reading of the total and the memory for the offsets.
    The two large kernels of the scan by launches have rows of their own. Scans of installed
    libraries are measured, too; they return inclusive sums, one word less than ours. The least work
    is to read each size once, write each sum and make one addition for it. If `limits` are given,
    the shares of this work are computed. A wrong scan raises AssertionError.
    """
    sizes = np.random.default_rng(0).integers(0, 9, n).astype(np.int32)
    values, scanned = device.array(sizes), device.empty(n, np.int32)
    expected = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int32)
    rows = []

    def add(name: str, run, result, right, clear=(), **more) -> None:
        ms = _checked_ms(device, run, repeat, clear, result, right, name)
        needed = {"least_bytes": 8 * n, "least_operations": n}
        if name == "device, add tiles":
            needed["least_bytes"] = 4 * n + 8 * len(right)
        shares = {} if limits is None else limits.shares(ms, *needed.values())
        rows.append({"scan": name, "ms": ms, **needed, **shares, **more})
        steps.tell(f"  {name:30} kernels {rows[-1]['ms']:>10,} ms")

    for name, kernel, run_length, shared in (
        ("block, shuffles", scan_blocks, THREADS, 0),
        ("block, sweep, plain", sweep_plain, 2 * THREADS, 8 * THREADS),
        ("block, sweep, padded", sweep_padded, 2 * THREADS, 8 * THREADS * (BANKS + 1) // BANKS),
    ):
        blocks = blocks_for(n, run_length)
        totals = device.empty(blocks, np.int32)
        right = expected[:-1] - expected[:-1][::run_length].repeat(run_length)[:n]

        def run(d, kernel=kernel, blocks=blocks, totals=totals, shared=shared):
            d.launch(kernel, blocks, THREADS, values, scanned, totals, shared=shared)

        add(name, run, lambda: scanned, right, [scanned])
    kept: list[Any] = []

    for name, method in (("device", "launches"), ("device, look-back", "look-back")):

        def scan_all(d, method=method) -> None:
            kept[:] = [scan_sizes(values, d, threads=THREADS, method=method)]

        def whole(scan_all=scan_all) -> None:
            with device.timer():  # waits for the GPU
                scan_all(device)

        add(name, scan_all, lambda: kept[0], expected)
        rows[-1]["call_ms"] = round(wall_ms(whole, repeat), 4)
    _add_device_kernels(device, sizes, values, expected, add)
    if isinstance(device, CudaDevice):
        for name, scan in libraries.installed(values, scanned):

            def run(d, scan=scan):
                if d is device:
                    scan()
                else:
                    with d.timed():
                        scan()

            add(name, run, lambda: scanned, expected[1:], [scanned])
    return {"values": n, "scans": rows, **_on_cpu(sizes, expected, repeat)}


def _on_cpu(sizes, expected, repeat: int) -> dict[str, float]:
    """Return the milliseconds of NumPy's scan on one core, and of our scan on all cores."""
    out = np.empty(sizes.size + 1, np.int32)
    np.testing.assert_array_equal(multicore.offsets_of(sizes, out), expected, err_msg="all cores")
    return {
        "numpy_ms": round(wall_ms(lambda: np.cumsum(sizes, out=out[1:]), repeat), 2),
        "all_cores_ms": round(wall_ms(lambda: multicore.offsets_of(sizes, out), repeat), 2),
    }


def _add_device_kernels(device, sizes, values, expected, add) -> None:
    """Time the two kernels of the device-wide scan separately, at its lowest level."""
    tile = THREADS * TURNS
    blocks = blocks_for(sizes.size, tile)
    totals, offsets = device.empty(blocks, np.int64), device.empty(sizes.size + 1, np.int32)
    begin = device.array(expected[:-1:tile])
    tile_sums = np.add.reduceat(sizes, np.arange(0, sizes.size, tile), dtype=np.int64)
    for name, kernel, arrays, right in (
        ("device, add tiles", add_tiles, (values, totals), tile_sums),
        ("device, scan tiles", scan_tiles, (values, begin, offsets), expected),
    ):

        def run(d, kernel=kernel, arrays=arrays):
            d.launch(kernel, blocks, THREADS, *arrays)

        add(name, run, lambda arrays=arrays: arrays[-1], right, [arrays[-1]])


def measure_searches(
    device,
    count: int = 1 << 22,
    items: int | None = None,
    repeat: int = 20,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Time `count` searches, evenly spread over the units of each workload, in order.

    The least work is to read each unit, write its item, and read all items' offsets once. A search
    halves its range at each comparison, so it needs as many comparisons as halvings.
    """
    rows = []
    for name in TARGETS:
        offsets = workload(name, items)
        units = np.linspace(0, offsets[-1] - 1, count).astype(np.int32)
        expected = np.searchsorted(offsets, units, side="right") - 1
        arrays = device.array(offsets), device.array(units)
        owner = device.empty(count, np.int32)
        ms = {}
        for search in SEARCHED:

            def run(d, search=search, arrays=arrays, owner=owner):
                d.launch(SEARCHES[search], blocks_for(count, THREADS), THREADS, *arrays, owner)

            ms[search] = _checked_ms(
                device, run, repeat, [owner], lambda owner=owner: owner, expected,
                f"{name} {search}", PATIENCE,
            )  # fmt: skip
        cpu = wall_ms(
            lambda offsets=offsets, units=units: np.searchsorted(offsets, units, side="right"),
            repeat,
            patience=PATIENCE,
        )
        ms["NumPy, one core"] = round(cpu, 2)
        size = int(offsets.size - 1)
        needed = {
            "least_bytes": 4 * (size + 1) + 8 * count,
            "least_operations": count * max(size - 1, 1).bit_length(),
        }
        row = {"workload": name, "items": size, "ms": ms, **needed}
        if limits is not None:
            on_gpu = {search: limits.shares(ms[search], *needed.values()) for search in SEARCHED}
            for share in ("share_of_bandwidth", "share_of_issue_rate"):
                row[share] = {search: shares[share] for search, shares in on_gpu.items()}
        rows.append(row)
        steps.tell(f"  searches, {name}: {', '.join(f'{k} {v:,}' for k, v in ms.items())} ms")
    return {"searches": count, "times": rows}


def write(
    device, circumstances: dict[str, Any], folder: Path, *, shrink: int = 0, repeat: int = 20
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(7 + len(TARGETS))
    limits = measured_limits(device, shrink)
    # At least as many sizes as one block of the smallest kernel scans, so that one block is full.
    n, count = 1 << max(26 - shrink, 10), (1 << 22) >> shrink
    measured = {
        "threads": THREADS,
        **limits.figures,
        **measure_scans(device, n, repeat, limits),
        **measure_searches(device, count, items_of(shrink), repeat, limits),
    }
    what = (
        f"scans of {n:,} sizes and {count:,} searches, every result checked: kernels alone (ms: "
        "events, the GPU kept busy before each launch, its cache cold) and whole calls (call_ms), "
        f"the CPU's by the host's clock; medians of {repeat}, or of what fits {PATIENCE:g} s; "
        "least_bytes, least_operations and their shares of the GPU's limits"
    )
    return record.write("scans", what, measured, circumstances, folder)
