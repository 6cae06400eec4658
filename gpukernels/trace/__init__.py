"""What the SIMT machine wrote down, and everything that is computed from it.

`record` is the trace itself, `costs` what each memory request of it moves, `metrics` the counters,
`summary` their table. It stands on NumPy alone and knows nothing of graphs, kernels or the machine.

``gpukernels.trace``, read as an attribute, is the function that records: write ``from
gpukernels.trace import ...`` for what is here.
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
