"""On a GPU, every kernel gives the same by numba-cuda and by its successor."""

from __future__ import annotations

import os

import numpy as np
import pytest
from kernel_runs import RUNS
from launches import REFUSED

import gpukernels as gk
from gpukernels.exercises import CATALOG

pytestmark = pytest.mark.skipif(
    os.environ.get("GPUKERNELS_DEVICE") != "cuda", reason="kernels are to run on a GPU here"
)

#: Runs of which the results as a set are given: a GPU's threads decide how often each one comes.
AS_A_SET = ("exercise duplicates-1",)


@pytest.fixture(scope="module")
def both():
    """A device for each compiler."""
    pytest.importorskip("numba_cuda_mlir")
    devices = []
    with pytest.MonkeyPatch.context() as patch:
        for compiler in ("numba-cuda", "numba-cuda-mlir"):
            patch.setenv("GPUKERNELS_COMPILER", compiler)
            devices.append(gk.CudaDevice())
    return devices


@pytest.mark.parametrize("name", RUNS)
def test_both_compilers_give_the_same(name, both):
    ex = CATALOG.get(name.removeprefix("exercise "))
    try:
        if ex is not None and not isinstance(ex.solution.answer, dict):
            # Its judge knows what a GPU's threads may change.
            (case, *_) = ex.cases()
            answers = [case.run(ex.solution.answer, device) for device in both]
            assert [case.judge(results) for results in answers] == [None, None]
            return
        one, other = (RUNS[name](device) for device in both)
    except Exception as refused:
        if any(reason in str(refused) for reason in REFUSED.values()):
            pytest.skip("the successor refuses a kernel of this run")
        raise
    assert one.keys() == other.keys()
    for key, value in one.items():
        pair = value, other[key]
        np.testing.assert_array_equal(*map(np.unique, pair) if name in AS_A_SET else pair, key)
