"""A kernel to write, as a teacher would write it: `gk.exercise("course:double")`."""

import numpy as np
from numba import cuda

from gpukernels.exercises import KernelTask


@cuda.jit
def double_all(values, out):
    """Write twice each number."""
    i = cuda.grid(1)
    # Your lines go here.
    if i < out.size:  # added
        out[i] = 2 * values[i]  # added


def run(kernel, device, values):
    """Launch a kernel with one thread per number, at least one block."""
    out = device.full(values.size, -1, np.int64)
    device.launch(kernel, max(1, -(-values.size // 32)), 32, device.array(values), out)
    return {"out": device.read(out)}


double = KernelTask(
    double_all,
    id="course-1",
    title="twice each number",
    teaches="to guard the end of an array",
    statement="Write twice each number of `values` to `out`. There may be no numbers.",
    level="easy",
    run=run,
    right=lambda values: {"out": 2 * values},
    inputs={
        "75 numbers": np.arange(75),
        "no numbers": np.zeros(0, int),
        "320 numbers": np.arange(320),
    },
    draw=lambda rng: {"drawn numbers": rng.integers(-100, 100, rng.integers(1, 200))},
    writes=("out",),
    budget={"warp steps": 100, "coalescing": 0.9},
)
