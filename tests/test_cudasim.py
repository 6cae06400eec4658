"""The SIMT machine and numba's own simulator give equal results on every kernel both can run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from effort import EFFORT, SOAK
from kernel_runs import RUNS
from launches import covering_runs
from package_kernels import cuda_names, label, package_functions

TESTS = Path(__file__).parent
KERNELS, _ = package_functions()
#: Operations between the lanes of a warp, and cache hints: numba's simulator has neither.
WARP_OPERATIONS = ("_sync", "activemask", "lanemask_lt", "syncwarp", "ldcg", "ldcs", "stcg", "stcs")


def warp_operations_of(kernel) -> set[str]:
    """Return what a kernel uses that numba's simulator does not have."""
    return {n for n in cuda_names(kernel) if n.endswith(WARP_OPERATIONS)}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Results of the runs under numba's simulator, and its report of what it could not run.

    Of the runs it takes as many as launch every kernel; `make soak` takes all.
    """
    path = tmp_path_factory.mktemp("cudasim") / "results.npz"
    paths = [str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "NUMBA_ENABLE_CUDASIM": "1",
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
    }
    runs = list(RUNS) if EFFORT == SOAK else covering_runs(warp_operations_of)
    command = [sys.executable, str(TESTS / "cudasim_child.py"), str(path), json.dumps(runs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(path) as stored:
        results = dict(stored)
    return results, json.loads(str(results.pop("report")))


def test_results_are_equal(simulated, device):
    results, report = simulated
    compared = 0
    for name in report["runs"]:
        if name in report["excluded"]:  # warp operations, which numba's simulator does not have
            continue
        for key, expected in RUNS[name](device).items():
            result = results[f"{name}|{key}"]
            assert result.dtype == expected.dtype, (name, key)
            np.testing.assert_array_equal(result, expected, err_msg=f"{name}: {key}")
            compared += 1
    assert compared > 50


def test_only_warp_operations_exclude_a_kernel(simulated):
    _, report = simulated
    for kernel in KERNELS:
        if operations := warp_operations_of(kernel):
            assert set(report["lacking"][label(kernel)]) == operations
        else:
            assert label(kernel) in report["ran"]
