"""Measurements as files: what was measured, on which device, when, and at which commit.

They live in ``data/benchmarks`` of the repository, one JSON file a subject. Chapters print their
tables from there.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

from gpukernels.bench.spread import beside
from gpukernels.reference import multicore

_TREE = Path(__file__).parents[2]
#: Of the repository; where the package is installed without it, of the folder that one works in.
FOLDER = (_TREE if (_TREE / "pyproject.toml").exists() else Path()) / "data" / "benchmarks"

#: What stands for the driver where no GPU is measured.
NO_DRIVER = "none"


class NoCommit(RuntimeError):
    """Nobody says which commit is measured: the package lies in no git repository, or git fails."""


def current_commit(folder: Path = _TREE) -> str:
    """Return the short hash of the commit in `folder`, with ``-dirty`` if files differ from it.

    Raises
    ------
    NoCommit
        If git does not tell.
    """
    ask = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as reason:
        said = getattr(reason, "stderr", "") or str(reason)
        raise NoCommit(f"git does not tell the commit of {folder}: {said.strip()}") from reason


def environment(device, commit: str) -> dict[str, str | int]:
    """Return what a measurement must name: device, driver, CPU, versions, date and commit.

    Parameters
    ----------
    device : CudaDevice or None
        The GPU that is measured; None if only the CPU is, which is the device then.
    commit : str
        The commit of the code that runs.
    """
    name, driver = multicore.processor(), NO_DRIVER
    if device is not None:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        told = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        name, driver = device.name, told.splitlines()[0].strip()
    return {
        "device": name,
        "driver": driver,
        "cpu": multicore.processor(),
        "cores": multicore.cores(),
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
        "numba_cuda": importlib.metadata.version("numba-cuda"),
        "date": datetime.date.today().isoformat(),
        "commit": commit,
    }


def write(name: str, what: str, measured: dict, circumstances: dict, folder: Path = FOLDER) -> Path:
    """Write one subject's file, with the spread of each median beside it, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    told = beside({"what": what, **circumstances, **measured})
    path.write_text(json.dumps(told, indent=1) + "\n")
    return path


def kept(name: str, folder: Path = FOLDER) -> dict | None:
    """Return a subject's measurements, or None where the repository's data is not at hand."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def by_search(row: dict, figure: str) -> dict[str, float | None]:
    """Return a figure of every search of a row of ``bfs.json`` or ``frontier_bfs.json``, by label.

    Parameters
    ----------
    row : dict
        What stands there for one graph.
    figure : str
        Such as ``"kernel_ms"`` or ``"call_ms"``; None where a search has none: the CPU no kernels,
        and a search that was given up no time.
    """
    return {label: found.get(figure) for label, found in row["searches"].items()}


#: The times of a search that are compared: a figure of `search_time.time_search`, and its name.
TIMES = {
    "kernel_ms": "kernels",
    "call_ms": "whole call",
    "roots_kernel_ms": "kernels, other roots",
}


def runs(measurements: dict, *searches: str) -> list[tuple[str, str, dict[str, float | str]]]:
    """Return the times of searches, by search and graph, as `CompareView` takes them.

    Parameters
    ----------
    measurements : dict
        What :func:`kept` returns of ``bfs``, ``frontier_bfs`` or ``sssp``.
    *searches : str
        Their labels; of none, all that are measured with the options that they have by default.
    """
    found = []
    for row in measurements["times"]:
        for label, told in row["searches"].items():
            if label in searches or (not searches and "=" not in label):
                none = "given up" if "stopped_after_ms" in told else "no GPU"
                times = {name: told.get(figure, none) for figure, name in TIMES.items()}
                found.append((label, row["graph"], times))
    return found


def provenance(measurements: dict, *searches: str) -> str:
    """Return the half line that stands under a table of times.

    Of the `searches` that it shows, all by default, those that name a date and a commit of their
    own were measured apart from the others: one or two are named, of more their graphs. So are
    works, which may name a device, too.
    """
    text = "{device}, driver {driver}, numba-cuda {numba_cuda}; {date}, commit {commit}"
    apart: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in (*measurements.get("times", ()), *measurements.get("to_host", ())):
        told_of = row.get("searches", {row["work"]: row} if "work" in row else {})
        for label, told in told_of.items():
            if "commit" in told and (not searches or label in searches):
                when = f"on {told['date']}, commit {told['commit']}"
                if "device" in told:
                    when += f", {told['device']}"
                labels, graphs = apart.setdefault(when, ({}, {}))
                labels[label] = graphs[row.get("graph", label)] = None
    ends = []
    for when, (labels, graphs) in apart.items():
        what = "" if len(labels) <= 2 else "some of "
        ends.append(f"; {what}{' and '.join(graphs if what else labels)} {when}")
    return text.format(**measurements) + "".join(sorted(ends))
