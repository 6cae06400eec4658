"""What the runs of `kernel_runs` launch, and as few of them as launch every kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np
from kernel_runs import RUNS

from gpukernels.device import SimtDevice

#: Kernels that the successor, numba-cuda-mlir 0.6.0, refuses, and its reason; November 2026.
REFUSED = {"exercises.tasks.better_queues.expand_by_block": "Calling a closure with *args"}


class Launched(NamedTuple):
    """What one run launches: argument types by kernel, and how many threads in all."""

    types: dict[object, set[tuple]]
    threads: int


class RecordingDevice(SimtDevice):
    """A SIMT device that notes which kernels it launches, at which argument types."""

    def __init__(self) -> None:
        super().__init__()
        self.launched, self.threads = {}, 0

    def launch(self, kernel, blocks, threads, *args, **options):
        """Note the launch, then make it."""
        types = tuple(numba.typeof(a) for a in args)
        self.launched.setdefault(kernel, set()).add(types)
        self.threads += int(np.prod(blocks)) * int(np.prod(threads))
        return super().launch(kernel, blocks, threads, *args, **options)


@functools.cache
def launches() -> dict[str, Launched]:
    """Make every run on the machine; return what it launched."""
    kernels = {}
    for name, run in RUNS.items():
        device = RecordingDevice()
        run(device)
        kernels[name] = Launched(device.launched, device.threads)
    return kernels


def types_by_kernel() -> dict[object, set[tuple]]:
    """Return all argument types that each kernel is launched at."""
    types_of = {}
    for launched in launches().values():
        for kernel, types in launched.types.items():
            types_of.setdefault(kernel, set()).update(types)
    return types_of


def covering_runs(lacking: Callable) -> list[str]:
    """Return runs that launch every kernel, with few threads in all.

    A kernel for which `lacking` is true ends a run: what comes before it is covered.
    """
    held = {}
    for name, kernels_of_run in launches().items():
        kernels = list(kernels_of_run.types)  # in the order of their first launches
        ends = next((k for k, kernel in enumerate(kernels) if lacking(kernel)), len(kernels))
        held[name] = set(kernels[:ends])
    missing, chosen = set().union(*held.values()), set()
    while missing:
        best = max(held, key=lambda n: len(held[n] & missing) / (1 + launches()[n].threads))
        chosen.add(best)
        missing -= held[best]
    return [name for name in RUNS if name in chosen]
