"""Make the runs of `kernel_runs` on numba's own simulator: ``cudasim_child.py results.npz names``.

Started by `test_cudasim` with NUMBA_ENABLE_CUDASIM=1, which holds for a whole process. `names`
is a list of runs in JSON. Writes the results of each that the simulator can make, and notes for
every other which names it lacks.
"""

from __future__ import annotations

import functools
import json
import sys

import numpy as np
from kernel_runs import RUNS
from numba import cuda
from numba.cuda.simulator.kernelapi import FakeCUDAModule
from package_kernels import cuda_names, label, package_functions

from gpukernels.device.copy_streams import SimtCopies


class BeyondSimulator(Exception):
    """A kernel uses names of ``numba.cuda`` that numba's simulator does not have."""


@functools.cache
def lacking_for(kernel) -> list[str]:
    """Return the names that a kernel uses and numba's simulator lacks."""
    lacking = sorted(n for n in cuda_names(kernel) if not hasattr(FakeCUDAModule, n))
    return [n for n in lacking if n not in ("blockDim", "gridDim")]


class CudasimDevice:
    """The launch interface of the devices, over numba's simulator."""

    resident_threads = 1024

    def __init__(self) -> None:
        self.ran: set[str] = set()

    def array(self, host):
        return np.array(host)

    def empty(self, shape, dtype):
        return np.empty(shape, dtype)

    def full(self, shape, value, dtype):
        return np.full(shape, value, dtype)

    def full_all(self, shapes, value, dtype):
        return [self.full(shape, value, dtype) for shape in shapes]

    def keep(self, host):
        return np.array(host)

    def keep_made(self, owner, name, make):
        return make()

    def put(self, array, index, value):
        array.reshape(-1)[index] = value

    def pinned(self, shape, dtype):
        return np.zeros(shape, dtype)

    def clear(self, array):
        array.fill(0)

    def fill(self, array, value):
        array.fill(value)

    def copy_stream(self):
        return SimtCopies("lockstep", 0)

    def read(self, array, into=None):
        if into is None:
            return array.copy()
        into[...] = array
        return into

    def read_all(self, *arrays):
        return [self.read(array) for array in arrays]

    def free_bytes(self):
        return sys.maxsize

    def cooperative_blocks(self, kernel, threads, *args):
        return 1  # blocks run one after another, so none could wait for a second one

    def launch(self, kernel, blocks, threads, *args, shared=0, cooperative=False):
        if lacking_for(kernel):
            raise BeyondSimulator(label(kernel))
        kernel[blocks, threads, 0, shared](*args)
        self.ran.add(label(kernel))


def main(path: str, names: list[str]) -> None:
    """Make the runs of those names and write the results to `path`."""
    assert cuda.simulator is not None
    device, results, excluded = CudasimDevice(), {}, []
    for name in names:
        try:
            for key, array in RUNS[name](device).items():
                results[f"{name}|{key}"] = array
        except BeyondSimulator:
            excluded.append(name)
    lacking = {label(kernel): lacking_for(kernel) for kernel in package_functions()[0]}
    report = {"ran": sorted(device.ran), "lacking": lacking, "excluded": excluded, "runs": names}
    np.savez(path, report=np.array(json.dumps(report)), **results)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
