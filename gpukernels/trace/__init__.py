"""The trace that the SIMT machine records, and the counters computed from it.

`record` is the trace itself, `costs` the cost of each memory request, `metrics` the counters, and
`summary` their table. This package needs only NumPy, no graphs, no kernels and not the machine.

The attribute ``gpukernels.trace`` is the function that records, so import the names of this package
with ``from gpukernels.trace import ...``.
"""

from gpukernels.trace.record import (
    ATOMIC,
    BARRIER,
    BRANCH,
    LOAD,
    REQUEST_KINDS,
    STATEMENT,
    STEP_KINDS,
    STORE,
    WARP_SIZE,
    ArrayInfo,
    Launch,
    Requests,
    Shuffles,
    Source,
    Steps,
)

from .trace import Trace

__all__ = [
    "ATOMIC",
    "BARRIER",
    "BRANCH",
    "LOAD",
    "REQUEST_KINDS",
    "STATEMENT",
    "STEP_KINDS",
    "STORE",
    "WARP_SIZE",
    "ArrayInfo",
    "Launch",
    "Requests",
    "Shuffles",
    "Source",
    "Steps",
    "Trace",
]
