"""The machine and numba's own simulator agree on kernels without warp operations."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import simulator_kernels
from simulator_kernels import arrays_after, cases

from gpukernels.simt import launch


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    path = tmp_path_factory.mktemp("simulator") / "results.npz"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, simulator_kernels.__file__, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(path) as stored:
        return dict(stored)


@pytest.fixture(scope="module", params=["lockstep", "warp", "random"])
def machines(request):
    def on_machine(kernel, grid, block, arguments, shared):
        launch(kernel, grid, block, arguments, shared=shared, schedule=request.param)

    return arrays_after(on_machine)


@pytest.mark.parametrize("name", cases())
def test_results_are_those_of_the_simulator(name, machines, simulated):
    keys = [key for key in simulated if key.startswith(f"{name}|")]
    assert keys
    before = {f"{name}|{i}": a for i, a in enumerate(cases()[name][3])}
    assert any(not np.array_equal(before[key], simulated[key]) for key in keys)
    for key in keys:
        assert machines[key].dtype == simulated[key].dtype
        if simulated[key].dtype.kind == "c":  # products and quotients round differently
            np.testing.assert_allclose(machines[key], simulated[key], rtol=1e-13, err_msg=key)
        else:
            np.testing.assert_array_equal(machines[key], simulated[key], err_msg=key)
