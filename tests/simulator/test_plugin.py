"""`pytest --simt`, the mark and the fixture, on a folder of a stranger's tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = """
from numba import cuda
if not cuda.is_available():
    raise SystemExit("these tests need a GPU")
"""
TESTS = """
import numpy as np
import pytest
from numba import cuda

@cuda.jit
def increments(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1

@cuda.jit
def races(a):
    a[0] += 1

@cuda.jit
def before(a):
    i = cuda.grid(1)
    a[i] = a[i - 1]

def test_right():
    a = cuda.to_device(np.zeros(40))
    increments.forall(40)(a)
    assert (a.copy_to_host() == 1).all()

def test_race():
    races[1, 64](np.zeros(1))

def test_race_and_more():
    races[1, 64](np.zeros(1))
    assert False, "of its own"

def test_three(simt_schedules):
    a = np.zeros(40)
    increments[2, 32](a)
    assert (a == 1).all()

def test_three_races(simt_schedules):
    races[1, 64](np.zeros(1))

@pytest.mark.simt(check=False)
def test_unchecked():
    races[1, 64](np.zeros(1))

@pytest.mark.simt(check=False, wraparound=True)
def test_wraps():
    before[1, 1](np.zeros(4))

def test_does_not_wrap():
    before[1, 1](np.zeros(4))
"""


@pytest.fixture
def run(tmp_path):
    """Return ``run(*options)``, which runs the tests and returns what pytest prints."""

    def run(*options, conftest=""):
        (tmp_path / "conftest.py").write_text(conftest)
        (tmp_path / "test_kernels.py").write_text(TESTS)
        env = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "pytest", "-p", "gpukernels.simulator.plugin", "-q"]
        command += ["-rA", "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        return done.stdout + done.stderr

    return run


def results(text):
    """Return {name of a test: its result}."""
    lines = [line.split(" ", 2) for line in text.splitlines() if "test_kernels.py::" in line]
    return {line[1].split("::")[1]: line[0] for line in lines if line[0] in ("PASSED", "FAILED")}


def test_all_tests_run_on_the_machine_before_any_conftest_is_imported(run):
    text = run("--simt", conftest=CONFTEST)
    failed = {name for name, result in results(text).items() if result == "FAILED"}
    three = {f"test_three_races[{schedule}]" for schedule in ("lockstep", "warp", "random")}
    assert failed == {"test_race", "test_race_and_more", "test_does_not_wrap", *three}
    assert len(results(text)) == 12
    assert text.count("-> Make the update a cuda.atomic operation, or let one thread") >= 5
    assert "of its own" in text
    assert "Captured SIMT machine call" in text
    assert "gpukernels/simt/" not in text  # the machine's own lines help nobody


def test_options_change_the_checks(run):
    text = run("--simt", "--simt-no-check", "--simt-wraparound", "-k", "race or wrap")
    assert set(results(text).values()) == {"PASSED", "FAILED"}
    assert [n for n, r in results(text).items() if r == "FAILED"] == ["test_race_and_more"]


def test_without_the_option_only_marked_tests_run_on_the_machine(run):
    text = run("-k", "unchecked or wraps or three")
    passed = {name for name, result in results(text).items() if result == "PASSED"}
    assert {"test_unchecked", "test_wraps", "test_three[warp]"} <= passed
    assert "test_three_races[random]" not in passed
