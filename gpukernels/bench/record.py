"""Measurements as files: what was measured, on which device, when, and at which commit.

They live in ``data/benchmarks`` of the repository, one JSON file a subject. Chapters print their
tables from there.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

from gpukernels import multicore

_TREE = Path(__file__).parents[2]
#: Of the repository; where the package is installed without it, of the folder that one works in.
FOLDER = (_TREE if (_TREE / "pyproject.toml").exists() else Path()) / "data" / "benchmarks"


def parser(text: str) -> argparse.ArgumentParser:
    """Return a parser of what every benchmark is told: ``--commit`` and ``--folder``.

    Parameters
    ----------
    text : str
        The benchmark's docstring, whose first line is its description.
    """
    told = argparse.ArgumentParser(description=text.splitlines()[0])
    told.add_argument("--commit", required=True, help="the commit that is measured")
    told.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    return told


def environment(device, commit: str) -> dict[str, str | int]:
    """Return what a measurement must name: device, driver, CPU, versions, date and commit.

    Parameters
    ----------
    device : CudaDevice
        The GPU that is measured.
    commit : str
        The commit of the code that runs.
    """
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    return {
        "device": device.name,
        "driver": driver.splitlines()[0].strip(),
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
    """Write one subject's file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"what": what, **circumstances, **measured}, indent=1) + "\n")
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


def provenance(measurements: dict) -> str:
    """Return the half line that stands under a table of times."""
    text = "{device}, driver {driver}, numba-cuda {numba_cuda}; {date}, commit {commit}"
    return text.format(**measurements)
