"""Runs that keep their matrix in a file, killed at random moments and gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from effort import some

HERE = Path(__file__).parent


@pytest.mark.killing
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process for each run")
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    kills = some(20, 400)
    command = [sys.executable, str(HERE / "killed_runs.py"), str(tmp_path), str(kills), "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parents[1])
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["killed"] == kills
    assert set(report["same"]) == {True}
    assert report["rounded"], "a run that does a step again would not be told apart"
    assert report["left"] == []
    # Most were killed in the middle of a run.
    assert ["d.npy", "d.npy.json", "d.npy.lock", "d.npy.other"] in report["states"]
