"""The times of reading units and of writing them, every mapping technique on the papers' workloads.

``python -m gpukernels.bench directions`` measures on the current GPU, a minute, and writes
``data/benchmarks/directions.json``; ``--items N`` cuts every workload down to N items,
``--methods`` chooses some: the file then holds these alone. `gpukernels.mapping.directions` counts
the same.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels.bench import record, steps
from gpukernels.bench.graphs import items_of, workload
from gpukernels.bench.kernel_time import kernel_ms
from gpukernels.bench.limits import Limits, measured_limits
from gpukernels.bench.mapping import chosen_techniques, least
from gpukernels.graphs.workloads import TARGETS
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import label
from gpukernels.mapping.workload import upload

THREADS = 128


def measure(
    device,
    items: int | None = None,
    repeat: int = 9,
    *,
    methods: Container[str] = tuple(METHODS),
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Time both directions of every technique, kernels alone.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run; the machine's times say nothing.
    items : int, optional
        Items of each workload; by default its full size.
    repeat : int
        Timed runs, of which the median is kept.
    methods : container of str
        Which techniques.
    limits : Limits, optional
        Of the device: then rows have shares of them.

    Returns
    -------
    dict
        ``times``, a row for each workload and technique, with ``write_ms`` and ``read_ms``.

    Raises
    ------
    AssertionError
        If a unit got a wrong item, or an item a wrong total.
    """
    rows = []
    for name in TARGETS:
        offsets = workload(name, items)
        sizes = np.diff(offsets)
        values = np.random.default_rng(1).integers(-100, 100, offsets[-1]).astype(np.int32)
        sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
        expected = {
            "item": np.repeat(np.arange(sizes.size, dtype=np.int32), sizes),
            "total": np.diff(sums[offsets]),
        }
        loads = {"item": upload(offsets, None, device), "total": upload(offsets, values, device)}
        for method, knobs in chosen_techniques(methods):
            technique = label(method, knobs)
            ms = {
                array: _time(device, load, array, expected[array], method, knobs, repeat)
                for array, load in loads.items()
            }
            told = {"write_ms": ms["item"], "read_ms": ms["total"]}
            needed = {"write": least(offsets), "read": _least_read(offsets)}
            for way, of_way in needed.items():
                if limits is not None:
                    of_way |= limits.shares(told[f"{way}_ms"], *of_way.values())
                told |= {f"{way}_{name}": figure for name, figure in of_way.items()}
            rows.append({"workload": name, "technique": technique, "threads": THREADS, **told})
            steps.tell(f"  {name}, {technique}: {told['write_ms']:,} and {told['read_ms']:,} ms")
    return {"times": rows}


def _least_read(offsets) -> dict[str, int]:
    """Return what adding up every item's units needs: values of 4 bytes, totals of 8."""
    items, units = offsets.size - 1, int(offsets[-1])
    return {"least_bytes": 4 * (items + 1 + units) + 8 * items, "least_operations": units}


def _time(device, load, array: str, expected, method: str, knobs, repeat: int) -> float:
    filled = getattr(load, array)

    def check() -> None:
        wrong = np.flatnonzero(device.read(filled) != expected)
        assert wrong.size == 0, f"{label(method, knobs)}: {array}[{wrong[0]}] is wrong"

    return kernel_ms(
        device,
        lambda there: METHODS[method](load, there, threads=THREADS, **knobs),
        repeat,
        prepare=lambda: device.clear(filled),
        check=check,
    )


def write(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    shrink: int = 0,
    items: int | None = None,
    repeat: int = 9,
    methods: Container[str] = tuple(METHODS),
) -> Path:
    """Measure and write the file; return its path."""
    steps.expect(len(TARGETS) * len(chosen_techniques(methods)))
    what = (
        "gk.expand, both directions, results checked: kernels alone (events, the GPU kept busy "
        f"before each launch, its cache cold); medians of {repeat}; least_bytes, least_operations "
        "and shares of the GPU's limits of either direction"
    )
    limits = measured_limits(device, shrink)
    items = items_of(shrink) if items is None else items
    measured = measure(device, items, repeat, methods=methods, limits=limits)
    return record.write("directions", what, {**limits.figures, **measured}, here, folder)
