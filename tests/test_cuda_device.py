"""What `CudaDevice` asks of numba's driver, tried on one that keeps its arrays in host memory."""

from __future__ import annotations

import gc
import warnings
from types import SimpleNamespace

import numba.cuda
import numpy as np
import pytest

import gpukernels as gk
from gpukernels import device as devices


class DeviceArray:
    """An array of the driver: host code reaches its elements by copies alone."""

    def __init__(self, elements: np.ndarray):
        self._elements = elements
        self.shape, self.dtype = elements.shape, elements.dtype
        self.size, self.nbytes = elements.size, elements.nbytes
        self.gpu_data = self

    def memset(self, byte: int, count: int) -> None:
        flat = self._elements.reshape(-1).view(np.uint8)
        assert 0 < count <= flat.size, "CUDA refuses to set nothing, or more than there is"
        flat[:count] = byte

    def reshape(self, *shape):
        return DeviceArray(self._elements.reshape(*shape))

    def __getitem__(self, part: slice):
        assert isinstance(part, slice)
        return DeviceArray(self._elements[part])

    def copy_to_device(self, host) -> None:
        assert (host.shape, host.dtype) == (self.shape, self.dtype)
        self._elements[...] = host

    def copy_to_host(self, into=None):
        if into is None:
            return self._elements.copy()
        assert (into.shape, into.dtype) == (self.shape, self.dtype)
        into[...] = self._elements
        return into


class Driver:
    """The part of ``numba.cuda`` that a device uses; `told` is what it was asked for."""

    def __init__(self):
        self.told = []
        self.name = b"Some GPU"
        self.holds = "MAX_THREADS_PER_MULTIPROCESSOR"

    def is_available(self):
        return True

    def get_current_device(self):
        return SimpleNamespace(name=self.name, MULTIPROCESSOR_COUNT=3, **{self.holds: 9})

    def to_device(self, host):
        assert host.flags.c_contiguous
        self.told.append("copy")
        return DeviceArray(host.copy())

    def device_array(self, shape, dtype):
        sizes = shape if isinstance(shape, tuple) else (shape,)
        assert all(type(size) is int for size in sizes), "numba takes no NumPy integer for a shape"
        self.told.append("allocate")
        return DeviceArray(np.full(shape, 77, dtype))

    def pinned_array(self, shape, dtype):
        self.told.append("pin")
        return np.full(shape, 77, dtype)


@pytest.fixture
def driver(monkeypatch):
    """A driver in the place of numba's."""
    fake = Driver()
    for name in (name for name in dir(fake) if callable(getattr(fake, name)) and name[0] != "_"):
        monkeypatch.setattr(numba.cuda, name, getattr(fake, name), raising=False)
    monkeypatch.setattr(devices, "_kept", {})
    return fake


@pytest.fixture
def gpu(driver):
    return gk.CudaDevice()


# --- the GPU itself -----------------------------------------------------------------------------


def test_it_says_what_it_is_and_how_many_threads_it_holds(gpu):
    assert repr(gpu) == "CudaDevice('Some GPU')"
    assert (gpu.name, gpu.resident_threads) == ("Some GPU", 27)


def test_both_ways_to_spell_a_gpus_attributes_are_understood(driver):
    driver.name, driver.holds = "Another GPU", "MAX_THREADS_PER_MULTI_PROCESSOR"
    gpu = gk.CudaDevice()
    assert (gpu.name, gpu.resident_threads) == ("Another GPU", 27)


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
    "host", [[1, 2, 3], np.arange(12).reshape(3, 4)[:, ::2], np.zeros((0, 2), np.float32)], ids=str
)
def test_an_array_is_a_copy_of_any_host_array(gpu, host):
    copied = gpu.array(host)
    np.testing.assert_array_equal(gpu.read(copied), host)
    assert gpu.read(copied).dtype == np.asarray(host).dtype


def test_what_is_no_array_is_refused(gpu):
    with pytest.raises(gk.InvalidArgument, match="host"):
        gpu.array([[1], [2, 3]])


@pytest.mark.parametrize("shape", [0, 5, (2, 3), [2, 3], np.int32(4), (np.int64(2), 3)], ids=repr)
def test_shapes_may_be_numpy_integers(gpu, driver, shape):
    wanted = tuple(map(int, np.atleast_1d(shape)))
    assert gpu.empty(shape, np.int16).shape == wanted
    assert gpu.full(shape, 0, np.int16).shape == wanted
    assert driver.told == ["allocate", "allocate"]


@pytest.mark.parametrize(
    ("value", "how"),
    [(0, "allocate"), (-1, "allocate"), (0x01010101, "allocate"), (258, "copy"), (1, "copy")],
)
def test_what_repeats_a_byte_is_filled_on_the_gpu(gpu, driver, value, how):
    filled = gpu.full((2, 3), value, np.int32)
    assert driver.told == [how]
    assert gpu.read(filled).tolist() == [[value] * 3] * 2


@pytest.mark.parametrize("shape", [0, (0, 3), 4])
def test_arrays_are_cleared_even_empty_ones(gpu, shape):
    array = gpu.full(shape, -1, np.int64)
    gpu.clear(array)
    assert not gpu.read(array).any()


def test_one_element_is_put_and_no_other(gpu):
    array = gpu.full((2, 3), 0, np.int16)
    gpu.put(array, 4, 9)
    gpu.put(array, 0, np.int64(-2))
    assert gpu.read(array).tolist() == [[-2, 0, 0], [0, 9, 0]]


def test_results_are_read_into_the_array_that_is_given(gpu, driver):
    into = gpu.pinned(3, np.int32)
    assert into.tolist() == [0, 0, 0]
    assert gpu.read(gpu.array(np.arange(3, dtype=np.int32)), into) is into
    assert into.tolist() == [0, 1, 2]
    assert driver.told == ["pin", "copy"]


def test_a_host_array_can_be_read_too(gpu):
    assert gpu.read(np.arange(3)).tolist() == [0, 1, 2]


# --- what is kept -------------------------------------------------------------------------------


def test_a_read_only_array_is_copied_once_as_long_as_it_lives(gpu, driver):
    host = np.arange(4)
    host.flags.writeable = False
    kept = gpu.keep(host)
    assert gpu.keep(host) is kept
    assert gk.CudaDevice().keep(host) is kept
    assert driver.told == ["copy"]
    del host
    gc.collect()
    assert devices._kept == {}


def test_an_array_that_may_change_is_copied_each_time(gpu, driver):
    host = np.zeros(2, np.int32)
    first = gpu.keep(host)
    host[0] = 5
    assert gpu.keep(host) is not first
    assert gpu.read(gpu.keep(host)).tolist() == [5, 0]
    assert driver.told == ["copy"] * 3
    assert devices._kept == {}


def test_what_is_no_array_is_copied_each_time(gpu, driver):
    values = [1, 2]
    assert gpu.keep(values) is not gpu.keep(values)
    assert devices._kept == {}


# --- launches -----------------------------------------------------------------------------------


class Kernel:
    """A kernel that notes how it is launched, and complains as numba does."""

    def __init__(self):
        self.launched = []

    def __getitem__(self, shape):
        def run(*args):
            self.launched.append((shape, args))
            warnings.warn("Grid size 1 will likely result in GPU under-utilization", stacklevel=2)
            warnings.warn("Host array used in CUDA kernel will incur copy overhead", stacklevel=2)

        return run

    def typeof_pyval(self, value):
        return type(value).__name__

    def compile(self, types):
        self.launched.append(types)
        return SimpleNamespace(max_cooperative_grid_blocks=lambda threads: 2048 // threads)


def test_a_launch_is_that_of_the_kernel_and_quiet(gpu):
    kernel, out = Kernel(), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpu.launch(kernel, (2, 3), 64, out, 5, shared=128)
        gpu.launch(kernel, 7, (8, 8), cooperative=True)
    assert kernel.launched == [(((2, 3), 64, 0, 128), (out, 5)), ((7, (8, 8), 0, 0), ())]


@pytest.mark.parametrize("blocks", [0, (3, 0), [0, 2], np.int32(0)], ids=repr)
def test_a_launch_of_no_blocks_does_nothing(gpu, blocks):
    kernel = Kernel()
    gpu.launch(kernel, blocks, 32)
    assert kernel.launched == []


def test_what_is_no_flag_is_refused_before_the_launch(gpu):
    kernel = Kernel()
    with pytest.raises(gk.InvalidArgument, match="cooperative"):
        gpu.launch(kernel, 1, 32, cooperative="yes")
    assert kernel.launched == []


def test_other_warnings_of_a_launch_are_heard(gpu):
    class Complaining(Kernel):
        def __getitem__(self, shape):
            return lambda: warnings.warn("the GPU is hot", stacklevel=2)

    with pytest.warns(UserWarning, match="hot"):
        gpu.launch(Complaining(), 1, 32)


def test_an_error_of_a_launch_is_the_drivers(gpu):
    class Failing(Kernel):
        def __getitem__(self, shape):
            raise ValueError(f"threads {shape[1]}")

    with pytest.raises(ValueError, match="threads 5000"):
        gpu.launch(Failing(), 1, 5000)


def test_as_many_blocks_wait_for_each_other_as_the_compiled_kernel_lets_fit(gpu):
    kernel = Kernel()
    assert gpu.cooperative_blocks(kernel, 256, 1, 2.5) == 8
    assert kernel.launched == [("int", "float")]
