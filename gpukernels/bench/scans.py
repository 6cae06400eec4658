"""The times of the scans and searches: kernels alone, every result checked against NumPy.

``python -m gpukernels.bench.scans --commit ID`` measures on the current GPU and writes
``data/benchmarks/scans.json``.
"""

from __future__ import annotations

import timeit

import numpy as np

from gpukernels.bench import record
from gpukernels.device import CudaDevice
from gpukernels.primitives import blocks_for, scan_sizes
from gpukernels.primitives.block_scan import scan_blocks
from gpukernels.primitives.device_scan import TURNS, add_tiles, scan_tiles
from gpukernels.primitives.find_owners import SEARCHES
from gpukernels.primitives.shared_scan import BANKS, sweep_padded, sweep_plain
from gpukernels.workloads import TARGETS, workload

THREADS = 256


def measure_scans(device, n: int = 1 << 26, repeat: int = 20) -> dict:
    """Time the scans of `n` sizes: 2 x THREADS a run in shared memory, THREADS by shuffles, all.

    ``ms`` of the device-wide scan includes all its launches, the reading of the total and the
    memory for the offsets; its two kernels have rows of their own.
    """
    sizes = np.random.default_rng(0).integers(0, 9, n).astype(np.int32)
    values, scanned = device.array(sizes), device.empty(n, np.int32)
    whole = np.cumsum(sizes, dtype=np.int64)
    rows = []

    def add(name: str, run, result, run_length: int | None) -> None:
        ms = record.median_ms(device, run, repeat)
        expected = np.concatenate([[0], whole])
        if run_length:
            expected = expected[:-1] - expected[:-1].reshape(-1, run_length)[:, 0].repeat(
                run_length
            )
        np.testing.assert_array_equal(device.read(result()), expected, err_msg=name)
        rows.append({"scan": name, "ms": round(ms, 4)})

    for name, kernel, run_length, shared in (
        ("block, shuffles", scan_blocks, THREADS, 0),
        ("block, sweep, plain", sweep_plain, 2 * THREADS, 8 * THREADS),
        ("block, sweep, padded", sweep_padded, 2 * THREADS, 8 * THREADS * (BANKS + 1) // BANKS),
    ):
        blocks = blocks_for(n, run_length)
        totals = device.empty(blocks, np.int32)

        def run(kernel=kernel, blocks=blocks, totals=totals, shared=shared):
            device.launch(kernel, blocks, THREADS, values, scanned, totals, shared=shared)

        add(name, run, lambda: scanned, run_length)
    kept = []
    add(
        "device",
        lambda: kept.__setitem__(slice(None), [scan_sizes(values, device, threads=THREADS)]),
        lambda: kept[0],
        None,
    )
    _add_device_kernels(device, sizes, values, rows, repeat)
    seconds = min(timeit.repeat(lambda: np.cumsum(sizes, dtype=np.int32), number=1, repeat=5))
    return {"values": n, "scans": rows, "numpy_ms": round(seconds * 1e3, 2)}


def _add_device_kernels(device, sizes, values, rows, repeat: int) -> None:
    """Time the two kernels of the device-wide scan on their own, at its lowest level."""
    tile = THREADS * TURNS
    blocks = blocks_for(sizes.size, tile)
    totals, offsets = device.empty(blocks, np.int64), device.empty(sizes.size + 1, np.int32)
    expected = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    begin = device.array(expected[:-1:tile].astype(np.int32))
    for name, kernel, arrays in (
        ("device, add tiles", add_tiles, (values, totals)),
        ("device, scan tiles", scan_tiles, (values, begin, offsets)),
    ):

        def run(kernel=kernel, arrays=arrays):
            device.launch(kernel, blocks, THREADS, *arrays)

        rows.append({"scan": name, "ms": round(record.median_ms(device, run, repeat), 4)})
    tile_sums = np.add.reduceat(sizes, np.arange(0, sizes.size, tile), dtype=np.int64)
    np.testing.assert_array_equal(device.read(totals), tile_sums, err_msg="add_tiles")
    np.testing.assert_array_equal(device.read(offsets), expected, err_msg="scan_tiles")


def measure_searches(
    device, count: int = 1 << 22, items: int | None = None, repeat: int = 20
) -> dict:
    """Time `count` searches, evenly spread over the units of each workload, in order."""
    rows = []
    for name in TARGETS:
        offsets = workload(name, items)
        units = np.linspace(0, offsets[-1] - 1, count).astype(np.int32)
        expected = np.searchsorted(offsets, units, side="right") - 1
        arrays = device.array(offsets), device.array(units)
        owner = device.empty(count, np.int32)
        ms = {}
        for search in ("two_sided", "lower_bound", "interpolation", "guarded"):

            def run(search=search, arrays=arrays, owner=owner):
                device.launch(SEARCHES[search], blocks_for(count, THREADS), THREADS, *arrays, owner)

            ms[search] = round(record.median_ms(device, run, repeat), 4)
            np.testing.assert_array_equal(device.read(owner), expected, err_msg=f"{name} {search}")
        seconds = min(
            timeit.repeat(
                lambda offsets=offsets, units=units: np.searchsorted(offsets, units, side="right"),
                number=1,
                repeat=3,
            )
        )
        ms["NumPy, one core"] = round(seconds * 1e3, 2)
        rows.append({"workload": name, "items": int(offsets.size - 1), "ms": ms})
    return {"searches": count, "times": rows}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    options = parser.parse_args(arguments)
    device = CudaDevice()
    measured = {"threads": THREADS, **measure_scans(device), **measure_searches(device)}
    what = "scans of 2^26 sizes and 2^22 searches, kernels alone, checked, median of 20"
    here = record.environment(device, options.commit)
    print(record.write("scans", what, measured, here, options.folder).read_text())


if __name__ == "__main__":
    main()
