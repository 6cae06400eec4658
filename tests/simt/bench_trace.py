"""The time of a launch with a trace, compared with a launch without one in the same run."""

from __future__ import annotations

import time

import numpy as np
from numba import cuda

from gpukernels.simt import Recorder, launch


@cuda.jit
def many_steps(a):
    i = cuda.grid(1)
    x = a[i]
    for k in range(2000):
        x = x * 3 + k
    a[i] = x


def test_a_launch_without_a_recorder_is_faster_than_one_with():
    a = np.arange(64)

    def seconds(recorder):
        start = time.perf_counter()
        launch(many_steps, 1, 64, (a,), recorder=recorder)
        return time.perf_counter() - start

    seconds(None), seconds(Recorder())  # translate
    plain = min(seconds(None) for _ in range(5))
    traced = min(seconds(Recorder()) for _ in range(5))
    print(f"\n2,000 steps: {plain:.3f} s, traced {traced:.3f} s, ratio {traced / plain:.2f}")
    assert plain < traced
