"""Every technique in Pyodide: Python in a browser, with indices of 32 bits and one thread."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

HERE = Path(__file__).parent
#: A folder with Pyodide (npm has it) and a wheel of NumPy for it.
PYODIDE = os.environ.get("PYODIDE", "")


@pytest.mark.skipif(not PYODIDE, reason="PYODIDE names no folder with Pyodide and NumPy")
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_each_technique(tmp_path):
    sources = tmp_path / "package.zip"
    with zipfile.ZipFile(sources, "w") as package:
        for path in (ROOT / "gpukernels").rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                package.write(path, path.relative_to(ROOT))
    command = ["node", HERE / "run_in_pyodide.mjs", PYODIDE, sources, HERE / "each_technique.py"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), (done.stdout + done.stderr)[-2000:]
