"""A prediction that differs by student: `gk.exercise("course:strides", seed="ann@example.org")`."""

import numpy as np
from numba import cuda

import gpukernels as gk
from gpukernels.exercises import PredictionTask


@cuda.jit
def read_at(step, values, out):
    """Read every `step`-th value."""
    i = cuda.grid(1)
    out[i] = values[step * i]


def strides(rng):
    """Return the task for a drawn stride."""
    step, lanes = int(rng.integers(2, 9)), int(rng.integers(9, 33))
    statement = f"Lane *k* of {lanes} reads the int32 element {step}*k*. How many sectors is that?"

    def measure():
        """Count the sectors that one warp reads with a stride."""
        device = gk.SimtDevice(trace=True)
        values = device.full(1024, 7, np.int32)
        device.launch(read_at, 1, lanes, step, values, device.full(32, 0, np.int32))
        reads = device.trace.select(array="values").summary()["read_at"]
        return {"sectors": round(reads["sectors / request"] * reads["global requests"])}

    return PredictionTask(
        measure,
        id="course-2",
        title="sectors of a stride",
        teaches="to count the sectors of a request from what its lanes read",
        statement=statement,
        level="easy",
    )
