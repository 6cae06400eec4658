"""On a GPU, every kernel gives the same by numba-cuda and by its successor."""

from __future__ import annotations

import os

import numpy as np
import pytest
from kernel_runs import RUNS
from launches import REFUSED, launches
from package_kernels import label

import gpukernels as gk

pytestmark = pytest.mark.skipif(
    os.environ.get("GPUKERNELS_DEVICE") != "cuda", reason="kernels are to run on a GPU here"
)


@pytest.fixture(scope="module")
def both():
    """A device for each compiler."""
    pytest.importorskip("numba_cuda_mlir")
    made = []
    with pytest.MonkeyPatch.context() as patch:
        for compiler in ("numba-cuda", "numba-cuda-mlir"):
            patch.setenv("GPUKERNELS_COMPILER", compiler)
            made.append(gk.CudaDevice())
    return made


@pytest.mark.parametrize("name", RUNS)
def test_both_compilers_give_the_same(name, both):
    if REFUSED.keys() & {label(kernel) for kernel in launches()[name].types}:
        pytest.skip("the successor refuses a kernel of this run")
    one, other = (RUNS[name](device) for device in both)
    assert one.keys() == other.keys()
    for key, value in one.items():
        np.testing.assert_array_equal(value, other[key], err_msg=key)
