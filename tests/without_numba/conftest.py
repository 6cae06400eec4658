"""A Python with this environment's packages, but without numba and others that browsers lack."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Beginnings of the names of what is missing.
MISSING = (
    "numba", "_numba", "llvmlite", "cuda", "nvidia", "tqdm", "dask", "distributed", "pymetis",
    "gpukernels", "__editable__", "scipy",
)  # fmt: skip

Run = Callable[..., str]


@pytest.fixture(scope="session")
def without_numba(tmp_path_factory) -> Run:
    """Return ``run(*arguments, scipy_too=False)``, which gives what such a Python prints."""
    packages = Path(sysconfig.get_path("purelib"))
    bare, scipy = (tmp_path_factory.mktemp(name) for name in ("bare", "scipy"))
    for entry in packages.iterdir():
        if not entry.name.startswith(MISSING) and entry.suffix != ".pth":
            (bare / entry.name).symlink_to(entry)
        elif entry.name.startswith("scipy"):
            (scipy / entry.name).symlink_to(entry)

    def run(*arguments: object, scipy_too: bool = False) -> str:
        places = [ROOT, ROOT / "tests", Path(__file__).parent, bare]
        places += [scipy] if scipy_too else []
        path = os.pathsep.join(map(str, places))
        env = os.environ | {"PYTHONPATH": path, "GPUKERNELS_DEVICE": "simt"}
        # Without `site`, nothing but these places is looked through.
        command = [sys.executable, "-S", *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        return done.stdout

    return run
