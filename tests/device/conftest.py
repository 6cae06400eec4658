"""Devices for the tests of this folder: a `CudaDevice` whose driver has its memory in the host."""

from __future__ import annotations

import pytest
from fake_gpu import FakeGpus

import gpukernels as gk

REAL_LAUNCH = gk.CudaDevice.launch
REAL_COOPERATIVE_BLOCKS = gk.CudaDevice.cooperative_blocks


@pytest.fixture
def driver(monkeypatch):
    """A driver in the place of numba's; kernels are launched as on a real one."""
    gpus = FakeGpus(monkeypatch)
    monkeypatch.setattr(gk.CudaDevice, "launch", REAL_LAUNCH)
    monkeypatch.setattr(gk.CudaDevice, "cooperative_blocks", REAL_COOPERATIVE_BLOCKS)
    yield gpus
    gpus.close()


@pytest.fixture
def gpu(driver):
    return gk.CudaDevice()


@pytest.fixture(params=["device", "gpu"])
def each_device(request):
    """The device that is tested, and a GPU on that driver: arrays are the same on both."""
    return request.getfixturevalue(request.param)
