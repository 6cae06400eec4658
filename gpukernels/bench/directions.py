"""The times of reading units and of writing them, every mapping technique on the papers' workloads.

``python -m gpukernels.bench.directions --commit ID`` measures on the current GPU, a minute, and
writes ``data/benchmarks/directions.json``; ``--items N`` cuts every workload down to N items,
``--methods`` chooses some: the file then holds these alone. `gpukernels.mapping.directions` counts
the same.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

from gpukernels.bench import record
from gpukernels.bench.graphs import workload
from gpukernels.bench.kernel_time import kernel_ms
from gpukernels.bench.mapping import chosen_techniques
from gpukernels.device import CudaDevice
from gpukernels.mapping import METHODS
from gpukernels.mapping.choose import label
from gpukernels.mapping.workload import upload
from gpukernels.workloads import TARGETS

THREADS = 128


def measure(
    device,
    items: int | None = None,
    repeat: int = 9,
    *,
    methods: Container[str] = tuple(METHODS),
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
            rows.append({"workload": name, "technique": technique, "threads": THREADS, **told})
    return {"times": rows}


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
    items: int | None = None,
    methods: Container[str] = tuple(METHODS),
) -> Path:
    """Measure and write the file; return its path."""
    what = (
        "gk.expand, both directions, results checked: kernels alone (events, the GPU kept busy "
        "before each launch); medians of 9"
    )
    return record.write("directions", what, measure(device, items, methods=methods), here, folder)


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the file."""
    parser = record.parser(__doc__)
    parser.add_argument("--items", type=int, help="items of each workload; by default all")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), help="some of them alone")
    options = parser.parse_args(arguments)
    device = CudaDevice()
    here = record.environment(device, options.commit)
    methods = options.methods or tuple(METHODS)
    print(write(device, here, options.folder, items=options.items, methods=methods))


if __name__ == "__main__":
    main()
