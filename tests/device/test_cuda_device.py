"""What `CudaDevice` asks of numba: tried on a driver whose memory is the host's, and on kernels."""

from __future__ import annotations

import gc
import inspect
import warnings
from types import SimpleNamespace

import numba.cuda
import numpy as np
import pytest
from numba.cuda.dispatcher import _Kernel

import gpukernels as gk
from gpukernels.device import cuda_memory

# --- the GPU itself -----------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", ["MULTIPROCESSOR", "MULTI_PROCESSOR"])
@pytest.mark.parametrize("name", ["Some GPU", b"Some GPU"])
def test_it_says_what_it_is_and_how_many_threads_it_holds(driver, monkeypatch, spelled, name):
    """NVIDIA's bindings and numba's own table spell both differently."""
    one = SimpleNamespace(name=name, MULTIPROCESSOR_COUNT=3, **{f"MAX_THREADS_PER_{spelled}": 9})
    monkeypatch.setattr(numba.cuda, "get_current_device", lambda: one)
    gpu = gk.CudaDevice()
    assert repr(gpu) == "CudaDevice('Some GPU')"
    assert (gpu.name, gpu.resident_threads) == ("Some GPU", 27)


def test_without_a_gpu_it_is_not_made(driver, monkeypatch):
    monkeypatch.setattr(numba.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"no CUDA GPU answers; use SimtDevice\(\)"):
        gk.CudaDevice()


def test_a_gpu_that_answers_is_the_default_device(driver, monkeypatch):
    monkeypatch.delenv("GPUKERNELS_DEVICE", raising=False)
    assert isinstance(gk.default_device(), gk.CudaDevice)
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    assert isinstance(gk.default_device(), gk.SimtDevice)


def test_a_broken_driver_is_the_same_as_none(driver, monkeypatch):
    def broken():
        raise OSError("libcuda.so")

    monkeypatch.setattr(numba.cuda, "is_available", broken)
    monkeypatch.delenv("GPUKERNELS_DEVICE", raising=False)
    assert isinstance(gk.default_device(), gk.SimtDevice)


# --- arrays -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [
        *((value, np.int32, 8) for value in (0, -1, 0x01010101)),
        (0x00070007, np.int32, 16),
        *((value, np.int32, 32) for value in (258, 1, -2, 2**31 - 1)),
        *((value, np.int64, 0) for value in (1, -2, 2**40)),
        (-1, np.int64, 8),
        (2**32 + 1, np.int64, 32),
        (1.5, np.float32, 32),
        (np.nan, np.float32, 32),
        (1.5, np.float64, 0),
        (-7, np.int16, 16),
        (255, np.uint8, 8),
        (True, np.bool_, 8),
    ],
)
def test_what_repeats_after_four_bytes_is_filled_on_the_gpu_and_all_else_is_copied(
    gpu, driver, value, dtype, bits
):
    filled = gpu.full((2, 3), value, dtype)
    asked = [name for name in driver.calls if name.startswith(("cuMemset", "cuMemcpyHtoD"))]
    assert asked == ([f"cuMemsetD{bits}"] if bits else ["cuMemcpyHtoD"])
    np.testing.assert_array_equal(gpu.read(filled), np.full((2, 3), value, dtype))
    gpu.clear(filled)
    gpu.put(filled, 4, value)
    expected = np.zeros(6, dtype)
    expected[4] = value
    np.testing.assert_array_equal(gpu.read(filled), expected.reshape(2, 3))
    assert driver.calls["cuMemcpyHtoD"] == (0 if bits else 2)


@pytest.mark.parametrize(
    "into", [np.zeros(4, np.int32), np.zeros((3, 1), np.int64), np.zeros(6, np.int32)[::2]], ids=str
)
def test_an_array_that_does_not_fit_is_not_written_beyond(gpu, into):
    """numba takes what is of the same number of elements and refuses all else."""
    with pytest.raises(Exception, match=r"incompatible|contiguous|match"):
        gpu.read(gpu.array(np.arange(3, dtype=np.int32)), into=into)
    assert not into.any()


# --- what is kept -------------------------------------------------------------------------------


def test_a_read_only_array_is_copied_once_as_long_as_it_lives(gpu, driver):
    before = driver.bytes_in_use()
    host = np.arange(4000)
    host.flags.writeable = False
    kept = gpu.keep(host)
    assert gpu.keep(host) is kept
    assert gk.CudaDevice().keep(host) is kept
    assert driver.bytes_in_use() == before + host.nbytes
    del host, kept
    gc.collect()
    assert cuda_memory.current().kept == {}


# --- launches -----------------------------------------------------------------------------------


class Kernel:
    """A kernel that notes how it is launched, and complains as numba does."""

    def __init__(self):
        self.launched = []
        self.compiled = SimpleNamespace(
            cooperative=False, max_cooperative_grid_blocks=lambda threads: 2048 // threads
        )

    def __getitem__(self, shape):
        warnings.warn("Grid size 1 will likely result in GPU under-utilization", stacklevel=2)

        def run(*args):
            self.launched.append((shape, args))
            if any(isinstance(argument, np.ndarray) for argument in args):
                warnings.warn("Host array used in CUDA kernel will incur copies", stacklevel=2)

        return run

    def typeof_pyval(self, value):
        return type(value).__name__

    def compile(self, types):
        self.launched.append(types)
        return self.compiled


def test_a_launch_is_that_of_the_kernel_and_quiet(gpu):
    kernel, out = Kernel(), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpu.launch(kernel, (2, 3), 64, out, 5, shared=128)
        gpu.launch(kernel, 7, (8, 8))
    assert kernel.launched == [(((2, 3), 64, 0, 128), (out, 5)), ((7, (8, 8), 0, 0), ())]
    assert not kernel.compiled.cooperative


def test_the_driver_holds_all_blocks_of_a_cooperative_launch(gpu):
    """Also of a kernel without a grid sync, of which numba would not ask it."""
    kernel = Kernel()
    gpu.launch(kernel, 7, (8, 8), 5, cooperative=True)
    assert kernel.compiled.cooperative  # which numba reads when it launches
    assert kernel.launched == [("int",), ((7, (8, 8), 0, 0), (5,))]  # and so before
    gpu.launch(kernel, 7, (8, 8), 6, cooperative=True)
    assert len(kernel.launched) == 3  # compiled once
    assert "self.cooperative" in inspect.getsource(_Kernel.launch), "numba reads another attribute"


@pytest.mark.parametrize("blocks", [0, (3, 0), [0, 2], np.int32(0)], ids=repr)
def test_a_launch_of_no_blocks_does_nothing(gpu, blocks):
    kernel = Kernel()
    gpu.launch(kernel, blocks, 32)
    with pytest.raises(gk.InvalidArgument, match="cooperative"):
        gpu.launch(kernel, 1, 32, cooperative="yes")
    assert kernel.launched == []


def test_other_warnings_of_a_launch_are_heard(gpu):
    class Complaining(Kernel):
        def __getitem__(self, shape):
            return lambda: warnings.warn("the GPU is hot", stacklevel=2)

    with pytest.warns(UserWarning, match="hot"):
        gpu.launch(Complaining(), 1, 32)


def test_as_many_blocks_wait_for_each_other_as_the_compiled_kernel_lets_fit(gpu):
    kernel = Kernel()
    assert gpu.cooperative_blocks(kernel, 256, 1, 2.5) == 8
    assert kernel.launched == [("int", "float")]
