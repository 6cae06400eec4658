"""A warp-accurate SIMT machine: real ``numba.cuda`` kernels without a GPU, every warp recorded.

It knows nothing of graphs. See ``simt/README.md`` for how it works.
"""

import importlib
from typing import Any

from gpukernels.simt.errors import KernelError
from gpukernels.simt.machine import launch
from gpukernels.simt.run.memory import uninitialized
from gpukernels.simt.run.pace import Pace
from gpukernels.simt.run.recorder import Recorder
from gpukernels.simt.translate.source import python_function
from gpukernels.trace import Trace

__all__ = [
    "KernelError",
    "Pace",
    "Recorder",
    "Trace",
    "as_cuda",
    "launch",
    "python_function",
    "uninitialized",
]


def __getattr__(name: str) -> Any:
    # The tool stands above the machine, and is loaded only when it is used.
    if name == "as_cuda":
        return importlib.import_module("gpukernels.simulator.redirect").as_cuda
    raise AttributeError(f"module 'gpukernels.simt' has no attribute {name!r}")
