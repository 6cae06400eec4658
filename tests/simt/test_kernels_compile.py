"""The kernels with which the tests try the machine's language compile with numba at their types."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import numba
import pytest
import test_iteration
import test_numpy_functions
import test_reshaping
import test_tuples
from numba import cuda

from gpukernels.device import SimtDevice

MODULES = (test_iteration, test_numpy_functions, test_reshaping, test_tuples)
TESTS = {
    name: test
    for module in MODULES
    for name, test in vars(module).items()
    if name.startswith("test_")
    and list(inspect.signature(test).parameters) in (["device"], ["scheduled_device"])
}


class CompilingDevice(SimtDevice):
    """A SIMT device that has numba compile what it launches."""

    compiled = 0

    def launch(self, kernel, blocks, threads, *args, **options):
        """Compile the kernel for a GPU, then launch it on the machine."""
        types = tuple(map(numba.typeof, args))
        ptx, _ = cuda.compile_ptx(kernel.py_func, types, cc=(8, 0))
        self.compiled += ".visible .entry" in ptx
        return super().launch(kernel, blocks, threads, *args, **options)


@pytest.mark.parametrize("name", TESTS)
def test_numba_compiles_what_the_machine_is_tried_with(name, monkeypatch):
    pretended = SimpleNamespace(compute_capability=(8, 0))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: pretended)
    device = CompilingDevice(check=True)
    TESTS[name](device)
    assert device.compiled
