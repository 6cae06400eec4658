"""A warp-accurate SIMT machine: real ``numba.cuda`` kernels without a GPU, every warp recorded.

It knows nothing of graphs. See ``simt/README.md`` for how it works.
"""

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
    "launch",
    "python_function",
    "uninitialized",
]
