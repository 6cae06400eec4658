"""numba's own CUDA tests, with the SIMT machine in the place of a GPU.

``not_run.txt`` names every test that is left out, with the reason.
"""

from __future__ import annotations

import unittest
import warnings
from pathlib import Path

import pytest
from machine_as_cuda import Kernel, import_for_the_machine, machine_as_cuda

MODULES = (
    *("warp_ops", "intrinsics", "atomics", "sync", "sm", "cooperative_groups", "localmem"),
    *("lang", "idiv", "powi", "minmax", "operator", "globals", "freevar", "boolean", "laplace"),
    *("matmul", "transpose", "nondet", "constmem", "math", "casting", "blackscholes"),
    *("complex", "record_dtype", "alignment", "array_args"),
)
#: Modules in which the sizes for a GPU take half a minute each.
SMALL = ("matmul", "laplace")


def _not_run():
    """Return {test: reason}; in the file, a reason stands above its tests."""
    reasons, reason = {}, ""
    for line in (Path(__file__).parent / "not_run.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            reasons[line] = reason
    return reasons


def _tests_of(module):
    for case in vars(module).values():
        if isinstance(case, type) and issubclass(case, unittest.TestCase):
            if case.__module__ == module.__name__:
                for name in unittest.defaultTestLoader.getTestCaseNames(case):
                    yield f"{case.__name__}.{name}", (case, name)
        elif callable(case) and getattr(case, "__name__", "").startswith("test_"):
            yield case.__name__, case


def _all_tests():
    tests = {}
    for name in MODULES:
        module = import_for_the_machine(f"numba.cuda.tests.cudapy.test_{name}", name in SMALL)
        tests |= {f"{name}.{test}": method for test, method in _tests_of(module)}
    return tests


#: Tests that launch no kernel: they ask about compiled code or about the allowed number of blocks.
NO_LAUNCH = frozenset(
    {
        "warp_ops.TestCudaWarpOperations.test_shfl_sync_const_mode_val_sm100",
        "warp_ops.TestCudaWarpOperations.test_vote_sync_const_mode_val_sm100",
        "cooperative_groups.TestCudaCooperativeGroups.test_max_cooperative_grid_blocks",
        "localmem.TestCudaLocalMem.test_numba_dtype",
        "localmem.TestCudaLocalMem.test_numpy_dtype",
        "localmem.TestCudaLocalMem.test_string_dtype",
    }
)
NOT_RUN = _not_run()
TESTS = _all_tests()


@pytest.mark.parametrize("test", [t for t in TESTS if t not in NOT_RUN])
def test_numbas_test_passes_on_the_machine(test):
    method = TESTS[test]
    before = Kernel.launches
    with machine_as_cuda(test.split(".")[0] in SMALL), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not isinstance(method, tuple):
            method()
            assert Kernel.launches > before
            return
        case, name = method
        result = unittest.TestResult()
        case(name).run(result)
    for _, text in result.errors + result.failures:
        pytest.fail(text, pytrace=False)
    assert not result.skipped, "a test that skips itself belongs in not_run.txt"
    assert result.testsRun == 1
    assert (Kernel.launches == before) == (test in NO_LAUNCH)


def test_the_list_names_tests_that_exist():
    assert not set(NOT_RUN) - set(TESTS)
    assert all(NOT_RUN.values())


def test_all_warp_operations_are_among_those_run():
    # numba's own simulator runs none of these; the left-out tests are about numba's compiler only.
    left_out = {t: NOT_RUN[t] for t in NOT_RUN if t.startswith("warp_ops.")}
    assert len(left_out) == 3
    assert not [reason for reason in left_out.values() if "refuses" in reason.split(";")[0]]
