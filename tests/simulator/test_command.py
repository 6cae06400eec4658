"""`python -m gpukernels.simt`: what a stranger's program prints, and its exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    """Return ``run(text, *arguments, options=())``, which runs a program as a user does."""

    def run(text, *arguments, options=()):
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "gpukernels.simt", *options, "program.py", *arguments]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)

    return run


def test_a_right_program_prints_what_it_prints(run):
    done = run(programs.RIGHT, "one", "--two")
    assert done.returncode == 0
    assert done.stdout == "[0.0, 3.0, 6.0, 9.0, 12.0] ['one', '--two']\n"
    assert done.stderr.endswith("nothing found\n1 launch on the SIMT machine\n")


def test_all_findings_are_listed_with_the_right_advice(run):
    done = run(programs.TREE_WITHOUT_BARRIERS)
    assert done.returncode == 1
    assert done.stdout == "the end\n"
    tree, update = done.stderr.split("error[race] line 21")
    assert "3 errors" in tree
    assert tree.count("s[t] += s[t + n]\n    race") == 2
    assert tree.count("-> Put cuda.syncthreads() between") == 2
    assert "out[0] += 1" in update
    assert "-> Make the update a cuda.atomic operation" in update


def test_an_error_that_ends_the_program_names_both_lines(run):
    done = run(programs.OUT_OF_BOUNDS)
    assert done.returncode == 1
    assert "program.py, line 11: shift[1, 8](np.zeros(8))" in done.stderr
    assert "error[out-of-bounds] line 8: a[i] = a[i + 1]" in done.stderr


def test_a_kernel_that_the_machine_cannot_run_is_named(run):
    done = run(programs.REFUSED)
    assert done.returncode == 2
    assert "`sum` cannot be called in a kernel" in done.stderr
    assert "line 7" in done.stderr


def test_a_kernel_that_is_refused_hides_no_finding_before_it(run):
    done = run(programs.RACES_AND_REFUSED)
    assert done.returncode == 2
    assert "`sum` cannot be called in a kernel" in done.stderr
    assert "error[race] line 7: a[0] += 1" in done.stderr


def test_negative_indices_wrap_if_asked(run):
    assert "wraparound=True" in run(programs.NEGATIVE).stderr
    done = run(programs.NEGATIVE, options=["--wraparound", "--schedule", "random", "--seed", "3"])
    assert done.stdout == "[-3.0, 1.0, 1.0, 1.0]\n"


def test_the_programs_own_exit_status_is_kept(run):
    assert run("import sys\nsys.exit(7)").returncode == 7
    done = run("raise SystemExit('no input')")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "no input")
    assert "ZeroDivisionError" in run("1 / 0").stderr


def test_a_module_runs_too(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text(programs.RIGHT)
    command = [sys.executable, "-m", "gpukernels.simt", "-m", "package", "x"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.endswith("['x']\n"), done.stderr
