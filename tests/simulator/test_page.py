"""The page *Test your own kernels without a GPU*: its files and commands, tried as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "simulator.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ python (.*)\n((?:.*\n)+?)```", PAGE)


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the page."""
    for name, text in re.findall(r"```python\n# (\w+\.py)\n((?:.*\n)+?)```", PAGE):
        (tmp_path / name).write_text(f"# {name}\n{text}")
    return tmp_path


def test_the_page_has_commands():
    assert [command.split()[1] for command, _ in COMMANDS] == ["gpukernels.simt", "pytest"]


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=["script", "pytest"])
def test_a_command_prints_what_the_page_shows(folder, command, output):
    command = command.replace("-m pytest", "-m pytest -p gpukernels.simulator.plugin")
    env = {name: value for name, value in os.environ.items() if name != "CI"} | {
        "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80",
    }  # fmt: skip
    line = [sys.executable, *shlex.split(command)]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert output in done.stdout + done.stderr


def test_the_block_raises_what_it_says(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (text,) = re.findall(r"```python\n(from gpukernels import simt\n(?:.*\n)+?)```", PAGE)
    program = f"import numpy as np\nfrom average import smooth\n{text}"
    with pytest.raises(Exception, match="race on `values"):
        exec(compile(program, "block", "exec"), {})
