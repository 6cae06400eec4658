"""A CUDA driver whose device memory is the host's: numba's own arrays live in it, without a GPU.

Kernels run on the SIMT machine. Every call is counted. What has not been written holds 0xCD, and
whoever touches what has been freed gets an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
from collections import Counter
from types import SimpleNamespace

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import devices
from numba.cuda.cudadrv import driver as numba_driver

from gpukernels.device import CudaDevice, SimtDevice

#: What asks the driver for memory, of the GPU or locked in the host.
ALLOCATIONS = ("cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister")


class FakeGpus:
    """Some GPUs of 64 MB, of which the one of number `current` is in use."""

    def __init__(self, monkeypatch, count: int = 1, memory: int = 64 << 20):
        # What the process holds by now need not be looked through whenever a test collects.
        gc.freeze()
        self.calls: Counter[str] = Counter()
        self.memory, self.current = memory, 0
        self.blocks: dict[int, tuple[int, ctypes.Array]] = {}
        self.locked: dict[int, int] = {}
        self._streams: list[list] = []
        self._events: list[tuple[int, int]] = []
        for name in dir(self):
            if name.startswith("cu"):
                self._take_over(monkeypatch, name, getattr(self, name))
        logger = numba_driver.make_logger()
        monkeypatch.setattr(numba_driver, "_logger", logger, raising=False)
        one = SimpleNamespace(
            name="fake", MULTIPROCESSOR_COUNT=2, MAX_THREADS_PER_MULTIPROCESSOR=2048
        )
        self.contexts = [
            numba_driver.Context(SimpleNamespace(id=k), handle=k + 1) for k in range(count)
        ]
        for context in self.contexts:
            context.device.primary_context = context
            context.memory_manager.initialize()
        runtime = devices._runtime
        monkeypatch.setattr(
            runtime, "get_or_create_context", lambda number=None: self.contexts[self.current]
        )
        monkeypatch.setattr(runtime, "ensure_context", contextlib.nullcontext)
        machine = SimtDevice()

        def launch(device, kernel, blocks, threads, *args, **options):
            args = [self.host_view(argument) for argument in args]
            machine.launch(kernel, blocks, threads, *args, **options)

        monkeypatch.setattr(CudaDevice, "launch", launch)
        monkeypatch.setattr(
            CudaDevice, "cooperative_blocks", lambda device, kernel, threads, *args: 4
        )
        monkeypatch.setattr(cuda, "is_available", lambda: True)
        monkeypatch.setattr(cuda, "get_current_device", lambda: one)

    def _take_over(self, monkeypatch, name, function):
        @functools.wraps(function)
        def counted(*args):
            self.calls[name] += 1
            return function(*args)

        monkeypatch.setitem(numba_driver.driver.__dict__, name, counted)

    def close(self) -> None:
        """Free everything, as long as there is a driver to do it."""
        for number in range(len(self.contexts)):
            self.close_context(number)
        gc.unfreeze()

    def close_context(self, number: int) -> None:
        """End a GPU's context, as ``cuda.close()`` does; there is a new one."""
        self.current = number
        old = self.contexts[number]
        old.reset()
        context = self.contexts[number] = numba_driver.Context(old.device, handle=number + 1)
        context.memory_manager.initialize()
        context.device.primary_context = context
        del old
        gc.collect()

    def host_view(self, array):
        """Return what a kernel is given as the SIMT machine takes it: a device array's memory."""
        if isinstance(array, tuple):
            parts = [self.host_view(part) for part in array]
            return type(array)(*parts) if hasattr(array, "_fields") else tuple(parts)
        if not hasattr(array, "copy_to_host"):
            return array
        if array.size == 0:
            return np.zeros(array.shape, array.dtype)
        start = self._there(array.device_ctypes_pointer.value, array.dtype.itemsize)
        memory = (ctypes.c_char * array.alloc_size).from_address(start)
        return np.ndarray(array.shape, array.dtype, memory, strides=array.strides)

    def allocated(self) -> int:
        """Return how often memory of a GPU or locked pages of the host have been asked for."""
        return sum(self.calls[name] for name in ALLOCATIONS)

    def bytes_in_use(self, gpu: int = 0) -> int:
        """Return how many bytes a GPU has allocated."""
        return sum(len(block) for where, block in self.blocks.values() if where == gpu)

    def cuMemGetInfo(self):
        return self.memory - self.bytes_in_use(self.current), self.memory

    def cuMemAlloc(self, size):
        if self.bytes_in_use(self.current) + size > self.memory:
            code = numba_driver.binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY
            raise numba_driver.CudaAPIError(code, "out of memory")
        return numba_driver.binding.CUdeviceptr(self._block(self.current, size))

    def cuMemHostAlloc(self, size, flags):
        return self._block("host", size)

    def _block(self, where, size):
        block = (ctypes.c_char * size)()
        ctypes.memset(block, 0xCD, size)
        self.blocks[ctypes.addressof(block)] = where, block
        return ctypes.addressof(block)

    def cuMemFree(self, pointer):
        del self.blocks[int(pointer)]

    cuMemFreeHost = cuMemFree

    def cuCtxGetCurrent(self):
        return self.current + 1

    def cuMemHostRegister(self, pointer, size, flags):
        assert pointer % 4096 == size % 4096 == 0
        self.locked[pointer] = size

    def cuMemHostUnregister(self, pointer):
        del self.locked[pointer]

    def cuMemsetD8(self, pointer, value, count):
        ctypes.memset(self._there(pointer, count), value, count)

    def cuMemsetD16(self, pointer, value, count):
        assert int(pointer) % 2 == 0
        ctypes.memmove(
            self._there(pointer, 2 * count), value.to_bytes(2, "little") * count, 2 * count
        )

    def cuMemsetD32(self, pointer, value, count):
        assert int(pointer) % 4 == 0
        ctypes.memmove(
            self._there(pointer, 4 * count), value.to_bytes(4, "little") * count, 4 * count
        )

    def cuMemcpyHtoD(self, pointer, host, size):
        ctypes.memmove(self._there(pointer, size), int(host), size)

    def cuMemcpyDtoH(self, host, pointer, size):
        ctypes.memmove(int(host), self._there(pointer, size), size)

    def cuStreamCreate(self, flags):
        assert flags == 1, "one that waits for the default stream overlaps with nothing"
        self._streams.append([])
        return len(self._streams)

    def cuStreamDestroy(self, stream):
        self.cuStreamSynchronize(stream)

    def cuStreamSynchronize(self, stream):
        self._copy(stream, len(self._streams[int(stream) - 1]))

    def cuEventCreate(self, flags):
        self._events.append((0, 0))
        return len(self._events)

    def cuEventDestroy(self, event):
        pass

    def cuEventRecord(self, event, stream):
        stream = int(stream)
        at = stream and len(self._streams[stream - 1])
        self._events[int(event) - 1] = stream, at

    def cuEventSynchronize(self, event):
        self._copy(*self._events[int(event) - 1])

    def cuStreamWaitEvent(self, stream, event, flags):
        recorded = self._events[int(event) - 1]
        # Launches are over when they return, so that a stream has nothing to wait for.
        assert bool(int(stream)) != bool(recorded[0])
        self._copy(*recorded)

    def cuMemcpyHtoDAsync(self, pointer, host, size, stream):
        self._streams[int(stream) - 1].append((self.cuMemcpyHtoD, pointer, int(host), size))

    def cuMemcpyDtoHAsync(self, host, pointer, size, stream):
        self._streams[int(stream) - 1].append((self.cuMemcpyDtoH, int(host), pointer, size))

    def _copy(self, stream, last):
        """Make the copies of a stream up to its `last`: none before somebody waits for it."""
        queue = self._streams[int(stream) - 1][:last] if stream else []
        for k, queued in enumerate(queue):
            if queued is not None:
                queued[0](*queued[1:])
                self._streams[int(stream) - 1][k] = None

    def _there(self, pointer, size) -> int:
        pointer = int(pointer)
        for start, (where, block) in self.blocks.items():
            if start <= pointer and pointer + size <= start + len(block):
                assert where == self.current, "memory of another GPU"
                return pointer
        raise AssertionError(f"{size} bytes at {pointer:#x} are not allocated")
