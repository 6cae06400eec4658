"""Who acquires at a counter has what those brought who have arrived there."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpukernels import SimtDevice
from gpukernels.primitives.arrivals import acquire, arrivals, arrive
from gpukernels.simt.errors import RaceError


@cuda.jit
def hand_over(values, out, flag, acquires):
    """Thread 0 of block 0 writes and arrives; that of block 1 waits, acquires and reads."""
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            values[0] = 7
            arrive(flag)
        else:
            while arrivals(flag) < 1:
                pass
            if acquires:
                out[0] = acquire(flag)
            out[1] = values[0]


def arrays():
    return np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int32)


@pytest.mark.parametrize("schedule", ["lockstep", "warp", "random"])
def test_who_acquires_has_what_those_brought_who_have_arrived(schedule):
    values, out, flag = arrays()
    device = SimtDevice(schedule=schedule, check=True)
    device.launch(hand_over, 2, 32, values, out, flag, True, cooperative=True)
    assert (out.tolist(), flag.tolist()) == ([1, 7], [1])


def test_a_look_alone_brings_nothing():
    with pytest.raises(RaceError, match="values"):
        SimtDevice(check=True).launch(hand_over, 2, 32, *arrays(), False, cooperative=True)
