"""Arrays of a CUDA GPU, and page-locked arrays of its host, whose memory is used again.

To allocate takes longer than many kernels: 0.07 ms on a GPU of 2024, and to lock pages of the host
about a millisecond for each 3 MB. So what a call has used is kept for the next one. An array that
is lent is a plain numba or NumPy array, which nobody has to hand back: its memory is idle again
when the last array over it, or a part of it, is gone, as after an error.

A GPU does launches, copies and fills of one stream in the order in which they were queued, so what
is idle may be lent again before the kernels that used it are done. This holds for the default
stream, on which all of `gpukernels` runs; where numba gives every thread a stream of its own,
memory is not used again.
"""

from __future__ import annotations

import math
import mmap
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config, cuda
from numpy.typing import DTypeLike

from gpukernels.lending import Pool

#: Idle memory is at most this share of a GPU's; beyond, what is longest idle is freed.
IDLE_SHARE = 8
#: Page-locked bytes of the host, in use or idle; beyond, results lie in ordinary memory.
MOST_PINNED = 1 << 30
#: Results of fewer bytes are read into ordinary memory, which is as fast.
PINNED_FROM = 1 << 16
#: Page-locked memory is lent in multiples of so many bytes.
PAGE = 1 << 12
#: Where numba's context keeps what belongs to it.
EXTRA = "gpukernels.cuda_memory"
_memories: weakref.WeakValueDictionary[int, CudaMemory] = weakref.WeakValueDictionary()


class LockedPages:
    """Pages of the host that a GPU may write to while they stay where they are.

    They are ordinary pages, locked afterwards: what a driver allocates itself is gone in a forked
    process and after ``cuda.close()``, and a result may be read there still.
    """

    def __init__(self, context, size: int):
        self._bytes = np.frombuffer(mmap.mmap(-1, size), np.uint8)
        self._lock = context.mempin(self._bytes, self._bytes.ctypes.data, size)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The pages as bytes."""
        return self._bytes.__array_interface__


class CudaMemory:
    """The memory of one GPU that calls leave for each other; `current` finds it.

    Parameters
    ----------
    context : numba.cuda.cudadrv.driver.Context
        The GPU's context.

    Attributes
    ----------
    kept : dict
        Device copies of read-only host arrays, by the host array's id, which dies with the array.
    """

    def __init__(self, context):
        from numba.cuda.cudadrv import devicearray, driver

        self._array_type, self._driver = devicearray.DeviceNDArray, driver
        self.context = weakref.proxy(context)
        self._one_stream = not getattr(config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0)
        self.arrays = Pool(int(context.get_memory_info().total) // IDLE_SHARE)
        self.pinned = Pool(MOST_PINNED, MOST_PINNED)
        self.kept: dict[int, Any] = {}

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike):
        """Return a device array whose content is undefined."""
        # numba does not take a NumPy integer for a shape, as NumPy does.
        shape = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if not (size and self._one_stream):
            return cuda.device_array(shape, dtype)

        def make():
            block = cuda.device_array(shape, dtype)
            block._numba_type_  # noqa: B018  newer versions keep it, and with it all copies
            return block

        lease = self.arrays.lend((shape, dtype), size, make)
        block = lease.block
        # As numba's own `bind` does, a copy of the object. The pointer of its own is to memory that
        # numba does not manage: it keeps the owner, and every part of the array does too.
        array = self._array_type.__new__(self._array_type)
        array.__dict__.update(block.__dict__)
        pointer = block.gpu_data.device_pointer
        array.gpu_data = self._driver.MemoryPointer(self.context, pointer, size, owner=lease)
        return array

    def pinned_array(self, shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray | None:
        """Return a page-locked host array of undefined content.

        None where `MOST_PINNED` bytes are in use, or the host locks no more pages.
        """
        shape = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
        dtype = np.dtype(dtype)
        count = math.prod(shape)
        size = max(PAGE, -(-count * dtype.itemsize // PAGE) * PAGE)
        try:
            lease = self.pinned.lend(size, size, lambda: LockedPages(self.context, size))
        except self._driver.CudaAPIError:
            return None
        if lease is None:
            return None
        return np.asarray(lease)[: count * dtype.itemsize].view(dtype).reshape(shape)

    def read(self, array) -> np.ndarray:
        """Return the contents of a device array; those of a large one in page-locked memory."""
        if not (array.size and array.is_c_contiguous()):
            return array.copy_to_host()
        found = self.pinned_array(array.shape, array.dtype) if array.nbytes >= PINNED_FROM else None
        if found is None:
            found = np.empty(array.shape, array.dtype)
        self._driver.device_to_host(found, array.gpu_data, array.nbytes)
        return found


def fill(array, byte: int) -> None:
    """Set every byte of a contiguous device array, after the launches made so far."""
    if array.size:
        array.gpu_data.memset(byte, array.nbytes)


def put(array, index: int, value) -> None:
    """Set one element of a contiguous device array, counted from 0 through all its rows."""
    from numba.cuda.cudadrv.driver import host_to_device

    if not 0 <= index < array.size:
        raise IndexError(f"index {index} of an array of {array.size} elements")
    size = array.dtype.itemsize
    # A sliced and reshaped array would say the same at five times the price.
    there = array.gpu_data.view(index * size, (index + 1) * size)
    host_to_device(there, np.array([value], dtype=array.dtype), size)


def current() -> CudaMemory:
    """Return the memory of the current GPU."""
    from numba.cuda.cudadrv.driver import driver

    # To ask numba for its context takes ten times as long as to ask the driver for a number.
    memory = _memories.get(int(driver.cuCtxGetCurrent()))
    if memory is None or not _is_open(memory.context):
        context = cuda.current_context()
        # It is kept with the context, so that both end together.
        memory = context.extras.get(EXTRA)
        if memory is None:
            memory = context.extras.setdefault(EXTRA, CudaMemory(context))
        _memories[int(driver.cuCtxGetCurrent())] = memory
    return memory


def _is_open(context) -> bool:
    try:
        return context.device.primary_context == context
    except ReferenceError:
        return False
