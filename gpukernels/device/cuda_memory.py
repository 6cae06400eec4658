"""Arrays of a CUDA GPU, and page-locked arrays of its host, whose memory is used again.

An allocation takes longer than many kernels: 0.07 ms on a GPU of 2024, and to lock pages of the
host about a millisecond per 3 MB. So the memory of a call is kept for the next one. A lent array is
a plain numba or NumPy array, which need not be handed back. Its memory is idle again when the last
array over it, or over a part of it, is gone, as after an error.

A GPU does launches, copies and fills of one stream in the order in which they were queued. So idle
memory may be lent again before the kernels that used it are done. This holds for the default
stream, on which all of `gpukernels` runs. If numba gives every thread a stream of its own, memory
is not used again.
"""

from __future__ import annotations

import functools
import math
import mmap
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config, cuda
from numpy.typing import DTypeLike

from gpukernels.device.lending import Lease, Pool
from gpukernels.device.staged_copies import PIECES, STAGES, read_staged, write_staged

#: Idle memory is at most this share of a GPU's memory; beyond, the blocks longest idle are freed.
IDLE_SHARE = 8
#: Page-locked bytes of the host, in use or idle; beyond, results lie in ordinary memory.
MOST_PINNED = 1 << 30
#: Results of fewer bytes are read into ordinary memory, which is as fast.
PINNED_FROM = 1 << 16
#: Results of so many bytes do not lie in page-locked memory: to lock it takes ten times as long as
#: to read them in pieces.
LOCKED_BELOW = 2 * PIECES[0]
#: So many bytes of ordinary memory are copied in pieces through page-locked ones.
STAGED_FROM = PIECES[-1]
#: Arrays side by side begin at multiples of so many bytes, as a GPU's allocations do.
APART = 256
#: Page-locked memory is lent in multiples of so many bytes.
PAGE = 1 << 12
#: Where numba's context keeps what belongs to it.
EXTRA = "gpukernels.device.cuda_memory"
_memories: weakref.WeakValueDictionary[int, CudaMemory] = weakref.WeakValueDictionary()


class LockedPages:
    """Pages of the host that a GPU may write to while they stay where they are.

    They are ordinary pages, locked afterwards. Memory allocated by the driver itself is gone in a
    forked process and after ``cuda.close()``, where a result may still be read.
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
        Device arrays that live as long as their source: copies of read-only host arrays, by the
        array's id; and results made from an object, by its id and a name.
    cooperative_blocks : dict
        Number of blocks that fit on the GPU at once, by kernel, threads per block, argument kinds.
    """

    def __init__(self, context):
        self._driver = _driver()
        self.context = weakref.proxy(context)
        self._one_stream = not getattr(config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0)
        self.arrays = Pool(int(context.get_memory_info().total) // IDLE_SHARE)
        self.pinned = Pool(MOST_PINNED, MOST_PINNED)
        self.kept: dict[Any, Any] = {}
        self.cooperative_blocks: dict[tuple, int] = {}
        self._hollow: dict[tuple, Any] = {}

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike):
        """Return a device array whose content is undefined."""
        return self._lend((_sizes(shape),), np.dtype(dtype))[0]

    def side_by_side(self, shapes: Sequence[int | Sequence[int]], dtype: DTypeLike) -> list:
        """Return device arrays of undefined content, one after the other in the same memory.

        It is lent as one, for as long as one of them is there.
        """
        return self._lend(tuple(map(_sizes, shapes)), np.dtype(dtype))

    def _lend(self, shapes: tuple[tuple[int, ...], ...], dtype: np.dtype) -> list:
        if not self._one_stream:
            return [cuda.device_array(shape, dtype) for shape in shapes]
        size = _bytes(shapes, dtype)
        if not size:  # there is nothing to lend, and nothing that two could write
            if (shapes, dtype) not in self._hollow:
                self._hollow[shapes, dtype] = _Block(shapes, dtype)
            return list(self._hollow[shapes, dtype].arrays)
        lease = self.arrays.lend((shapes, dtype), size, lambda: _Block(shapes, dtype))
        lent, kind, make = [], _lent_array(), self._driver.MemoryPointer
        for array in lease.block.arrays:
            if array.size:
                # As numba's own `bind` does, a copy of the object. The pointer of its own is to
                # memory that numba does not manage: it keeps the owner, and every part does too.
                pointer, attributes = array.gpu_data.device_pointer, array.__dict__
                array = kind.__new__(kind)
                array.__dict__.update(attributes)
                array.gpu_data = make(self.context, pointer, array.nbytes, lease)
            lent.append(array)
        return lent

    def free_bytes(self) -> int:
        """Return the number of free bytes, including idle bytes that wait here to be lent again."""
        return int(self.context.get_memory_info().free) + self.arrays.idle_bytes

    def pinned_array(self, shape: int | Sequence[int], dtype: DTypeLike) -> np.ndarray | None:
        """Return a page-locked host array of undefined content.

        None where `MOST_PINNED` bytes are in use, or the host locks no more pages.
        """
        shape, dtype = _sizes(shape), np.dtype(dtype)
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
        """Return the contents of a device array; some megabytes of it in page-locked memory."""
        host = None
        if PINNED_FROM <= array.nbytes < LOCKED_BELOW:
            host = self.pinned_array(array.shape, array.dtype)
        return read(array, np.empty(array.shape, array.dtype) if host is None else host)

    def read_all(self, arrays: Sequence) -> list[np.ndarray]:
        """Return the contents of device arrays; of those that lie side by side, by one copy."""
        span = _span(arrays)
        if span is None or span[1] >= LOCKED_BELOW:
            return [self.read(array) for array in arrays]
        start, size = span
        host = self.pinned_array(size, np.uint8) if size >= PINNED_FROM else None
        if host is None:
            host = np.empty(size, np.uint8)
        self._driver.device_to_host(host, arrays[0].gpu_data, size)
        firsts = [array.device_ctypes_pointer.value - start for array in arrays]
        return [
            host[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
            for first, array in zip(firsts, arrays, strict=True)
        ]


def _sizes(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return a shape as numba takes it, which has no integer of NumPy."""
    return tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)


def _room(shape: tuple[int, ...], dtype: np.dtype) -> int:
    """Return the bytes between the beginning of an array and that of the one behind it."""
    return -(-math.prod(shape) * dtype.itemsize // APART) * APART


@functools.lru_cache(4096)
def _bytes(shapes: tuple[tuple[int, ...], ...], dtype: np.dtype) -> int:
    """Return the bytes of arrays side by side."""
    return sum(_room(shape, dtype) for shape in shapes)


class _Block:
    """Memory that is lent as one block, and the arrays in it; users get copies of the arrays."""

    def __init__(self, shapes: tuple[tuple[int, ...], ...], dtype: np.dtype):
        self._memory = cuda.device_array(_bytes(shapes, dtype), np.uint8)
        self.arrays, start = [], 0
        for shape in shapes:
            size = math.prod(shape) * dtype.itemsize
            if size:
                array = self._memory[start : start + size].view(dtype).reshape(shape)
            else:
                array = cuda.device_array(shape, dtype)
            # numba finds these once, and all copies then have them: the type, and a kernel's form.
            for found_once in ("_numba_type_", "nbytes", "_strided_memory_view_shim"):
                getattr(array, found_once, None)
            array._handed_over = []
            self.arrays.append(array)
            start += _room(shape, dtype)


def _span(arrays: Sequence) -> tuple[int, int] | None:
    """Return where device arrays begin that lie side by side, and their bytes; None for others."""
    if not all(array.size and array.is_c_contiguous() for array in arrays):
        return None
    if len({id(array.gpu_data.owner) for array in arrays}) != 1:
        return None
    starts = [array.device_ctypes_pointer.value for array in arrays]
    size = starts[-1] + arrays[-1].nbytes - starts[0]
    apart = size > sum(_room(array.shape, array.dtype) for array in arrays)
    return None if apart or starts != sorted(starts) else (starts[0], size)


@functools.cache
def _lent_array():
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    class LentArray(DeviceNDArray):
        """An array of a GPU that gives its first rows in a third of the time of other parts."""

        def __getitem__(self, item):
            if not (
                type(item) is slice
                and (item.start, item.step) == (None, None)
                and type(item.stop) is int
                and self.is_c_contiguous()
                and self.ndim
                and 0 < item.stop <= self.shape[0]
            ):
                return super().__getitem__(item)
            shape = item.stop, *self.shape[1:]
            part = LentArray(shape, self.strides, self.dtype, gpu_data=self.gpu_data)
            part._handed_over = []
            if "_numba_type_" in self.__dict__:
                part._numba_type_ = self._numba_type_
            return part

    return LentArray


def read(array, into: np.ndarray, stream: Any = None) -> np.ndarray:
    """Return `into`, an array of the same shape and type that receives the device array's.

    Copies are on `stream` where one is given, else on the default one.
    """
    same = (into.dtype, into.shape) == (array.dtype, array.shape)
    if not (same and array.is_c_contiguous() and into.flags.c_contiguous and array.size):
        return array.copy_to_host(into)
    data = array.gpu_data

    def bring(host: np.ndarray, first: int) -> None:
        _driver().device_to_host(host, data.view(first, first + host.nbytes), host.nbytes, stream)
        if stream is not None:
            stream.synchronize()

    if stages := _stages(into):
        read_staged(bring, stages, into)
    else:
        bring(into, 0)
    return into


def is_staged(host: np.ndarray) -> bool:
    """Return whether copies from and to `host` go in pieces, as for large ordinary memory."""
    return host.nbytes >= STAGED_FROM and not _is_locked(host)


def _stages(host: np.ndarray) -> list[np.ndarray]:
    """Return page-locked pieces through which an array is copied; none if it is at once."""
    if not is_staged(host):
        return []
    piece = next((size for size in PIECES if host.nbytes >= 2 * size), PIECES[-1])
    most = min(STAGES, -(-host.nbytes // piece))
    lent = (current().pinned_array(piece, np.uint8) for _ in range(most))
    return [stage for stage in lent if stage is not None]


def _is_locked(host: np.ndarray) -> bool:
    """Return whether memory of the host is of `CudaMemory.pinned_array`, or of numba's."""
    while isinstance(host, np.ndarray) and host.base is not None:
        host = host.base
    return isinstance(host, Lease | _driver().PinnedMemory)


def write(array, host: np.ndarray, stream: Any = None) -> None:
    """Copy a contiguous host array to a device array of the same shape and type.

    Copies are on `stream` where one is given, else on the default one. From locked pages, one on a
    stream may go on after this.
    """
    data, queue = array.gpu_data, 0 if stream is None else stream

    def send(stage: np.ndarray, first: int) -> None:
        part = data.view(first, first + stage.nbytes)
        _driver().host_to_device(part, stage, stage.nbytes, stream=queue)
        if stream is not None:
            stream.synchronize()

    if stages := _stages(host):
        write_staged(send, stages, host)
    elif array.size:
        _driver().host_to_device(data, host, array.nbytes, stream=queue)


def fill(array, value) -> None:
    """Set every element of a contiguous device array, after the launches made so far.

    A driver fills with a value that repeats after one, two or four bytes, and does not wait. Other
    values are copied.
    """
    start = array.device_ctypes_pointer.value
    if array.size and not _fill(start, array.nbytes, value, array.dtype):
        write(array, np.full(array.shape, value, array.dtype))


def fill_all(arrays: Sequence, value) -> None:
    """Do the same with each of some arrays of one type; with those side by side, at once."""
    arrays = [array for array in arrays if array.size]
    span = _span(arrays)
    if span is None or not _fill(*span, value, arrays[0].dtype):
        for array in arrays:
            fill(array, value)


def put(array, index: int, value) -> None:
    """Set one element of a contiguous device array, counted from 0 through all its rows."""
    if not 0 <= index < array.size:
        raise IndexError(f"index {index} of an array of {array.size} elements")
    size = array.dtype.itemsize
    if not _fill(array.device_ctypes_pointer.value + index * size, size, value, array.dtype):
        # A sliced and reshaped array would say the same at five times the price.
        element = array.gpu_data.view(index * size, (index + 1) * size)
        _driver().host_to_device(element, np.array([value], dtype=array.dtype), size)


def _fill(start: int, size: int, value, dtype: np.dtype) -> bool:
    """Have the driver set `size` bytes from `start` on to `value`; return whether it can."""
    element = np.array(value, dtype=dtype)
    pattern = element.tobytes()
    while len(pattern) > 1 and pattern == 2 * pattern[: len(pattern) // 2]:
        pattern = pattern[: len(pattern) // 2]
    if element.ndim or len(pattern) not in (1, 2, 4):
        return False
    set_all = getattr(_driver().driver, f"cuMemsetD{8 * len(pattern)}")
    set_all(start, int.from_bytes(pattern, "little"), size // len(pattern))
    return True


@functools.cache
def _driver():
    from numba.cuda.cudadrv import driver

    return driver


def current() -> CudaMemory:
    """Return the memory of the current GPU."""
    driver = _driver().driver
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
