"""No tool has anything to say about style or layout: of Python, of notebooks, of JavaScript."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_ruff_is_clean(command):
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.crossed
@pytest.mark.parametrize(
    "folder", ["gpukernels/views", "book/js", "book/exercise_pages/js", "book/live/js"]
)
@pytest.mark.parametrize("command", [["oxlint"], ["oxfmt", "--check"]], ids=lambda c: c[0])
def test_the_javascript_of_figures_and_pages_is_linted_and_formatted(command, folder):
    name, *options = command
    # Binaries in wheels, which lie beside Python.
    tool = shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)
    assert tool, f"{name} is missing: install what the extra `test` names"
    run = subprocess.run([tool, *options, folder], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
