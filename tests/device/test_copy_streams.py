"""Copies beside launches: in order, no sooner than what they wait for, and checked before."""

from __future__ import annotations

import numpy as np
import pytest
from fake_gpu import FakeGpus
from numba import cuda

import gpukernels as gk
from gpukernels.device import cuda_memory


@cuda.jit
def add_one(a):
    """Add one to each element."""
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@pytest.fixture(params=["lockstep", "warp", "random", "gpu", "gpu, in pieces"])
def any_device(request, monkeypatch):
    """The machine under each schedule, and what a GPU's driver is asked for."""
    if not request.param.startswith("gpu"):
        yield gk.SimtDevice(request.param, seed=3)
        return
    if request.param == "gpu, in pieces":  # as what is large comes into ordinary memory
        monkeypatch.setattr(cuda_memory, "is_staged", lambda host: True)
        monkeypatch.setattr(cuda_memory, "PIECES", (24,))
    gpus = FakeGpus(monkeypatch)
    yield gk.CudaDevice()
    gpus.close()


def test_what_waits_for_a_copy_has_it_and_a_copy_has_the_launches_before(any_device):
    array, host = any_device.full(40, 0, np.int32), any_device.pinned(40, np.int32)
    host[:] = np.arange(40)
    with any_device.copy_stream() as copies:
        copies.write(array, host).before_launches()
        any_device.launch(add_one, 2, 32, array)
        back = any_device.pinned(40, np.int32)
        copied = copies.read(array, back)
        copied.wait()
        assert back.tolist() == [*range(1, 41)]
        copied.before_launches()
        any_device.launch(add_one, 2, 32, array)
        copies.read(array, back)
    assert back.tolist() == [*range(2, 42)]


def test_copies_are_in_the_order_in_which_they_were_queued(any_device):
    array = any_device.full(3, 0, np.int32)
    given = [any_device.pinned(3, np.int32) for _ in range(4)]
    with any_device.copy_stream() as copies:
        for k, host in enumerate(given):
            host[:] = k
            last = copies.write(array, host)
        last.wait()
        assert any_device.read(array).tolist() == [3, 3, 3]


def test_a_launch_that_waits_for_nothing_may_find_nothing_copied():
    values = []
    for schedule in ("lockstep", "warp"):
        device = gk.SimtDevice(schedule)
        array = device.full(4, 0, np.int32)
        with device.copy_stream() as copies:
            copies.write(array, np.full(4, 9, np.int32))
            device.launch(add_one, 1, 32, array)
            values.append(device.read(array).tolist())
    assert values == [[10] * 4, [1] * 4]


@pytest.mark.parametrize(
    "host", [np.zeros(3, np.int32), np.zeros(4, np.float32), np.zeros(8, np.int32)[::2]], ids=str
)
def test_what_does_not_fit_is_refused_before_it_is_queued(any_device, host):
    array = any_device.full(4, 7, np.int32)
    with any_device.copy_stream() as copies:
        with pytest.raises(gk.InvalidArgument, match="contiguous array of int32"):
            copies.write(array, host)
        with pytest.raises(gk.InvalidArgument, match="contiguous array of int32"):
            copies.read(array, host)
    assert any_device.read(array).tolist() == [7] * 4


def test_an_error_leaves_no_copy_behind(any_device):
    array, back = any_device.full(4, 7, np.int32), any_device.pinned(4, np.int32)

    def read_and_fail():
        with any_device.copy_stream() as copies:
            copies.read(array, back)
            raise KeyError

    with pytest.raises(KeyError):
        read_and_fail()
    assert back.tolist() == [7] * 4
