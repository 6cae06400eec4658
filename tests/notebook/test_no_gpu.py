"""Who launches a kernel where no GPU answers is told which launch runs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from live_notebook import ROOT, live_notebook

ADVICE = "gk.SimtDevice().launch(kernel, blocks, threads, ...)"
#: Hides the GPU from a process of its own, where there is one.
HIDDEN = {"CUDA_VISIBLE_DEVICES": "", "NUMBA_ENABLE_CUDASIM": "0"}
KERNEL = """\
import numpy as np
from numba import cuda

import gpukernels as gk
from gpukernels.notebook.chapter import set_up

set_up()


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


values = np.arange(5)
"""
PATHS = str(ROOT), os.environ.get("PYTHONPATH", "")


def run(script: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | HIDDEN | {"PYTHONPATH": os.pathsep.join(filter(None, PATHS))},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def notebook():
    with live_notebook(**HIDDEN) as notebook:
        assert not notebook.run(KERNEL).error
        yield notebook


@pytest.mark.parametrize(
    "launch",
    [
        "double[1, 32](values)",
        "double.forall(5)(values)",
        "cuda.to_device(values)",
        "cuda.device_array(5)",
        "cuda.synchronize()",
        "cuda.jit('void(int64[:])')(double.py_func)",
    ],
)
def test_a_notebook_without_a_gpu_is_told_what_runs_its_kernel(notebook, launch):
    said = notebook.run(launch)
    assert said.error.startswith("CudaSupportError: Error at driver init")
    assert said.error.count(ADVICE) == 1


def test_the_launch_that_is_named_runs_the_kernel(notebook):
    launch = ADVICE.replace("kernel, blocks, threads, ...", "double, 1, 32, values")
    output = notebook.run(f"{launch}\nprint(values)")
    assert (output.error, output.stdout) == ("", "[0 2 4 6 8]\n")


def test_a_script_without_a_gpu_is_told_too():
    ran = run(KERNEL + "double[1, 32](values)")
    assert ran.returncode == 1
    assert "CudaSupportError" in ran.stderr
    assert ran.stderr.count(ADVICE) == 1


def test_an_import_changes_nothing_of_numba_or_ipython():
    script = """
from IPython.testing.globalipapp import start_ipython
from numba.cuda.cudadrv.error import CudaSupportError
shell = start_ipython()
before = CudaSupportError.__str__, list(shell.ast_transformers)
import gpukernels
assert before == (CudaSupportError.__str__, list(shell.ast_transformers))
"""
    ran = run(script)
    assert ran.returncode == 0, ran.stderr


def test_what_numba_says_stays_and_what_it_decides_is_the_same():
    script = """
from numba import cuda
def told():
    try:
        cuda.current_context()
    except cuda.cudadrv.error.CudaSupportError as error:
        return str(error), error.args, error.msg
told()  # numba tries the driver once, and repeats from then on what came of it
before = told(), cuda.is_available(), cuda.cuda_error()
from gpukernels.notebook.chapter import set_up
set_up()
after = told(), cuda.is_available(), cuda.cuda_error()
assert after[1:] == before[1:]
assert after[0][1:] == before[0][1:], (before, after)
assert after[0][0].startswith(before[0][0].rstrip()), after
assert len(after[0][0]) > len(before[0][0])
"""
    ran = run(script)
    assert ran.returncode == 0, ran.stderr
