"""The set-up of a chapter on Google Colab, after the library is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys

import numpy as np
from numba import cuda

NO_GPU = (
    "No GPU answers, so kernels run on the SIMT machine: same results, no times. "
    "For a GPU choose Runtime > Change runtime type > T4 GPU, then run this cell again."
)
SET_ASIDE = (
    "A GPU is there but cannot run a kernel ({problem}), so kernels run on the SIMT machine: same "
    "results, no times. Runtime > Disconnect and delete runtime gives a fresh machine."
)


@cuda.jit
def probe(answer):
    """Write 1 in place of the host's 0, as a short test that launches work."""
    answer[0] = 1


def set_up() -> None:
    """Make Colab ready for a chapter and print which device will run its kernels.

    Lets Colab show the figures and launches a kernel of one thread on the default device. If a GPU
    is present but cannot run it, prints this and uses the SIMT machine instead. numba and Colab's
    CUDA packages are not changed.
    """
    _install_missing("anywidget")
    _show_widgets()
    print(_versions())
    print(_choose_device())


def _install_missing(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        print(f"Installing {package} ...", flush=True)
        # This is pip's default. It is stated because Colab's other packages must stay unchanged.
        keep = ["--upgrade-strategy", "only-if-needed"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", *keep, package]
        subprocess.run(command, check=True)


def bring(package: str) -> bool:
    """Install a package that one chapter needs, if on Colab, and return whether it is installed.

    Elsewhere nothing is installed; there the package comes with the extra ``dask``.
    """
    if "google.colab" in sys.modules:
        _install_missing(package)
    return importlib.util.find_spec(package) is not None


def _show_widgets() -> None:
    from google.colab import output

    output.enable_custom_widget_manager()


def _versions() -> str:
    versions = []
    for package in ("numba", "numba-cuda", "numpy", "anywidget"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    return "Python {}.{}, ".format(*sys.version_info) + ", ".join(versions)


def _choose_device() -> str:
    from gpukernels.device import default_device

    if not cuda.is_available():
        _launch_probe(default_device())
        return NO_GPU
    try:
        device = default_device()
        _launch_probe(device)
    except Exception as problem:
        os.environ["GPUKERNELS_DEVICE"] = "simt"
        # Cells that measure times call this function, and would fail as the probe did.
        cuda.is_available = lambda: False
        return SET_ASIDE.format(problem=problem)
    return f"Ready: kernels run on {device.name}."


def _launch_probe(device) -> None:
    answer = device.array(np.zeros(1, dtype=np.int32))
    device.launch(probe, 1, 1, answer)
    if device.read(answer)[0] != 1:
        raise RuntimeError("the probe kernel ran but wrote nothing")
