"""Nsight Compute from Python: which counters it knows, one run under it, and its table read."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: What is asked for. A metric that this profiler does not know is left out.
METRICS = (
    *(
        f"l1tex__t_{unit}_pipe_lsu_mem_global_op_{kind}.sum"
        for unit in ("requests", "sectors")
        for kind in ("ld", "st", "atom", "red")
    ),
    *(
        f"l1tex__t_{unit}_pipe_lsu_mem_local_op_{kind}.sum"
        for unit in ("requests", "sectors")
        for kind in ("ld", "st")
    ),
    *(
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared{kind}.sum"
        for kind in ("", "_op_ld", "_op_st", "_op_atom")
    ),
    *(
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared{kind}.sum"
        for kind in ("", "_op_ld", "_op_st", "_op_atom")
    ),
    *(f"smsp__inst_executed_op_shared_{kind}.sum" for kind in ("ld", "st", "atom")),
    *(f"smsp__inst_executed_op_global_{kind}.sum" for kind in ("ld", "st", "atom", "red")),
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum",
    "dram__bytes_read.sum",
)

_UNKNOWN = re.compile(r"Failed to find metric (?:regex:)?\s*['\"]?([\w.]+)")


class ProfilerError(RuntimeError):
    """Nsight Compute is missing, refuses to run, or says something else than was asked."""


@dataclass(frozen=True)
class Profiled:
    """One kernel launch as the profiler reports it.

    Attributes
    ----------
    kernel : str
        The compiled function's name, which holds the kernel's.
    grid, block : tuple of int
        Its shape.
    metrics : dict of str to float
        By the profiler's name; those that it has no value for are left out.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    metrics: dict[str, float]


def find() -> str:
    """Return where ``ncu`` is."""
    for place in (None, "/usr/local/cuda/bin", "/opt/nvidia/nsight-compute"):
        if found := shutil.which("ncu", path=place):
            return found
    raise ProfilerError("ncu (Nsight Compute) is not on the path; it comes with the CUDA toolkit")


def version(ncu: str) -> str:
    """Return the profiler's version."""
    said = subprocess.run([ncu, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Version (\S+)", said)
    return found[1] if found else said.strip().splitlines()[-1]


def known(ncu: str, wanted=METRICS) -> list[str]:
    """Return those of `wanted` that the profiler lists for this GPU; all, if it lists none.

    What it counts by patching the kernel's code is kept in any case: not every version lists it.
    """
    done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, check=False)
    names = set(re.findall(r"^([a-z]\w+__\w+)", done.stdout, flags=re.MULTILINE))
    kept = [name for name in wanted if name.partition(".")[0] in names]
    return [name for name in wanted if name in kept or "__sass_" in name] if kept else list(wanted)


def profile(ncu: str, command: list[str], table: Path, metrics: list[str]) -> list[str]:
    """Run `command` under the profiler, write its table, and return the metrics in it.

    A metric that makes the profiler refuse the run is dropped, and the run made again.

    Raises
    ------
    ProfilerError
        If the profiler or the command fails for another reason; the message is what they said.
    """
    metrics = list(metrics)
    while True:
        options = [
            *("--csv", "--page", "raw", "--print-units", "base"),
            *("--target-processes", "application-only"),
            *("--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel"),
            *("--metrics", ",".join(metrics), "--log-file", str(table)),
        ]
        table.unlink(missing_ok=True)
        done = subprocess.run(
            [ncu, *options, *command], capture_output=True, text=True, check=False
        )
        log = table.read_text() if table.exists() else ""
        said = "\n".join(part for part in (done.stdout, done.stderr, log[:4000]) if part)
        refused = set(_UNKNOWN.findall(said)) & set(metrics)
        metrics = [name for name in metrics if name not in refused]
        if not done.returncode and '"ID"' in log:
            return metrics
        if not refused or not metrics:
            raise ProfilerError(f"ncu gave no table (exit status {done.returncode}):\n{said}")


def read(text: str) -> list[Profiled]:
    """Read the table that ``--csv --page raw`` writes, in the order of launches.

    Raises
    ------
    ProfilerError
        If there is no table in `text`.
    """
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        raise ProfilerError('no table of ncu: there is no line that begins with "ID"')
    table = [line for line in lines[starts[0] :] if line.startswith('"')]
    rows = list(csv.DictReader(table))
    # The first row holds the units, and no number.
    launches = sorted((r for r in rows if r["ID"].strip()), key=lambda r: int(r["ID"]))
    return [
        Profiled(
            kernel=row["Kernel Name"],
            grid=_shape(row, "Grid Size"),
            block=_shape(row, "Block Size"),
            metrics={
                name: value
                for name, text in row.items()
                if name and "__" in name and (value := _number(text)) is not None
            },
        )
        for row in launches
    ]


def _shape(row, column) -> tuple[int, int, int]:
    numbers = [int(n) for n in re.findall(r"\d+", row[column].replace(",", " "))]
    return (*numbers, 1, 1)[:3]


def _number(text) -> float | None:
    """Return what a cell holds; None for ``n/a`` and the like."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None
