"""The machine has the results of plain Python, thread after thread; numba compiles the kernels."""

from __future__ import annotations

import importlib

import numba
import numpy as np
import pytest
from launching import launched, numba_compiles
from thread_by_thread import CASES, thread_by_thread

for subject in ("arrays", "language", "records"):
    importlib.import_module(f"test_{subject}")
#: numba compiles the kernels, too: each with the first of its arguments.
COMPILED = [name for name in CASES if name.endswith(" 0")]


@pytest.mark.crossed
@pytest.mark.parametrize("name", CASES)
def test_the_machine_writes_what_python_writes(name, scheduled_device):
    case = CASES[name]
    expected = thread_by_thread(case.kernel, case.blocks, case.threads, *case.arguments)
    arrays = launched(scheduled_device, case.kernel, case.blocks, case.threads, *case.arguments)
    for k, argument in enumerate(case.arguments):
        if isinstance(argument, np.ndarray):
            near = {"rtol": 0, **case.near}
            np.testing.assert_allclose(arrays[k], expected[k], **near, err_msg=f"argument {k}")


@pytest.mark.parametrize("name", COMPILED)
def test_numba_compiles_what_the_machine_is_tried_with(name):
    assert numba_compiles(CASES[name].kernel, tuple(map(numba.typeof, CASES[name].arguments)))
