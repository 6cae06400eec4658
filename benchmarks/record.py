"""Measurements as files, each with its device, date and commit.

They are in ``data/benchmarks`` of the repository, one JSON file per subject.
`gpukernels.notebook.record` reads them.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path

from gpukernels.notebook.record import FOLDER
from gpukernels.notebook.spread import beside
from gpukernels.reference import multicore

_TREE = Path(__file__).parents[1]

#: The entry for the driver if no GPU is measured.
NO_DRIVER = "none"


class NoCommit(RuntimeError):
    """The measured commit is unknown: the package is in no git repository, or git fails."""


def current_commit(folder: Path = _TREE) -> str:
    """Return the short hash of the commit in `folder`, with ``-dirty`` if files differ from it.

    Raises
    ------
    NoCommit
        If git does not name a commit.
    """
    ask = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as reason:
        message = getattr(reason, "stderr", "") or str(reason)
        raise NoCommit(f"git does not tell the commit of {folder}: {message.strip()}") from reason


def environment(device, commit: str) -> dict[str, str | int]:
    """Return the circumstances of a measurement: device, driver, CPU, versions, date and commit.

    Parameters
    ----------
    device : CudaDevice or None
        The measured GPU. None if only the CPU is measured, which is then the device.
    commit : str
        The commit of the code that runs.
    """
    name, driver = multicore.processor(), NO_DRIVER
    if device is not None:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        output = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        name, driver = device.name, output.splitlines()[0].strip()
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
    """Write one subject's file, with the spread of each median, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    content = beside({"what": what, **circumstances, **measured})
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path
