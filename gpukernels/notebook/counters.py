"""The stored counters of the SIMT machine, and those that Nsight Compute measured on a GPU.

The repository's ``data/benchmarks/counters.json`` holds both sides of every launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpukernels.notebook import record

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"

#: Counter of the machine -> the metrics whose sum it stands for.
COMPARED: dict[str, tuple[str, ...]] = {
    "load requests": (_GLOBAL.format("requests", "ld"),),
    "load sectors": (_GLOBAL.format("sectors", "ld"),),
    "store requests": (_GLOBAL.format("requests", "st"),),
    "store sectors": (_GLOBAL.format("sectors", "st"),),
    "atomic requests": tuple(_GLOBAL.format("requests", kind) for kind in ("atom", "red")),
    "atomic sectors": tuple(_GLOBAL.format("sectors", kind) for kind in ("atom", "red")),
    # Their total without a suffix counts other traffic too, even in kernels without shared memory.
    "bank conflicts": tuple(
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{kind}.sum"
        for kind in ("ld", "st", "atom")
    ),
    "local requests": tuple(_LOCAL.format("requests", kind) for kind in ("ld", "st")),
    "local sectors": tuple(_LOCAL.format("sectors", kind) for kind in ("ld", "st")),
    "SIMD efficiency": ("smsp__thread_inst_executed_per_inst_executed.ratio",),
    "divergent branches": ("smsp__sass_branch_targets_threads_divergent.sum",),
}

#: Largest relative difference of two counters that agree.
TOLERANCE = 0.05


def compare(kept: dict[str, Any], counters: Iterable[str] = COMPARED) -> list[dict[str, Any]]:
    """Return one row per launch and counter, except counters that are 0 on both sides.

    Parameters
    ----------
    kept : dict
        The record, as `kept_counters` returns it.
    counters : iterable of str
        Names of `COMPARED`.

    Returns
    -------
    list of dict
        ``case``, ``kernel``, ``launch``, ``counter``, ``machine``, ``ncu``, ``difference`` (of the
        machine from ncu, divided by ncu's value), ``agrees`` (within `TOLERANCE`), and ``why``: a
        reason found in the compiled kernel, or None.
    """
    rows = []
    for row in kept["rows"]:
        for counter in counters:
            names = [name for name in COMPARED[counter] if name in row["ncu"]]
            if not names:
                continue
            of_ncu, of_machine = sum(row["ncu"][name] for name in names), row["machine"][counter]
            if counter == "SIMD efficiency":
                of_ncu /= 32
            if not of_ncu and not of_machine:
                continue
            difference = (of_machine - of_ncu) / of_ncu if of_ncu else math.inf
            rows.append(
                {
                    **{name: row[name] for name in ("case", "kernel", "launch")},
                    "counter": counter,
                    "machine": of_machine,
                    "ncu": of_ncu,
                    "difference": difference,
                    "agrees": abs(difference) <= TOLERANCE,
                    "why": row.get("why", {}).get(counter),
                }
            )
    return rows


def kept_counters(folder: Path = record.FOLDER) -> dict[str, Any]:
    """Return the record, with the counters of both sides by name."""
    content = record.kept("counters", folder)
    for row in content["rows"]:
        row["machine"] = dict(zip(content["counters"], row["machine"], strict=True))
        values = zip(content["metrics"], row["ncu"], strict=True)
        row["ncu"] = {name: value for name, value in values if value is not None}
    return content


def executed(start: str, folder: Path = record.FOLDER) -> dict[str, tuple[int, int]]:
    """Return the warp steps of the machine and the instructions of the GPU, all launches together.

    Parameters
    ----------
    start : str
        Start of the names of the cases, such as ``"bfs: "``; the result has their rest as keys.
    """
    sums: dict[str, tuple[int, int]] = {}
    for row in kept_counters(folder)["rows"]:
        if row["case"].startswith(start):
            name = row["case"].removeprefix(start)
            steps, instructions = sums.get(name, (0, 0))
            instructions += int(row["ncu"].get("smsp__inst_executed.sum", 0))
            sums[name] = steps + row["machine"]["warp steps"], instructions
    return sums
